//! Running the binary.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// What a call of `rhae` printed and how it ended.
pub(crate) struct Outcome {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
        }
    }
}

impl Outcome {
    /// The JSON that was printed.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }

    /// Fails the test unless the call succeeded.
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }

    /// Fails the test unless the call failed with a message that contains this.
    pub(crate) fn failed_with(self, reason: &str) -> Self {
        assert!(self.code.is_some_and(|code| code != 0), "it succeeded: {}", self.out);
        assert!(self.err.contains(reason), "expected `{reason}` in: {}", self.err);
        self
    }
}

/// The command, to be run in a folder.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rhae"));
    command.args(arguments).current_dir(folder);
    command
}

/// Runs `rhae` in a folder.
pub(crate) fn rhae(folder: &Path, arguments: &[&str]) -> Outcome {
    command(folder, arguments).output().unwrap().into()
}

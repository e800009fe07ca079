//! Helpers that run the `rhae` binary.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use signal_hook::consts::SIGTERM;

/// The output and exit code of a call of `rhae`.
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
    /// Parses standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }

    /// Fails the test unless the call succeeded.
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }

    /// Fails the test unless the call failed with an error that contains `reason`.
    pub(crate) fn failed_with(self, reason: &str) -> Self {
        assert!(
            self.code.is_some_and(|code| code != 0),
            "it succeeded: {}",
            self.out
        );
        assert!(
            self.err.contains(reason),
            "expected `{reason}` in: {}",
            self.err
        );
        self
    }
}

/// Creates a command that runs `rhae` in a folder.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rhae"));
    command.args(arguments).current_dir(folder);
    command
}

/// Runs `rhae` in a folder.
pub(crate) fn rhae(folder: &Path, arguments: &[&str]) -> Outcome {
    command(folder, arguments).output().unwrap().into()
}

/// Runs `rhae` in a folder and sends SIGINT once it handles signals.
pub(crate) fn interrupted(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut child = command(folder, arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let handles_signals = |process: u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .unwrap();
        // SIGTERM is the last signal to be registered.
        u64::from_str_radix(caught.trim(), 16).unwrap() >> (SIGTERM - 1) & 1 == 1
    };
    while !handles_signals(child.id()) {
        assert!(
            child.try_wait().unwrap().is_none(),
            "the process ended before it could be interrupted"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    child.wait_with_output().unwrap().into()
}

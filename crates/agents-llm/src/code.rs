//! Code of a model in a sandboxed process.
//!
//! The process has no network, no files of the user, no other processes, and limits on memory,
//! processor time and output. If it exceeds a limit that it does not enforce itself, it is killed,
//! and the next call starts an empty interpreter.
//!
//! Interpreters of all languages exchange the same messages: JSON objects, each after its length (4
//! bytes, little-endian).
//!
//! | message | answer |
//! | --- | --- |
//! | `{"prelude": CODE}`, first | `{"ready": true}` |
//! | `{"code": CODE, "update": VALUE}` | `{"done": {"output": TEXT, "error": BOOL}}`, with `returned` if the code returned a value; or `{"failed": TEXT}`, after which the process ends |
//! | | before it, any number of calls of the agent's functions: `{"call": NAME, "args": VALUES}`, which the agent answers with `{"value": VALUE}` or `{"raise": TEXT}` |

mod interpreter;
#[cfg(feature = "hosting")]
mod process;

use std::sync::Arc;

#[cfg(feature = "hosting")]
use rhae_llm::CancelToken;

pub use interpreter::{Executed, HostFunctions, Interpreter, NoFunctions};
#[cfg(feature = "hosting")]
pub(crate) use process::Sandboxed;

/// The interpreter of a language, and the sandbox in which it runs.
pub struct CodeRuntime {
    language: &'static str,
    /// The characters of the output of one call.
    max_output: usize,
    #[cfg(feature = "hosting")]
    sandboxed: Sandboxed,
}

impl CodeRuntime {
    /// Tests the sandbox.
    ///
    /// # Errors
    ///
    /// Returns the reason why code of a model cannot be executed safely on this system.
    #[cfg(feature = "hosting")]
    pub(crate) fn open(
        language: &'static str,
        max_output: usize,
        sandboxed: Sandboxed,
    ) -> Result<Arc<Self>, String> {
        sandboxed.check()?;
        Ok(Arc::new(Self {
            language,
            max_output,
            sandboxed,
        }))
    }

    /// Returns the reason why this build cannot execute code of a model.
    #[cfg(not(feature = "hosting"))]
    pub(crate) fn unavailable() -> Result<Arc<Self>, String> {
        Err("this build of rhae has no sandbox for the code of models: build rhae with the feature `hosting`".to_owned())
    }

    /// Starts an interpreter once.
    ///
    /// # Errors
    ///
    /// Returns the reason why it does not start.
    #[cfg(feature = "hosting")]
    pub(crate) fn try_start(&self) -> Result<(), String> {
        let started = process::Process::start(&self.sandboxed, "", &CancelToken::default());
        started.map(|_process| ())
    }

    pub(crate) fn language(&self) -> &'static str {
        self.language
    }

    pub(crate) fn max_output(&self) -> usize {
        self.max_output
    }
}

//! The interpreter of a play: calls whose results are in the model log, so that a resumed play
//! repeats them without executing anything.
//!
//! What the interpreter sends is an effect that is logged before it is used. A resumed play takes
//! these messages from the log. Only when it needs a message that is not in the log, it starts a
//! process and sends it everything again that the earlier process received, so that its variables
//! are the same.

use std::sync::Arc;

use rhae_agents::AgentError;
use rhae_llm::CancelToken;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::CodeRuntime;
#[cfg(feature = "hosting")]
use super::process::Process;
use crate::engine::{Engine, ToolOutput};

/// Functions of the agent that code can call through `host`.
pub trait HostFunctions {
    /// Tells the agent that the code of another reply is executed next.
    fn begin(&mut self) {}

    /// Calls a function. The inner result is the value for the code, or the text of an exception. A
    /// function may hold a conversation with `engine`.
    ///
    /// # Errors
    ///
    /// Returns an error if the play cannot continue.
    fn call(
        &mut self,
        name: &str,
        arguments: &[Value],
        engine: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError>;
}

/// An agent without functions for its code.
pub struct NoFunctions;

impl HostFunctions for NoFunctions {
    fn call(
        &mut self,
        name: &str,
        _: &[Value],
        _: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        Ok(Err(format!("there is no function `{name}`")))
    }
}

/// A persistent interpreter.
pub struct Interpreter {
    runtime: Arc<CodeRuntime>,
    #[cfg_attr(
        not(feature = "hosting"),
        expect(dead_code, reason = "only a process needs it")
    )]
    prelude: String,
    #[cfg(feature = "hosting")]
    process: Option<Process>,
    /// What the current process, or the one that will replace it, has received and answered.
    exchanged: Vec<Exchange>,
    /// The number of messages so far, for the keys of the log.
    messages: u64,
}

/// The result of an execution.
#[derive(Clone, Debug, PartialEq)]
pub struct Executed {
    pub output: ToolOutput,
    /// The value that the code returned, in a language in which code can return one.
    pub returned: Option<Value>,
}

/// A message to the interpreter, and the message that it sent next.
#[cfg_attr(
    not(feature = "hosting"),
    expect(dead_code, reason = "only a process needs it")
)]
struct Exchange {
    sent: Value,
    received: Value,
}

impl Interpreter {
    /// Creates an interpreter. Its process starts with the first call. `prelude` is Python code that
    /// defines names.
    pub fn new(runtime: &Arc<CodeRuntime>, prelude: &str) -> Self {
        Self {
            runtime: Arc::clone(runtime),
            prelude: prelude.to_owned(),
            #[cfg(feature = "hosting")]
            process: None,
            exchanged: Vec::new(),
            messages: 0,
        }
    }

    /// Returns whether the interpreter knows nothing yet, because it is new or was restarted.
    pub fn is_empty(&self) -> bool {
        self.exchanged.is_empty()
    }

    /// Executes code and returns its output, see [`execute`](Self::execute).
    ///
    /// # Errors
    ///
    /// Returns an error if the play cannot continue.
    pub fn run(
        &mut self,
        code: &str,
        update: &Value,
        functions: &mut dyn HostFunctions,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        let executed = self.execute(code, update, functions, engine)?;
        Ok(executed.output)
    }

    /// Executes code. `update` is passed to the function `update` of the prelude first, if the
    /// prelude has one.
    ///
    /// # Errors
    ///
    /// Returns an error if the play cannot continue. Code that fails, and an interpreter that is
    /// killed, give an output.
    pub fn execute(
        &mut self,
        code: &str,
        update: &Value,
        functions: &mut dyn HostFunctions,
        engine: &mut Engine<'_>,
    ) -> Result<Executed, AgentError> {
        let mut message = json!({"code": code, "update": update});
        loop {
            let received = self.exchange(message, engine)?;
            if let Some(done) = received.get("done") {
                let text = done["output"].as_str().unwrap_or_default();
                let text = if text.is_empty() { "(no output)" } else { text };
                return Ok(Executed {
                    output: ToolOutput {
                        text: self.shortened(text),
                        is_error: done["error"] == true,
                    },
                    returned: done.get("returned").cloned(),
                });
            }
            if let Some(reason) = received["failed"].as_str() {
                if engine.calls.cancel_token().is_cancelled() {
                    return Err(AgentError::Stopped);
                }
                return Ok(Executed {
                    output: ToolOutput::error(format!(
                        "{reason}. The interpreter was restarted, and all its variables are lost."
                    )),
                    returned: None,
                });
            }
            let name = received["call"].as_str().unwrap_or_default();
            let arguments = received["args"].as_array().map_or(&[][..], Vec::as_slice);
            message = match functions.call(name, arguments, engine)? {
                Ok(value) => json!({"value": value}),
                Err(text) => json!({"raise": text}),
            };
        }
    }

    /// Sends a message and returns the next message of the interpreter, from the log if it has one.
    fn exchange(&mut self, sent: Value, engine: &mut Engine<'_>) -> Result<Value, AgentError> {
        self.messages += 1;
        let calls = &mut engine.calls;
        let digest = hex::encode(Sha256::digest(sent.to_string()));
        let language = self.runtime.language();
        let key = format!("{language} {} {digest}", self.messages);
        let received = match calls.next_effect(&key)? {
            Some(logged) => logged,
            None => {
                let received = self
                    .live_exchange(&sent, calls.cancel_token())
                    .unwrap_or_else(|reason| json!({"failed": reason}));
                // What ends because the play is cancelled is not a result.
                if calls.cancel_token().is_cancelled() {
                    return Err(AgentError::Stopped);
                }
                calls.record_effect(&key, &received)?;
                received
            }
        };
        if received.get("failed").is_some() {
            self.restart();
        } else {
            let received = received.clone();
            self.exchanged.push(Exchange { sent, received });
        }
        Ok(received)
    }

    #[cfg(feature = "hosting")]
    fn live_exchange(&mut self, sent: &Value, cancel: &CancelToken) -> Result<Value, String> {
        let process = match &mut self.process {
            Some(process) => process,
            None => {
                let process = self.start(cancel)?;
                self.process.insert(process)
            }
        };
        process.send(sent)?;
        process.receive()
    }

    /// Starts a process and gives it what earlier processes received.
    #[cfg(feature = "hosting")]
    fn start(&self, cancel: &CancelToken) -> Result<Process, String> {
        let mut process = Process::start(&self.runtime.sandboxed, &self.prelude, cancel)?;
        for exchange in &self.exchanged {
            process.send(&exchange.sent)?;
            let received = process.receive()?;
            let is_same_kind =
                received.get("done").is_some() == exchange.received.get("done").is_some();
            if !is_same_kind {
                return Err(
                    "the code is not reproducible, so that its variables could not be restored"
                        .to_owned(),
                );
            }
        }
        Ok(process)
    }

    #[cfg(not(feature = "hosting"))]
    fn live_exchange(&mut self, _sent: &Value, _cancel: &CancelToken) -> Result<Value, String> {
        Err("this build has no sandbox".to_owned())
    }

    /// Forgets everything, because the process is dead.
    fn restart(&mut self) {
        #[cfg(feature = "hosting")]
        {
            self.process = None;
        }
        self.exchanged.clear();
    }

    /// Shortens an output that exceeds the limit although the interpreter applies it, because the
    /// code has changed the interpreter.
    fn shortened(&self, text: &str) -> String {
        let limit = 4 * self.runtime.max_output() + 1000;
        match text.char_indices().nth(limit) {
            Some((end, _)) => format!("{}\n[the rest is left out]", &text[..end]),
            None => text.to_owned(),
        }
    }
}

//! The tools of the analyzer: it can read and search the log, and run Python on it.

use regex::RegexBuilder;
use rhae_agents::AgentError;
use rhae_llm::{Parameter, Tool};
use serde_json::{Value, json};

use super::play_log::PlayLog;
use crate::code::{Interpreter, NoFunctions};
use crate::engine::{Engine, ToolOutput, Toolbox};

/// The lines that one call may return.
const MAX_LINES: usize = 400;
/// The size of a compiled regular expression, in bytes.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// The log and the interpreter.
pub(super) struct AnalyzerTools {
    pub(super) log: PlayLog,
    interpreter: Interpreter,
    /// The length of the log that the interpreter has.
    synced: usize,
    calls: u32,
}

/// Describes the tools.
pub(super) fn descriptions() -> Vec<Tool> {
    vec![
        Tool::new(
            "read",
            "Returns lines of the log with their numbers. A call returns at most 400 lines.",
            &[
                Parameter::number("offset", "The number of the first line, from 1."),
                Parameter::number("limit", "The number of lines.").optional(),
            ],
        ),
        Tool::new(
            "grep",
            "Returns the lines of the log that match a regular expression, with their numbers. A call returns at most 400 lines.",
            &[
                Parameter::text("pattern", "The regular expression."),
                Parameter::number(
                    "context",
                    "The number of lines to show before and after each match.",
                )
                .optional(),
            ],
        ),
        Tool::new(
            "python",
            "Executes Python code. The value of a last expression and everything that is printed are returned.",
            &[Parameter::text("code", "The code.")],
        ),
    ]
}

impl AnalyzerTools {
    pub(super) fn new(interpreter: Interpreter) -> Self {
        Self {
            log: PlayLog::default(),
            interpreter,
            synced: 0,
            calls: 0,
        }
    }

    /// Returns the number of calls since the last call of this function.
    pub(super) fn take_calls(&mut self) -> u32 {
        std::mem::take(&mut self.calls)
    }

    fn read(&self, arguments: &Value) -> ToolOutput {
        let Some(offset) = number(&arguments["offset"]) else {
            return ToolOutput::error("`offset` must be a number from 1");
        };
        let limit = number(&arguments["limit"])
            .unwrap_or(MAX_LINES)
            .min(MAX_LINES);
        let last = offset.saturating_add(limit).min(self.log.lines() + 1);
        if offset == 0 || offset >= last {
            return ToolOutput::error(format!("the log has the lines 1 to {}", self.log.lines()));
        }
        ToolOutput::text(self.numbered(offset..last))
    }

    fn grep(&self, arguments: &Value) -> ToolOutput {
        let pattern = arguments["pattern"].as_str().unwrap_or_default();
        let regex = RegexBuilder::new(pattern)
            .size_limit(MAX_REGEX_BYTES)
            .build();
        let regex = match regex {
            Ok(regex) => regex,
            Err(error) => {
                return ToolOutput::error(format!(
                    "`pattern` is not a regular expression: {error}"
                ));
            }
        };
        let context = number(&arguments["context"]).unwrap_or(0).min(100);
        let mut shown: Vec<usize> = Vec::new();
        let mut matches = 0;
        for line in 1..=self.log.lines() {
            if !self.log.line(line).is_some_and(|text| regex.is_match(text)) {
                continue;
            }
            matches += 1;
            let first = line.saturating_sub(context).max(1);
            let next = shown.last().map_or(first, |last| first.max(last + 1));
            let end = (line + context).min(self.log.lines());
            if shown.len() < MAX_LINES {
                shown.extend((next..=end).take(MAX_LINES - shown.len()));
            }
        }
        if matches == 0 {
            return ToolOutput::text("no line matches");
        }
        let mut text = format!("{matches} lines match\n");
        text.push_str(&self.numbered(shown.into_iter()));
        ToolOutput::text(text)
    }

    fn numbered(&self, lines: impl Iterator<Item = usize>) -> String {
        let line = |number| Some(format!("{number}: {}\n", self.log.line(number)?));
        lines.filter_map(line).collect()
    }

    fn python(
        &mut self,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        let code = arguments["code"].as_str().unwrap_or_default();
        let new = json!(self.log.text()[self.synced..]);
        let output = self.interpreter.run(code, &new, &mut NoFunctions, engine)?;
        // A restarted interpreter needs the whole log again.
        self.synced = if self.interpreter.is_empty() {
            0
        } else {
            self.log.text().len()
        };
        Ok(output)
    }
}

impl Toolbox for AnalyzerTools {
    fn tools(&self) -> Vec<Tool> {
        descriptions()
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        self.calls += 1;
        match name {
            "read" => Ok(self.read(arguments)),
            "grep" => Ok(self.grep(arguments)),
            _ => self.python(arguments, engine),
        }
    }
}

/// Returns a number that a model may have written as a text.
fn number(value: &Value) -> Option<usize> {
    let number = value
        .as_u64()
        .or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))?;
    usize::try_from(number).ok()
}

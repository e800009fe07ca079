//! What a model is asked: a template filled with a task.
//!
//! A template is text with `{{...}}` in it. `{{#examples}}…{{/examples}}` repeats what is between for each training pair, where `{{input|FORM}}`
//! and `{{output|FORM}}` are its grids and `{{index}}` and `{{number}}` count from 0 and from 1. `{{test|FORM}}` is the test input. `{{task}}` is the whole
//! task as JSON, without solutions, and `{{count}}` how many tests it has: a template with it asks for all tests at once.
//!
//! Invariant: a template is checked when it is read, so filling one cannot fail. A solution can never get into a prompt, because tasks that
//! are asked have none.

mod parse;

use std::fmt::Write as _;

use rhae_tasks::{Grid, Task};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::EvalError;
use parse::{Piece, parse};

/// The templates that come with Rhae: in words of our own, in the structure that published harnesses use.
const OWN: [(&str, &str); 4] = [
    ("official", include_str!("../prompts/official.txt")),
    ("text-grid", include_str!("../prompts/text-grid.txt")),
    ("nejumi-ja", include_str!("../prompts/nejumi-ja.txt")),
    ("whole-task", include_str!("../prompts/whole-task.txt")),
];

/// A template that was checked.
#[derive(Clone, Debug)]
pub struct Prompt {
    name: String,
    sha256: String,
    pieces: Vec<Piece>,
}

/// How a grid is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `[[1, 2], [3, 4]]`.
    Json,
    /// The same without blanks.
    Compact,
    /// A row a line, within brackets.
    Lines,
    /// A row a line, digits separated by blanks.
    Digits,
}

impl Prompt {
    /// The names of the templates that come with Rhae.
    pub fn names() -> impl Iterator<Item = &'static str> {
        OWN.iter().map(|(name, _)| *name)
    }

    /// A template that comes with Rhae.
    pub fn own(name: &str) -> Option<Self> {
        let (name, text) = OWN.iter().find(|(own, _)| *own == name)?;
        Some(Self::new(name, text).expect("our templates are tested"))
    }

    /// A template of a name; errors say where in the text it is wrong.
    pub fn new(name: &str, text: &str) -> Result<Self, EvalError> {
        let wrong = |reason: String| EvalError::Config(format!("the prompt template `{name}`: {reason}"));
        let pieces = parse(text).map_err(wrong)?;
        let asks = |piece: &Piece| matches!(piece, Piece::Test(_) | Piece::Task);
        if !pieces.iter().any(asks) {
            return Err(EvalError::Config(format!(
                "the prompt template `{name}` shows no test: it needs `{{{{test|json}}}}` or `{{{{task}}}}`"
            )));
        }
        if pieces.iter().any(|piece| matches!(piece, Piece::Test(_))) && pieces.iter().any(|piece| matches!(piece, Piece::Task)) {
            return Err(EvalError::Config(format!(
                "the prompt template `{name}` has both `{{{{test}}}}` and `{{{{task}}}}`: it asks for one test or for all"
            )));
        }
        let sha256 = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { name: name.to_owned(), sha256, pieces })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The SHA-256 of the template, in hexadecimal digits.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Whether it asks for all tests of a task at once.
    pub fn is_whole(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Task))
    }

    /// The text for some tests of a task; a template that asks for one test takes the first.
    pub fn fill(&self, task: &Task, tests: &[usize]) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(words) => text.push_str(words),
                Piece::Test(form) => {
                    if let Some(test) = tests.first().and_then(|&test| task.test.get(test)) {
                        form.write(&mut text, &test.input);
                    }
                }
                Piece::Task => text.push_str(&whole(task, tests)),
                Piece::Count => text.push_str(&tests.len().to_string()),
                Piece::Examples(inner) => {
                    for (index, pair) in task.train.iter().enumerate() {
                        for piece in inner {
                            match piece {
                                Piece::Text(words) => text.push_str(words),
                                Piece::Input(form) => form.write(&mut text, &pair.input),
                                Piece::Output(form) => form.write(&mut text, &pair.output),
                                Piece::Index => text.push_str(&index.to_string()),
                                Piece::Number => text.push_str(&(index + 1).to_string()),
                                _ => {}
                            }
                        }
                    }
                }
                Piece::Input(_) | Piece::Output(_) | Piece::Index | Piece::Number => {}
            }
        }
        text
    }
}

fn whole(task: &Task, tests: &[usize]) -> String {
    let pairs: Vec<_> =
        task.train.iter().map(|pair| json!({"input": pair.input.to_json(), "output": pair.output.to_json()})).collect();
    let inputs: Vec<_> =
        tests.iter().filter_map(|&test| task.test.get(test)).map(|test| json!({"input": test.input.to_json()})).collect();
    json!({"train": pairs, "test": inputs}).to_string()
}

impl Form {
    /// A form by its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "json" => Some(Self::Json),
            "compact" => Some(Self::Compact),
            "lines" => Some(Self::Lines),
            "digits" => Some(Self::Digits),
            _ => None,
        }
    }

    fn write(self, text: &mut String, grid: &Grid) {
        let joined = |row: &[u8], between: &str| row.iter().map(u8::to_string).collect::<Vec<_>>().join(between);
        let rows: Vec<String> = match self {
            Self::Json => grid.rows().map(|row| format!("[{}]", joined(row, ", "))).collect(),
            Self::Compact => grid.rows().map(|row| format!("[{}]", joined(row, ","))).collect(),
            Self::Lines => grid.rows().map(|row| format!("  [{}]", joined(row, ","))).collect(),
            Self::Digits => grid.rows().map(|row| joined(row, " ")).collect(),
        };
        let _ = match self {
            Self::Json => write!(text, "[{}]", rows.join(", ")),
            Self::Compact => write!(text, "[{}]", rows.join(",")),
            Self::Lines => write!(text, "[\n{}\n]", rows.join(",\n")),
            Self::Digits => write!(text, "{}", rows.join("\n")),
        };
    }
}

#[cfg(test)]
mod tests;

//! Prompts: templates that turn a task into messages for a language model.
//!
//! A template is built in or comes from a file. Results identify the template by its SHA-256 hash.
//! The documentation of [`Prompt`] describes the sections of a template.
//!
//! Invariant: inserted text is never searched for placeholders, and the solutions of tests are
//! never inserted.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::TasksError;
use crate::grid::{Grid, short};
use crate::task::Task;

/// The names and descriptions of the built-in prompts.
pub const PROMPTS: [(&str, &str); 4] = [
    (
        "official",
        "the structure of the official harness: JSON grids, one test at a time",
    ),
    (
        "text-grid",
        "rows of digits separated by spaces, one test at a time",
    ),
    (
        "nejumi-ja",
        "the structure of the official harness in Japanese, with compact rows",
    ),
    ("whole-task", "the task as JSON, all tests in one answer"),
];

const MAX_TEMPLATE_BYTES: usize = 1024 * 1024;

/// A parsed prompt template.
///
/// A prompt asks either for the output of one test or for all outputs of a task, see
/// [`is_whole_task`](Self::is_whole_task). The user message comes from [`test`](Self::test) or
/// [`whole_task`](Self::whole_task); the answer is read with [`parse()`](crate::parse()) or
/// [`parse_whole_task`](crate::parse_whole_task).
///
/// # Templates
///
/// A template consists of sections. A line `=== NAME` starts a section; a file without such a line
/// is one `prompt` section. The line feed at the end of a section is not part of the section.
///
/// | section | content |
/// | --- | --- |
/// | `=== grid: FORMAT` | how grids are written: `json` (`[[1, 2], [3, 4]]`, the default), `json-rows` (one row per line), `digits` (rows of digits) |
/// | `=== example` | one training pair, with `{index}` (from 0), `{number}` (from 1), `{input}`, `{output}` |
/// | `=== system` | the system message; optional |
/// | `=== prompt` | the user message, with `{examples}`, `{test}`, or for whole tasks `{task}` or `{tests}`; `{test_count}`, `{answer_form}` |
///
/// # Examples
///
/// ```
/// use rhae_tasks::{Grid, Pair, Prompt, Task, Test};
///
/// let grid = |cells: &[u8]| Grid::new(&[cells.to_vec()]).unwrap();
/// let task = Task {
///     train: vec![Pair { input: grid(&[1, 2]), output: grid(&[2, 1]) }],
///     test: vec![Test { input: grid(&[3, 4]), output: Some(grid(&[4, 3])) }],
/// };
///
/// let template = "=== grid: digits
/// === example
/// {input} becomes {output}
///
/// === prompt
/// {examples}What does {test} become?";
/// let prompt = Prompt::parse("short", template)?;
/// assert_eq!(
///     prompt.test(&task, 0).unwrap(),
///     "1 2 becomes 2 1\nWhat does 3 4 become?"
/// );
/// # Ok::<(), rhae_tasks::TasksError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    name: String,
    hash: String,
    format: GridFormat,
    example: Vec<Piece>,
    system: Option<String>,
    prompt: Vec<Piece>,
}

/// The notation of grids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GridFormat {
    Json,
    JsonRows,
    Digits,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Placeholder(Placeholder),
}

/// The value that replaces a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placeholder {
    Index,
    Number,
    Input,
    Output,
    Examples,
    Test,
    Tests,
    Task,
    TestCount,
    AnswerForm,
}

const EXAMPLE_PLACEHOLDERS: [(&str, Placeholder); 4] = [
    ("index", Placeholder::Index),
    ("number", Placeholder::Number),
    ("input", Placeholder::Input),
    ("output", Placeholder::Output),
];
const PROMPT_PLACEHOLDERS: [(&str, Placeholder); 6] = [
    ("examples", Placeholder::Examples),
    ("test", Placeholder::Test),
    ("tests", Placeholder::Tests),
    ("task", Placeholder::Task),
    ("test_count", Placeholder::TestCount),
    ("answer_form", Placeholder::AnswerForm),
];

impl Prompt {
    /// Returns the built-in prompt with this name; see [`PROMPTS`].
    ///
    /// # Errors
    ///
    /// Returns [`TasksError::Prompt`] if there is no such prompt.
    pub fn built_in(name: &str) -> Result<Self, TasksError> {
        let text = match name {
            "official" => include_str!("prompt/official.txt"),
            "text-grid" => include_str!("prompt/text-grid.txt"),
            "nejumi-ja" => include_str!("prompt/nejumi-ja.txt"),
            "whole-task" => include_str!("prompt/whole-task.txt"),
            _ => {
                let known = PROMPTS.map(|(name, _)| format!("`{name}`")).join(", ");
                return Err(TasksError::Prompt {
                    name: short(name),
                    reason: format!("expected {known}, or a template file"),
                });
            }
        };
        Self::parse(name, text)
    }

    /// Parses a template.
    ///
    /// # Errors
    ///
    /// Returns [`TasksError::Prompt`] if the template is too long, has an unknown or duplicate
    /// section or an unknown placeholder, or does not insert the training pairs or a test.
    pub fn parse(name: &str, text: &str) -> Result<Self, TasksError> {
        let invalid = |reason: String| TasksError::Prompt {
            name: short(name),
            reason,
        };
        if text.len() > MAX_TEMPLATE_BYTES {
            return Err(invalid(format!(
                "the template has more than {MAX_TEMPLATE_BYTES} bytes"
            )));
        }
        let sections = sections(text).map_err(invalid)?;
        let section = |wanted: &str| sections.iter().find(|(name, _, _)| *name == wanted);
        let format = match section("grid").map(|(_, value, _)| *value) {
            None | Some("json") => GridFormat::Json,
            Some("json-rows") => GridFormat::JsonRows,
            Some("digits") => GridFormat::Digits,
            Some(other) => {
                return Err(invalid(format!(
                    "`{}` is not a grid format: expected `json`, `json-rows` or `digits`",
                    short(other)
                )));
            }
        };
        let (_, _, body) = section("prompt")
            .ok_or_else(|| invalid("the section `=== prompt` is missing".to_owned()))?;
        let prompt = pieces(body, &PROMPT_PLACEHOLDERS).map_err(invalid)?;
        let example = section("example")
            .map_or("Input:\n{input}\nOutput:\n{output}\n\n", |(_, _, body)| {
                body
            });
        let example = pieces(example, &EXAMPLE_PLACEHOLDERS).map_err(invalid)?;
        let has = |placeholder: Placeholder| prompt.contains(&Piece::Placeholder(placeholder));
        let whole = has(Placeholder::Task) || has(Placeholder::Tests);
        if whole == has(Placeholder::Test) {
            return Err(invalid(
                "the prompt must contain either `{test}` or, for whole tasks, `{task}` or `{tests}`, not both"
                    .to_owned(),
            ));
        }
        if !has(Placeholder::Examples) && !has(Placeholder::Task) {
            return Err(invalid(
                "the prompt shows no training pairs: it must contain `{examples}` or `{task}`"
                    .to_owned(),
            ));
        }
        let system = section("system").map(|(_, _, body)| (*body).to_owned());
        let hash = hex::encode(Sha256::digest(text));
        Ok(Self {
            name: name.to_owned(),
            hash,
            format,
            example,
            system,
            prompt,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the SHA-256 hash of the template as 64 hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns whether the model answers all tests of a task at once.
    pub fn is_whole_task(&self) -> bool {
        !self.prompt.contains(&Piece::Placeholder(Placeholder::Test))
    }

    /// Returns the system message, if the template has one.
    pub fn system(&self) -> Option<&str> {
        self.system.as_deref()
    }

    /// Returns the text of the template without the tasks that it inserts.
    pub fn instructions(&self) -> String {
        let pieces = self.example.iter().chain(&self.prompt);
        let texts = pieces.filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Placeholder(_) => None,
        });
        let all: Vec<&str> = self.system().into_iter().chain(texts).collect();
        all.join("\n")
    }

    /// Returns the user message for one test, counted from 0; `None` if the task has no such test.
    pub fn test(&self, task: &Task, test: usize) -> Option<String> {
        let input = &task.test.get(test)?.input;
        Some(self.fill(task, Some(input)))
    }

    /// Returns the user message for all tests of a task.
    pub fn whole_task(&self, task: &Task) -> String {
        self.fill(task, None)
    }

    fn fill(&self, task: &Task, test: Option<&Grid>) -> String {
        let grid = |grid: &Grid| self.format.write(grid);
        let mut text = String::new();
        for piece in &self.prompt {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Placeholder(Placeholder::Examples) => text.push_str(&self.examples(task)),
                Piece::Placeholder(Placeholder::Test) => {
                    text.push_str(&test.map(grid).unwrap_or_default());
                }
                Piece::Placeholder(Placeholder::Tests) => {
                    text.push_str(
                        &task
                            .test
                            .iter()
                            .map(|test| grid(&test.input))
                            .collect::<Vec<_>>()
                            .join("\n\n"),
                    );
                }
                Piece::Placeholder(Placeholder::Task) => {
                    text.push_str(&without_solutions(task).to_string());
                }
                Piece::Placeholder(Placeholder::TestCount) => {
                    text.push_str(&task.test.len().to_string());
                }
                Piece::Placeholder(Placeholder::AnswerForm) => {
                    text.push_str(&answer_form(task.test.len()));
                }
                Piece::Placeholder(
                    Placeholder::Index
                    | Placeholder::Number
                    | Placeholder::Input
                    | Placeholder::Output,
                ) => {}
            }
        }
        text
    }

    fn examples(&self, task: &Task) -> String {
        let mut text = String::new();
        for (index, pair) in task.train.iter().enumerate() {
            for piece in &self.example {
                match piece {
                    Piece::Text(piece) => text.push_str(piece),
                    Piece::Placeholder(Placeholder::Index) => text.push_str(&index.to_string()),
                    Piece::Placeholder(Placeholder::Number) => {
                        text.push_str(&(index + 1).to_string());
                    }
                    Piece::Placeholder(Placeholder::Input) => {
                        text.push_str(&self.format.write(&pair.input));
                    }
                    Piece::Placeholder(Placeholder::Output) => {
                        text.push_str(&self.format.write(&pair.output));
                    }
                    Piece::Placeholder(_) => {}
                }
            }
        }
        text
    }
}

impl GridFormat {
    fn write(self, grid: &Grid) -> String {
        let row = |row: &[u8], between: &str| {
            row.iter()
                .map(u8::to_string)
                .collect::<Vec<_>>()
                .join(between)
        };
        let rows = |between: &str| {
            grid.rows()
                .map(|cells| row(cells, between))
                .collect::<Vec<_>>()
        };
        match self {
            Self::Json => format!("[[{}]]", rows(", ").join("], [")),
            Self::JsonRows => format!("[\n  [{}]\n]", rows(",").join("],\n  [")),
            Self::Digits => rows(" ").join("\n"),
        }
    }
}

/// Converts the task to JSON without the solutions of its tests.
fn without_solutions(task: &Task) -> Value {
    let pairs = task
        .train
        .iter()
        .map(|pair| json!({"input": pair.input.to_json(), "output": pair.output.to_json()}));
    json!({"train": pairs.collect::<Value>(), "test": task.test.iter().map(|test| json!({"input": test.input.to_json()})).collect::<Value>()})
}

/// Returns the instruction that describes the expected answer to a whole task: one grid if the task
/// has one test, otherwise a list of grids.
fn answer_form(tests: usize) -> String {
    if tests == 1 {
        return "Give the output as a JSON list of rows, such as [[1,2],[3,4]].".to_owned();
    }
    let mut text = String::new();
    let _ = write!(
        text,
        "There are {tests} test inputs. Give their {tests} outputs, in this order, as one JSON list of grids, such as "
    );
    text + "[[[1,2],[3,4]],[[5,6],[7,8]]]."
}

/// Splits a template into sections. Each is returned as its name, the value after the colon, and
/// its body.
fn sections(text: &str) -> Result<Vec<(&str, &str, &str)>, String> {
    let mut marks: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("=== ") {
            marks.push((start, start + line.len()));
        }
        start += line.len();
    }
    let Some(&(first, _)) = marks.first() else {
        return Ok(vec![("prompt", "", body(text))]);
    };
    if !text[..first].trim().is_empty() {
        return Err("there is text before the first section".to_owned());
    }
    let mut sections: Vec<(&str, &str, &str)> = Vec::new();
    for (index, &(begin, end)) in marks.iter().enumerate() {
        let head = text[begin + 4..end].trim();
        let (name, value) = head
            .split_once(':')
            .map_or((head, ""), |(name, value)| (name.trim(), value.trim()));
        if !["grid", "example", "system", "prompt"].contains(&name) {
            return Err(format!(
                "unknown section `{}`: expected `grid`, `example`, `system` or `prompt`",
                short(name)
            ));
        }
        if sections.iter().any(|(known, _, _)| *known == name) {
            return Err(format!("the section `{name}` occurs twice"));
        }
        let until = marks.get(index + 1).map_or(text.len(), |(next, _)| *next);
        sections.push((name, value, body(&text[end..until])));
    }
    Ok(sections)
}

/// Strips the last line feed of a section, which most editors add.
fn body(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// Splits a text into literal text and placeholders. A lower-case word in braces must be a
/// placeholder; all other braces are literal text.
fn pieces(text: &str, placeholders: &[(&str, Placeholder)]) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        let is_word = |word: &&str| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|letter| letter.is_ascii_lowercase() || letter == '_')
        };
        let Some((word, behind)) = after.split_once('}').filter(|(word, _)| is_word(word)) else {
            plain.push('{');
            rest = after;
            continue;
        };
        let placeholder = placeholders
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, placeholder)| *placeholder);
        let known = || {
            placeholders
                .iter()
                .map(|(name, _)| format!("{{{name}}}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let placeholder = placeholder.ok_or_else(|| {
            format!(
                "unknown placeholder `{{{}}}` in this section: expected {}",
                short(word),
                known()
            )
        })?;
        pieces.extend([
            Piece::Text(std::mem::take(&mut plain)),
            Piece::Placeholder(placeholder),
        ]);
        rest = behind;
    }
    plain.push_str(rest);
    pieces.push(Piece::Text(plain));
    Ok(pieces)
}

#[cfg(test)]
mod tests;

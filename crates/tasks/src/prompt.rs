//! Prompts: how a task is put to a language model.
//!
//! A prompt is a template, a built-in one or anybody's file, and its SHA-256 names it in results. **How to ask:** for a prompt that
//! [is for a whole task](Prompt::is_whole_task), send [`Prompt::whole`] once an attempt and read the answer with
//! [`parse_whole`](crate::parse_whole); for any other, send [`Prompt::test`] once an attempt for each test and read it with
//! [`parse`](crate::parse()). What they give is the one user message; [`Prompt::system`] is the system message, where a template has one.
//!
//! A template has sections, each begun by a line `=== NAME`; a file without such a line is all `prompt`. The last line end of a section is
//! not a part of it.
//!
//! | section | content |
//! | --- | --- |
//! | `=== grid: FORM` | how grids are written: `json` (`[[1, 2], [3, 4]]`, the default), `json-rows` (one row a line), `digits` (rows of digits) |
//! | `=== example` | one training pair, with `{index}` (from 0), `{number}` (from 1), `{input}`, `{output}` |
//! | `=== system` | the system message; absent if there is none |
//! | `=== prompt` | the user message, with `{examples}`, `{test}`, or for whole tasks `{task}` or `{tests}`; `{test_count}`, `{answer_form}` |
//!
//! **Invariant:** what is put in is never searched for places again, and solutions of tests are never put in.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::TasksError;
use crate::grid::{Grid, short};
use crate::task::Task;

/// The names of the built-in prompts with a line about each.
pub const PROMPTS: [(&str, &str); 4] = [
    (
        "official",
        "the structure of the official harness: JSON grids, one test at a time",
    ),
    (
        "text-grid",
        "rows of digits separated by blanks, one test at a time",
    ),
    (
        "nejumi-ja",
        "the structure of the official harness in Japanese, with compact rows",
    ),
    ("whole-task", "the task as JSON, all tests in one answer"),
];

/// The longest template.
const LONGEST_TEMPLATE: usize = 1024 * 1024;

/// A template, ready to be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    name: String,
    hash: String,
    form: GridForm,
    example: Vec<Piece>,
    system: Option<String>,
    prompt: Vec<Piece>,
}

/// How grids are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GridForm {
    Json,
    JsonRows,
    Digits,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Place(Place),
}

/// What a place is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
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

const IN_EXAMPLES: [(&str, Place); 4] = [
    ("index", Place::Index),
    ("number", Place::Number),
    ("input", Place::Input),
    ("output", Place::Output),
];
const IN_PROMPTS: [(&str, Place); 6] = [
    ("examples", Place::Examples),
    ("test", Place::Test),
    ("tests", Place::Tests),
    ("task", Place::Task),
    ("test_count", Place::TestCount),
    ("answer_form", Place::AnswerForm),
];

impl Prompt {
    /// The built-in prompt with this name.
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

    /// The prompt of a template.
    pub fn parse(name: &str, text: &str) -> Result<Self, TasksError> {
        let wrong = |reason: String| TasksError::Prompt {
            name: short(name),
            reason,
        };
        if text.len() > LONGEST_TEMPLATE {
            return Err(wrong(format!("it has more than {LONGEST_TEMPLATE} bytes")));
        }
        let sections = sections(text).map_err(wrong)?;
        let section = |wanted: &str| sections.iter().find(|(name, _, _)| *name == wanted);
        let form = match section("grid").map(|(_, value, _)| *value) {
            None | Some("json") => GridForm::Json,
            Some("json-rows") => GridForm::JsonRows,
            Some("digits") => GridForm::Digits,
            Some(other) => {
                return Err(wrong(format!(
                    "`{}` is no form of grids: expected `json`, `json-rows` or `digits`",
                    short(other)
                )));
            }
        };
        let (_, _, body) =
            section("prompt").ok_or_else(|| wrong("it has no section `=== prompt`".to_owned()))?;
        let prompt = pieces(body, &IN_PROMPTS).map_err(wrong)?;
        let example = section("example")
            .map_or("Input:\n{input}\nOutput:\n{output}\n\n", |(_, _, body)| {
                body
            });
        let example = pieces(example, &IN_EXAMPLES).map_err(wrong)?;
        let has = |place: Place| prompt.contains(&Piece::Place(place));
        let whole = has(Place::Task) || has(Place::Tests);
        if whole == has(Place::Test) {
            return Err(wrong(
                "it must contain `{test}`, or for whole tasks `{task}` or `{tests}`, and not both"
                    .to_owned(),
            ));
        }
        if !has(Place::Examples) && !has(Place::Task) {
            return Err(wrong(
                "it shows no training pairs: it must contain `{examples}` or `{task}`".to_owned(),
            ));
        }
        let system = section("system").map(|(_, _, body)| (*body).to_owned());
        let hash = Sha256::digest(text)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(Self {
            name: name.to_owned(),
            hash,
            form,
            example,
            system,
            prompt,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 of the template, in hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Whether one answer is for all tests of a task.
    pub fn is_whole_task(&self) -> bool {
        !self.prompt.contains(&Piece::Place(Place::Test))
    }

    /// The system message.
    pub fn system(&self) -> Option<&str> {
        self.system.as_deref()
    }

    /// The user message about one test, counted from 0; `None` if the task has no such test.
    pub fn test(&self, task: &Task, test: usize) -> Option<String> {
        let input = &task.test.get(test)?.input;
        Some(self.fill(task, Some(input)))
    }

    /// The user message about all tests.
    pub fn whole(&self, task: &Task) -> String {
        self.fill(task, None)
    }

    fn fill(&self, task: &Task, test: Option<&Grid>) -> String {
        let grid = |grid: &Grid| self.form.write(grid);
        let mut text = String::new();
        for piece in &self.prompt {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Place(Place::Examples) => text.push_str(&self.examples(task)),
                Piece::Place(Place::Test) => text.push_str(&test.map(grid).unwrap_or_default()),
                Piece::Place(Place::Tests) => {
                    text.push_str(
                        &task
                            .test
                            .iter()
                            .map(|test| grid(&test.input))
                            .collect::<Vec<_>>()
                            .join("\n\n"),
                    );
                }
                Piece::Place(Place::Task) => text.push_str(&without_solutions(task).to_string()),
                Piece::Place(Place::TestCount) => text.push_str(&task.test.len().to_string()),
                Piece::Place(Place::AnswerForm) => text.push_str(&answer_form(task.test.len())),
                Piece::Place(Place::Index | Place::Number | Place::Input | Place::Output) => {}
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
                    Piece::Place(Place::Index) => text.push_str(&index.to_string()),
                    Piece::Place(Place::Number) => text.push_str(&(index + 1).to_string()),
                    Piece::Place(Place::Input) => text.push_str(&self.form.write(&pair.input)),
                    Piece::Place(Place::Output) => text.push_str(&self.form.write(&pair.output)),
                    Piece::Place(_) => {}
                }
            }
        }
        text
    }
}

impl GridForm {
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

/// The task without what is asked for.
fn without_solutions(task: &Task) -> Value {
    let pairs = task
        .train
        .iter()
        .map(|pair| json!({"input": pair.input.to_json(), "output": pair.output.to_json()}));
    json!({"train": pairs.collect::<Value>(), "test": task.test.iter().map(|test| json!({"input": test.input.to_json()})).collect::<Value>()})
}

/// How an answer about all tests is to look: one grid for one test, a list of grids for several.
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

/// The sections of a template: name, what stands behind it, and body.
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
                "there is no section `{}`: expected `grid`, `example`, `system` or `prompt`",
                short(name)
            ));
        }
        if sections.iter().any(|(known, _, _)| *known == name) {
            return Err(format!("the section `{name}` is there twice"));
        }
        let until = marks.get(index + 1).map_or(text.len(), |(next, _)| *next);
        sections.push((name, value, body(&text[end..until])));
    }
    Ok(sections)
}

/// A section's text without its last line end, which every editor puts there.
fn body(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// A text as pieces. A word in braces must be a place; other braces are text.
fn pieces(text: &str, places: &[(&str, Place)]) -> Result<Vec<Piece>, String> {
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
        let place = places
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, place)| *place);
        let known = || {
            places
                .iter()
                .map(|(name, _)| format!("{{{name}}}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let place = place.ok_or_else(|| {
            format!(
                "there is no place `{{{}}}` here: expected {}",
                short(word),
                known()
            )
        })?;
        pieces.extend([Piece::Text(std::mem::take(&mut plain)), Piece::Place(place)]);
        rest = behind;
    }
    plain.push_str(rest);
    pieces.push(Piece::Text(plain));
    Ok(pieces)
}

#[cfg(test)]
mod tests;

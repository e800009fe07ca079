//! Tasks: training pairs that show a rule, and test inputs to which the solver must apply the rule.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::error::TasksError;
use crate::grid::Grid;

/// The id of a task; in the public sets, eight hexadecimal digits.
///
/// An id has 1 to 64 ASCII letters, digits, `-`, `_` or `.` and does not start with `.`. An id is
/// therefore safe to use as a file name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct TaskId(String);

impl TryFrom<String> for TaskId {
    type Error = TasksError;

    fn try_from(text: String) -> Result<Self, TasksError> {
        text.parse()
    }
}

impl TaskId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses a problem id of the harness plan, `arc-<task>`, or a plain task id.
    ///
    /// # Errors
    ///
    /// Returns [`TasksError::InvalidTaskId`] if the part after `arc-` is not a valid id.
    pub fn from_problem_id(text: &str) -> Result<Self, TasksError> {
        text.strip_prefix("arc-").unwrap_or(text).parse()
    }

    /// Returns the problem id of the harness plan, `arc-<task>`.
    pub fn problem_id(&self) -> String {
        format!("arc-{}", self.0)
    }
}

impl FromStr for TaskId {
    type Err = TasksError;

    /// Parses an id. Ids become file names, so path separators and leading dots are rejected.
    fn from_str(text: &str) -> Result<Self, TasksError> {
        let is_allowed =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        if (1..=64).contains(&text.len()) && text.chars().all(is_allowed) && !text.starts_with('.')
        {
            Ok(Self(text.to_owned()))
        } else {
            Err(TasksError::InvalidTaskId(crate::grid::short(text)))
        }
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for TaskId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// A training pair: an input and the output that the rule of the task produces from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub input: Grid,
    pub output: Grid,
}

/// A test input with its solution, if the solution is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub input: Grid,
    /// The solution; `None` if only the challenges were loaded.
    pub output: Option<Grid>,
}

/// A task: training pairs and tests, both in file order.
///
/// A task from [`load()`](crate::load()) has at least one pair and one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub train: Vec<Pair>,
    pub test: Vec<Test>,
}

impl Task {
    /// Returns the number of cells in all training inputs and outputs, the size that
    /// [`NejumiRule::max_cells`](crate::NejumiRule::max_cells) limits.
    pub fn training_cells(&self) -> usize {
        self.train
            .iter()
            .map(|pair| pair.input.cells().len() + pair.output.cells().len())
            .sum()
    }

    /// Converts the task to the JSON of a task file. If the solution of a test is unknown, its
    /// `output` is omitted.
    pub fn to_json(&self) -> Value {
        let pairs = self
            .train
            .iter()
            .map(|pair| json!({"input": pair.input.to_json(), "output": pair.output.to_json()}));
        let tests = self.test.iter().map(|test| {
            let mut entry = Map::new();
            entry.insert("input".to_owned(), test.input.to_json());
            if let Some(output) = &test.output {
                entry.insert("output".to_owned(), output.to_json());
            }
            Value::Object(entry)
        });
        json!({"train": pairs.collect::<Value>(), "test": tests.collect::<Value>()})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_unsafe_file_names_are_rejected() {
        for bad in [
            "",
            "..",
            "../x",
            "a/b",
            ".hidden",
            "a b",
            "ü",
            &"x".repeat(65),
        ] {
            assert!(bad.parse::<TaskId>().is_err(), "{bad}");
        }
        assert_eq!(
            TaskId::from_problem_id("arc-0934a4d8").unwrap(),
            TaskId::from_problem_id("0934a4d8").unwrap()
        );
        assert_eq!(
            "0934a4d8".parse::<TaskId>().unwrap().problem_id(),
            "arc-0934a4d8"
        );
    }
}

//! A task: pairs that show a rule, and inputs to apply it to.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::error::TasksError;
use crate::grid::Grid;

/// A task's name, in the public sets eight hexadecimal digits.
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
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name in the notation of the harness plan, `arc-<task>`, or as it stands.
    pub fn from_problem(text: &str) -> Result<Self, TasksError> {
        text.strip_prefix("arc-").unwrap_or(text).parse()
    }

    /// The notation of the harness plan.
    pub fn problem(&self) -> String {
        format!("arc-{}", self.0)
    }
}

impl FromStr for TaskId {
    type Err = TasksError;

    /// Ids become names of files, so nothing in them may lead elsewhere.
    fn from_str(text: &str) -> Result<Self, TasksError> {
        let fine =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        if (1..=64).contains(&text.len()) && text.chars().all(fine) && !text.starts_with('.') {
            Ok(Self(text.to_owned()))
        } else {
            Err(TasksError::Id(crate::grid::short(text)))
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

/// A training pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What is given.
    pub input: Grid,
    /// What the rule makes of it.
    pub output: Grid,
}

/// A test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// What is given.
    pub input: Grid,
    /// What the rule makes of it, where it is known.
    pub output: Option<Grid>,
}

/// Pairs and tests. Invariant of loaded tasks: at least one of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The training pairs, in the file's order.
    pub train: Vec<Pair>,
    /// The tests, in the file's order.
    pub test: Vec<Test>,
}

impl Task {
    /// Cells of the training pairs, inputs and outputs together: the size that Nejumi's sampling limits.
    pub fn training_cells(&self) -> usize {
        self.train
            .iter()
            .map(|pair| pair.input.cells().len() + pair.output.cells().len())
            .sum()
    }

    /// As a task file holds it.
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
    fn ids_cannot_lead_out_of_a_folder() {
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
            TaskId::from_problem("arc-0934a4d8").unwrap(),
            TaskId::from_problem("0934a4d8").unwrap()
        );
        assert_eq!(
            "0934a4d8".parse::<TaskId>().unwrap().problem(),
            "arc-0934a4d8"
        );
    }
}

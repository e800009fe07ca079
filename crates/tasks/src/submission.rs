//! Submissions: the answers of a solver, as they are stored in files.
//!
//! Reading does not validate the answers. Duplicate, missing and damaged entries are recorded, and
//! scoring handles them. Only a file that is not a submission at all is an error.

mod write;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::TasksError;
use crate::grid::kind;
use crate::json::{Document, read};
use crate::load::SourceFile;
use crate::task::TaskId;

/// The highest attempt number that is read. Attempts with a higher number are ignored, so that a
/// malformed file cannot make the reader allocate too much memory.
const MAX_ATTEMPT_NUMBER: usize = 1000;

/// The answers of one solver.
///
/// # Examples
///
/// ```
/// use rhae_tasks::{Answers, AttemptAnswer, SourceFile, Submission, SubmissionForm, TaskId};
///
/// let file = SourceFile {
///     name: "submission.json".to_owned(),
///     text: r#"{"aa": [{"attempt_1": [[1]], "attempt_2": null}]}"#.to_owned(),
/// };
/// let submission = Submission::read(&[file])?;
/// assert_eq!(submission.form, SubmissionForm::Kaggle);
/// let id: TaskId = "aa".parse()?;
/// let Answers::Tests(tests) = &submission.tasks[&id] else { panic!() };
/// assert_eq!(tests[0].attempts[0], AttemptAnswer::Json(serde_json::json!([[1]])));
/// assert_eq!(tests[0].attempts[1], AttemptAnswer::Empty);
/// # Ok::<(), rhae_tasks::TasksError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    pub form: SubmissionForm,
    pub tasks: BTreeMap<TaskId, Answers>,
    /// Tasks with more than one entry. The last entry is used, as in most JSON readers.
    pub duplicates: Vec<TaskId>,
    /// One message for each file or entry that was skipped.
    pub notes: Vec<String>,
}

/// The file format of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmissionForm {
    /// One file with all tasks: Kaggle's `submission.json`, or one text per task.
    Kaggle,
    /// The folder of the official harness with one file per task.
    Official,
}

/// The answers to one task.
#[derive(Clone, Debug, PartialEq)]
pub enum Answers {
    /// Separate answers to the tests, in file order.
    Tests(Vec<TestAnswers>),
    /// One text for all tests, as in the harness plan.
    WholeTask(String),
    /// An entry or a file that cannot be read, with the reason.
    Damaged(String),
}

/// The answers to one test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestAnswers {
    /// The attempts in the order of their numbers.
    pub attempts: Vec<AttemptAnswer>,
    /// The index of the test, from 0, if the file states it.
    pub pair_index: Option<usize>,
}

/// The answer of one attempt at a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum AttemptAnswer {
    /// No answer, or a placeholder for it (`null`, `[]`, `[[]]`, an empty text).
    #[default]
    Empty,
    /// A value that should be a grid.
    Json(Value),
    /// A text that should contain a grid.
    Text(String),
    /// An attempt that is known to have produced no grid. The value is the kind of the error.
    /// Examples are a failed request and an answer to a whole task with the wrong number of grids.
    Failed(&'static str),
}

impl Submission {
    /// Reads one file with all tasks, or the files of a folder with one file per task.
    ///
    /// # Errors
    ///
    /// Returns an error if the only file is not a submission or not valid JSON, or if no file
    /// contains answers.
    pub fn read(files: &[SourceFile]) -> Result<Self, TasksError> {
        let mut folder = Self {
            form: SubmissionForm::Official,
            tasks: BTreeMap::new(),
            duplicates: Vec::new(),
            notes: Vec::new(),
        };
        for file in files {
            let stem = file.name.rsplit('/').next().unwrap_or(&file.name);
            let stem = stem.strip_suffix(".json").unwrap_or(stem);
            match read(&file.name, &file.text) {
                Ok(Document::Object(entries)) if files.len() == 1 => {
                    return one_file(&file.name, entries);
                }
                Ok(Document::Object(_)) => folder.notes.push(format!(
                    "`{}` is not a list of answers and was left out",
                    file.name
                )),
                Ok(Document::Other(value)) => {
                    folder.add(TaskId::from_problem_id(stem)?, answers(&value));
                }
                Err(error) if files.len() == 1 => return Err(error),
                Err(error) => match TaskId::from_problem_id(stem) {
                    Ok(id) => folder.add(id, Answers::Damaged(error.to_string())),
                    Err(_) => folder.notes.push(error.to_string()),
                },
            }
        }
        if folder.tasks.is_empty() {
            let file = files
                .first()
                .map_or_else(String::new, |file| file.name.clone());
            return Err(TasksError::Submission {
                file,
                reason: "it contains no answers".to_owned(),
            });
        }
        Ok(folder)
    }

    fn add(&mut self, id: TaskId, answers: Answers) {
        if self.tasks.insert(id.clone(), answers).is_some() {
            self.duplicates.push(id);
        }
    }
}

fn one_file(name: &str, entries: Vec<(String, Value)>) -> Result<Submission, TasksError> {
    let invalid = |reason: String| TasksError::Submission {
        file: name.to_owned(),
        reason,
    };
    let is_answers = |value: &Value| value.is_array() || value.is_string() || value.is_null();
    match entries.first() {
        None => return Err(invalid("the object is empty".to_owned())),
        Some((key, value)) if !is_answers(value) => {
            return Err(invalid(format!(
                "expected lists of answers by task, found {} under `{}`",
                kind(value),
                crate::grid::short(key)
            )));
        }
        Some(_) => {}
    }
    let mut submission = Submission {
        form: SubmissionForm::Kaggle,
        tasks: BTreeMap::new(),
        duplicates: Vec::new(),
        notes: Vec::new(),
    };
    for (key, value) in entries {
        match TaskId::from_problem_id(&key) {
            Ok(id) => submission.add(id, answers(&value)),
            Err(error) => submission
                .notes
                .push(format!("an entry was left out: {error}")),
        }
    }
    Ok(submission)
}

fn answers(value: &Value) -> Answers {
    match value {
        Value::String(text) => Answers::WholeTask(text.clone()),
        Value::Null => Answers::Tests(Vec::new()),
        Value::Array(tests) => Answers::Tests(tests.iter().map(test_answers).collect()),
        other => Answers::Damaged(format!("expected a list of answers, found {}", kind(other))),
    }
}

/// Reads the attempts at one test. An attempt is a plain value or, in files of the official
/// harness, an object with an `answer`.
fn test_answers(value: &Value) -> TestAnswers {
    let Value::Object(fields) = value else {
        return TestAnswers {
            attempts: vec![attempt_answer(value)],
            pair_index: None,
        };
    };
    let mut test = TestAnswers::default();
    for (key, value) in fields {
        let number = key
            .strip_prefix("attempt_")
            .and_then(|number| number.parse::<usize>().ok());
        let Some(number @ 1..=MAX_ATTEMPT_NUMBER) = number else {
            continue;
        };
        if test.attempts.len() < number {
            test.attempts.resize(number, AttemptAnswer::Empty);
        }
        let wrapped = value.as_object().and_then(|attempt| attempt.get("answer"));
        test.attempts[number - 1] = attempt_answer(wrapped.unwrap_or(value));
        let index = value
            .pointer("/metadata/pair_index")
            .and_then(Value::as_u64);
        test.pair_index = test
            .pair_index
            .or(index.and_then(|index| usize::try_from(index).ok()));
    }
    test
}

fn attempt_answer(value: &Value) -> AttemptAnswer {
    match value {
        Value::Null => AttemptAnswer::Empty,
        Value::Array(rows)
            if rows
                .iter()
                .all(|row| row.as_array().is_some_and(Vec::is_empty)) =>
        {
            AttemptAnswer::Empty
        }
        Value::String(text) if text.trim().is_empty() => AttemptAnswer::Empty,
        Value::String(text) => AttemptAnswer::Text(text.clone()),
        other => AttemptAnswer::Json(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> SourceFile {
        SourceFile {
            name: name.to_owned(),
            text: text.to_owned(),
        }
    }

    fn tests(submission: &Submission, id: &str) -> Vec<TestAnswers> {
        match &submission.tasks[&id.parse::<TaskId>().unwrap()] {
            Answers::Tests(tests) => tests.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn attempts_are_ordered_by_number() {
        let text = r#"{"aa":[{"attempt_10":[[3]],"attempt_2":[[2]],"attempt_1":[[1]],"note":5}]}"#;
        let submission = Submission::read(&[file("s.json", text)]).unwrap();
        let attempts = &tests(&submission, "aa")[0].attempts;
        assert_eq!(attempts.len(), 10);
        assert_eq!(attempts[1], AttemptAnswer::Json(serde_json::json!([[2]])));
        assert_eq!(attempts[5], AttemptAnswer::Empty);
        assert_eq!(attempts[9], AttemptAnswer::Json(serde_json::json!([[3]])));
    }

    #[test]
    fn folder_keeps_damaged_files_and_leaves_out_unrelated_ones() {
        let good =
            r#"[{"attempt_1":{"answer":[[1]],"metadata":{"pair_index":0}},"attempt_2":null}]"#;
        let files = [
            file("d/aa.json", good),
            file("d/bb.json", "[{"),
            file("d/results.json", r#"{"score":1}"#),
        ];
        let submission = Submission::read(&files).unwrap();
        assert_eq!(submission.form, SubmissionForm::Official);
        assert_eq!(tests(&submission, "aa")[0].pair_index, Some(0));
        assert!(
            matches!(&submission.tasks[&"bb".parse::<TaskId>().unwrap()], Answers::Damaged(reason) if reason.contains("cut off"))
        );
        assert_eq!(submission.notes.len(), 1);
    }

    #[test]
    fn duplicate_tasks_are_recorded_and_unrelated_files_rejected() {
        let duplicate =
            Submission::read(&[file("s.json", r#"{"aa":[],"aa":[{"attempt_1":[[1]]}]}"#)]).unwrap();
        assert_eq!(duplicate.duplicates.len(), 1);
        assert_eq!(tests(&duplicate, "aa").len(), 1);
        for text in ["{}", r#"{"aa":{"train":[]}}"#, "[{", "{"] {
            assert!(Submission::read(&[file("s.json", text)]).is_err(), "{text}");
        }
        let whole = Submission::read(&[file("s.json", r#"{"arc-aa":"[[1]]"}"#)]).unwrap();
        assert_eq!(
            whole.tasks[&"aa".parse::<TaskId>().unwrap()],
            Answers::WholeTask("[[1]]".to_owned())
        );
    }
}

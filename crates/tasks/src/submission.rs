//! Submissions: who answered what, as files hold it.
//!
//! Reading judges nothing: what is doubled, missing or damaged is kept as it is found, and scoring says what it means. Only a
//! file that is no submission at all is an error.

mod write;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::TasksError;
use crate::grid::kind;
use crate::json::{Top, read};
use crate::load::SourceFile;
use crate::task::TaskId;

/// An attempt beyond this number is a mistake in the file.
const HIGHEST_ATTEMPT: usize = 1000;

/// The answers of one solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// Which form it was read from.
    pub form: SubmissionForm,
    /// The answers to each task.
    pub tasks: BTreeMap<TaskId, Answers>,
    /// Tasks that the file has twice; the last entry counts, as it does for every JSON reader that keeps one.
    pub doubled: Vec<TaskId>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// How a submission is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmissionForm {
    /// One file with all tasks: Kaggle's `submission.json`, or a text for each whole task.
    Kaggle,
    /// The official harness's folder with a file for each task.
    Official,
}

/// The answers to one task.
#[derive(Clone, Debug, PartialEq)]
pub enum Answers {
    /// Answers test by test, in the file's order.
    Tests(Vec<TestAnswers>),
    /// One text for all tests, as in the harness plan.
    Whole(String),
    /// A file or an entry that cannot be read, with the reason.
    Damaged(String),
}

/// The answers to one test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestAnswers {
    /// The attempts in order of their numbers.
    pub attempts: Vec<Reply>,
    /// Which test the file says this is, from 0.
    pub pair_index: Option<usize>,
}

/// One attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reply {
    /// Nothing, or one of the placeholders for nothing (`null`, `[]`, `[[]]`).
    #[default]
    Nothing,
    /// A value that should be a grid.
    Json(Value),
    /// A text that a grid is to be found in.
    Text(String),
    /// Known to be without a grid, with the kind of fault: a request that failed, a whole task's answer of another number of grids.
    Failed(&'static str),
}

impl Submission {
    /// Reads one file with all tasks, or the files of a folder.
    pub fn read(files: &[SourceFile]) -> Result<Self, TasksError> {
        let mut folder = Self {
            form: SubmissionForm::Official,
            tasks: BTreeMap::new(),
            doubled: Vec::new(),
            notes: Vec::new(),
        };
        for file in files {
            let stem = file.name.rsplit('/').next().unwrap_or(&file.name);
            let stem = stem.strip_suffix(".json").unwrap_or(stem);
            match read(&file.name, &file.text) {
                Ok(Top::Object(entries)) if files.len() == 1 => {
                    return one_file(&file.name, entries);
                }
                Ok(Top::Object(_)) => folder.notes.push(format!(
                    "`{}` is not a list of answers and was left out",
                    file.name
                )),
                Ok(Top::Other(value)) => folder.add(TaskId::from_problem(stem)?, answers(&value)),
                Err(error) if files.len() == 1 => return Err(error),
                Err(error) => match TaskId::from_problem(stem) {
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
                reason: "there are no answers in it".to_owned(),
            });
        }
        Ok(folder)
    }

    fn add(&mut self, id: TaskId, answers: Answers) {
        if self.tasks.insert(id.clone(), answers).is_some() {
            self.doubled.push(id);
        }
    }
}

fn one_file(name: &str, entries: Vec<(String, Value)>) -> Result<Submission, TasksError> {
    let not = |reason: String| TasksError::Submission {
        file: name.to_owned(),
        reason,
    };
    let like_answers = |value: &Value| value.is_array() || value.is_string() || value.is_null();
    match entries.first() {
        None => return Err(not("the object is empty".to_owned())),
        Some((key, value)) if !like_answers(value) => {
            return Err(not(format!(
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
        doubled: Vec::new(),
        notes: Vec::new(),
    };
    for (key, value) in entries {
        match TaskId::from_problem(&key) {
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
        Value::String(text) => Answers::Whole(text.clone()),
        Value::Null => Answers::Tests(Vec::new()),
        Value::Array(tests) => Answers::Tests(tests.iter().map(test_answers).collect()),
        other => Answers::Damaged(format!("expected a list of answers, found {}", kind(other))),
    }
}

/// One test's attempts, either as values or, as the official harness writes them, as objects with an `answer`.
fn test_answers(value: &Value) -> TestAnswers {
    let Value::Object(fields) = value else {
        return TestAnswers {
            attempts: vec![reply(value)],
            pair_index: None,
        };
    };
    let mut test = TestAnswers::default();
    for (key, value) in fields {
        let number = key
            .strip_prefix("attempt_")
            .and_then(|number| number.parse::<usize>().ok());
        let Some(number @ 1..=HIGHEST_ATTEMPT) = number else {
            continue;
        };
        if test.attempts.len() < number {
            test.attempts.resize(number, Reply::Nothing);
        }
        let wrapped = value.as_object().and_then(|attempt| attempt.get("answer"));
        test.attempts[number - 1] = reply(wrapped.unwrap_or(value));
        let index = value
            .pointer("/metadata/pair_index")
            .and_then(Value::as_u64);
        test.pair_index = test
            .pair_index
            .or(index.and_then(|index| usize::try_from(index).ok()));
    }
    test
}

fn reply(value: &Value) -> Reply {
    match value {
        Value::Null => Reply::Nothing,
        Value::Array(rows)
            if rows
                .iter()
                .all(|row| row.as_array().is_some_and(Vec::is_empty)) =>
        {
            Reply::Nothing
        }
        Value::String(text) if text.trim().is_empty() => Reply::Nothing,
        Value::String(text) => Reply::Text(text.clone()),
        other => Reply::Json(other.clone()),
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
    fn attempts_are_in_the_order_of_their_numbers() {
        let text = r#"{"aa":[{"attempt_10":[[3]],"attempt_2":[[2]],"attempt_1":[[1]],"note":5}]}"#;
        let submission = Submission::read(&[file("s.json", text)]).unwrap();
        let attempts = &tests(&submission, "aa")[0].attempts;
        assert_eq!(attempts.len(), 10);
        assert_eq!(attempts[1], Reply::Json(serde_json::json!([[2]])));
        assert_eq!(attempts[5], Reply::Nothing);
        assert_eq!(attempts[9], Reply::Json(serde_json::json!([[3]])));
    }

    #[test]
    fn a_folder_keeps_damaged_files_and_leaves_others_out() {
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
    fn doubled_tasks_are_noticed_and_other_files_refused() {
        let doubled =
            Submission::read(&[file("s.json", r#"{"aa":[],"aa":[{"attempt_1":[[1]]}]}"#)]).unwrap();
        assert_eq!(doubled.doubled.len(), 1);
        assert_eq!(tests(&doubled, "aa").len(), 1);
        for text in ["{}", r#"{"aa":{"train":[]}}"#, "[{", "{"] {
            assert!(Submission::read(&[file("s.json", text)]).is_err(), "{text}");
        }
        let whole = Submission::read(&[file("s.json", r#"{"arc-aa":"[[1]]"}"#)]).unwrap();
        assert_eq!(
            whole.tasks[&"aa".parse::<TaskId>().unwrap()],
            Answers::Whole("[[1]]".to_owned())
        );
    }
}

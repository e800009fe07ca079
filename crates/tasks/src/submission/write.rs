//! Writes submissions in the formats of Kaggle and of the official harness.

use serde_json::{Map, Value, json};

use super::{Answers, AttemptAnswer, Submission};
use crate::answer::{Parser, parse, parse_whole_task};
use crate::error::TasksError;
use crate::grid::Grid;
use crate::score::{Rules, align};
use crate::set::TaskSet;
use crate::task::{Task, TaskId};

/// The grids of all attempts, by test.
type Attempts = Vec<Vec<Option<Grid>>>;

impl Submission {
    /// Converts the submission to Kaggle's `submission.json`.
    ///
    /// The result contains every test of the set with `rules.attempts` attempts. Kaggle rejects
    /// incomplete submissions, so missing grids become `[[0,0],[0,0]]`, as in its sample
    /// submission.
    pub fn to_kaggle(&self, set: &TaskSet, rules: Rules) -> Value {
        let task = |(id, grids): (TaskId, Attempts)| {
            let tests = grids.iter().map(|attempts| {
                let entry = |(index, grid): (usize, &Option<Grid>)| {
                    (
                        format!("attempt_{}", index + 1),
                        grid.as_ref()
                            .map_or_else(|| json!([[0, 0], [0, 0]]), Grid::to_json),
                    )
                };
                Value::Object(
                    attempts
                        .iter()
                        .enumerate()
                        .map(entry)
                        .collect::<Map<_, _>>(),
                )
            });
            (id.to_string(), tests.collect::<Value>())
        };
        Value::Object(self.grids(set, rules).into_iter().map(task).collect())
    }

    /// Converts the submission to the files of the official harness, one for each task of the set.
    ///
    /// A file is a list with one element for each test. A missing attempt is `null`, and the field
    /// `correct` is omitted if the solution is not known.
    ///
    /// # Errors
    ///
    /// Returns [`TasksError::NoSuchTask`] if a task is not in the set. This cannot happen at
    /// present, because only tasks of `set` are converted.
    pub fn to_official(
        &self,
        set: &TaskSet,
        rules: Rules,
    ) -> Result<Vec<(TaskId, Value)>, TasksError> {
        let mut files = Vec::new();
        for (id, grids) in self.grids(set, rules) {
            let task = set.task(&id)?;
            let tests =
                grids
                    .iter()
                    .zip(&task.test)
                    .enumerate()
                    .map(|(index, (attempts, test))| {
                        let entry = |(number, grid): (usize, &Option<Grid>)| {
                            let value = grid.as_ref().map(|grid| {
                                let mut attempt = Map::new();
                                attempt.insert("answer".to_owned(), grid.to_json());
                                attempt.insert(
                                    "metadata".to_owned(),
                                    json!({"task_id": id.as_str(), "pair_index": index}),
                                );
                                if let Some(solution) = &test.output {
                                    attempt.insert(
                                        "correct".to_owned(),
                                        Value::from(grid == solution),
                                    );
                                }
                                Value::Object(attempt)
                            });
                            (format!("attempt_{}", number + 1), value.unwrap_or_default())
                        };
                        Value::Object(
                            attempts
                                .iter()
                                .enumerate()
                                .map(entry)
                                .collect::<Map<_, _>>(),
                        )
                    });
            let list = tests.collect::<Value>();
            files.push((id, list));
        }
        Ok(files)
    }

    /// Returns the grids of the first `rules.attempts` attempts at every test of the set.
    fn grids(&self, set: &TaskSet, rules: Rules) -> Vec<(TaskId, Attempts)> {
        let task = |(id, task): (&TaskId, &Task)| {
            let tests = task.test.len();
            let mut grids = vec![vec![None; rules.attempts]; tests];
            match self.tasks.get(id) {
                Some(Answers::Tests(answers)) => {
                    for (slots, answers) in grids.iter_mut().zip(align(answers, tests).slots) {
                        for (slot, reply) in slots
                            .iter_mut()
                            .zip(answers.into_iter().flat_map(|answers| &answers.attempts))
                        {
                            *slot = grid(reply, rules.parser);
                        }
                    }
                }
                Some(Answers::WholeTask(text)) => {
                    if let Ok(answer) = parse_whole_task(rules.parser, text, tests) {
                        for (slots, grid) in grids.iter_mut().zip(answer.grids) {
                            if let Some(first) = slots.first_mut() {
                                *first = Some(grid);
                            }
                        }
                    }
                }
                Some(Answers::Damaged(_)) | None => {}
            }
            (id.clone(), grids)
        };
        set.tasks.iter().map(task).collect()
    }
}

fn grid(reply: &AttemptAnswer, parser: Parser) -> Option<Grid> {
    match reply {
        AttemptAnswer::Empty | AttemptAnswer::Failed(_) => None,
        AttemptAnswer::Json(value) => Grid::from_json(value, parser.cells()).ok(),
        AttemptAnswer::Text(text) => parse(parser, text)
            .ok()
            .and_then(|answer| answer.grids.into_iter().next()),
    }
}

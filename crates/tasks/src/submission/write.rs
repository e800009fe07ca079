//! Submissions as Kaggle and the official harness want them.

use serde_json::{Map, Value, json};

use super::{Answers, Reply, Submission};
use crate::answer::{Parser, parse, parse_whole};
use crate::error::TasksError;
use crate::grid::Grid;
use crate::score::{Rules, aligned};
use crate::set::TaskSet;
use crate::task::{Task, TaskId};

/// For each test the grid of each attempt.
type Attempts = Vec<Vec<Option<Grid>>>;

impl Submission {
    /// Kaggle's `submission.json`: every task of the set, every test, and as many attempts as the rules allow. What is missing is
    /// `[[0,0],[0,0]]`, as in Kaggle's sample, because a submission without it is refused.
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

    /// The official harness's files, by task: a list with an element for each test, each attempt with its answer, `null` where there is
    /// none. `correct` is left out where the solution is not known.
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

    /// The grids of every attempt that counts, for every test of every task of the set.
    fn grids(&self, set: &TaskSet, rules: Rules) -> Vec<(TaskId, Attempts)> {
        let task = |(id, task): (&TaskId, &Task)| {
            let tests = task.test.len();
            let mut grids = vec![vec![None; rules.attempts]; tests];
            match self.tasks.get(id) {
                Some(Answers::Tests(answers)) => {
                    for (slots, answers) in grids.iter_mut().zip(aligned(answers, tests).slots) {
                        for (slot, reply) in slots
                            .iter_mut()
                            .zip(answers.into_iter().flat_map(|answers| &answers.attempts))
                        {
                            *slot = grid(reply, rules.parser);
                        }
                    }
                }
                Some(Answers::Whole(text)) => {
                    if let Ok(answer) = parse_whole(rules.parser, text, tests) {
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

fn grid(reply: &Reply, parser: Parser) -> Option<Grid> {
    match reply {
        Reply::Nothing | Reply::Failed(_) => None,
        Reply::Json(value) => Grid::from_json(value, parser.cells()).ok(),
        Reply::Text(text) => parse(parser, text)
            .ok()
            .and_then(|answer| answer.grids.into_iter().next()),
    }
}

//! The HTML report of an evaluation on static tasks: scores, costs, and pictures of every task with
//! its attempts.
//!
//! Invariant: notices that qualify the score (an unfinished run, failed requests) are directly
//! below it. Texts written by models are untrusted, so they are escaped.
//!
//! Every task is collapsed at first, so that a page with many tasks opens quickly.

mod task;

use askama::Template;
use rhae_tasks::{Grid, Measure, Score, Task, TaskId};

use self::task::TaskView;
use crate::html::{Fact, render};
use crate::picture::PictureError;
use crate::score_plot::{CostUnit, score_plot};

/// The maximum number of warnings that are shown for a set.
const MAX_WARNINGS: usize = 20;

/// The content of the report of an evaluation.
#[derive(Clone, Debug)]
pub struct ArcReport {
    /// The name of the solver.
    pub solver: String,
    /// Sentences that qualify the score.
    pub notices: Vec<String>,
    /// Names and values of facts about the run.
    pub facts: Vec<(String, String)>,
    pub sets: Vec<ArcSet>,
    /// The mean of the headline scores, if there are several sets.
    pub average: Option<f64>,
    /// Whether costs are in US dollars. Otherwise they are in seconds.
    pub costs_money: bool,
    pub tasks: Vec<ArcTask>,
}

/// A task set of the report.
#[derive(Clone, Debug)]
pub struct ArcSet {
    pub name: String,
    pub revision: String,
    /// The score, if solutions are known.
    pub score: Option<Score>,
}

/// A task with the attempts at it.
#[derive(Clone, Debug)]
pub struct ArcTask {
    /// The name of the set.
    pub set: String,
    pub id: TaskId,
    /// The task, with solutions if they are known.
    pub task: Task,
    /// The indices of the evaluated tests, from 0.
    pub tests: Vec<usize>,
    /// The share of solved tests, if solutions are known.
    pub score: Option<f64>,
    /// The cost in US dollars or seconds, see [`ArcReport::costs_money`].
    pub cost: f64,
    pub attempts: Vec<ArcAttempt>,
}

/// An attempt at a test.
#[derive(Clone, Debug)]
pub struct ArcAttempt {
    /// The index of the test, from 0.
    pub test: usize,
    /// The number of the attempt, from 1.
    pub attempt: usize,
    /// The grid, or the kind of failure and its message.
    pub grid: Result<Grid, (String, String)>,
    /// How the parser or the solver found the grid.
    pub how: Option<String>,
    /// The text of the answer.
    pub text: Option<String>,
    /// The reasoning of the model.
    pub reasoning: Option<String>,
    /// A description of the time, tokens and cost of the request.
    pub spent: String,
}

/// Returns the report as a self-contained HTML page.
///
/// # Errors
///
/// Returns a [`PictureError`] if the picture of a grid cannot be encoded.
pub fn arc_page(report: &ArcReport) -> Result<String, PictureError> {
    let count = |wanted: fn(f64) -> bool| {
        let scores = report.tasks.iter().filter_map(|task| task.score);
        scores.filter(|&score| wanted(score)).count()
    };
    let tasks = report.tasks.iter().map(|task| TaskView::new(task, report));
    Ok(render(&Page {
        report,
        percent: main_number(report).map(|number| 100.0 * number),
        facts: facts(report),
        plot: cost_plot(report),
        solved: count(|score| score >= 1.0),
        partly: count(|score| score > 0.0 && score < 1.0),
        tasks: tasks.collect::<Result<_, _>>()?,
    }))
}

#[derive(Template)]
#[template(path = "arc.html")]
struct Page<'a> {
    report: &'a ArcReport,
    /// The headline score, from 0 to 100.
    percent: Option<f64>,
    facts: Vec<Fact<'a>>,
    /// SVG.
    plot: Option<String>,
    /// The number of solved tasks.
    solved: usize,
    /// The number of tasks of which some tests are solved.
    partly: usize,
    tasks: Vec<TaskView<'a>>,
}

impl Page<'_> {
    /// Formats a share as a percentage.
    fn percent(&self, share: &f64) -> String {
        format!("{:.1}", 100.0 * share)
    }
}

/// Returns the headline score, from 0 to 1.
fn main_number(report: &ArcReport) -> Option<f64> {
    report.average.or_else(|| {
        report
            .sets
            .first()
            .and_then(|set| set.score.as_ref())
            .map(|score| score.mean_task_score.value)
    })
}

fn facts(report: &ArcReport) -> Vec<Fact<'_>> {
    let facts = report.facts.iter();
    facts
        .map(|(name, value)| Fact {
            name,
            value: value.clone(),
            is_line: value.chars().count() > 40,
            is_code: false,
        })
        .collect()
}

/// Lists the measures of a score with their names.
fn measures(score: &Score) -> [(&'static str, Measure); 4] {
    [
        ("Mean task score", score.mean_task_score),
        ("Tasks solved", score.tasks_solved),
        ("Test inputs solved", score.test_inputs_solved),
        ("First attempt alone", score.pass_at_1),
    ]
}

fn cost_plot(report: &ArcReport) -> Option<String> {
    let points: Vec<(f64, f64)> = report
        .tasks
        .iter()
        .filter_map(|task| Some((task.cost, task.score?)))
        .collect();
    let unit = if report.costs_money {
        CostUnit::UsDollars
    } else {
        CostUnit::Seconds
    };
    score_plot(&points, unit)
}

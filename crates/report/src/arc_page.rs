//! The HTML report of an evaluation on static tasks: scores, costs, and pictures of every task with
//! its attempts.
//!
//! Invariant: notices that qualify the score (an unfinished run, failed requests) are directly
//! below it. Texts written by models are untrusted, so they are escaped.
//!
//! Every task is collapsed at first, so that a page with many tasks opens quickly.

mod task;

use std::fmt::Write as _;

use rhae_tasks::{Grid, Measure, Score, Task, TaskId};

use crate::html::{Escaped, page};
use crate::picture::PictureError;
use crate::score_plot::{CostUnit, score_plot};

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
    let mut body = String::from("<main>\n");
    headline(&mut body, report);
    for notice in &report.notices {
        let _ = writeln!(body, "<p class=\"notice\">{}</p>", Escaped(notice));
    }
    for set in &report.sets {
        scores(&mut body, set, report.sets.len());
    }
    against_cost(&mut body, report);
    task::tasks(&mut body, report)?;
    body.push_str("</main>");
    let title = main_number(report)
        .map_or_else(String::new, |number| format!(" · {:.2} %", 100.0 * number));
    Ok(page(&format!("{}{title}", report.solver), "arc", &body))
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

fn headline(body: &mut String, report: &ArcReport) {
    let number = main_number(report).map_or_else(
        || "–".to_owned(),
        |number| format!("{:.2}<small> %</small>", 100.0 * number),
    );
    let _ = writeln!(
        body,
        "<header>\n<div class=\"score\">\n<h1>{}</h1>\n<p class=\"number\">{number}</p>",
        Escaped(&report.solver)
    );
    let only = report.sets.first().filter(|_| report.sets.len() == 1);
    match only.map(|set| set.score.as_ref()) {
        Some(Some(score)) => {
            let interval = score.mean_task_score.interval;
            let _ = writeln!(
                body,
                "<p class=\"interval\">{:.1} – {:.1} <span class=\"quiet\">95 % interval of the mean task score</span></p>",
                100.0 * interval.low,
                100.0 * interval.high
            );
        }
        Some(None) => body.push_str(
            "<p class=\"quiet\">The solutions are not known, so the attempts are not scored.</p>\n",
        ),
        None => {
            let _ = writeln!(
                body,
                "<p class=\"quiet\">Average of {} sets</p>",
                report.sets.len()
            );
        }
    }
    body.push_str("</div>\n<dl class=\"facts\">\n");
    for (name, value) in &report.facts {
        let class = if value.chars().count() > 40 {
            " class=\"line\""
        } else {
            ""
        };
        let _ = writeln!(
            body,
            "<div{class}><dt>{}</dt><dd>{}</dd></div>",
            Escaped(name),
            Escaped(value)
        );
    }
    body.push_str("</dl>\n</header>\n");
}

fn scores(body: &mut String, set: &ArcSet, sets: usize) {
    let Some(score) = &set.score else { return };
    let name = if sets > 1 {
        format!(" <small>{}</small>", Escaped(&set.name))
    } else {
        String::new()
    };
    let _ = writeln!(
        body,
        "<section>\n<h2>Scores{name}</h2>\n<div class=\"wide\"><table class=\"measures\">\n<thead><tr><th></th><th class=\"num\">%</th>\
         <th class=\"num\">Count</th><th>95 % interval</th><th class=\"bar\"></th></tr></thead>\n<tbody>"
    );
    for (name, measure) in [
        ("Mean task score", score.mean_task_score),
        ("Tasks solved", score.tasks_solved),
        ("Test inputs solved", score.test_inputs_solved),
        ("First attempt alone", score.pass_at_1),
    ] {
        let Measure {
            value,
            count,
            of,
            interval,
        } = measure;
        let count = count.map_or_else(String::new, |count| {
            format!("{count}<span class=\"quiet\"> / {of}</span>")
        });
        let (value, low, high) = (100.0 * value, 100.0 * interval.low, 100.0 * interval.high);
        let _ = writeln!(
            body,
            "<tr><td>{name}</td><td class=\"num\">{value:.2}</td><td class=\"num\">{count}</td><td>{low:.1} – {high:.1}</td>\
             <td class=\"bar\"><svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path class=\"axis\" d=\"M0 5H100\"/>\
             <rect x=\"{low:.2}\" y=\"2.5\" width=\"{:.2}\" height=\"5\"/><path class=\"at\" d=\"M{value:.2} 0V10\"/></svg></td></tr>",
            high - low
        );
    }
    body.push_str("</tbody>\n</table></div>\n");
    if !score.failures.is_empty() {
        body.push_str("<h3>Why tests were not solved</h3>\n<ul class=\"reasons\">\n");
        for failure in &score.failures {
            let _ = writeln!(
                body,
                "<li><span>{}</span> {} <span class=\"quiet\">{:.1} %</span></li>",
                Escaped(failure.reason),
                failure.count,
                100.0 * failure.share
            );
        }
        body.push_str("</ul>\n");
    }
    for warning in score.warnings.iter().take(20) {
        let task = warning
            .task
            .as_ref()
            .map_or_else(String::new, |task| format!("{task}: "));
        let _ = writeln!(
            body,
            "<p class=\"quiet note\">{}{}</p>",
            Escaped(&task),
            Escaped(&warning.message)
        );
    }
    body.push_str("</section>\n");
}

fn against_cost(body: &mut String, report: &ArcReport) {
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
    if let Some(plot) = score_plot(&points, unit) {
        let cost = if report.costs_money {
            "the money spent on a task"
        } else {
            "the time spent on a task"
        };
        let _ = writeln!(
            body,
            "<section>\n<h2>Score against cost <small>by {cost}</small></h2>\n<figure class=\"wide\">{plot}</figure>\n</section>"
        );
    }
}

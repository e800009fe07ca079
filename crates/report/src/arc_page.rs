//! The report of an evaluation on static tasks: scores, costs, and every task with its attempts as pictures.
//!
//! Invariant: what limits the score (an unfinished run, requests that failed) stands directly under it. Texts of models are hostile.
//!
//! Tasks are folded, so that the page opens at once however many there are.

mod task;

use std::fmt::Write as _;

use rhae_tasks::{Grid, Measure, Score, Task, TaskId};

use crate::html::{Text, page};
use crate::picture::PictureError;
use crate::score_plot::{CostOf, score_plot};

/// All that the report is made from.
#[derive(Clone, Debug)]
pub struct ArcReport {
    /// Who answered.
    pub solver: String,
    /// What limits the score, each in a sentence.
    pub notices: Vec<String>,
    /// Names and values of what is known about the run.
    pub facts: Vec<(String, String)>,
    /// The sets.
    pub sets: Vec<ArcSet>,
    /// The mean of the sets' headlines, where there are several.
    pub average: Option<f64>,
    /// Whether costs are money; otherwise they are seconds.
    pub costs_money: bool,
    /// The tasks, in order.
    pub tasks: Vec<ArcTask>,
}

/// A set's part.
#[derive(Clone, Debug)]
pub struct ArcSet {
    /// Its name.
    pub name: String,
    /// Its revision.
    pub revision: String,
    /// Its score, where solutions are known.
    pub score: Option<Score>,
}

/// A task with the attempts at it.
#[derive(Clone, Debug)]
pub struct ArcTask {
    /// The set's name.
    pub set: String,
    /// Its id.
    pub id: TaskId,
    /// The task, with solutions where they are known.
    pub task: Task,
    /// The tests that counted, from 0.
    pub tests: Vec<usize>,
    /// The share of tests solved, where that is known.
    pub score: Option<f64>,
    /// What it cost: US dollars or seconds.
    pub cost: f64,
    /// The attempts.
    pub attempts: Vec<ArcAttempt>,
}

/// An attempt at a test.
#[derive(Clone, Debug)]
pub struct ArcAttempt {
    /// The test, from 0.
    pub test: usize,
    /// The attempt, from 1.
    pub attempt: usize,
    /// The grid, or the kind of fault and what is known about it.
    pub grid: Result<Grid, (String, String)>,
    /// How the grid was found.
    pub how: Option<String>,
    /// The answer's text.
    pub text: Option<String>,
    /// The thoughts that came with it.
    pub reasoning: Option<String>,
    /// Time, tokens and money of its request, in words.
    pub spent: String,
}

/// The report as a self-contained HTML page.
pub fn arc_page(report: &ArcReport) -> Result<String, PictureError> {
    let mut body = String::from("<main>\n");
    headline(&mut body, report);
    for notice in &report.notices {
        let _ = writeln!(body, "<p class=\"notice\">{}</p>", Text(notice));
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

/// The headline, from 0 to 1.
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
        Text(&report.solver)
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
        Some(None) => {
            body.push_str("<p class=\"quiet\">Solutions are not known, so nothing is scored.</p>\n")
        }
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
            Text(name),
            Text(value)
        );
    }
    body.push_str("</dl>\n</header>\n");
}

fn scores(body: &mut String, set: &ArcSet, sets: usize) {
    let Some(score) = &set.score else { return };
    let name = if sets > 1 {
        format!(" <small>{}</small>", Text(&set.name))
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
                Text(failure.reason),
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
            Text(&task),
            Text(&warning.message)
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
    let of = if report.costs_money {
        CostOf::Money
    } else {
        CostOf::Time
    };
    if let Some(plot) = score_plot(&points, of) {
        let what = if report.costs_money {
            "the money spent on a task"
        } else {
            "the time spent on a task"
        };
        let _ = writeln!(
            body,
            "<section>\n<h2>Score against cost <small>by {what}</small></h2>\n<figure class=\"wide\">{plot}</figure>\n</section>"
        );
    }
}

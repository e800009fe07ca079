//! The HTML report of a run: score, tables, plots, and a player for every recording.
//!
//! Invariant: notices that qualify the score (provisional baselines, an unfinished run, failed
//! plays) are directly below it.
//!
//! A page with many recordings opens quickly, because a recording is decoded only when its player
//! is opened.

mod play;

use askama::Template;
use rhae_protocol::{Ending, ModelUsage, RunConfig, RunSummary, Scorecard};

use crate::html::{Fact, render};
use crate::result::{Row, count, dollars, rows, tally, total, usage_text};
use crate::table::PROVISIONAL_BASELINES_NOTE;
use crate::{Film, actions_plot, completion_plot};
use play::{Failure, LevelTable, Recording};

/// The content of the report of a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    pub config: RunConfig,
    pub summary: RunSummary,
    /// One card for each repeat, in order.
    pub cards: Vec<Scorecard>,
    /// The replayed recordings.
    pub films: Vec<PlayFilm>,
}

/// A replayed recording of the run.
#[derive(Clone, Debug)]
pub struct PlayFilm {
    /// The repeat to which the play belongs, from 1.
    pub repeat: u32,
    /// The id of the environment with its version.
    pub game_id: String,
    /// Why the play ended, if it did.
    pub ending: Option<Ending>,
    /// The error of the agent, if it failed.
    pub message: Option<String>,
    pub film: Film,
}

/// Returns the report as a self-contained HTML page.
pub fn run_page(report: &RunReport) -> String {
    let RunReport { summary, cards, .. } = report;
    let failures = play::failures(report);
    let failed = usize::try_from(summary.failed_plays).unwrap_or(0);
    let rows = rows(cards, summary);
    let spent = summary.environments.iter().map(|one| one.spent.as_ref());
    let all = Row {
        score: summary.score,
        ..total(&rows)
    };
    render(&Page {
        summary,
        repeats: cards.len(),
        half_width: summary.score_half_width.filter(|_| cards.len() > 1),
        facts: facts(report),
        failed: failed.max(failures.len()),
        failures,
        rows: rows
            .iter()
            .zip(spent)
            .map(|(row, spent)| EnvironmentRow::new(row, report, spent))
            .collect(),
        total: EnvironmentRow::new(&all, report, summary.spent.as_ref()),
        completion: completion_plot(cards),
        actions: actions_plot(cards),
        levels: play::levels(report),
        recordings: play::recordings(report),
    })
}

#[derive(Template)]
#[template(path = "run.html")]
struct Page<'a> {
    summary: &'a RunSummary,
    /// The number of cards.
    repeats: usize,
    /// Half the width of the score's interval, if there are several cards.
    half_width: Option<f64>,
    facts: Vec<Fact<'static>>,
    failures: Vec<Failure<'a>>,
    /// The number of failed plays, including those without a known reason.
    failed: usize,
    rows: Vec<EnvironmentRow>,
    total: EnvironmentRow,
    /// SVG.
    completion: String,
    /// SVG.
    actions: String,
    levels: Vec<LevelTable<'a>>,
    recordings: Vec<Recording<'a>>,
}

impl Page<'_> {
    /// The note about provisional baselines in parts: its first words, text, and a word of code
    /// between back-ticks.
    fn provisional_note(&self) -> Vec<(usize, &'static str)> {
        let (first, rest) = PROVISIONAL_BASELINES_NOTE
            .split_once(':')
            .expect("the note contains a colon");
        let mut parts = vec![(0, first), (1, ":")];
        let rest = rest.split('`').enumerate();
        parts.extend(rest.map(|(index, part)| (1 + index % 2, part)));
        parts
    }
}

/// One environment over all cards, or all of them.
struct EnvironmentRow {
    name: String,
    score: f64,
    levels_completed: String,
    levels: u32,
    actions: String,
    baseline: String,
    /// The cost, if a model played in this run. Costs are sums over the repeats, not means.
    cost: Option<String>,
    endings: String,
}

impl EnvironmentRow {
    fn new(row: &Row, report: &RunReport, spent: Option<&ModelUsage>) -> Self {
        let cards = report.cards.len();
        let dash = || "–".to_owned();
        let cost = || spent.map_or_else(dash, dollars);
        Self {
            name: row.name.clone(),
            score: row.score,
            levels_completed: count(row.levels_completed, cards),
            levels: row.levels,
            actions: count(row.actions, cards),
            baseline: row.baseline.map_or_else(dash, |mean| count(mean, cards)),
            cost: report.summary.spent.is_some().then(cost),
            endings: tally(&row.endings),
        }
    }
}

fn facts(report: &RunReport) -> Vec<Fact<'static>> {
    let RunReport {
        config, summary, ..
    } = report;
    let fact = |name, value| Fact {
        name,
        value,
        is_line: matches!(name, "Run" | "Command" | "Spent"),
        is_code: name == "Command",
    };
    let mut facts = vec![
        fact("Method", summary.method.clone()),
        fact("Environments", summary.environments.len().to_string()),
        fact("Repeats", config.repeat.to_string()),
        fact("Budget", budget(&summary.budget)),
        fact("Agent seed", summary.seed.to_string()),
        fact("Environment seed", config.env_seed.to_string()),
        fact("Duration", duration(summary.seconds)),
        fact("Software", summary.software.clone()),
        fact("Run", summary.run_id.clone()),
    ];
    facts.extend(
        summary
            .spent
            .iter()
            .map(|spent| fact("Spent", usage_text(spent))),
    );
    facts.extend(
        config
            .agent_cmd
            .iter()
            .map(|command| fact("Command", command.clone())),
    );
    facts
}

/// Describes a budget: `5x` is five times the baseline of each level.
fn budget(budget: &str) -> String {
    match budget.strip_suffix('x').map(str::parse::<f64>) {
        Some(Ok(times)) => format!("{times} × baseline"),
        _ if budget.parse::<u64>().is_ok() => format!("{budget} actions per play"),
        _ => budget.to_owned(),
    }
}

fn duration(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let minutes = (seconds / 60.0).floor();
    if minutes < 60.0 {
        format!("{minutes} min {:.0} s", seconds - minutes * 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

#[cfg(test)]
pub(crate) mod tests;

//! The HTML report of a run: score, tables, plots, and a player for every recording.
//!
//! Invariant: notices that qualify the score (provisional baselines, an unfinished run, failed
//! plays) are directly below it.
//!
//! A page with many recordings opens quickly, because a recording is decoded only when its player
//! is opened.

mod model_facts;
mod play;

use askama::Template;
use rhae_protocol::{
    Ending, ModelUsage, RunConfig, RunSummary, Scorecard, ValidResults, is_replay, rfc3339_utc,
};

use crate::html::{Fact, render};
use crate::result::{
    Row, count, interval, is_mock, mean_dollars, missing, rows, spent_text, tally, total,
};
use crate::table::{PROVISIONAL_BASELINES_NOTE, REPLAY_NOTE, missing_note};
use crate::{Film, actions_plot, completion_plot};
use play::{Failures, LevelTable, Recording};

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
    let failures = [
        Failures::of(report, &Ending::Failed, "agent", summary.failed_plays),
        Failures::of(
            report,
            &Ending::EnvironmentFailed,
            "environment",
            summary.failed_environments,
        ),
    ];
    let rows = rows(cards, summary);
    let spent = summary.environments.iter().map(|one| one.spent.as_ref());
    let all = Row {
        score: summary.score,
        ..total(&rows)
    };
    render(&Page {
        summary,
        repeats: cards.len(),
        interval: interval(summary).filter(|_| cards.len() > 1),
        results: summary.valid_results.map(|valid| valid.of),
        missing: missing(summary),
        facts: facts(report),
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
    /// The interval of the score, if there are several cards.
    interval: Option<[f64; 2]>,
    /// The number of results in the total.
    results: Option<u32>,
    /// The total over the valid results, if some are missing.
    missing: Option<ValidResults>,
    facts: Vec<Fact<'static>>,
    failures: [Failures<'a>; 2],
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
    fn missing_note(&self) -> String {
        missing_note(self.missing.map_or(0, |valid| valid.of - valid.n))
    }

    fn is_replay(&self) -> bool {
        is_replay(&self.summary.agent)
    }

    /// Returns whether the costs on the page are those of a mock.
    fn has_mock_cost(&self) -> bool {
        let spent = self.summary.spent.as_ref();
        is_mock(self.summary) && spent.is_some_and(|spent| spent.cost_usd.is_some())
    }

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
    /// The cost, if a model played in this run. Like all numbers, it is a mean over the repeats.
    cost: Option<String>,
    endings: String,
}

impl EnvironmentRow {
    fn new(row: &Row, report: &RunReport, spent: Option<&ModelUsage>) -> Self {
        let cards = report.cards.len();
        let dash = || "–".to_owned();
        let cost = || spent.map_or_else(dash, |spent| mean_dollars(spent, cards));
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
        is_line: matches!(
            name,
            "Run" | "Command" | "Spent" | "Model settings" | "Prices"
        ),
        is_code: name == "Command",
    };
    let mut facts = vec![
        fact("Method", summary.method.clone()),
        fact("Environments", summary.environments.len().to_string()),
        fact("Repeats", config.repeat.to_string()),
        fact("Budget", budget(&summary.budget)),
        fact("Agent seed", summary.seed.to_string()),
        fact("Environment seed", config.env_seed.to_string()),
        fact(
            "Date",
            summary.started_ms.map_or_else(|| "–".to_owned(), date),
        ),
        fact("Duration", duration(summary.seconds)),
        fact("Software", summary.software.clone()),
        fact("Run", summary.run_id.clone()),
    ];
    if let Some(model) = &config.model {
        let model_facts = model_facts::model_facts(model);
        facts.extend(
            model_facts
                .into_iter()
                .map(|(name, value)| fact(name, value)),
        );
    }
    facts.extend(
        summary
            .spent
            .iter()
            .map(|spent| fact("Spent", spent_text(spent, summary))),
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

/// Formats a Unix time in milliseconds to the minute.
fn date(unix_ms: u64) -> String {
    let text = rfc3339_utc(unix_ms);
    format!("{} {} UTC", &text[..10], &text[11..16])
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

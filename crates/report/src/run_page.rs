//! The report of a run: score, tables, plots, and a player for every recording.

use rhae_protocol::{RunConfig, RunSummary, Scorecard};

use crate::Film;

/// All that the report of a run is made from.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// What was asked for.
    pub config: RunConfig,
    /// The headline.
    pub summary: RunSummary,
    /// One card for each repeat, in order.
    pub cards: Vec<Scorecard>,
    /// The recordings, replayed.
    pub films: Vec<PlayFilm>,
}

/// A recording of the run.
#[derive(Clone, Debug)]
pub struct PlayFilm {
    /// Which card it belongs to, from 1.
    pub repeat: u32,
    /// The environment with its version.
    pub game_id: String,
    /// Why it ended: `won`, `budget`, `stopped` or `failed`.
    pub ending: String,
    /// What went wrong, if anything did.
    pub message: Option<String>,
    /// The play.
    pub film: Film,
}

/// The report as a self-contained HTML page.
pub fn run_page(report: &RunReport) -> String {
    let _ = report;
    crate::html::page("", "run", "")
}

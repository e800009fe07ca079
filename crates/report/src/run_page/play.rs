//! The parts of the report about individual plays: levels, failures and recordings.

use rhae_protocol::{Ending, EnvironmentScore, Scorecard};

use super::{PlayFilm, RunReport};
use crate::html::Player;
use crate::packed::MAX_REASONING_BYTES;
use crate::result::{best_index, dollars, find, grouped};

/// The plays that failed because of the agent, or because of their environments.
pub(super) struct Failures<'a> {
    /// What failed: `agent` or `environment`.
    pub(super) culprit: &'static str,
    /// The number of failed plays, including those without a known reason.
    pub(super) number: usize,
    pub(super) known: Vec<Failure<'a>>,
}

impl<'a> Failures<'a> {
    /// Returns the plays with an ending. `counted` is their number in the summary.
    pub(super) fn of(
        report: &'a RunReport,
        ending: &Ending,
        culprit: &'static str,
        counted: u32,
    ) -> Self {
        let known = failures(report, ending);
        Self {
            culprit,
            number: known.len().max(counted as usize),
            known,
        }
    }
}

/// A play that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure<'a> {
    pub(super) repeat: usize,
    pub(super) game_id: &'a str,
    pub(super) message: Option<&'a str>,
}

/// Returns every play with this ending once. Failures are taken from the cards and, if a card does
/// not mention a failure, from the recordings.
fn failures<'a>(report: &'a RunReport, ending: &Ending) -> Vec<Failure<'a>> {
    let mut failures: Vec<Failure<'_>> = Vec::new();
    for (index, card) in report.cards.iter().enumerate() {
        for run in card
            .environments
            .iter()
            .flat_map(|environment| &environment.runs)
            .filter(|run| run.ending.as_ref() == Some(ending))
        {
            failures.push(Failure {
                repeat: index + 1,
                game_id: &run.id,
                message: run.message.as_deref(),
            });
        }
    }
    for play in report
        .films
        .iter()
        .filter(|play| play.ending.as_ref() == Some(ending))
    {
        let repeat = play.repeat as usize;
        if !failures
            .iter()
            .any(|known| known.repeat == repeat && known.game_id == play.game_id)
        {
            failures.push(Failure {
                repeat,
                game_id: &play.game_id,
                message: play.message.as_deref(),
            });
        }
    }
    failures
}

/// The levels of one card. With several cards each table can be collapsed.
pub(super) struct LevelTable<'a> {
    pub(super) score: f64,
    /// Whether a model played, so that tokens and cost are shown.
    pub(super) has_cost: bool,
    pub(super) environments: Vec<Vec<LevelRow<'a>>>,
}

/// One level of the best run of an environment. Unknown values are dashes.
pub(super) struct LevelRow<'a> {
    /// The id of the environment, in its first row.
    pub(super) name: Option<&'a str>,
    /// The number of runs of the environment.
    pub(super) runs: usize,
    /// The number of the level, from 1.
    pub(super) number: usize,
    pub(super) reached: bool,
    pub(super) completed: bool,
    pub(super) actions: String,
    /// The number of actions that changed nothing.
    pub(super) unchanged: String,
    pub(super) baseline: String,
    /// The source of the baseline.
    pub(super) source: &'a str,
    pub(super) score: String,
    pub(super) tokens: String,
    pub(super) cost: String,
}

/// Returns a table of the levels of each card.
pub(super) fn levels(report: &RunReport) -> Vec<LevelTable<'_>> {
    let table = |(index, card)| level_table(report, index + 1, card);
    report.cards.iter().enumerate().map(table).collect()
}

fn level_table<'a>(report: &'a RunReport, repeat: usize, card: &'a Scorecard) -> LevelTable<'a> {
    let mut environments = Vec::new();
    for environment in &card.environments {
        let Some(best) = best_index(environment) else {
            continue;
        };
        let tallies = film_of(report, repeat, &environment.id).map(|play| play.film.tallies());
        let tallies = tallies.as_ref().and_then(|runs| runs.get(best));
        let row = |level: usize| {
            let tally = tallies.and_then(|levels| levels.get(level));
            level_row(environment, best, level, tally.map(|tally| tally.unchanged))
        };
        environments.push((0..environment.level_count as usize).map(row).collect());
    }
    LevelTable {
        score: card.score,
        has_cost: card.spent.is_some(),
        environments,
    }
}

fn level_row(
    environment: &EnvironmentScore,
    best: usize,
    level: usize,
    unchanged: Option<u64>,
) -> LevelRow<'_> {
    let run = &environment.runs[best];
    let completed = level < run.levels_completed as usize;
    let actions = run.level_actions.get(level).copied().unwrap_or(0);
    let reached = completed || actions > 0;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let baseline = run.level_baseline_actions.get(level);
    let score = run.level_scores.get(level).filter(|_| reached);
    let spent = run.level_spent.get(level).filter(|spent| spent.calls > 0);
    let tokens = spent.map(|spent| spent.input_tokens.saturating_add(spent.output_tokens));
    LevelRow {
        name: (level == 0).then_some(environment.id.as_str()),
        runs: environment.runs.len(),
        number: level + 1,
        reached,
        completed,
        actions: or_dash(reached.then(|| actions.to_string())),
        unchanged: or_dash(unchanged.filter(|_| reached).map(|count| count.to_string())),
        baseline: or_dash(baseline.filter(|&&count| count > 0).map(i64::to_string)),
        source: environment
            .baseline_source
            .get(level)
            .map_or("–", String::as_str),
        score: or_dash(score.map(|score| format!("{score:.2}"))),
        tokens: or_dash(tokens.map(grouped)),
        cost: or_dash(spent.map(dollars)),
    }
}

/// A recording with its player, which is collapsed at first.
pub(super) struct Recording<'a> {
    pub(super) play: &'a PlayFilm,
    /// Whether a heading with the repeat precedes the recording.
    pub(super) is_first_of_repeat: bool,
    /// The score of the environment, if its card is known.
    pub(super) score: Option<f64>,
    /// The maximum number of levels that were completed at once.
    pub(super) levels: u8,
    /// The number of recordings on the page, which share its room for reasoning.
    pub(super) recordings: usize,
}

impl Recording<'_> {
    pub(super) fn ending(&self) -> &str {
        self.play.ending.as_ref().map_or("", Ending::name)
    }

    pub(super) fn player(&self) -> Player<'_> {
        Player {
            film: &self.play.film,
            has_perception: false,
            max_reasoning: MAX_REASONING_BYTES / self.recordings,
        }
    }
}

/// Returns the recordings, ordered by repeat.
pub(super) fn recordings(report: &RunReport) -> Vec<Recording<'_>> {
    let mut plays: Vec<&PlayFilm> = report.films.iter().collect();
    plays.sort_by_key(|play| play.repeat);
    let mut repeat = None;
    let mut recordings = Vec::with_capacity(plays.len());
    for play in plays {
        let card = (play.repeat as usize)
            .checked_sub(1)
            .and_then(|index| report.cards.get(index));
        let environment = card.and_then(|card| find(card, &play.game_id));
        let levels = play.film.moments.iter().map(|one| one.levels_completed);
        recordings.push(Recording {
            play,
            is_first_of_repeat: report.cards.len() > 1 && repeat != Some(play.repeat),
            score: environment.map(|environment| environment.score),
            levels: levels.max().unwrap_or(0),
            recordings: report.films.len(),
        });
        repeat = Some(play.repeat);
    }
    recordings
}

fn film_of<'a>(report: &'a RunReport, repeat: usize, game_id: &str) -> Option<&'a PlayFilm> {
    report
        .films
        .iter()
        .find(|play| play.repeat as usize == repeat && play.game_id == game_id)
}

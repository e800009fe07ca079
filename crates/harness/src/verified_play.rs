//! The verification of a play that another process reports: its recording is replayed.

use rhae_engine::{Action, Catalog};
use rhae_protocol::{Digest, PlayResult, Recording, RunConfig, RunOutcome};
use rhae_session::{StepOutcome, Tally, verify};
use rhae_work::text_digest;

use crate::first_request::recording_name;
use crate::{Budget, play_id};

/// Checks that a result and its recording belong to a play of the run, that the recording replays,
/// and that the counts of the result are those of the replay. Returns the digest of the play: a
/// reproducible agent gets the same digest on every machine.
///
/// A play without a recording is accepted if it ended before its environment was open.
///
/// # Errors
///
/// Returns the first reason why the play is not accepted, as a clause.
pub(crate) fn verify_play(
    config: &RunConfig,
    catalog: &dyn Catalog,
    result: &PlayResult,
    recording: Option<&str>,
) -> Result<Digest, String> {
    let ensure = |holds: bool, reason: &str| {
        if holds {
            Ok(())
        } else {
            Err(reason.to_owned())
        }
    };
    ensure(
        config.games.contains(&result.game_id) && (1..=config.repeat).contains(&result.repeat),
        "the run has no such play",
    )?;
    let guid = play_id(&config.run_id, result.repeat, &result.game_id);
    ensure(result.guid == guid, "its id is not that of the run")?;
    ensure(
        result.recording == recording_name(result.repeat, &result.game_id),
        "its recording has another name",
    )?;
    let last = result.runs.last().ok_or("it has no counts")?;
    let Some(text) = recording else {
        let has_counts = result.runs.len() > 1 || !last.levels.is_empty();
        let is_failure = last
            .ending
            .as_ref()
            .is_some_and(|ending| ending.is_failure());
        ensure(is_failure && !has_counts, "its recording is missing")?;
        return Ok(text_digest(&format!("{last:?}")));
    };
    let recording = Recording::parse(text).map_err(|error| error.to_string())?;
    let header = &recording.header;
    let is_own = header.game_id.as_str() == result.game_id
        && header.seed == config.env_seed
        && header.agent_seed == Some(config.agent_seed(result.repeat))
        && header.guid.as_deref() == Some(guid.as_str());
    ensure(is_own, "its recording is of another play")?;
    verify(catalog, &recording).map_err(|error| error.to_string())?;
    ensure(
        last.ending == recording.ending,
        "the result and the recording end differently",
    )?;
    let tally = tally(config, catalog, &recording)?;
    let counted = tally.runs();
    let is_equal = counted.len() == result.runs.len()
        && counted
            .iter()
            .zip(&result.runs)
            .all(|(one, other)| same_counts(one, other));
    ensure(is_equal, "the counts of the replay differ from the result")?;
    Ok(digest(&recording, result))
}

/// Counts the entries of a verified recording.
fn tally(
    config: &RunConfig,
    catalog: &dyn Catalog,
    recording: &Recording,
) -> Result<Tally, String> {
    let info = catalog.find(recording.header.game_id.as_str());
    let baselines = info.map_err(|error| error.to_string())?.baselines;
    let budget: Budget = config
        .budget
        .parse()
        .map_err(|error: crate::BudgetError| error.to_string())?;
    let mut tally = Tally::default();
    for entry in &recording.entries {
        if entry.counted && budget.is_used_up(&tally, &baselines) {
            return Err(format!(
                "it continues after its budget {budget} was used up"
            ));
        }
        tally.count(StepOutcome {
            reset: entry.action == Action::Reset,
            full_reset: entry.full_reset,
            counted: entry.counted,
            changed: entry.changed.unwrap_or(true),
            levels_completed: entry.levels_completed,
            state: entry.state,
        });
    }
    Ok(tally)
}

fn same_counts(one: &RunOutcome, other: &RunOutcome) -> bool {
    one.state == other.state && one.levels == other.levels && one.resets == other.resets
}

/// Returns the hash of the actions, the hashes of their frames, the counts and the ending. Times and
/// what the agent says about its decisions are not part of it.
fn digest(recording: &Recording, result: &PlayResult) -> Digest {
    let mut text = String::new();
    for entry in &recording.entries {
        text += &format!("{} {:016x} {}\n", entry.action, entry.hash, entry.counted);
    }
    for run in &result.runs {
        text += &format!(
            "{} {:?} {} {:?}\n",
            run.state.name(),
            run.levels,
            run.resets,
            run.ending
        );
    }
    text_digest(&text)
}

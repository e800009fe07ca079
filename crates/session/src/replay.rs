//! Playing a recording again and comparing what it gives.

use rhae_engine::{Action, Environment, EnvironmentError};
use rhae_protocol::{Entry, Recording};

use crate::{Catalog, CatalogError, Play, ResetRule};

/// Why a recording could not be played again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The environment is not there in the recorded version.
    #[error("the recording is of `{recorded}`, and what is here is `{present}`: another version may show other frames")]
    Version {
        /// The version recorded.
        recorded: String,
        /// The version at hand.
        present: String,
    },
    /// The environment is not there at all.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The environment failed on the way.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}

/// Where a replay departs from its recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Which entry, from 0.
    pub entry: usize,
    /// What differs: recorded and found.
    pub what: String,
}

/// A recording that was played again.
pub struct Replayed {
    /// The play at its end.
    pub play: Play,
    /// The entries as the replay gives them, with their frames.
    pub entries: Vec<Entry>,
    /// The first difference, if there is one.
    pub mismatch: Option<Mismatch>,
}

/// Plays a recording again, up to the first difference.
pub fn replay(catalog: &dyn Catalog, recording: &Recording) -> Result<Replayed, ReplayError> {
    let recorded = &recording.header.game_id;
    let info = catalog.find(recorded.as_str()).or_else(|missing| catalog.find(recorded.base()).map_err(|_| missing))?;
    if info.id != *recorded {
        return Err(ReplayError::Version { recorded: recorded.to_string(), present: info.id.to_string() });
    }
    let environment: Box<dyn Environment> = catalog.open(recorded.as_str(), recording.header.seed)?;
    // Recordings made under the rule of competitions hold uncounted RESETs; the rule is read off them.
    let ignores_resets = recording.entries.iter().any(|entry| entry.action == Action::Reset && !entry.counted && !entry.full_reset);
    let mut play = Play::new(environment, if ignores_resets { ResetRule::LevelsOnly } else { ResetRule::Official });
    let mut entries = Vec::with_capacity(recording.entries.len());
    let mut mismatch = None;
    for (index, recorded) in recording.entries.iter().enumerate() {
        let answer = if index == 0 { play.opening() } else { play.command(recorded.action)? };
        let found = Entry { frames: Some(answer.frames.to_vec()), ..answer.entry(recorded.action, recorded.details.clone()) };
        mismatch = difference(recorded, &found).map(|what| Mismatch { entry: index, what });
        entries.push(found);
        if mismatch.is_some() {
            break;
        }
    }
    Ok(Replayed { play, entries, mismatch })
}

fn difference(recorded: &Entry, found: &Entry) -> Option<String> {
    if recorded.hash != found.hash {
        return Some(format!(
            "the frames differ: hash {:016x} was recorded, {:016x} is what the replay gives",
            recorded.hash, found.hash
        ));
    }
    if recorded.levels_completed != found.levels_completed {
        return Some(format!(
            "{} levels were completed in the recording, {} in the replay",
            recorded.levels_completed, found.levels_completed
        ));
    }
    if recorded.state != found.state {
        return Some(format!("the state was {} in the recording, {} in the replay", recorded.state.name(), found.state.name()));
    }
    if recorded.changed.is_some() && recorded.changed != found.changed {
        return Some("the recording and the replay disagree on whether the action changed anything".to_owned());
    }
    None
}

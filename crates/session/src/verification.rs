//! Recordings checked and completed by a replay: verification, frames and scores.

use rhae_engine::{Action, Catalog, CatalogError, EnvironmentError, GameInfo, PlayState};
use rhae_protocol::{Details, Ending, Entry, Format, Recording, Scorecard};
use rhae_scoring::Method;

use crate::{
    CardMetadata, EnvironmentRuns, Mismatch, Play, ReplayError, first_nondeterministic_entry,
    replay, replay_with, scorecard,
};

/// The reason why a recording is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerificationError {
    /// The recording could not be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// An entry differs from its replay.
    #[error("entry {} does not replay: {}", .0.entry + 1, .0.reason)]
    Mismatch(Mismatch),
    /// An entry differs from its replay, and two replays differ as well.
    #[error(
        "`{game_id}` is not deterministic: two replays of these actions differ at entry {}, so the recording cannot be verified",
        entry + 1
    )]
    Nondeterministic {
        game_id: String,
        /// The index of the entry, from 0.
        entry: usize,
    },
    /// A recording in Rhae's own format has no closing line.
    #[error("the recording is cut off: it has no closing line (its {entries} entries replay)")]
    CutOff { entries: usize },
    /// The recording has no entries.
    #[error("the recording has no entries")]
    Empty,
    /// The closing line contradicts the last entry.
    #[error(
        "the closing line and the last state, {}, disagree on whether the play was won",
        .0.name()
    )]
    Ending(PlayState),
}

impl From<CatalogError> for VerificationError {
    fn from(error: CatalogError) -> Self {
        Self::Replay(error.into())
    }
}

impl From<EnvironmentError> for VerificationError {
    fn from(error: EnvironmentError) -> Self {
        Self::Replay(error.into())
    }
}

/// What a replay established about a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The number of counted actions.
    pub actions: u64,
    /// The number of levels that were completed at the end.
    pub levels_completed: u8,
    /// The state at the end.
    pub state: PlayState,
}

/// Verifies a recording: every entry must replay, and the closing line must agree with the last
/// entry.
///
/// # Errors
///
/// Returns the first reason why the recording is not accepted.
pub fn verify(catalog: &dyn Catalog, recording: &Recording) -> Result<Verified, VerificationError> {
    let replayed = replay(catalog, recording)?;
    if let Some(mismatch) = replayed.mismatch {
        // Native environments are deterministic, but a hosted game may not be. In that case the
        // recording is not at fault.
        return Err(match first_nondeterministic_entry(catalog, recording)? {
            Some(entry) => VerificationError::Nondeterministic {
                game_id: recording.header.game_id.to_string(),
                entry,
            },
            None => VerificationError::Mismatch(mismatch),
        });
    }
    let last = recording.entries.last().ok_or(VerificationError::Empty)?;
    if recording.format == Format::Rhae {
        let ending = recording.ending.as_ref().ok_or(VerificationError::CutOff {
            entries: recording.entries.len(),
        })?;
        if (*ending == Ending::Won) != (last.state == PlayState::Win) {
            return Err(VerificationError::Ending(last.state));
        }
    }
    Ok(Verified {
        actions: replayed.play.tally().actions(),
        levels_completed: last.levels_completed,
        state: last.state,
    })
}

/// Replays a recording and returns its entries with their frames, and the environment's facts.
///
/// If the environment is not available, or only in another version, the recorded entries are
/// returned unverified and without facts, provided that all of them include frames.
///
/// # Errors
///
/// Returns an error if the recording cannot be replayed or differs from its replay.
pub fn entries_with_frames(
    catalog: &dyn Catalog,
    recording: &Recording,
) -> Result<(Option<GameInfo>, Vec<Entry>), VerificationError> {
    let mut entries = Vec::new();
    let replayed = replay_with(catalog, recording, |entry, frames| {
        entries.push(Entry {
            frames: Some(frames.to_vec()),
            ..entry
        });
    });
    match replayed {
        Ok(replayed) => {
            if let Some(mismatch) = replayed.mismatch {
                return Err(VerificationError::Mismatch(mismatch));
            }
            if entries
                .first()
                .is_some_and(|first| first.action != Action::Reset)
            {
                entries.insert(0, opening_entry(catalog, recording)?);
            }
            let info = catalog.find(recording.header.game_id.as_str())?;
            Ok((Some(info), entries))
        }
        Err(ReplayError::Catalog(_) | ReplayError::Version { .. })
            if recording.entries.iter().all(|entry| entry.frames.is_some()) =>
        {
            Ok((None, recording.entries.clone()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Adds what other formats need to a recording: the frames of all entries, and the ending if the
/// recording's format does not record it.
///
/// # Errors
///
/// Returns the same errors as [`entries_with_frames`].
pub fn complete_recording(
    catalog: &dyn Catalog,
    mut recording: Recording,
) -> Result<Recording, VerificationError> {
    recording.entries = entries_with_frames(catalog, &recording)?.1;
    if recording.format != Format::Rhae {
        let won = recording
            .entries
            .last()
            .is_some_and(|entry| entry.state == PlayState::Win);
        recording.ending = Some(if won { Ending::Won } else { Ending::Stopped });
    }
    Ok(recording)
}

/// Creates the opening RESET of a recording that omits it.
fn opening_entry(catalog: &dyn Catalog, recording: &Recording) -> Result<Entry, VerificationError> {
    let header = &recording.header;
    let play = Play::new(
        catalog.open(header.game_id.as_str(), header.seed)?,
        header.resets,
    );
    let step = play.current();
    Ok(Entry {
        frames: Some(step.frames.to_vec()),
        ..step.entry(Action::Reset, Details::default())
    })
}

/// The replayed plays of recordings, which are scored on one card.
#[derive(Clone, Debug, Default)]
pub struct ReplayedPlays {
    environments: Vec<EnvironmentRuns>,
}

impl ReplayedPlays {
    /// Replays a recording and adds its runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the recording cannot be replayed or differs from its replay. A missing
    /// closing line is not an error: the recorded actions are added.
    pub fn add(
        &mut self,
        catalog: &dyn Catalog,
        recording: &Recording,
    ) -> Result<(), VerificationError> {
        let replayed = replay(catalog, recording)?;
        if let Some(mismatch) = replayed.mismatch {
            return Err(VerificationError::Mismatch(mismatch));
        }
        let info = catalog.find(recording.header.game_id.as_str())?;
        let guid = recording.header.guid.clone().unwrap_or_default();
        let runs = replayed.play.tally().runs().iter();
        let runs = runs.map(|run| (guid.clone(), run.clone()));
        match self
            .environments
            .iter_mut()
            .find(|environment| environment.info.id == info.id)
        {
            Some(environment) => environment.runs.extend(runs),
            None => self.environments.push(EnvironmentRuns {
                info,
                runs: runs.collect(),
            }),
        }
        Ok(())
    }

    /// Scores all plays on one card.
    pub fn scorecard(&self, method: Method) -> Scorecard {
        let metadata = CardMetadata {
            card_id: "recordings".to_owned(),
            ..CardMetadata::default()
        };
        scorecard(metadata, method, &self.environments)
    }
}

#[cfg(test)]
mod tests {
    use rhae_games::Builtin;
    use rhae_protocol::{Header, ResetRule};

    use super::*;

    fn recording(ending: Option<Ending>) -> Recording {
        let mut play = Play::new(Builtin.open("kq19", 0).unwrap(), ResetRule::Official);
        let mut entries = vec![play.current().entry(Action::Reset, Details::default())];
        let step = play.command(Action::Action4).unwrap();
        entries.push(step.entry(Action::Action4, Details::default()));
        Recording {
            format: Format::Rhae,
            header: Header {
                game_id: play.info().id.clone(),
                seed: 0,
                agent: "test".to_owned(),
                agent_seed: None,
                software: "test".to_owned(),
                guid: Some("guid".to_owned()),
                resets: ResetRule::Official,
                win_levels: play.current().observation.win_levels,
                available: play.info().actions,
                source_digest: None,
            },
            entries,
            ending,
            message: None,
        }
    }

    #[test]
    fn verification_requires_a_closing_line_that_agrees_with_the_last_entry() {
        let stopped = recording(Some(Ending::Stopped));
        let verified = verify(&Builtin, &stopped).unwrap();
        assert_eq!((verified.actions, verified.levels_completed), (1, 0));
        assert_eq!(
            verify(&Builtin, &recording(None)),
            Err(VerificationError::CutOff { entries: 2 })
        );
        assert_eq!(
            verify(&Builtin, &recording(Some(Ending::Won))),
            Err(VerificationError::Ending(PlayState::NotFinished))
        );
        let mut tampered = stopped;
        tampered.entries[1].hash ^= 1;
        assert!(matches!(
            verify(&Builtin, &tampered),
            Err(VerificationError::Mismatch(Mismatch { entry: 1, .. }))
        ));
    }

    #[test]
    fn omitted_opening_and_ending_are_added() {
        let mut agents = recording(None);
        agents.format = Format::Agents;
        agents.entries.remove(0);
        let complete = complete_recording(&Builtin, agents).unwrap();
        assert_eq!(complete.entries[0].action, Action::Reset);
        assert_eq!(complete.ending, Some(Ending::Stopped));
        assert!(complete.entries.iter().all(|entry| entry.frames.is_some()));
    }

    #[test]
    fn plays_of_one_environment_share_its_line_on_the_card() {
        let mut plays = ReplayedPlays::default();
        plays.add(&Builtin, &recording(None)).unwrap();
        plays.add(&Builtin, &recording(None)).unwrap();
        let card = plays.scorecard(Method::DEFAULT);
        assert_eq!(card.environments.len(), 1);
        assert_eq!(card.environments[0].runs.len(), 2);
    }
}

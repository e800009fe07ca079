//! Replaying a recording and comparing every observation with it.

use rhae_engine::{Action, Catalog, CatalogError, Environment, EnvironmentError, Frame, GameInfo};
use rhae_protocol::{Entry, Format, Recording};

use crate::Play;

/// The reason why a recording could not be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The catalogue has the environment only in another version.
    #[error(
        "the recording is of `{recorded}`, but only `{present}` is available: another version may show other frames"
    )]
    Version {
        /// The recorded id.
        recorded: String,
        /// The available id.
        present: String,
    },
    /// The source of a hosted game is not the one that was played.
    #[error(
        "the source of `{game_id}` has changed since this play was recorded (SHA-256 {} then, {} now); restore that source \
         to replay it",
        short(recorded),
        short(present)
    )]
    SourceChanged {
        game_id: String,
        /// The digest of the source that was played.
        recorded: String,
        /// The digest of the source in the catalogue.
        present: String,
    },
    /// The catalogue does not have the environment, or could not open it.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The environment failed during the replay.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}

/// Returns the first characters of a digest. A recording may contain any text in its place.
fn short(digest: &str) -> String {
    digest
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(12)
        .collect()
}

/// Checks that a play was made with the source that the catalogue has now. Plays without a digest
/// are accepted: those of native games and those of earlier versions of this software.
pub(crate) fn check_source(info: &GameInfo, recorded: Option<&str>) -> Result<(), ReplayError> {
    match (recorded, &info.source_digest) {
        (Some(recorded), Some(present)) if recorded != present => Err(ReplayError::SourceChanged {
            game_id: info.id.to_string(),
            recorded: recorded.to_owned(),
            present: present.clone(),
        }),
        _ => Ok(()),
    }
}

/// The first difference between a recording and its replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The index of the entry, from 0.
    pub entry: usize,
    /// A sentence that names the difference, with the recorded and the replayed value.
    pub reason: String,
}

/// The result of replaying a recording.
pub struct ReplayOutcome {
    /// The play after the last replayed entry.
    pub play: Play,
    /// The first difference; `None` if every entry matched, so that the recording is verified.
    pub mismatch: Option<Mismatch>,
}

/// Replays a recording up to the first difference.
///
/// Frames are compared by hash and not stored, so memory does not grow with the length of the
/// recording. The crate documentation has an example.
///
/// # Errors
///
/// Returns a [`ReplayError`] if the environment is not available in the recorded version, or fails.
/// A difference is not an error: see [`ReplayOutcome::mismatch`].
pub fn replay(catalog: &dyn Catalog, recording: &Recording) -> Result<ReplayOutcome, ReplayError> {
    replay_with(catalog, recording, |_, _| ())
}

/// Replays a recording as [`replay()`] does, and passes each replayed entry with its frames to
/// `show`, including the first entry that differs.
///
/// # Errors
///
/// Returns the same errors as [`replay()`].
pub fn replay_with(
    catalog: &dyn Catalog,
    recording: &Recording,
    mut show: impl FnMut(Entry, &[Frame]),
) -> Result<ReplayOutcome, ReplayError> {
    let recorded = &recording.header.game_id;
    let info = catalog
        .find(recorded.as_str())
        .or_else(|missing| catalog.find(recorded.base()).map_err(|_| missing))?;
    if info.id != *recorded {
        return Err(ReplayError::Version {
            recorded: recorded.to_string(),
            present: info.id.to_string(),
        });
    }
    check_source(&info, recording.header.source_digest.as_deref())?;
    let environment: Box<dyn Environment> =
        catalog.open(recorded.as_str(), recording.header.seed)?;
    let mut play = Play::new(environment, recording.header.resets);
    let levels = play.current().observation.win_levels;
    let mut mismatch = (recording.format == Format::Rhae && recording.header.win_levels != levels)
        .then(|| Mismatch {
            entry: 0,
            reason: format!(
                "the header says {} levels, but the environment has {levels}",
                recording.header.win_levels
            ),
        });
    for (index, recorded) in recording.entries.iter().enumerate() {
        if mismatch.is_some() {
            break;
        }
        // A play starts with its opening RESET. Recordings of the agents repository omit it.
        let step = if index == 0 && recorded.action == Action::Reset {
            play.current()
        } else {
            play.command(recorded.action)?
        };
        let found = step.entry(recorded.action, recorded.details.clone());
        mismatch = difference(recording.format, recorded, &found).map(|reason| Mismatch {
            entry: index,
            reason,
        });
        show(found, step.frames);
    }
    Ok(ReplayOutcome { play, mismatch })
}

/// Executes the recorded actions in two separate plays and returns the index of the first entry at
/// which these plays differ.
///
/// If there is such an entry, the environment is not deterministic, and a replay can neither verify
/// nor refute the recording.
///
/// # Errors
///
/// Returns a [`ReplayError`] if the environment cannot be opened or fails.
pub fn first_nondeterministic_entry(
    catalog: &dyn Catalog,
    recording: &Recording,
) -> Result<Option<usize>, ReplayError> {
    let open = || -> Result<Play, ReplayError> {
        Ok(Play::new(
            catalog.open(recording.header.game_id.as_str(), recording.header.seed)?,
            recording.header.resets,
        ))
    };
    let (mut one, mut other) = (open()?, open()?);
    for (
        index,
        Entry {
            action, details, ..
        },
    ) in recording.entries.iter().enumerate()
    {
        let replayed = |play: &mut Play| -> Result<Entry, EnvironmentError> {
            let is_opening = index == 0 && *action == Action::Reset;
            let step = if is_opening {
                play.current()
            } else {
                play.command(*action)?
            };
            Ok(step.entry(*action, details.clone()))
        };
        if difference(Format::Rhae, &replayed(&mut one)?, &replayed(&mut other)?).is_some() {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Describes how a replayed entry differs from the recorded one, or returns `None` if they agree.
/// Fields that an official format does not record are not compared.
pub(crate) fn difference(format: Format, recorded: &Entry, found: &Entry) -> Option<String> {
    let disagreement = |effect: &str, recorded: bool| {
        let (recording, replay) = if recorded {
            ("does", "does not")
        } else {
            ("does not", "does")
        };
        format!("the action {recording} {effect} in the recording, but {replay} in the replay")
    };
    if recorded.hash != found.hash {
        return Some(format!(
            "the frames differ: the recording has hash {:016x}, the replay {:016x}",
            recorded.hash, found.hash
        ));
    }
    if recorded.levels_completed != found.levels_completed {
        return Some(format!(
            "{} levels were completed in the recording, but {} in the replay",
            recorded.levels_completed, found.levels_completed
        ));
    }
    if recorded.state != found.state {
        return Some(format!(
            "the state is {} in the recording, but {} in the replay",
            recorded.state.name(),
            found.state.name()
        ));
    }
    if format != Format::Rhae {
        return None;
    }
    if recorded.changed != found.changed {
        return Some(disagreement(
            "change the state",
            recorded.changed == Some(true),
        ));
    }
    if recorded.counted != found.counted {
        return Some(disagreement("count", recorded.counted));
    }
    (recorded.full_reset != found.full_reset)
        .then(|| disagreement("restart the game", recorded.full_reset))
}

#[cfg(test)]
mod tests {
    use rhae_games::Builtin;
    use rhae_protocol::{Details, Header, ResetRule};

    use super::*;

    /// Records a short play under a reset rule.
    fn recorded(resets: ResetRule, actions: &[Action]) -> Recording {
        let mut play = Play::new(Builtin.open("kq19", 0).unwrap(), resets);
        let mut entries = vec![play.current().entry(Action::Reset, Details::default())];
        entries.extend(actions.iter().map(|&action| {
            play.command(action)
                .unwrap()
                .entry(action, Details::default())
        }));
        let header = Header {
            game_id: play.info().id.clone(),
            seed: 0,
            agent: "test".to_owned(),
            agent_seed: None,
            software: "test".to_owned(),
            guid: None,
            resets,
            win_levels: play.current().observation.win_levels,
            available: play.info().actions,
            source_digest: None,
        };
        Recording {
            format: Format::Rhae,
            header,
            entries,
            ending: None,
            message: None,
        }
    }

    fn mismatch(recording: &Recording) -> Option<usize> {
        replay(&Builtin, recording)
            .unwrap()
            .mismatch
            .map(|mismatch| mismatch.entry)
    }

    #[test]
    fn recordings_are_replayed_under_their_reset_rule() {
        let actions = [
            Action::Reset,
            Action::Action4,
            Action::Reset,
            Action::Reset,
            Action::Action1,
        ];
        for rule in [ResetRule::Official, ResetRule::LevelsOnly] {
            assert_eq!(mismatch(&recorded(rule, &actions)), None, "{rule:?}");
        }
        let counted = |rule| {
            recorded(rule, &actions)
                .entries
                .iter()
                .filter(|entry| entry.counted)
                .count()
        };
        assert_eq!(
            (counted(ResetRule::Official), counted(ResetRule::LevelsOnly)),
            (3, 3)
        );
    }

    #[test]
    fn every_tampered_field_is_detected() {
        let honest = recorded(
            ResetRule::LevelsOnly,
            &[Action::Action4, Action::Action1, Action::Action4],
        );
        let tamper = |change: fn(&mut Recording)| {
            let mut recording = honest.clone();
            change(&mut recording);
            mismatch(&recording)
        };
        assert_eq!(tamper(|recording| recording.entries[2].hash ^= 1), Some(2));
        assert_eq!(
            tamper(|recording| recording.entries[2].counted = false),
            Some(2)
        );
        assert_eq!(
            tamper(|recording| recording.entries[3].changed = Some(false)),
            Some(3)
        );
        assert_eq!(
            tamper(|recording| recording.entries[1].full_reset = true),
            Some(1)
        );
        assert_eq!(
            tamper(|recording| recording.entries[1].levels_completed = 1),
            Some(1)
        );
        assert_eq!(tamper(|recording| recording.header.win_levels = 3), Some(0));
    }

    #[test]
    fn recording_without_an_opening_reset_is_replayed_from_its_first_action() {
        let mut foreign = recorded(ResetRule::Official, &[Action::Action4, Action::Action1]);
        foreign.format = Format::Agents;
        foreign.entries.remove(0);
        assert_eq!(mismatch(&foreign), None);
    }
}

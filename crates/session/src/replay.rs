//! Playing a recording again and comparing what it gives.

use rhae_engine::{Action, Environment, EnvironmentError, Frame};
use rhae_protocol::{Entry, Format, Recording};

use crate::{Catalog, CatalogError, Play};

/// Why a recording could not be played again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The environment is not there in the recorded version.
    #[error(
        "the recording is of `{recorded}`, and what is here is `{present}`: another version may show other frames"
    )]
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
    /// The first difference, if there is one.
    pub mismatch: Option<Mismatch>,
}

/// Plays a recording again, up to the first difference. No frame is kept, however long it is.
pub fn replay(catalog: &dyn Catalog, recording: &Recording) -> Result<Replayed, ReplayError> {
    replay_with(catalog, recording, |_, _| ())
}

/// As [`replay()`]; shows each entry as the replay gives it, with its frames.
pub fn replay_with(
    catalog: &dyn Catalog,
    recording: &Recording,
    mut show: impl FnMut(Entry, &[Frame]),
) -> Result<Replayed, ReplayError> {
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
    let environment: Box<dyn Environment> =
        catalog.open(recorded.as_str(), recording.header.seed)?;
    let mut play = Play::new(environment, recording.header.resets);
    let levels = play.opening().observation.win_levels;
    let mut mismatch = (recording.format == Format::Rhae && recording.header.win_levels != levels)
        .then(|| Mismatch {
            entry: 0,
            what: format!(
                "the header speaks of {} levels, and there are {levels}",
                recording.header.win_levels
            ),
        });
    for (index, recorded) in recording.entries.iter().enumerate() {
        if mismatch.is_some() {
            break;
        }
        // A play begins with its opening RESET; the agents repository's recordings leave it out.
        let answer = if index == 0 && recorded.action == Action::Reset {
            play.opening()
        } else {
            play.command(recorded.action)?
        };
        let found = answer.entry(recorded.action, recorded.details.clone());
        mismatch = difference(recording.format, recorded, &found)
            .map(|what| Mismatch { entry: index, what });
        show(found, answer.frames);
    }
    Ok(Replayed { play, mismatch })
}

/// The first entry, from 0, at which two new plays of the recorded actions differ from each other: where there is one, the
/// environment is not deterministic, and nothing can be said about the recording.
pub fn first_disagreement(
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
        let given = |play: &mut Play| -> Result<Entry, EnvironmentError> {
            let opens = index == 0 && *action == Action::Reset;
            let answer = if opens {
                play.opening()
            } else {
                play.command(*action)?
            };
            Ok(answer.entry(*action, details.clone()))
        };
        if difference(Format::Rhae, &given(&mut one)?, &given(&mut other)?).is_some() {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// How a replayed entry differs from the recorded one. The official formats do not say all that ours does.
pub(crate) fn difference(format: Format, recorded: &Entry, found: &Entry) -> Option<String> {
    let says = |what: &str, yes: bool| {
        let not = if yes { "" } else { "not " };
        format!(
            "the recording says that the action does {not}{what}, and the replay says otherwise"
        )
    };
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
        return Some(format!(
            "the state was {} in the recording, {} in the replay",
            recorded.state.name(),
            found.state.name()
        ));
    }
    if format != Format::Rhae {
        return None;
    }
    if recorded.changed != found.changed {
        return Some(says("change something", recorded.changed == Some(true)));
    }
    if recorded.counted != found.counted {
        return Some(says("count", recorded.counted));
    }
    (recorded.full_reset != found.full_reset).then(|| says("restart the game", recorded.full_reset))
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{Details, Header, ResetRule};

    use super::*;
    use crate::Builtin;

    /// A short play under a rule, recorded.
    fn recorded(resets: ResetRule, actions: &[Action]) -> Recording {
        let mut play = Play::new(Builtin.open("kq19", 0).unwrap(), resets);
        let mut entries = vec![play.opening().entry(Action::Reset, Details::default())];
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
            win_levels: play.opening().observation.win_levels,
            available: play.info().actions,
        };
        Recording {
            format: Format::Rhae,
            header,
            entries,
            ending: None,
        }
    }

    fn mismatch(recording: &Recording) -> Option<usize> {
        replay(&Builtin, recording)
            .unwrap()
            .mismatch
            .map(|mismatch| mismatch.entry)
    }

    #[test]
    fn plays_replay_under_their_own_rule() {
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
    fn nothing_that_a_recording_claims_is_believed() {
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
    fn a_recording_without_its_opening_is_played_from_its_first_action() {
        let mut foreign = recorded(ResetRule::Official, &[Action::Action4, Action::Action1]);
        foreign.format = Format::Agents;
        foreign.entries.remove(0);
        assert_eq!(mismatch(&foreign), None);
    }
}

//! Compares what the server has acknowledged with what its database contains.

use std::collections::BTreeMap;

use rhae_engine::Action;
use rhae_protocol::{EnvironmentVersion, ParticipantId, SittingRow, StudyStage};
use rhae_store::{PlayId, Store, StoreError};

use crate::player::Player;

/// The number of log entries per read.
const CHUNK: u32 = 4096;

/// What an audit found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Audit {
    /// The acknowledged actions.
    pub(crate) actions: u64,
    /// Acknowledged actions that are not in the log.
    pub(crate) lost: u64,
    /// Actions in the log that were not acknowledged, or only once less.
    pub(crate) doubled: u64,
}

/// Compares the actions of every player with the logs of the plays. The data of people who had it
/// deleted must be gone, so every action of theirs that is left counts as doubled.
pub(crate) async fn audit_actions(
    store: &dyn Store,
    sittings: &[SittingRow],
    players: &[Player],
) -> Result<Audit, StoreError> {
    let mut plays: BTreeMap<(&ParticipantId, u32), &str> = BTreeMap::new();
    for sitting in sittings {
        for attempt in &sitting.attempts {
            if let Some(play) = &attempt.play {
                plays.insert((&sitting.participant, attempt.position), play);
            }
        }
    }
    let mut audit = Audit::default();
    for player in players {
        for attempt in player.attempts.iter().filter(|_| !player.erased) {
            audit.actions += attempt.actions.len() as u64;
            let logged = match plays.remove(&(&player.participant, attempt.number)) {
                Some(play) => logged_actions(store, play).await?,
                None => Vec::new(),
            };
            let common = common_actions(&attempt.actions, &logged);
            audit.lost += (attempt.actions.len() - common) as u64;
            audit.doubled += (logged.len() - common) as u64;
        }
    }
    for play in plays.into_values() {
        audit.doubled += logged_actions(store, play).await?.len() as u64;
    }
    Ok(audit)
}

/// Returns the actions of a play without its opening RESET.
async fn logged_actions(store: &dyn Store, play: &str) -> Result<Vec<Action>, StoreError> {
    let Ok(id) = play.parse::<PlayId>() else {
        return Ok(Vec::new());
    };
    let Some(stored) = store.play(id).await? else {
        return Ok(Vec::new());
    };
    let mut actions = Vec::new();
    let mut next = 1;
    loop {
        let part = store.log_from(stored.key, next, CHUNK).await?;
        let Some(last) = part.last() else {
            return Ok(actions);
        };
        next = last.index + 1;
        actions.extend(part.iter().map(|entry| entry.entry.action));
    }
}

/// Returns the length of the longest common subsequence.
fn common_actions(one: &[Action], other: &[Action]) -> usize {
    let same_start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[same_start..], &other[same_start..]);
    let mut lengths = vec![0; other.len() + 1];
    for a in one {
        let mut diagonal = 0;
        for (index, b) in other.iter().enumerate() {
            let above = lengths[index + 1];
            lengths[index + 1] = if a == b {
                diagonal + 1
            } else {
                above.max(lengths[index])
            };
            diagonal = above;
        }
    }
    same_start + lengths[other.len()]
}

/// Returns the number of environments with more plays than the target of the paper's preset, which
/// counts starts that were not interrupted.
pub(crate) fn over_quota(sittings: &[SittingRow], target: u32) -> usize {
    let mut starts: BTreeMap<&EnvironmentVersion, u32> = BTreeMap::new();
    let live = sittings.iter().filter(|one| one.stage == StudyStage::Live);
    for attempt in live.flat_map(|sitting| &sitting.attempts) {
        if attempt
            .outcome
            .is_some_and(|outcome| !outcome.is_censored())
        {
            *starts.entry(&attempt.environment).or_default() += 1;
        }
    }
    starts.values().filter(|&&starts| starts > target).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_and_doubled_actions_are_found() {
        use Action::{Action1, Action2, Action3};
        let sent = [Action1, Action2, Action3, Action1];
        for (logged, common) in [
            (&[Action1, Action2, Action3, Action1][..], 4),
            (&[Action1, Action3, Action1], 3),
            (&[Action1, Action2, Action2, Action3, Action1], 4),
            (&[], 0),
            (&[Action3, Action3], 1),
        ] {
            assert_eq!(common_actions(&sent, logged), common, "{logged:?}");
        }
    }
}

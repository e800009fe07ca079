//! What uniform random play achieves on a level.

use rhae_engine::{
    Action, ActionKind, Episode, Game, LevelIndex, Levels, NoFrames, PlayState, Rng,
};

use crate::{lower_bound_95, upper_bound_95};

/// How random play fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomPlay {
    /// Attempts made.
    pub attempts: u64,
    /// Attempts that completed the level.
    pub wins: u64,
    /// Actions taken.
    pub steps: u64,
}

impl RandomPlay {
    /// The 95 % upper bound on the probability that an attempt wins (one-sided, Clopper and Pearson).
    pub fn upper_bound(&self) -> f64 {
        upper_bound_95(self.wins, self.attempts)
    }

    /// The 95 % lower bound on the probability that an attempt wins (one-sided, Clopper and Pearson).
    pub fn lower_bound(&self) -> f64 {
        lower_bound_95(self.wins, self.attempts)
    }
}

/// Plays a level at random for at least `steps` actions, in attempts of `attempt` actions (one at least) from its start.
///
/// Every action is uniform over those offered (undo included), a click uniform over all cells. After a loss the next
/// action is RESET, which counts, as it would for an agent under a budget.
pub fn random_play<G: Game>(
    levels: &Levels<G>,
    level: LevelIndex,
    attempt: u32,
    steps: u64,
    rng: &mut Rng,
) -> RandomPlay {
    let mut result = RandomPlay {
        attempts: 0,
        wins: 0,
        steps: 0,
    };
    let fresh = Episode::at(levels.clone(), level);
    while result.steps < steps {
        let mut episode = fresh.clone();
        result.attempts += 1;
        for _ in 0..attempt.max(1) {
            let action = random_action(&episode, rng);
            episode.act(action, &mut NoFrames);
            result.steps += 1;
            if episode.completed() > level.0 {
                result.wins += 1;
                break;
            }
        }
    }
    result
}

/// A uniformly random offered action, a click uniform over all cells; RESET after the end.
pub fn random_action<G: Game>(episode: &Episode<G>, rng: &mut Rng) -> Action {
    if episode.status() != PlayState::NotFinished {
        return Action::Reset;
    }
    let offered = episode.offered();
    let count = u32::try_from(offered.len()).expect("there are eight kinds of action");
    let kind = offered
        .iter()
        .nth(rng.below(count) as usize)
        .expect("the index is below the size of the set");
    match kind {
        ActionKind::Action6 => Action::Action6 {
            x: rng.below(64) as u8,
            y: rng.below(64) as u8,
        },
        key => key.simple().expect("only a click has coordinates"),
    }
}

//! Sampling of uniform random play on native games.

use rhae_engine::{
    Action, ActionKind, Episode, Game, LevelIndex, Levels, NoFrames, PlayState, Rng,
};

use crate::{lower_bound_95, upper_bound_95};

/// The result of [`random_play`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomPlay {
    pub attempts: u64,
    /// The number of attempts that completed the level.
    pub wins: u64,
    /// The number of actions in all attempts.
    pub steps: u64,
}

impl RandomPlay {
    /// Returns the one-sided 95 % upper confidence bound (Clopper and Pearson) on the probability
    /// that an attempt wins.
    pub fn upper_bound(&self) -> f64 {
        upper_bound_95(self.wins, self.attempts)
    }

    /// Returns the one-sided 95 % lower confidence bound (Clopper and Pearson) on the probability
    /// that an attempt wins.
    pub fn lower_bound(&self) -> f64 {
        lower_bound_95(self.wins, self.attempts)
    }
}

/// Plays a level at random until the attempts have taken at least `steps` actions in total. Each
/// attempt starts at the start of the level and ends with a win or after `attempt` actions. An
/// `attempt` of 0 is treated as 1.
///
/// Every action is drawn uniformly from the offered kinds, undo included; a click is uniform over
/// all cells. After a loss the next action is RESET. It counts as an action of the attempt, just as
/// it would count against the action budget of an agent.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Game, LevelIndex, Levels, Rng};
/// use rhae_explore::random_play;
///
/// struct Sample;
///
/// impl rhae_games::Visitor for Sample {
///     type Output = rhae_explore::RandomPlay;
///
///     fn visit<G: Game>(self) -> Self::Output {
///         let mut rng = Rng::new(1, 0);
///         random_play(&Levels::<G>::new(0), LevelIndex(4), 50, 1_000, &mut rng)
///     }
/// }
///
/// let result = rhae_games::visit("kq19-v1", Sample).expect("the game is registered");
/// assert!(result.steps >= 1_000 && result.attempts >= 20);
/// assert!(result.lower_bound() <= result.upper_bound());
/// ```
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

/// Draws an action uniformly from the offered kinds; a click is uniform over all cells. Returns
/// RESET if the level or the game has ended.
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

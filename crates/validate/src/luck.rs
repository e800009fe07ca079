//! Random play: the first two regimes of the paper's qualification.
//!
//! Every action is uniform over the offered kinds, undo included; a click is uniform over all
//! cells. After a loss the next action is RESET. It counts as an action, just as it would count
//! against the action budget of an agent.

use rhae_engine::{Action, Rng};

use crate::levels::{baseline, judge_level};
use crate::rule::{Check, Context, checks};
use crate::walk::{PlayFailure, Walk, is_cancelled};
use crate::{ATTEMPT_FACTOR, Finding};

/// The maximum number of steps of the first regime.
pub(crate) const MAX_STEPS_FROM_START: u64 = 50_000;
/// The random stream of the first regime.
pub(crate) const START_STREAM: u64 = 1_000;
/// The maximum length of a win that is used to reach the next level. The length is limited because
/// every check of that level replays the win.
const MAX_PREFIX_LEN: usize = 2_000;
/// The number of steps between two progress reports.
pub(crate) const REPORT_INTERVAL: u64 = 4_096;

/// Checks the rules about random play from the start of the game.
pub(crate) fn from_start(context: Context<'_>) -> Vec<Finding> {
    let judges = checks().filter_map(|(_, check)| match check {
        Check::Start(judge) => Some(judge),
        _ => None,
    });
    judges.flat_map(|judge| judge(context)).collect()
}

/// Checks the rules about random play of one level.
pub(crate) fn on_level(context: Context<'_>, level: u8) -> Vec<Finding> {
    let judges = checks().filter_map(|(rule, check)| match check {
        Check::Luck(judge) => Some((rule, judge)),
        _ => None,
    });
    judges
        .flat_map(|(rule, judge)| judge_level(rule, level, judge(context, level)))
        .collect()
}

/// Repeats the random play of regime 1 and returns the actions that won its first levels, one list
/// per level, in order.
pub(crate) fn wins_from_start(context: Context<'_>) -> Vec<Vec<Action>> {
    let Context {
        subject,
        options,
        monitor,
    } = context;
    let mut wins: Vec<Vec<Action>> = Vec::new();
    let Ok(Some(mut walk)) = Walk::enter(subject, options.env_seed, 0) else {
        return wins;
    };
    let mut rng = Rng::new(options.seed, START_STREAM);
    let mut since_reset = Vec::new();
    for step in 0..options.steps.min(MAX_STEPS_FROM_START) {
        if is_cancelled(monitor, step) {
            break;
        }
        let action = walk.random_action(&mut rng);
        let Ok(seen) = walk.act(action) else { break };
        // Actions before a RESET of the level are not part of the win.
        if action == Action::Reset {
            since_reset.clear();
        } else {
            since_reset.push(action);
        }
        match usize::from(seen.levels_completed) {
            completed if completed < wins.len() => break,
            completed if completed > wins.len() => wins.push(std::mem::take(&mut since_reset)),
            _ if since_reset.len() > MAX_PREFIX_LEN => break,
            _ => {}
        }
    }
    wins
}

/// Returns a win of a level if random play of that level finds one.
pub(crate) fn first_win(context: Context<'_>, level: u8) -> Option<Vec<Action>> {
    let Context {
        subject, options, ..
    } = context;
    let before = subject.prefix(level)?.len();
    let walk = Walk::enter(subject, options.env_seed, level).ok()??;
    let actions = play_attempts(context, level, walk, 1).ok()?.first_win?;
    // Actions before a RESET of the level are not part of the win.
    actions[before..]
        .rsplit(|&action| action == Action::Reset)
        .next()
        .map(<[Action]>::to_vec)
}

/// The results of random attempts at a level.
pub(crate) struct Attempts {
    pub(crate) attempts: u64,
    pub(crate) wins: u64,
    /// The maximum number of actions of an attempt.
    pub(crate) length: u64,
    /// The actions of the first win, if the path to the level is known.
    pub(crate) first_win: Option<Vec<Action>>,
}

/// Plays attempts until the steps are used up or `max_wins` attempts have won.
pub(crate) fn play_attempts(
    context: Context<'_>,
    level: u8,
    mut walk: Walk,
    max_wins: u64,
) -> Result<Attempts, PlayFailure> {
    let Context {
        subject,
        options,
        monitor,
    } = context;
    let mut rng = Rng::new(options.seed, 2_000 + u64::from(level));
    let length = u64::from(ATTEMPT_FACTOR * baseline(subject, level));
    let mut result = Attempts {
        attempts: 0,
        wins: 0,
        length,
        first_win: None,
    };
    let (mut steps, mut reported) = (0, 0);
    while steps < options.steps && result.wins < max_wins {
        result.attempts += 1;
        for _ in 0..length {
            let action = walk.random_action(&mut rng);
            steps += 1;
            if is_cancelled(monitor, steps) {
                return Ok(result);
            }
            if walk.act(action)?.levels_completed > level {
                result.wins += 1;
                result.first_win = result.first_win.or_else(|| walk.full_log());
                walk = match Walk::enter(subject, options.env_seed, level)? {
                    Some(walk) => walk,
                    None => return Ok(result),
                };
                break;
            }
        }
        if !walk.log.is_empty() {
            // A second RESET in a row would restart the game.
            if walk.log.last() != Some(&Action::Reset) {
                walk.act(Action::Reset)?;
            }
            walk.log.clear();
        }
        if steps - reported >= REPORT_INTERVAL {
            monitor.add_steps(steps - reported);
            reported = steps;
        }
    }
    monitor.add_steps(steps - reported);
    Ok(result)
}

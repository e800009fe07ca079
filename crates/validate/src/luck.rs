//! Random play: the first two regimes of the paper's qualification.
//!
//! Every action is uniform over the offered kinds, undo included; a click is uniform over all
//! cells. After a loss the next action is RESET. It counts as an action, just as it would count
//! against the action budget of an agent.

use rhae_engine::{Action, Rng};
use rhae_explore::{lower_bound_95, upper_bound_95};

use crate::levels::{baseline, enter_level, environment_failed};
use crate::walk::{PlayFailure, Walk, is_cancelled};
use crate::{ATTEMPT_FACTOR, Finding, LUCK_LIMIT, Monitor, Options, Rule, Subject, Verdict};

/// The maximum number of steps of the first regime.
pub(crate) const MAX_STEPS_FROM_START: u64 = 50_000;
/// The random stream of the first regime.
const START_STREAM: u64 = 1_000;
/// The maximum length of a win that is used to reach the next level. The length is limited because
/// every check of that level replays the win.
const MAX_PREFIX_LEN: usize = 2_000;
/// The number of steps between two progress reports.
const REPORT_INTERVAL: u64 = 4_096;
/// The minimum number of attempts for which the absence of wins is meaningful.
const MIN_ATTEMPTS: u64 = 20;

/// Regime 1: one play from the start of the game.
pub(crate) fn from_start(
    subject: &dyn Subject,
    options: &Options,
    monitor: &dyn Monitor,
) -> Vec<Finding> {
    let rule = Rule::Start;
    let mut walk = match enter_level(subject, options, 0, &[rule]) {
        Ok(walk) => walk,
        Err(findings) => return findings,
    };
    let mut rng = Rng::new(options.seed, START_STREAM);
    let steps = options.steps.min(MAX_STEPS_FROM_START);
    let mut findings: Vec<Finding> = Vec::new();
    let mut completed = 0;
    for step in 0..steps {
        let action = walk.random_action(&mut rng);
        if let Err(failure) = walk.act(action) {
            findings.extend(environment_failed(&[rule], completed, &failure));
            return findings;
        }
        let now = walk.observation().levels_completed;
        if now > completed {
            let verdict = if completed == 0 && !options.strict {
                Verdict::Warn
            } else {
                Verdict::Fail
            };
            let known = findings
                .iter()
                .any(|finding| finding.level == Some(completed));
            if !known {
                let tutorial = if verdict == Verdict::Warn {
                    "; an easy first level is allowed"
                } else {
                    ""
                };
                let text = format!(
                    "random play won the level after {} steps{tutorial}",
                    step + 1
                );
                let finding = Finding::new(rule, verdict, text).on_level(completed);
                findings.push(finding.with_evidence("a win by random play", walk.full_log()));
            }
        }
        completed = now;
        if (step + 1) % REPORT_INTERVAL == 0 {
            monitor.add_steps(REPORT_INTERVAL);
        }
        if is_cancelled(monitor, step) {
            break;
        }
    }
    monitor.add_steps(steps % REPORT_INTERVAL);
    if findings.is_empty() {
        findings.push(Finding::pass(
            rule,
            format!("random play completed no level in {steps} steps"),
        ));
    }
    findings
}

/// Regime 2: random attempts at one level, which is entered directly. Each attempt may take five
/// times the baseline.
pub(crate) fn on_level(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    monitor: &dyn Monitor,
) -> Vec<Finding> {
    let rule = Rule::Levels;
    let walk = match enter_level(subject, options, level, &[rule]) {
        Ok(walk) => walk,
        Err(findings) => return findings,
    };
    match play_attempts(subject, options, level, walk, u64::MAX, monitor) {
        Ok(result) => vec![judge(options, level, &result)],
        Err(failure) => environment_failed(&[rule], level, &failure),
    }
}

/// Repeats the random play of regime 1 and returns the actions that won its first levels, one list
/// per level, in order.
pub(crate) fn wins_from_start(
    subject: &dyn Subject,
    options: &Options,
    monitor: &dyn Monitor,
) -> Vec<Vec<Action>> {
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
pub(crate) fn first_win(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    monitor: &dyn Monitor,
) -> Option<Vec<Action>> {
    let before = subject.prefix(level)?.len();
    let walk = Walk::enter(subject, options.env_seed, level).ok()??;
    let actions = play_attempts(subject, options, level, walk, 1, monitor)
        .ok()?
        .first_win?;
    // Actions before a RESET of the level are not part of the win.
    actions[before..]
        .rsplit(|&action| action == Action::Reset)
        .next()
        .map(<[Action]>::to_vec)
}

struct Attempts {
    attempts: u64,
    wins: u64,
    length: u64,
    first_win: Option<Vec<Action>>,
}

/// Plays attempts until the steps are used up or `max_wins` attempts have won.
fn play_attempts(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    mut walk: Walk,
    max_wins: u64,
    monitor: &dyn Monitor,
) -> Result<Attempts, PlayFailure> {
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

fn judge(options: &Options, level: u8, result: &Attempts) -> Finding {
    let Attempts {
        attempts,
        wins,
        length,
        ..
    } = *result;
    let (low, high) = (
        lower_bound_95(wins, attempts),
        upper_bound_95(wins, attempts),
    );
    let counts = format!("{wins} of {attempts} attempts of {length} random actions won");
    let finding = if wins == 0 && attempts < MIN_ATTEMPTS {
        Finding::open(
            Rule::Levels,
            format!("{counts}; more attempts are needed to decide: raise --steps"),
        )
    } else if wins == 0 {
        Finding::pass(
            Rule::Levels,
            format!(
                "{counts}: at most 1 in {:.0} with 95 % confidence",
                1.0 / high
            ),
        )
    } else if low > LUCK_LIMIT {
        Finding::fail(
            Rule::Levels,
            format!(
                "{counts}: at least 1 in {:.0} with 95 % confidence, but the limit is 1 in 10,000",
                1.0 / low
            ),
        )
    } else if options.strict {
        Finding::fail(Rule::Levels, format!("{counts}, but --strict allows none"))
    } else {
        Finding::warn(
            Rule::Levels,
            format!("{counts}: within the limit, but not zero"),
        )
    };
    finding
        .on_level(level)
        .with_evidence("a win by random play", result.first_win.clone())
}

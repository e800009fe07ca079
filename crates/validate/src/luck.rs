//! Random play: the first two regimes of the paper's qualification.
//!
//! Every action is uniform over those offered (undo included), a click uniform over all cells. After a loss the next action is
//! RESET, which counts, as it would for an agent under a budget.

use rhae_engine::{Action, Rng};
use rhae_explore::{lower_bound_95, upper_bound_95};

use crate::levels::{baseline, entered, stopped};
use crate::walk::{Broken, Walk, is_over};
use crate::{ATTEMPT, Finding, LUCK_LIMIT, Options, Rule, Subject, Verdict, Watch};

/// The first regime is never longer.
pub(crate) const MOST_FROM_START: u64 = 50_000;
/// The stream of random numbers of the first regime.
const FROM_START: u64 = 1_000;
/// Lines that are longer are no way to a level: every check that begins there would play them.
const LONGEST_WAY: usize = 2_000;
/// Steps between two words to whoever watches.
const REPORT: u64 = 4_096;
/// With fewer attempts than these, that none has won tells nothing.
const FEWEST_ATTEMPTS: u64 = 20;

/// Regime 1: one play from the start.
pub(crate) fn from_start(
    subject: &dyn Subject,
    options: &Options,
    watch: &dyn Watch,
) -> Vec<Finding> {
    let rule = Rule::Start;
    let mut walk = match entered(subject, options, 0, &[rule]) {
        Ok(walk) => walk,
        Err(findings) => return findings,
    };
    let mut rng = Rng::new(options.seed, FROM_START);
    let steps = options.steps.min(MOST_FROM_START);
    let mut findings: Vec<Finding> = Vec::new();
    let mut completed = 0;
    for step in 0..steps {
        let action = walk.random(&mut rng);
        if let Err(broken) = walk.act(action) {
            findings.extend(stopped(&[rule], completed, &broken));
            return findings;
        }
        let now = walk.seen().levels_completed;
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
                    "; a first level may be easy"
                } else {
                    ""
                };
                let text = format!("random play won it after {} steps{tutorial}", step + 1);
                let finding = Finding::new(rule, verdict, text).on(completed);
                findings.push(finding.shown("random play, won by accident", walk.line()));
            }
        }
        completed = now;
        if (step + 1) % REPORT == 0 {
            watch.steps(REPORT);
        }
        if is_over(watch, step) {
            break;
        }
    }
    watch.steps(steps % REPORT);
    if findings.is_empty() {
        findings.push(Finding::pass(
            rule,
            format!("no level was beaten in {steps} random steps"),
        ));
    }
    findings
}

/// Regime 2: one level, entered directly, in attempts of five times the baseline.
pub(crate) fn on_level(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    watch: &dyn Watch,
) -> Vec<Finding> {
    let rule = Rule::Levels;
    let walk = match entered(subject, options, level, &[rule]) {
        Ok(walk) => walk,
        Err(findings) => return findings,
    };
    match attempts(subject, options, level, walk, u64::MAX, watch) {
        Ok(played) => vec![judged(options, level, &played)],
        Err(broken) => stopped(&[rule], level, &broken),
    }
}

/// The lines that win the first levels in the play of the first regime, one after the other.
pub(crate) fn wins_from_start(
    subject: &dyn Subject,
    options: &Options,
    watch: &dyn Watch,
) -> Vec<Vec<Action>> {
    let mut wins: Vec<Vec<Action>> = Vec::new();
    let Ok(Some(mut walk)) = Walk::enter(subject, options.env_seed, 0) else {
        return wins;
    };
    let mut rng = Rng::new(options.seed, FROM_START);
    let mut line = Vec::new();
    for step in 0..options.steps.min(MOST_FROM_START) {
        if is_over(watch, step) {
            break;
        }
        let action = walk.random(&mut rng);
        let Ok(seen) = walk.act(action) else { break };
        // What was tried before a RESET of the level has no part in the win.
        if action == Action::Reset {
            line.clear();
        } else {
            line.push(action);
        }
        match usize::from(seen.levels_completed) {
            completed if completed < wins.len() => break,
            completed if completed > wins.len() => wins.push(std::mem::take(&mut line)),
            _ if line.len() > LONGEST_WAY => break,
            _ => {}
        }
    }
    wins
}

/// A line that wins a level, if random play of that level finds one.
pub(crate) fn first_win(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    watch: &dyn Watch,
) -> Option<Vec<Action>> {
    let before = subject.prefix(level)?.len();
    let walk = Walk::enter(subject, options.env_seed, level).ok()??;
    let line = attempts(subject, options, level, walk, 1, watch)
        .ok()?
        .first_win?;
    // What was tried before a RESET of the level has no part in the win.
    line[before..]
        .rsplit(|&action| action == Action::Reset)
        .next()
        .map(<[Action]>::to_vec)
}

struct Played {
    attempts: u64,
    wins: u64,
    length: u64,
    first_win: Option<Vec<Action>>,
}

/// Plays until the steps are used up, or so many attempts have won.
fn attempts(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    mut walk: Walk,
    most_wins: u64,
    watch: &dyn Watch,
) -> Result<Played, Broken> {
    let mut rng = Rng::new(options.seed, 2_000 + u64::from(level));
    let length = u64::from(ATTEMPT * baseline(subject, level));
    let mut played = Played {
        attempts: 0,
        wins: 0,
        length,
        first_win: None,
    };
    let (mut steps, mut reported) = (0, 0);
    while steps < options.steps && played.wins < most_wins {
        played.attempts += 1;
        for _ in 0..length {
            let action = walk.random(&mut rng);
            steps += 1;
            if is_over(watch, steps) {
                return Ok(played);
            }
            if walk.act(action)?.levels_completed > level {
                played.wins += 1;
                played.first_win = played.first_win.or_else(|| walk.line());
                walk = match Walk::enter(subject, options.env_seed, level)? {
                    Some(walk) => walk,
                    None => return Ok(played),
                };
                break;
            }
        }
        if !walk.log.is_empty() {
            // An attempt that ended in a RESET must not end in another, which would restart the game.
            if walk.log.last() != Some(&Action::Reset) {
                walk.act(Action::Reset)?;
            }
            walk.log.clear();
        }
        if steps - reported >= REPORT {
            watch.steps(steps - reported);
            reported = steps;
        }
    }
    watch.steps(steps - reported);
    Ok(played)
}

fn judged(options: &Options, level: u8, played: &Played) -> Finding {
    let Played {
        attempts,
        wins,
        length,
        ..
    } = *played;
    let (low, high) = (
        lower_bound_95(wins, attempts),
        upper_bound_95(wins, attempts),
    );
    let counts = format!("{wins} of {attempts} attempts of {length} random actions win");
    let finding = if wins == 0 && attempts < FEWEST_ATTEMPTS {
        Finding::open(
            Rule::Levels,
            format!("{counts}, and so few tell nothing: allow more with --steps"),
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
                "{counts}: at least 1 in {:.0} with 95 % confidence, and 1 in 10,000 is allowed",
                1.0 / low
            ),
        )
    } else if options.strict {
        Finding::fail(Rule::Levels, format!("{counts}, and --strict allows none"))
    } else {
        Finding::warn(Rule::Levels, format!("{counts}: few enough, but not none"))
    };
    finding
        .on(level)
        .shown("random play, won by accident", played.first_win.clone())
}

//! The rule `recordings`: plays replay to the same result, in this process and in a new one.

use rhae_engine::{Action, Environment, PlayState, Rng};

use crate::levels::baseline;
use crate::rule::{Check, Context, Definition, Group};
use crate::structure::LevelStart;
use crate::walk::{PlayFailure, Walk, catch_panic, observation_hash, random_action_of};
use crate::{ATTEMPT_FACTOR, Finding, Options, Rule, Subject, Verdict};

/// The number of random plays per level in which a loss is searched for.
const PLAYS_FOR_A_LOSS: u32 = 20;

pub(super) const DEFINITION: Definition = Definition {
    name: "recordings",
    group: Group::Structure,
    severity: Verdict::Fail,
    requirement: "A win, a loss and the stored recordings replay to the same result, also in a new process.",
    checks: &[Check::Structure(check)],
};

/// Plays a win and a loss and replays both in this process and in a new one. Also reports whether
/// the stored recordings replay.
fn check(context: Context<'_>, _starts: &[LevelStart]) -> Vec<Finding> {
    let Context {
        subject,
        options,
        monitor,
    } = context;
    let mut findings = Vec::new();
    for stored in subject.recordings() {
        findings.push(match stored.replayed {
            Ok(result) => Finding::pass(
                Rule::Recordings,
                format!("`{}` replays: {result}", stored.name),
            ),
            Err(difference) => Finding::fail(
                Rule::Recordings,
                format!("`{}` does not replay: {difference}", stored.name),
            ),
        });
    }
    let win: Option<Vec<Vec<Action>>> = (0..subject.levels())
        .map(|level| subject.solution(level))
        .collect();
    let plays = [
        ("win", win.map(|lines| lines.concat())),
        ("loss", loss(subject, options)),
    ];
    for (kind, line) in plays {
        let Some(line) = line else {
            findings.push(Finding::open(
                Rule::Recordings,
                format!("no {kind} is known that could be replayed"),
            ));
            continue;
        };
        let finding = match replayed(subject, options, &line).and_then(|()| {
            monitor
                .replay_in_fresh_process(subject, &line)
                .unwrap_or(Ok(()))
        }) {
            Ok(()) => Finding::pass(
                Rule::Recordings,
                format!("a {kind} of {} actions replays", line.len()),
            ),
            Err(difference) => Finding::fail(
                Rule::Recordings,
                format!("a {kind} does not replay: {difference}"),
            ),
        };
        findings.push(finding.with_evidence(format!("a {kind}"), Some(line)));
    }
    findings
}

/// Replays actions in two new plays and compares all observations.
fn replayed(subject: &dyn Subject, options: &Options, line: &[Action]) -> Result<(), String> {
    let hashes = |subject: &dyn Subject| -> Result<Vec<u128>, String> {
        let mut play: Box<dyn Environment> = subject
            .open(options.env_seed)
            .map_err(|error| error.to_string())?;
        let mut hashes = vec![observation_hash(play.observation())];
        for &action in line {
            hashes.push(observation_hash(
                play.act(action).map_err(|error| error.to_string())?,
            ));
        }
        Ok(hashes)
    };
    let (one, two) = (
        catch_panic(|| hashes(subject)).flatten()?,
        catch_panic(|| hashes(subject)).flatten()?,
    );
    match one.iter().zip(&two).position(|(one, two)| one != two) {
        None => Ok(()),
        Some(at) => Err(format!(
            "two plays of the same actions differ after action {at}"
        )),
    }
}

/// Returns a play that ends in a loss, if random play on some level finds one.
fn loss(subject: &dyn Subject, options: &Options) -> Option<Vec<Action>> {
    let mut rng = Rng::new(options.seed, 40);
    for level in 0..subject.levels() {
        let plays = if subject.is_hosted() {
            2
        } else {
            PLAYS_FOR_A_LOSS
        };
        for _ in 0..plays {
            let mut walk = Walk::enter(subject, options.env_seed, level).ok()??;
            for _ in 0..2 * ATTEMPT_FACTOR * baseline(subject, level) {
                let action = random_action_of(walk.observation().available, &mut rng)?;
                let state = match walk.act(action) {
                    Ok(seen) if seen.levels_completed == level => seen.state,
                    Ok(_) | Err(PlayFailure { .. }) => break,
                };
                if state == PlayState::GameOver {
                    return walk.full_log();
                }
            }
        }
    }
    None
}

//! The rule `recordings`: plays replay to the same result, in this process and in a new one.
//!
//! Replayed are the recordings that are stored with the environment, a win of the game and, for each
//! level that can be lost, a loss: a shortest one of the state graph, and the shortest one that
//! fuzzing found.

use rhae_engine::{Action, Environment, PlayState};

use crate::fuzz::Fuzzed;
use crate::rule::{Check, Context, Definition, Group};
use crate::solvable::{SearchedLevel, with_prefix};
use crate::structure::LevelStart;
use crate::walk::{catch_panic, observation_hash};
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "recordings",
    group: Group::Structure,
    severity: Verdict::Fail,
    requirement: "A win, losses and the stored recordings replay to the same result, also in a new process.",
    checks: &[
        Check::Structure(check),
        Check::Fuzz(fuzzed_loss),
        Check::Graph(shortest_loss),
    ],
};

/// Reports whether the stored recordings and a win replay.
fn check(context: Context<'_>, _starts: &[LevelStart]) -> Vec<Finding> {
    let subject = context.subject;
    let stored = subject.recordings().into_iter();
    let mut findings: Vec<Finding> = stored
        .map(|stored| match stored.replayed {
            Ok(result) => Finding::pass(
                Rule::Recordings,
                format!("`{}` replays: {result}", stored.name),
            ),
            Err(difference) => Finding::fail(
                Rule::Recordings,
                format!("`{}` does not replay: {difference}", stored.name),
            ),
        })
        .collect();
    let win: Option<Vec<Vec<Action>>> = (0..subject.levels())
        .map(|level| subject.solution(level))
        .collect();
    findings.push(match win {
        Some(solutions) => {
            let actions = solutions.concat();
            judge("win", &actions, replay(context, &actions).map(|_| ()))
        }
        None => Finding::not_checked(Rule::Recordings, "no win is known that could be replayed"),
    });
    findings
}

fn fuzzed_loss(context: Context<'_>, fuzzed: &Fuzzed) -> Option<Finding> {
    let loss = fuzzed.loss.as_ref()?;
    Some(judge_loss(context, loss.actions.as_deref()))
}

fn shortest_loss(context: Context<'_>, searched: &SearchedLevel) -> Option<Finding> {
    let SearchedLevel { level, graph, .. } = searched;
    Some(match &graph.loss {
        Some(actions) => {
            let actions = with_prefix(context.subject, *level, actions);
            judge_loss(context, actions.as_deref())
        }
        None if graph.is_complete() => Finding::pass(
            Rule::Recordings,
            "the level cannot be lost, so no loss is replayed",
        ),
        None => Finding::open(
            Rule::Recordings,
            format!("no loss was found (states searched: {})", graph.nodes),
        ),
    })
}

/// Replays a loss of a level. Its actions are `None` if the path to the level is not known.
fn judge_loss(context: Context<'_>, actions: Option<&[Action]>) -> Finding {
    let Some(actions) = actions else {
        return Finding::not_checked(
            Rule::Recordings,
            "the level can be lost, but no loss was replayed: no path to the level is known",
        );
    };
    match replay(context, actions) {
        // If states share a key, a path in the state graph may lead to another state.
        Ok(state) if state != PlayState::GameOver => Finding::not_checked(
            Rule::Recordings,
            "the search found a loss, but a play of its actions is not lost: see `keys`",
        ),
        replayed => judge("loss", actions, replayed.map(|_| ())),
    }
}

fn judge(kind: &str, actions: &[Action], replayed: Result<(), String>) -> Finding {
    let finding = match replayed {
        Ok(()) => Finding::pass(
            Rule::Recordings,
            format!("a {kind} of {} actions replays", actions.len()),
        ),
        Err(difference) => Finding::fail(
            Rule::Recordings,
            format!("a {kind} does not replay: {difference}"),
        ),
    };
    finding.with_evidence(format!("a {kind}"), Some(actions.to_vec()))
}

/// Replays actions in two new plays and in a new process, and compares all observations. Returns
/// the state after the last action.
fn replay(context: Context<'_>, actions: &[Action]) -> Result<PlayState, String> {
    let (one, two) = (play(context, actions)?, play(context, actions)?);
    let mut pairs = one.hashes.iter().zip(&two.hashes);
    if let Some(at) = pairs.position(|(one, two)| one != two) {
        return Err(format!(
            "two plays of the same actions differ after action {at}"
        ));
    }
    let monitor = context.monitor;
    monitor
        .replay_in_fresh_process(context.subject, actions)
        .unwrap_or(Ok(()))?;
    Ok(one.state)
}

/// A play from the opening.
struct Played {
    /// The hash of each observation.
    hashes: Vec<u128>,
    /// The state after the last action.
    state: PlayState,
}

fn play(context: Context<'_>, actions: &[Action]) -> Result<Played, String> {
    let play = || -> Result<Played, String> {
        let mut play: Box<dyn Environment> = context
            .subject
            .open(context.options.env_seed)
            .map_err(|error| error.to_string())?;
        let mut hashes = vec![observation_hash(play.observation())];
        for &action in actions {
            let seen = play.act(action).map_err(|error| error.to_string())?;
            hashes.push(observation_hash(seen));
        }
        let state = play.observation().state;
        Ok(Played { hashes, state })
    };
    catch_panic(play).flatten()
}

//! Automatic suspicion: copied action logs, and play in the proved minimum at first contact.
//!
//! Both are advisory. The evidence contains counts but no environments, because a set may be hidden.

use std::collections::BTreeSet;

use rhae_protocol::{BoardFlag, BoardSet, EntryId, LevelLog};

use crate::state::{BoardState, Entry};

/// The fewest levels that raise a suspicion, and the fewest actions of such a level.
const MIN_LEVELS: usize = 3;
const MIN_ACTIONS: u32 = 10;
/// The fewest environments with levels in the minimum of actions.
const MIN_ENVIRONMENTS: usize = 2;

/// Returns the flags that the plays of a row raise, with their evidence.
pub(crate) fn suspicions(
    state: &BoardState,
    id: &EntryId,
    entry: &Entry,
) -> Vec<(BoardFlag, String)> {
    let copied = if state.definition.set.tasks.is_some() {
        answers_copied_from(state, id, entry)
            .map(|(from, tasks)| format!("the wrong answers to all {tasks} tasks that are not solved equal those of the older row `{from}`"))
    } else {
        copied_from(state, id, entry).map(|(from, levels)| {
            format!("the actions on {levels} levels equal those of the older row `{from}`")
        })
    };
    let copied = copied.map(|evidence| (BoardFlag::Copied, evidence));
    let (levels, environments) = optimal(&state.definition.set, entry);
    let is_optimal = levels >= MIN_LEVELS && environments >= MIN_ENVIRONMENTS;
    let suspicious = is_optimal.then(|| {
        let evidence = format!(
            "{levels} levels in {environments} environments were completed in the proved minimum of actions at first contact"
        );
        (BoardFlag::Suspicious, evidence)
    });
    copied.into_iter().chain(suspicious).collect()
}

/// Returns the older row of other authors with which most long action logs agree.
fn copied_from<'a>(
    state: &'a BoardState,
    id: &EntryId,
    entry: &Entry,
) -> Option<(&'a EntryId, usize)> {
    let own = long_logs(entry);
    let others = state.entries.iter().filter(|(other_id, other)| {
        *other_id != id && other.seq < entry.seq && !shares_author(state, entry, other)
    });
    let shared = others.map(|(other_id, other)| {
        let count = long_logs(other).intersection(&own).count();
        (other_id, count)
    });
    shared
        .filter(|(_, count)| *count >= MIN_LEVELS)
        .reduce(|best, one| if one.1 > best.1 { one } else { best })
}

/// Returns the first older row of other authors with the same wrong answers. Right answers are equal
/// anyway, and two systems seldom make all of the same errors.
fn answers_copied_from<'a>(
    state: &'a BoardState,
    id: &EntryId,
    entry: &Entry,
) -> Option<(&'a EntryId, usize)> {
    let own = wrong_answers(entry);
    if own.len() < MIN_LEVELS {
        return None;
    }
    let mut others = state.entries.iter().filter(|(other_id, other)| {
        *other_id != id && other.seq < entry.seq && !shares_author(state, entry, other)
    });
    let found = others.find(|(_, other)| wrong_answers(other).is_superset(&own));
    found.map(|(other_id, _)| (other_id, own.len()))
}

/// Returns the tasks with a test that is not solved, with the hash of all grids.
fn wrong_answers(entry: &Entry) -> BTreeSet<(&str, &str)> {
    let answers = entry.runs.iter().flat_map(|run| &run.answers);
    let wrong = answers.filter(|answer| answer.solved.contains(&0));
    wrong
        .filter_map(|answer| Some((answer.task.as_str(), answer.grids.as_ref()?.as_str())))
        .collect()
}

type LogKey<'a> = (&'a str, u32, &'a str);

fn long_logs(entry: &Entry) -> BTreeSet<LogKey<'_>> {
    let plays = entry.runs.iter().flat_map(|run| &run.plays);
    let logs = plays.flat_map(|play| play.logs.iter().map(move |log| (play, log)));
    logs.filter(|(_, log)| log.actions >= MIN_ACTIONS)
        .map(|(play, log)| (play.environment.as_str(), log.level, log.digest.as_str()))
        .collect()
}

/// Returns whether two rows have an author in common.
pub(crate) fn shares_author(state: &BoardState, one: &Entry, other: &Entry) -> bool {
    let names = |entry: &Entry| state.folded_authors(&entry.system);
    !names(one).is_disjoint(&names(other))
}

/// Returns the numbers of levels and of environments that were completed in the proved minimum.
fn optimal(set: &BoardSet, entry: &Entry) -> (usize, usize) {
    let mut levels = BTreeSet::new();
    for play in entry.runs.iter().flat_map(|run| &run.plays) {
        let environment = set
            .environments
            .iter()
            .find(|one| one.id == play.environment);
        let is_optimal = |log: &&LevelLog| {
            let index = usize::try_from(log.level).unwrap_or(0).wrapping_sub(1);
            let level = environment.and_then(|one| one.levels.get(index));
            let optimum = level.and_then(|level| level.optimum);
            log.completed && log.actions >= MIN_ACTIONS && optimum == Some(log.actions)
        };
        let optimal = play.logs.iter().filter(is_optimal);
        levels.extend(optimal.map(|log| (play.environment.as_str(), log.level)));
    }
    let environments: BTreeSet<&str> = levels.iter().map(|(environment, _)| *environment).collect();
    (levels.len(), environments.len())
}

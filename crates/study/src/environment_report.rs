//! The results of one environment version: funnel, drop-off, time, and where people stopped.

use rhae_protocol::{AttemptOutcome, EnvironmentVersion, LevelPlay};
use rhae_stats::{
    IncidencePoint, Progress, SurvivalPoint, TimedEvent, aalen_johansen, kaplan_meier, median,
    risk_sets,
};

use crate::attempt_rule::Standing;
use crate::rows::{AttemptRow, Selection, live_attempts};
use crate::state::StudyState;
use crate::verdict::{EnvironmentCounts, environment_counts};

/// The index of "solved" in [`EnvironmentReport::time`].
pub const SOLVED: usize = 0;
/// The index of "left" in [`EnvironmentReport::time`]: the participant left, or reached the hard
/// limit.
pub const LEFT: usize = 1;

/// The results of an environment version.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvironmentReport {
    pub counts: EnvironmentCounts,
    /// The share of people who complete each level, by Kaplan and Meier.
    pub drop_off: Vec<SurvivalPoint>,
    /// The share of people who have solved ([`SOLVED`]) or left ([`LEFT`]) the environment by a time
    /// in milliseconds, by Aalen and Johansen.
    pub time: Vec<IncidencePoint>,
    pub levels: Vec<LevelReport>,
}

/// The results of one level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelReport {
    /// The number of the level, from 1.
    pub level: u32,
    /// The people who reached the level.
    pub reached: u32,
    pub completed: u32,
    /// The people who left, or reached the hard limit, in this level.
    pub stopped: u32,
    /// The people who were interrupted in this level.
    pub censored: u32,
    pub resets: u64,
    pub deaths: u64,
    /// The actions of each completion, in ascending order.
    pub actions: Vec<u32>,
    /// The median time from the start of the level to its completion, in milliseconds.
    pub median_ms: Option<f64>,
}

/// Returns the results of an environment version; `None` if it is not in the pool.
pub fn environment_report(
    state: &StudyState,
    environment: &EnvironmentVersion,
    selection: Selection,
) -> Option<EnvironmentReport> {
    let pooled = state.environments.get(environment)?;
    let counts = environment_counts(state, selection).remove(environment)?;
    let rows: Vec<(AttemptRow<'_>, Standing)> = live_attempts(state)
        .filter(|row| row.environment == environment)
        .map(|row| (row, row.standing(selection)))
        .filter(|(_, standing)| standing.contributes())
        .collect();
    let levels = usize::try_from(pooled.levels).unwrap_or(0);
    let people: Vec<Progress> = rows
        .iter()
        .map(|(row, standing)| progress(row, *standing))
        .collect();
    let events: Vec<TimedEvent> = rows
        .iter()
        .map(|(row, standing)| event(row, *standing))
        .collect();
    Some(EnvironmentReport {
        counts,
        drop_off: kaplan_meier(&risk_sets(levels, &people)),
        time: aalen_johansen(2, &events),
        levels: (1..=pooled.levels)
            .map(|level| level_report(level, &rows))
            .collect(),
    })
}

fn progress(row: &AttemptRow<'_>, standing: Standing) -> Progress {
    Progress {
        completed: row.attempt.counts.completed_levels(),
        censored: standing == Standing::Censored,
    }
}

fn event(row: &AttemptRow<'_>, standing: Standing) -> TimedEvent {
    TimedEvent {
        time: row.attempt.duration_ms,
        cause: match standing {
            Standing::Solved => Some(SOLVED),
            Standing::Failed => Some(LEFT),
            Standing::Censored | Standing::NotCounted => None,
        },
    }
}

fn level_report(level: u32, rows: &[(AttemptRow<'_>, Standing)]) -> LevelReport {
    let index = usize::try_from(level).unwrap_or(usize::MAX) - 1;
    let mut report = LevelReport {
        level,
        ..LevelReport::default()
    };
    let mut times = Vec::new();
    for (row, standing) in rows {
        let plays = &row.attempt.counts.levels;
        // A person who completed the level before has reached this one, even without an action.
        let reached = index == 0 || plays.get(index - 1).is_some_and(|before| before.completed);
        if !reached {
            continue;
        }
        report.reached += 1;
        let play = plays.get(index).copied().unwrap_or_default();
        report.resets += u64::from(play.resets);
        report.deaths += u64::from(play.deaths);
        if play.completed {
            report.completed += 1;
            report.actions.push(play.actions);
            times.extend(level_time(plays, index));
        } else if *standing == Standing::Censored {
            report.censored += 1;
        } else {
            report.stopped += 1;
        }
    }
    report.actions.sort_unstable();
    report.median_ms = median(&times);
    report
}

fn level_time(plays: &[LevelPlay], index: usize) -> Option<u64> {
    let end = plays[index].completed_ms?;
    let start = match index.checked_sub(1) {
        Some(before) => plays[before].completed_ms?,
        None => 0,
    };
    end.checked_sub(start)
}

/// A play that ended unsolved, for the report to the author of a returned environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedPlay {
    pub play: String,
    /// The level in which the participant stopped, from 1.
    pub level: u32,
    pub outcome: AttemptOutcome,
    pub actions: u64,
    /// The action from which the replay should be shown.
    pub replay_from: u64,
}

/// The number of actions before the end from which a replay is shown.
const REPLAY_ACTIONS: u64 = 60;

/// Returns the unsolved plays of an environment, sorted by the level in which people stopped. The
/// replay of each starts 60 actions before its end.
pub fn stopped_plays(state: &StudyState, environment: &EnvironmentVersion) -> Vec<StoppedPlay> {
    let mut plays: Vec<StoppedPlay> = live_attempts(state)
        .filter(|row| row.environment == environment && !row.attempt.counts.solved)
        .map(|row| {
            let counts = &row.attempt.counts;
            StoppedPlay {
                play: row.attempt.play.clone(),
                level: u32::try_from(counts.completed_levels()).unwrap_or(u32::MAX - 1) + 1,
                outcome: row.attempt.outcome,
                actions: counts.actions(),
                replay_from: counts.actions().saturating_sub(REPLAY_ACTIONS),
            }
        })
        .collect();
    plays.sort_by(|one, other| (one.level, &one.play).cmp(&(other.level, &other.play)));
    plays
}

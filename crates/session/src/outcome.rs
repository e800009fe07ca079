//! The rules for counting the commands of a play, used both during a play and when a log is read.

use rhae_engine::{Action, Observation, PlayState};
use rhae_protocol::{Entry, LevelOutcome, RunOutcome};

/// The part of an observation that determines the counts of a play.
///
/// It is converted from an [`Observation`] during a play, or from an [`Entry`] when a log is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOutcome {
    /// Whether the command was RESET.
    pub reset: bool,
    /// Whether the command restarted the game at its first level.
    pub full_reset: bool,
    /// Whether the command counts as an action.
    pub counted: bool,
    /// Whether the command changed the state.
    pub changed: bool,
    /// The number of completed levels after the command.
    pub levels_completed: u8,
    /// The state of the play after the command.
    pub state: PlayState,
}

impl From<&Observation> for StepOutcome {
    fn from(observation: &Observation) -> Self {
        Self {
            reset: observation.action == Action::Reset,
            full_reset: observation.full_reset,
            counted: observation.counted,
            changed: observation.changed,
            levels_completed: observation.levels_completed,
            state: observation.state,
        }
    }
}

/// If an entry does not record whether the command changed the state, the command is assumed to
/// have changed it.
impl From<&Entry> for StepOutcome {
    fn from(entry: &Entry) -> Self {
        Self {
            reset: entry.action == Action::Reset,
            full_reset: entry.full_reset,
            counted: entry.counted,
            changed: entry.changed.unwrap_or(true),
            levels_completed: entry.levels_completed,
            state: entry.state,
        }
    }
}

/// Counts one step in the outcome of a run. `level` is the index, from 0, of the level on which the
/// command was given. The action is charged to this level even if it completes the level.
///
/// # Examples
///
/// ```
/// use rhae_engine::PlayState;
/// use rhae_protocol::RunOutcome;
/// use rhae_session::{StepOutcome, count_step};
///
/// let completing = StepOutcome {
///     reset: false,
///     full_reset: false,
///     counted: true,
///     changed: true,
///     levels_completed: 1,
///     state: PlayState::NotFinished,
/// };
/// let mut run = RunOutcome::default();
/// count_step(&mut run, 0, StepOutcome { levels_completed: 0, changed: false, ..completing });
/// count_step(&mut run, 0, completing);
///
/// assert_eq!(run.levels.len(), 1);
/// assert_eq!((run.levels[0].actions, run.levels[0].effective), (2, 1));
/// assert!(run.levels[0].completed);
/// ```
pub fn count_step(run: &mut RunOutcome, level: usize, step: StepOutcome) {
    let completed = usize::from(step.levels_completed);
    let reached = if completed > level { completed } else { 0 };
    let reached = if step.counted {
        reached.max(level + 1)
    } else {
        reached
    };
    if run.levels.len() < reached {
        run.levels.resize(reached, LevelOutcome::default());
    }
    if step.counted {
        let level = &mut run.levels[level];
        level.actions += 1;
        level.effective += u32::from(step.changed);
        run.resets += u64::from(step.reset);
    }
    // A hosted game may skip levels or return to an earlier one. Exactly the first
    // `levels_completed` levels count as completed.
    for (index, level) in run.levels.iter_mut().enumerate() {
        level.completed = index < completed;
    }
    run.state = step.state;
}

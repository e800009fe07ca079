//! One play of a native environment, with all animation frames.
//!
//! The lock of a play is taken only while the thread is attached to the interpreter, and its holder
//! never detaches. This rules out deadlocks between the two locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray3, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rhae_engine::{Environment, Episode, Frame, Game, LevelIndex, Levels, NativeEnvironment, SIZE};
use rhae_games::Visitor;
use rhae_protocol::ResetRule;
use rhae_session::{EnvironmentRuns, Play as Session, PlayStep};

use crate::action::{action, flat_action};

/// The result of an action.
#[pyclass(frozen, get_all, module = "rhae._native")]
pub(crate) struct StepResult {
    /// The frames, as an array of shape (n, 64, 64). The last one is the settled frame.
    frames: Py<PyArray3<u8>>,
    /// The play state, such as `NOT_FINISHED`.
    state: &'static str,
    levels_completed: u8,
    /// The number of all levels.
    win_levels: u8,
    /// The official numbers of the available actions.
    available_actions: Vec<u32>,
    /// Whether the action restarted the game.
    full_reset: bool,
    /// Whether the action was counted.
    counted: bool,
    /// Whether the action changed the state.
    changed: bool,
}

/// A play of a native environment.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct Play(Mutex<Session>);

#[pymethods]
impl Play {
    /// Creates a play in the state after its first RESET. It starts at `level`, counted from 1.
    /// With `levels_only`, RESET restarts the level and never the game.
    #[new]
    fn new(id: &str, seed: u64, level: u8, levels_only: bool) -> PyResult<Self> {
        let facts = rhae_games::find(id)
            .map_err(|error| PyValueError::new_err(error.to_string()))?
            .facts;
        let wrong = || {
            PyValueError::new_err(format!(
                "`{}` has levels 1 to {}, found {level}",
                facts.id,
                facts.level_count()
            ))
        };
        let level = level
            .checked_sub(1)
            .map(LevelIndex)
            .filter(|level| level.get() < facts.level_count())
            .ok_or_else(wrong)?;
        let opened = rhae_games::visit(facts.id, Open { seed, level })
            .expect("every game of the registry can be visited");
        let rule = if levels_only {
            ResetRule::LevelsOnly
        } else {
            ResetRule::Official
        };
        Ok(Self::from(Session::new(opened, rule)))
    }

    /// Returns the id of the environment with its version.
    #[getter]
    fn id(&self) -> String {
        self.session().info().id.to_string()
    }

    /// Returns the current level, counted from 1.
    #[getter]
    fn level(&self) -> usize {
        self.session().tally().level() + 1
    }

    /// Returns the number of completed levels.
    #[getter]
    fn levels_completed(&self) -> u8 {
        self.session().current().outcome.levels_completed
    }

    /// Returns the number of actions counted so far.
    #[getter]
    fn action_count(&self) -> u64 {
        self.session().tally().actions()
    }

    /// Returns whether a RESET in the current state would restart the whole game.
    #[getter]
    fn reset_restarts_game(&self) -> bool {
        self.session().reset_restarts_game()
    }

    /// Returns the current observation without an action.
    fn observe(&self, py: Python<'_>) -> PyResult<StepResult> {
        step_result(py, &self.session().current())
    }

    /// Executes the action with this official number and counts it.
    fn act(&self, py: Python<'_>, number: i64, x: i64, y: i64) -> PyResult<StepResult> {
        self.command(py, action(number, x, y)?)
    }

    /// Executes an action in the flat form and counts it.
    fn act_flat(&self, py: Python<'_>, number: i64) -> PyResult<StepResult> {
        self.command(py, flat_action(number)?)
    }

    /// Returns a second play in the same state.
    fn fork(&self) -> PyResult<Self> {
        self.session()
            .fork()
            .map(Self::from)
            .ok_or_else(|| PyRuntimeError::new_err("this environment cannot be copied"))
    }
}

impl From<Session> for Play {
    fn from(play: Session) -> Self {
        Self(Mutex::new(play))
    }
}

impl Play {
    fn session(&self) -> MutexGuard<'_, Session> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn command(&self, py: Python<'_>, action: rhae_engine::Action) -> PyResult<StepResult> {
        let mut session = self.session();
        let answer = session
            .command(action)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        step_result(py, &answer)
    }

    /// Returns the runs of this play for a scorecard, with the play's `guid`.
    pub(crate) fn runs(&self, guid: &str) -> EnvironmentRuns {
        let session = self.session();
        let runs = session
            .tally()
            .runs()
            .iter()
            .map(|run| (guid.to_owned(), run.clone()))
            .collect();
        EnvironmentRuns {
            info: session.info().clone(),
            runs,
        }
    }
}

fn step_result(py: Python<'_>, answer: &PlayStep<'_>) -> PyResult<StepResult> {
    let (seen, observation) = (answer.outcome, answer.observation);
    Ok(StepResult {
        frames: array(py, answer.frames)?.unbind(),
        state: seen.state.name(),
        levels_completed: seen.levels_completed,
        win_levels: observation.win_levels,
        available_actions: observation
            .available
            .iter()
            .map(|kind| kind.id().into())
            .collect(),
        full_reset: seen.full_reset,
        counted: seen.counted,
        changed: seen.changed,
    })
}

/// Copies frames into one array of shape (n, 64, 64).
fn array<'py>(py: Python<'py>, frames: &[Frame]) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let array = PyArray3::zeros(py, [frames.len(), SIZE, SIZE], false);
    let mut cells = array.try_readwrite()?;
    for (part, frame) in cells
        .as_slice_mut()?
        .chunks_exact_mut(SIZE * SIZE)
        .zip(frames)
    {
        part.copy_from_slice(frame.cells());
    }
    drop(cells);
    Ok(array)
}

/// Opens a game at a level.
struct Open {
    seed: u64,
    level: LevelIndex,
}

impl Visitor for Open {
    type Output = Box<dyn Environment>;

    fn visit<G: Game>(self) -> Self::Output {
        Box::new(NativeEnvironment::<G>::from_episode(Episode::at(
            Levels::new(self.seed),
            self.level,
        )))
    }
}

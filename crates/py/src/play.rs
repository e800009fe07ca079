//! One play of an environment, with all animation frames.
//!
//! The lock of a play is taken only while the thread is attached to the interpreter, and its holder
//! never detaches. This rules out deadlocks between the two locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray3, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rhae_engine::{
    Environment, EnvironmentError, Episode, Frame, Game, GameInfo, LevelIndex, Levels,
    NativeEnvironment, SIZE,
};
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

/// The metadata of an environment.
#[pyclass(frozen, get_all, module = "rhae._native")]
pub(crate) struct GameFacts {
    /// The id with its version.
    id: String,
    /// Whether levels depend on the seed; `None` for a hosted game, which decides that itself.
    seeded: Option<bool>,
    /// Whether the game is hosted.
    hosted: bool,
    /// The number of levels; 0 if it is not known yet.
    levels: usize,
    /// The baseline of each level; empty if the baselines are unknown.
    baselines: Vec<u32>,
    /// The official numbers of the actions that the environment offers.
    actions: Vec<u32>,
}

impl From<&GameInfo> for GameFacts {
    fn from(info: &GameInfo) -> Self {
        let hosted = info.source_digest.is_some();
        Self {
            id: info.id.to_string(),
            seeded: (!hosted).then_some(info.seeded),
            hosted,
            levels: info.level_count(),
            baselines: info
                .baselines
                .iter()
                .map(|baseline| baseline.actions)
                .collect(),
            actions: info.actions.iter().map(|kind| kind.id().into()).collect(),
        }
    }
}

/// A play of an environment.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct Play {
    session: Mutex<Session>,
    /// The seed of the environment.
    #[pyo3(get)]
    seed: u64,
}

#[pymethods]
impl Play {
    /// Returns the metadata of the environment.
    #[getter]
    fn facts(&self) -> GameFacts {
        GameFacts::from(self.session().info())
    }

    /// Serialises the play for `GameSet.open`.
    fn save(&self) -> PyResult<Vec<u8>> {
        let session = self.session();
        let saved = session.snapshot().map_err(|error| failed(&error))?;
        saved.ok_or_else(|| PyRuntimeError::new_err("this environment cannot be saved"))
    }

    /// Returns the current observation without an action.
    fn observe(&self, py: Python<'_>) -> PyResult<StepResult> {
        step_result(py, &self.session().current())
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
            .map(|session| Self::new(session, self.seed))
            .ok_or_else(|| PyRuntimeError::new_err("this environment cannot be copied"))
    }
}

impl Play {
    /// Creates a play of an environment that was just opened, or restores a saved one in it. With
    /// `levels_only`, RESET restarts the level and never the game.
    pub(crate) fn of(
        environment: Box<dyn Environment>,
        seed: u64,
        levels_only: bool,
        saved: Option<&[u8]>,
    ) -> PyResult<Self> {
        let rule = if levels_only {
            ResetRule::LevelsOnly
        } else {
            ResetRule::Official
        };
        let session = match saved {
            Some(saved) => Session::restore(environment, rule, saved)
                .map_err(|error| PyValueError::new_err(error.to_string()))?,
            None => Session::new(environment, rule),
        };
        Ok(Self::new(session, seed))
    }

    pub(crate) const fn new(session: Session, seed: u64) -> Self {
        Self {
            session: Mutex::new(session),
            seed,
        }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn command(&self, py: Python<'_>, action: rhae_engine::Action) -> PyResult<StepResult> {
        let mut session = self.session();
        let answer = session.command(action).map_err(|error| failed(&error))?;
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

fn failed(error: &EnvironmentError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Opens a built-in environment at a level, counted from 1.
pub(crate) fn open_at_level(
    info: &GameInfo,
    seed: u64,
    level: u8,
) -> PyResult<Box<dyn Environment>> {
    let wrong = || {
        PyValueError::new_err(format!(
            "`{}` has levels 1 to {}, found {level}",
            info.id,
            info.level_count()
        ))
    };
    let level = level
        .checked_sub(1)
        .map(LevelIndex)
        .filter(|level| level.get() < info.level_count())
        .ok_or_else(wrong)?;
    Ok(rhae_games::visit(info.id.as_str(), Open { seed, level })
        .expect("every game of the registry can be visited"))
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

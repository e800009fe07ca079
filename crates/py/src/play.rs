//! One play, with all frames of its animations.
//!
//! The lock is only taken while Python is held, so that nobody who holds Python waits for somebody who wants it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray3, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rhae_engine::{Environment, Episode, Frame, Game, LevelIndex, Levels, Native, SIZE};
use rhae_games::Visitor;
use rhae_protocol::ResetRule;
use rhae_session::{Answer, EnvironmentRuns, Play as Session};

use crate::action::{action, flat_action};

/// What a play answered: frames, state, levels completed, all levels, offered actions, and whether the command started the
/// game anew, was counted and changed anything.
type Told<'py> = (
    Bound<'py, PyArray3<u8>>,
    &'static str,
    u8,
    u8,
    Vec<u32>,
    bool,
    bool,
    bool,
);

/// A play of an environment that ships with Rhae.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct Play(Mutex<Session>);

#[pymethods]
impl Play {
    /// A play as after its first RESET. It begins at `level`, from 1; with `levels_only`, RESET never starts the game anew.
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
            .expect("what is found in the registry can be visited");
        let rule = if levels_only {
            ResetRule::LevelsOnly
        } else {
            ResetRule::Official
        };
        Ok(Self::from(Session::new(opened, rule)))
    }

    /// The environment's id with its version.
    #[getter]
    fn id(&self) -> String {
        self.session().info().id.to_string()
    }

    /// The level being played, from 1.
    #[getter]
    fn level(&self) -> usize {
        self.session().tally().level() + 1
    }

    /// Actions counted so far.
    #[getter]
    fn action_count(&self) -> u64 {
        self.session().tally().actions()
    }

    /// Whether a RESET now would start the whole game anew.
    #[getter]
    fn reset_starts_anew(&self) -> bool {
        self.session().reset_starts_anew()
    }

    /// What the play shows now.
    fn look<'py>(&self, py: Python<'py>) -> PyResult<Told<'py>> {
        told(py, &self.session().opening())
    }

    /// Carries out a command and counts it.
    fn act<'py>(&self, py: Python<'py>, number: i64, x: i64, y: i64) -> PyResult<Told<'py>> {
        self.command(py, action(number, x, y)?)
    }

    /// As `act`, with the action in the flat form.
    fn act_flat<'py>(&self, py: Python<'py>, number: i64) -> PyResult<Told<'py>> {
        self.command(py, flat_action(number)?)
    }

    /// A second play in the same state.
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

    fn command<'py>(&self, py: Python<'py>, action: rhae_engine::Action) -> PyResult<Told<'py>> {
        let mut session = self.session();
        let answer = session
            .command(action)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        told(py, &answer)
    }

    /// The play on a card, under its id.
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

fn told<'py>(py: Python<'py>, answer: &Answer<'_>) -> PyResult<Told<'py>> {
    let seen = answer.seen;
    let available = answer
        .observation
        .available
        .iter()
        .map(|kind| kind.id().into())
        .collect();
    let frames = array(py, answer.frames)?;
    let win_levels = answer.observation.win_levels;
    Ok((
        frames,
        seen.state.name(),
        seen.levels_completed,
        win_levels,
        available,
        seen.full_reset,
        seen.counted,
        seen.changed,
    ))
}

/// Frames as one array.
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

/// Opens a game chosen by its id at a level.
struct Open {
    seed: u64,
    level: LevelIndex,
}

impl Visitor for Open {
    type Output = Box<dyn Environment>;

    fn visit<G: Game>(self) -> Self::Output {
        Box::new(Native::<G>::from_episode(Episode::at(
            Levels::new(self.seed),
            self.level,
        )))
    }
}

//! Many plays at once, for training: [`rhae_vector`] with NumPy arrays.
//!
//! The arrays are created once and overwritten by every step. Rust writes observations while the thread
//! is detached from the interpreter, so a Python thread that reads them during a step sees a
//! mixture of old and new cells.

use std::num::NonZero;

use numpy::{
    PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArrayDyn,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rhae_engine::{Action, CELLS, Frame, LevelIndex, SIZE};
use rhae_vector::{Encoding, Ending, EpisodeRules, VectorError};

use crate::action::actions;
use crate::aligned::aligned_zeros;
use crate::argument_names::with_argument_names;
use crate::game_set::GameSet;
use crate::play::GameFacts;

/// The states of all plays of a vector.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct Snapshot(rhae_vector::Snapshot);

#[pymethods]
impl Snapshot {
    fn __len__(&self) -> usize {
        self.0.count()
    }
}

/// Many plays of one or several environments, and the arrays that receive their results.
#[pyclass(module = "rhae._native")]
pub(crate) struct Vector {
    plays: rhae_vector::Vector,
    actions: Vec<Action>,
    #[pyo3(get)]
    observations: Py<PyArrayDyn<u8>>,
    #[pyo3(get)]
    rewards: Py<PyArray1<f64>>,
    #[pyo3(get)]
    terminated: Py<PyArray1<bool>>,
    #[pyo3(get)]
    truncated: Py<PyArray1<bool>>,
    #[pyo3(get)]
    levels_completed: Py<PyArray1<i64>>,
    #[pyo3(get)]
    level: Py<PyArray1<i64>>,
    #[pyo3(get)]
    action_count: Py<PyArray1<i64>>,
    #[pyo3(get)]
    changed: Py<PyArray1<bool>>,
    #[pyo3(get)]
    action_mask: Py<PyArray2<bool>>,
}

// Arguments from Python arrive by value.
#[allow(clippy::needless_pass_by_value)]
#[pymethods]
impl Vector {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "the package passes all of them")]
    fn new(
        py: Python<'_>,
        games: &GameSet,
        ids: Vec<String>,
        count: usize,
        threads: usize,
        level: Option<u8>,
        max_actions: Option<u32>,
        continue_after_loss: bool,
        observation: &str,
    ) -> PyResult<Self> {
        let encoding = encoding(observation)?;
        let positive = |number, what: &str| {
            NonZero::new(number)
                .ok_or_else(|| PyValueError::new_err(format!("{what} must not be 0")))
        };
        let level = level.map(|level| {
            level
                .checked_sub(1)
                .map(LevelIndex)
                .ok_or_else(|| PyValueError::new_err("a level must be at least 1, found 0"))
        });
        let rules = EpisodeRules {
            level: level.transpose()?,
            max_actions,
            continue_after_loss,
        };
        let (count, threads) = (
            positive(count, "the number of environments")?,
            positive(threads, "the number of threads")?,
        );
        let plays = rhae_vector::Vector::of_games(&games.catalog(), &ids, count, threads, rules)
            .map_err(|error| vector_error(&error))?
            .with_encoding(encoding);
        let n = count.get();
        let shape: Vec<usize> = std::iter::once(n).chain(shape(encoding)).collect();
        Ok(Self {
            plays,
            actions: Vec::with_capacity(n),
            observations: aligned_zeros(py, &shape)?.unbind(),
            rewards: PyArray1::zeros(py, n, false).unbind(),
            terminated: PyArray1::zeros(py, n, false).unbind(),
            truncated: PyArray1::zeros(py, n, false).unbind(),
            levels_completed: PyArray1::zeros(py, n, false).unbind(),
            level: PyArray1::zeros(py, n, false).unbind(),
            action_count: PyArray1::zeros(py, n, false).unbind(),
            changed: PyArray1::zeros(py, n, false).unbind(),
            action_mask: PyArray2::zeros(py, [n, 8], false).unbind(),
        })
    }

    /// Returns each environment with the index of its first play and that after its last.
    #[getter]
    fn blocks(&self) -> Vec<(GameFacts, usize, usize)> {
        self.plays
            .blocks()
            .map(|block| {
                (
                    GameFacts::from(&block.info),
                    block.plays.start,
                    block.plays.end,
                )
            })
            .collect()
    }

    /// Starts new episodes of all plays or of the chosen ones, with new seeds if given.
    fn reset(
        &mut self,
        py: Python<'_>,
        seeds: Option<Vec<u64>>,
        chosen: Option<PyReadonlyArray1<'_, bool>>,
    ) -> PyResult<()> {
        if let Some(seeds) = seeds {
            self.plays
                .seed(&seeds)
                .map_err(|error| vector_error(&error))?;
        }
        let chosen = chosen
            .map(|chosen| chosen.as_slice().map(<[bool]>::to_vec))
            .transpose()?;
        self.draw(py, |plays, observations| {
            plays.reset(chosen.as_deref(), observations)
        })
    }

    /// Executes one action per play.
    fn step(&mut self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        let numbers: PyReadonlyArrayDyn<'_, i64> = numbers.extract()?;
        let mut list = std::mem::take(&mut self.actions);
        let done = actions(&numbers, &mut list)
            .and_then(|()| self.draw(py, |plays, observations| plays.step(&list, observations)));
        self.actions = list;
        done
    }

    /// Returns the current states of all plays.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let plays = &self.plays;
        let snapshot = py.detach(|| plays.snapshot());
        Ok(Snapshot(snapshot.map_err(|error| vector_error(&error))?))
    }

    /// Serialises the states of all plays, for `load`.
    fn save(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let plays = &self.plays;
        let saved = py.detach(|| plays.save());
        saved.map_err(|error| vector_error(&error))
    }

    /// Replaces all plays by saved ones.
    fn load(&mut self, py: Python<'_>, saved: &[u8]) -> PyResult<()> {
        self.draw(py, |vector, observations| vector.load(saved, observations))
    }

    /// Restores the states of a snapshot. With `plays`, play `i` gets the state of play `plays[i]`.
    fn restore(
        &mut self,
        py: Python<'_>,
        snapshot: &Snapshot,
        plays: Option<Vec<usize>>,
    ) -> PyResult<()> {
        self.draw(py, |vector, observations| {
            vector.restore(&snapshot.0, plays.as_deref(), observations)
        })
    }
}

impl Vector {
    /// Runs `draw` on the plays and the array of observations, detached from the interpreter, then
    /// fills the other arrays.
    fn draw(
        &mut self,
        py: Python<'_>,
        draw: impl FnOnce(&mut rhae_vector::Vector, &mut [u8]) -> Result<(), VectorError> + Send,
    ) -> PyResult<()> {
        let mut observations = self.observations.bind(py).try_readwrite()?;
        let (bytes, plays) = (observations.as_slice_mut()?, &mut self.plays);
        py.detach(|| draw(plays, bytes))
            .map_err(|error| vector_error(&error))?;
        self.fill_arrays(py)
    }

    /// Copies the reports of all plays into the arrays.
    fn fill_arrays(&self, py: Python<'_>) -> PyResult<()> {
        macro_rules! fill {
            ($($array:ident = |$report:ident| $value:expr;)*) => {$({
                let mut array = self.$array.bind(py).try_readwrite()?;
                for (cell, $report) in array.as_slice_mut()?.iter_mut().zip(self.plays.reports()) {
                    *cell = $value;
                }
            })*};
        }
        fill! {
            rewards = |report| f64::from(report.reward);
            terminated = |report| report.ending == Ending::Terminated;
            truncated = |report| report.ending == Ending::Truncated;
            levels_completed = |report| i64::from(report.levels_completed);
            level = |report| i64::from(report.level) + 1;
            action_count = |report| i64::from(report.actions);
            changed = |report| report.changed;
        }
        let mut mask = self.action_mask.bind(py).try_readwrite()?;
        for (row, report) in mask
            .as_slice_mut()?
            .chunks_exact_mut(8)
            .zip(self.plays.reports())
        {
            row.copy_from_slice(&report.mask());
        }
        Ok(())
    }
}

/// Returns the encoding with this name.
fn encoding(name: &str) -> PyResult<Encoding> {
    Ok(match name {
        "frame" => Encoding::Cells,
        "onehot" => Encoding::OneHot,
        "packed" => Encoding::Packed,
        "rgb" => Encoding::Rgb,
        _ => {
            return Err(PyValueError::new_err(format!(
                r#"observation must be "frame", "onehot", "packed" or "rgb", found `{name}`"#
            )));
        }
    })
}

/// Returns the shape of one observation.
fn shape(encoding: Encoding) -> Vec<usize> {
    match encoding {
        Encoding::Cells => vec![SIZE, SIZE],
        Encoding::OneHot => vec![16, SIZE, SIZE],
        Encoding::Packed => vec![SIZE, SIZE / 2],
        Encoding::Rgb => vec![SIZE, SIZE, 3],
    }
}

/// Returns the shape of one observation in an encoding.
#[pyfunction]
pub(crate) fn observation_shape(observation: &str) -> PyResult<Vec<usize>> {
    Ok(shape(encoding(observation)?))
}

/// Returns a frame in an encoding.
// An array from Python arrives by value.
#[allow(clippy::needless_pass_by_value)]
#[pyfunction]
pub(crate) fn observation<'py>(
    py: Python<'py>,
    frame: PyReadonlyArray2<'py, u8>,
    observation: &str,
) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
    let encoding = encoding(observation)?;
    let cells = <[u8; CELLS]>::try_from(frame.as_slice()?);
    let cells = cells.map_err(|_| PyValueError::new_err("a frame has 64 x 64 cells"))?;
    let array = PyArrayDyn::zeros(py, shape(encoding), false);
    let mut bytes = array.try_readwrite()?;
    encoding.write(&Frame::from_cells(cells), bytes.as_slice_mut()?);
    drop(bytes);
    Ok(array)
}

fn vector_error(error: &VectorError) -> PyErr {
    let message = with_argument_names(&error.to_string());
    match error {
        VectorError::Failed { .. } | VectorError::Unavailable(_) | VectorError::Threads { .. } => {
            PyRuntimeError::new_err(message)
        }
        _ => PyValueError::new_err(message),
    }
}

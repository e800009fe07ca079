//! Many plays at once, for training: [`rhae_vector`] with NumPy arrays.
//!
//! The arrays are created once and overwritten by every step. Rust writes frames while the thread
//! is detached from the interpreter, so a Python thread that reads them during a step sees a
//! mixture of old and new cells.

use std::num::NonZero;

use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rhae_engine::{Action, LevelIndex, SIZE};
use rhae_vector::{Ending, EpisodeRules, VectorError};

use crate::action::actions;

/// The states of all plays of a vector.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct Snapshot(rhae_vector::Snapshot);

#[pymethods]
impl Snapshot {
    fn __len__(&self) -> usize {
        self.0.count()
    }
}

/// Many plays of one environment, and the arrays that receive their results.
#[pyclass(module = "rhae._native")]
pub(crate) struct Vector {
    plays: rhae_vector::Vector,
    actions: Vec<Action>,
    #[pyo3(get)]
    frames: Py<PyArray3<u8>>,
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
    fn new(
        py: Python<'_>,
        id: &str,
        count: usize,
        threads: usize,
        level: Option<u8>,
        max_actions: Option<u32>,
        continue_after_loss: bool,
    ) -> PyResult<Self> {
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
        let plays = rhae_vector::Vector::new(id, count, threads, rules)
            .map_err(|error| value_error(&error))?;
        let n = count.get();
        Ok(Self {
            plays,
            actions: Vec::with_capacity(n),
            frames: PyArray3::zeros(py, [n, SIZE, SIZE], false).unbind(),
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

    /// Returns the id of the environment with its version.
    #[getter]
    fn id(&self) -> String {
        self.plays.info().id.to_string()
    }

    /// Returns the official numbers of the actions that the environment offers.
    #[getter]
    fn offered(&self) -> Vec<u32> {
        self.plays
            .info()
            .actions
            .iter()
            .map(|kind| kind.id().into())
            .collect()
    }

    /// Returns the number of levels of the environment.
    #[getter]
    fn win_levels(&self) -> usize {
        self.plays.info().baselines.len()
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
                .map_err(|error| value_error(&error))?;
        }
        let chosen = chosen
            .map(|chosen| chosen.as_slice().map(<[bool]>::to_vec))
            .transpose()?;
        self.draw(py, |plays, frames| plays.reset(chosen.as_deref(), frames))
    }

    /// Executes one action per play.
    fn step(&mut self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        let numbers: PyReadonlyArrayDyn<'_, i64> = numbers.extract()?;
        let mut list = std::mem::take(&mut self.actions);
        let done = actions(&numbers, &mut list)
            .and_then(|()| self.draw(py, |plays, frames| plays.step(&list, frames)));
        self.actions = list;
        done
    }

    /// Returns the current states of all plays.
    fn snapshot(&self) -> Snapshot {
        Snapshot(self.plays.snapshot())
    }

    /// Restores the states of a snapshot. With `plays`, play `i` gets the state of play `plays[i]`.
    fn restore(
        &mut self,
        py: Python<'_>,
        snapshot: &Snapshot,
        plays: Option<Vec<usize>>,
    ) -> PyResult<()> {
        self.draw(py, |vector, frames| {
            vector.restore(&snapshot.0, plays.as_deref(), frames)
        })
    }
}

impl Vector {
    /// Runs `draw` on the plays and the frame array, detached from the interpreter, then fills the
    /// other arrays.
    fn draw(
        &mut self,
        py: Python<'_>,
        draw: impl FnOnce(&mut rhae_vector::Vector, &mut [u8]) -> Result<(), VectorError> + Send,
    ) -> PyResult<()> {
        let mut frames = self.frames.bind(py).try_readwrite()?;
        let (cells, plays) = (frames.as_slice_mut()?, &mut self.plays);
        py.detach(|| draw(plays, cells))
            .map_err(|error| value_error(&error))?;
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

fn value_error(error: &VectorError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

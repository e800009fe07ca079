//! The state of a game without a copy of the game.
//!
//! A search that copies a game for every action spends most of its time on copies. A [`Memento`]
//! holds references to all mutable objects of a game and what they contained. Restoring it compares
//! every object with that, by identity, and writes back what differs, which takes a fraction of the
//! time of a copy. A memento that continues an earlier one shares the records of all objects that
//! did not change.
//!
//! The variables of the game's modules and the attributes of its classes are part of the state, so
//! a game that keeps state there is restored correctly as well.
//!
//! **Invariant:** after [`Memento::restore`], the game behaves as it did when the memento was made.
//! If an object has state that cannot be read, [`Recorder::capture`] declines, and the caller copies
//! the game instead.

// Arguments from Python arrive by value.
#![allow(clippy::needless_pass_by_value)]

mod capture;
mod digest;
mod identity;
mod layout;
mod record;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFrozenSet, PyModule, PyTuple, PyType};

use self::capture::Known;
use self::layout::{Config, Layouts};
use self::record::Record;

/// The members of functions and similar objects that refer to other objects, by the name of the
/// class in the table that the package passes to [`Recorder`].
const REFERENCES: [(&str, &[&str]); 8] = [
    (
        "function",
        &["__closure__", "__defaults__", "__kwdefaults__", "__dict__"],
    ),
    ("method", &["__self__", "__func__"]),
    ("builtin_function_or_method", &["__self__"]),
    ("partial", &["func", "args", "keywords"]),
    ("property", &["fget", "fset", "fdel"]),
    ("staticmethod", &["__func__"]),
    ("classmethod", &["__func__"]),
    ("defaultdict", &["default_factory"]),
];

/// Reads the states of games.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct Recorder {
    layouts: Layouts,
}

#[pymethods]
impl Recorder {
    /// Creates a recorder.
    ///
    /// `atomic` are classes whose instances have no state; `atomic_bases` includes subclasses.
    /// `generators` maps classes to functions that get and set the state of an instance. `classes`
    /// are classes of the interpreter whose instances refer to other objects. `packages` are the
    /// packages whose objects are followed from a module. `left_out` are attributes that are not
    /// hashed.
    #[new]
    fn new(
        py: Python<'_>,
        atomic: Py<PyFrozenSet>,
        atomic_bases: Py<PyTuple>,
        generators: Py<PyDict>,
        classes: Vec<Py<PyType>>,
        packages: Vec<String>,
        left_out: Vec<String>,
    ) -> PyResult<Self> {
        let types = py.import("types")?;
        let class = |module: &Bound<'_, PyModule>, name: &str| {
            let found = module.getattr(name)?;
            PyResult::Ok(found.cast_into::<PyType>()?.unbind())
        };
        let mut referring = Vec::with_capacity(classes.len());
        for known in classes {
            let name = known.bind(py).name()?.to_string();
            let found = REFERENCES.iter().find(|(class, _)| *class == name);
            referring.extend(found.map(|(_, references)| (known, *references)));
        }
        let config = Config {
            atomic,
            atomic_bases,
            generators,
            deque: class(&py.import("collections")?, "deque")?,
            cell: class(&types, "CellType")?,
            referring,
            member: class(&types, "MemberDescriptorType")?,
            packages: packages.into_iter().collect(),
            left_out: left_out.into_iter().collect(),
        };
        Ok(Self {
            layouts: Layouts::new(config),
        })
    }

    /// Returns the state of a game and of its modules, or only of the modules if `game` is `None`.
    /// Returns `None` if the state of an object of the game cannot be read. `earlier` is a memento of
    /// the same game and modules, from which the new one takes what has not changed.
    #[pyo3(signature = (game, modules, earlier=None))]
    fn capture(
        &self,
        py: Python<'_>,
        game: Option<Bound<'_, PyAny>>,
        modules: Vec<Bound<'_, PyModule>>,
        earlier: Option<Bound<'_, Memento>>,
    ) -> PyResult<Option<Memento>> {
        let earlier = earlier.as_ref().map(Bound::get);
        capture::capture(&self.layouts, game.as_ref(), &modules, earlier, py)
    }

    /// Returns a hash of a value and of the state of modules as 16 bytes.
    fn digest<'py>(
        &self,
        py: Python<'py>,
        value: Bound<'py, PyAny>,
        modules: Vec<Bound<'py, PyModule>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let key = digest::digest(&self.layouts, &value, &modules)?;
        Ok(PyBytes::new(py, &key.to_le_bytes()))
    }

    /// Returns the number of classes about which facts are cached.
    fn cached_classes(&self) -> usize {
        self.layouts.cached_classes()
    }
}

/// The state of a game at one time.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct Memento {
    records: Vec<Arc<Record>>,
    /// The objects that the last complete capture found.
    known: Arc<Known>,
    /// The objects that were found since then.
    found: Vec<Py<PyAny>>,
}

#[pymethods]
impl Memento {
    /// Gives all objects their contents back. Returns false if that is impossible; the game is then
    /// in an undefined state.
    fn restore(&self, py: Python<'_>) -> PyResult<bool> {
        for record in &self.records {
            if !record.restore(py)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether all objects have the contents of this state.
    fn is_current(&self, py: Python<'_>) -> bool {
        self.records.iter().all(|record| record.is_current(py))
    }

    fn __len__(&self) -> usize {
        self.records.len()
    }
}

//! Copying a game with everything that it holds, as `copy.deepcopy` does it, but fast, and right where that is wrong.
//!
//! Invariant: an object that is reached twice is copied once, and what is shared stays shared, views of arrays included.
//! What has its own ways to be copied (`__deepcopy__`, `__reduce__`, slots, a base written in C) is handed to Python,
//! which asks this copier for whatever is inside: a `Copier` is the memo of `copy.deepcopy` too.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyKeyError, PyRecursionError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple, PyType};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::raw::{attributes, blank, bytes, copied};

/// How deep a structure may be nested: four times what `copy.deepcopy` manages, and far from the end of any stack.
const MOST_NESTED: usize = 1000;

/// What a class must leave alone for its objects to be copied attribute by attribute.
const HOOKS: [&str; 8] = [
    "__deepcopy__",
    "__reduce_ex__",
    "__reduce__",
    "__getstate__",
    "__setstate__",
    "__getnewargs__",
    "__getnewargs_ex__",
    "__new__",
];

/// How the objects of a class are copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Not at all: they never change, or are meant to be shared.
    Atomic,
    List,
    Dict,
    Tuple,
    Set,
    FrozenSet,
    Array,
    /// Attribute by attribute.
    Plain,
    /// By a function of the package, or else by `copy.deepcopy`.
    Python,
}

struct State {
    /// By the address of the original: it, kept alive so that its address stays its own, and its copy.
    done: FxHashMap<usize, (Py<PyAny>, Py<PyAny>)>,
}

thread_local! {
    /// How each class is copied, by its address; the class is kept alive, so that the address stays its own. Games have few
    /// classes, and judging one takes longer than copying a sprite.
    static KINDS: RefCell<FxHashMap<usize, (Py<PyType>, Kind)>> = const { RefCell::new(FxHashMap::with_hasher(FxBuildHasher)) };
}

/// One act of copying.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct Copier {
    state: Mutex<State>,
    depth: AtomicUsize,
    /// The memo of a `copy.deepcopy` that is under way around this one.
    outer: Py<PyDict>,
    /// Classes whose hooks are our own and stand for nothing else.
    ours: Py<PyTuple>,
    /// Functions that copy objects of a class: `function(object, copier)`.
    handlers: Py<PyDict>,
    /// What copies everything else: `function(object, copier)`.
    fallback: Py<PyAny>,
}

#[pymethods]
impl Copier {
    #[new]
    fn new(outer: Py<PyDict>, ours: Py<PyTuple>, handlers: Py<PyDict>, fallback: Py<PyAny>) -> Self {
        let state = State { done: FxHashMap::with_capacity_and_hasher(1024, FxBuildHasher) };
        Self { state: Mutex::new(state), depth: AtomicUsize::new(0), outer, ours, handlers, fallback }
    }

    /// The copy of an object.
    #[pyo3(name = "copy")]
    fn copy<'py>(this: &Bound<'py, Self>, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let kind = this.get().kind(&object.get_type())?;
        if kind == Kind::Atomic {
            return Ok(object.clone());
        }
        if let Some(copy) = this.get().known(object)? {
            return Ok(copy);
        }
        if this.get().depth.fetch_add(1, Ordering::Relaxed) > MOST_NESTED {
            return Err(PyRecursionError::new_err(format!("nested more than {MOST_NESTED} deep")));
        }
        let copy = Self::make(this, object, kind)?;
        this.get().depth.fetch_sub(1, Ordering::Relaxed);
        Ok(copy)
    }

    /// Remembers a copy before what is inside is copied, which may lead back to it.
    fn remember(&self, object: Bound<'_, PyAny>, copy: Bound<'_, PyAny>) {
        self.state().done.insert(object.as_ptr().addr(), (object.unbind(), copy.unbind()));
    }

    /// Tells the `copy.deepcopy` around this one what was copied.
    fn report(&self, py: Python<'_>) -> PyResult<()> {
        let outer = self.outer.bind(py);
        let done: Vec<_> = self.state().done.iter().map(|(at, (_, copy))| (*at, copy.clone_ref(py))).collect();
        done.into_iter().try_for_each(|(at, copy)| outer.set_item(at, copy))
    }

    /// As a memo: the copy of the object at an address.
    #[pyo3(signature = (address, default=None))]
    fn get(&self, py: Python<'_>, address: usize, default: Option<Py<PyAny>>) -> PyResult<Option<Py<PyAny>>> {
        let known = self.state().done.get(&address).map(|(_, copy)| copy.clone_ref(py));
        let outer = || Ok(self.outer.bind(py).get_item(address)?.map(Bound::unbind));
        Ok(known.map_or_else(outer, |copy| PyResult::Ok(Some(copy)))?.or(default))
    }

    fn __getitem__(&self, py: Python<'_>, address: usize) -> PyResult<Py<PyAny>> {
        self.get(py, address, None)?.ok_or_else(|| PyKeyError::new_err(address))
    }

    fn __setitem__(&self, py: Python<'_>, address: usize, copy: Py<PyAny>) -> PyResult<()> {
        // `copy.deepcopy` keeps originals alive itself, in the memo's own entry.
        self.state().done.remove(&address);
        self.outer.bind(py).set_item(address, copy)
    }
}

impl Copier {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, address) = (object.py(), object.as_ptr().addr());
        if let Some((_, copy)) = self.state().done.get(&address) {
            return Ok(Some(copy.bind(py).clone()));
        }
        let outer = self.outer.bind(py);
        if outer.is_empty() { Ok(None) } else { outer.get_item(address) }
    }

    fn make<'py>(this: &Bound<'py, Self>, object: &Bound<'py, PyAny>, kind: Kind) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        match kind {
            Kind::Atomic => Ok(object.clone()),
            Kind::Plain => Self::plain(this, object),
            Kind::List => {
                let list = object.cast::<PyList>()?;
                let copy = list.get_slice(0, list.len());
                this.get().remember(object.clone(), copy.as_any().clone());
                for (index, item) in list.iter().enumerate() {
                    if this.get().kind(&item.get_type())? != Kind::Atomic {
                        copy.set_item(index, Self::copy(this, &item)?)?;
                    }
                }
                Ok(copy.into_any())
            }
            Kind::Dict => {
                let copy = PyDict::new(py);
                this.get().remember(object.clone(), copy.as_any().clone());
                Self::fill(this, object.cast::<PyDict>()?, &copy)?;
                Ok(copy.into_any())
            }
            Kind::Tuple => {
                let items: Vec<_> = object.cast::<PyTuple>()?.iter().collect();
                let copies = Self::each(this, &items)?;
                Self::immutable(this, object, &items, &copies, || Ok(PyTuple::new(py, &copies)?.into_any()))
            }
            Kind::Set => {
                let copy = PySet::empty(py)?;
                this.get().remember(object.clone(), copy.as_any().clone());
                let items: Vec<_> = object.cast::<PySet>()?.iter().collect();
                for item in items {
                    copy.add(Self::copy(this, &item)?)?;
                }
                Ok(copy.into_any())
            }
            Kind::FrozenSet => {
                let items: Vec<_> = object.cast::<PyFrozenSet>()?.iter().collect();
                let copies = Self::each(this, &items)?;
                Self::immutable(this, object, &items, &copies, || Ok(PyFrozenSet::new(py, &copies)?.into_any()))
            }
            Kind::Array => match bytes(object).and_then(copied) {
                Some(copy) => {
                    this.get().remember(object.clone(), copy.clone());
                    Ok(copy)
                }
                None => Self::python(this, object),
            },
            Kind::Python => Self::python(this, object),
        }
    }

    fn each<'py>(this: &Bound<'py, Self>, items: &[Bound<'py, PyAny>]) -> PyResult<Vec<Bound<'py, PyAny>>> {
        items.iter().map(|item| Self::copy(this, item)).collect()
    }

    /// A container that cannot change is its own copy if nothing inside is copied, and may have been copied by a cycle
    /// through itself.
    fn immutable<'py>(
        this: &Bound<'py, Self>,
        object: &Bound<'py, PyAny>,
        items: &[Bound<'py, PyAny>],
        copies: &[Bound<'py, PyAny>],
        build: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(copy) = this.get().known(object)? {
            return Ok(copy);
        }
        let same = items.iter().zip(copies).all(|(item, copy)| item.is(copy));
        let copy = if same { object.clone() } else { build()? };
        this.get().remember(object.clone(), copy.clone());
        Ok(copy)
    }

    fn plain<'py>(this: &Bound<'py, Self>, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let copy = blank(&object.get_type())?;
        this.get().remember(object.clone(), copy.clone());
        let (Some(from), Some(into)) = (attributes(object), attributes(&copy)) else { return Ok(copy) };
        Self::fill(this, &from, &into)?;
        Ok(copy)
    }

    /// Copies the entries of a dictionary into an empty one. Most entries are atomic and go over at once.
    fn fill<'py>(this: &Bound<'py, Self>, from: &Bound<'py, PyDict>, into: &Bound<'py, PyDict>) -> PyResult<()> {
        let mut others = Vec::new();
        for (key, value) in from.iter() {
            if !key.is_exact_instance_of::<PyString>() && this.get().kind(&key.get_type())? != Kind::Atomic {
                let items: Vec<_> = from.iter().collect();
                return items.iter().try_for_each(|(key, value)| into.set_item(Self::copy(this, key)?, Self::copy(this, value)?));
            }
            if this.get().kind(&value.get_type())? != Kind::Atomic {
                others.push((key, value));
            }
        }
        into.update(from.as_mapping())?;
        others.iter().try_for_each(|(key, value)| into.set_item(key, Self::copy(this, value)?))
    }

    fn python<'py>(this: &Bound<'py, Self>, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        let handler = this.get().handlers.bind(py).get_item(object.get_type())?;
        let function = handler.unwrap_or_else(|| this.get().fallback.bind(py).clone());
        function.call1((object, this))
    }

    fn kind(&self, class: &Bound<'_, PyType>) -> PyResult<Kind> {
        let address = class.as_ptr().addr();
        if let Some(kind) = KINDS.with_borrow(|kinds| kinds.get(&address).map(|(_, kind)| *kind)) {
            return Ok(kind);
        }
        let kind = self.judge(class)?;
        KINDS.with_borrow_mut(|kinds| kinds.insert(address, (class.clone().unbind(), kind)));
        Ok(kind)
    }

    fn judge(&self, class: &Bound<'_, PyType>) -> PyResult<Kind> {
        let py = class.py();
        let builtin = [
            (py.get_type::<PyList>(), Kind::List),
            (py.get_type::<PyDict>(), Kind::Dict),
            (py.get_type::<PyTuple>(), Kind::Tuple),
            (py.get_type::<PySet>(), Kind::Set),
            (py.get_type::<PyFrozenSet>(), Kind::FrozenSet),
            (py.get_type::<numpy::PyUntypedArray>(), Kind::Array),
        ];
        if let Some((_, kind)) = builtin.iter().find(|(known, _)| class.is(known)) {
            return Ok(*kind);
        }
        let handler = self.handlers.bind(py).get_item(class)?;
        if let Some(handler) = handler {
            return Ok(if handler.is_none() { Kind::Atomic } else { Kind::Python });
        }
        let enums = py.import("enum")?.getattr("EnumMeta")?;
        if class.is_instance(&enums)? || class.is_subclass_of::<PyType>()? {
            return Ok(Kind::Atomic);
        }
        let object = py.get_type::<PyAny>();
        let ours = self.ours.bind(py);
        // A class with a base written in C keeps more than attributes, and is larger for it.
        let size = |class: &Bound<'_, PyAny>| class.getattr("__basicsize__")?.extract::<usize>();
        if size(class.as_any())? != size(&ours.get_item(0)?)? {
            return Ok(Kind::Python);
        }
        for between in class.mro().iter().filter(|between| !between.is(&object)) {
            if ours.contains(&between)? {
                continue;
            }
            let attributes = between.getattr("__dict__")?;
            let slots = attributes.contains("__slots__")? && between.getattr("__slots__")?.is_truthy()?;
            let hooked = HOOKS.iter().any(|hook| attributes.contains(hook).unwrap_or(true));
            if slots || hooked {
                return Ok(Kind::Python);
            }
        }
        Ok(Kind::Plain)
    }
}

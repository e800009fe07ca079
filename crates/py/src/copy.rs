//! Deep copies of games.
//!
//! [`Copier`] does what `copy.deepcopy` does, faster, and it also keeps array views and closures
//! attached to the copy, which `copy.deepcopy` does not.
//!
//! **Invariant:** an object that is reached twice is copied once, so objects that are shared within
//! the game are shared within the copy. An object that customises copying (`__deepcopy__`,
//! `__reduce__`, slots, a base class written in C) is copied by Python code, which calls the copier
//! for its parts: a `Copier` is also a valid memo for `copy.deepcopy`.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyKeyError, PyRecursionError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple, PyType};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::class_cache::ClassCache;
use crate::raw::{GcPause, attributes, copy_array, is_unshared, new_instance, set_attribute};

/// The maximum nesting depth: four times what `copy.deepcopy` reaches, and far from a stack
/// overflow.
const MAX_DEPTH: usize = 1000;

/// Methods that a class must not define if its instances are to be copied attribute by attribute.
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

/// How the instances of a class are copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Shared, not copied: immutable or meant to be shared.
    Atomic,
    List,
    Dict,
    Tuple,
    Set,
    FrozenSet,
    Array,
    /// Attribute by attribute.
    Plain,
    /// By a handler of the package, otherwise by `copy.deepcopy`.
    Python,
}

/// The cached classification of a class.
struct Class {
    kind: Kind,
    /// Whether an attribute can be set without running code of the class, by the address of its
    /// name.
    plain: RefCell<FxHashMap<usize, (Py<PyAny>, bool)>>,
    /// The attribute names of the last object whose attributes were all plain, in order.
    last: RefCell<Vec<usize>>,
}

thread_local! {
    /// Games have few classes, and classifying one takes longer than copying a sprite.
    static CLASSES: RefCell<ClassCache<Rc<Class>>> = const { RefCell::new(ClassCache::new()) };
}

/// Returns the number of classes whose classification this thread has cached.
#[pyfunction]
pub(crate) fn cached_classes() -> usize {
    CLASSES.with_borrow(ClassCache::len)
}

/// The copied objects, by the address of the original: the original, kept alive so that its address
/// stays unique, and its copy.
#[derive(Default)]
struct Memo {
    done: FxHashMap<usize, (Py<PyAny>, Py<PyAny>)>,
    depth: usize,
}

/// One deep copy, with its memo.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct Copier {
    /// Taken while Rust code copies; returned while it calls Python code and afterwards.
    memo: Mutex<Memo>,
    /// The memo of the enclosing `copy.deepcopy` call. Empty if this is the outermost copy.
    outer: Py<PyDict>,
    /// Classes of the package. Their copy hooks lead here, so they are ignored.
    ours: Py<PyTuple>,
    /// Functions that copy instances of a class: `function(object, copier)`. `None` marks a class
    /// whose instances are shared.
    handlers: Py<PyDict>,
    /// The function that copies everything else: `function(object, copier)`.
    fallback: Py<PyAny>,
}

#[pymethods]
impl Copier {
    #[new]
    fn new(
        outer: Py<PyDict>,
        ours: Py<PyTuple>,
        handlers: Py<PyDict>,
        fallback: Py<PyAny>,
    ) -> Self {
        let memo = Memo {
            done: FxHashMap::with_capacity_and_hasher(512, FxBuildHasher),
            depth: 0,
        };
        Self {
            memo: Mutex::new(memo),
            outer,
            ours,
            handlers,
            fallback,
        }
    }

    /// Returns the copy of an object.
    #[pyo3(name = "copy")]
    fn copy<'py>(
        this: &Bound<'py, Self>,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _making = GcPause::begin(this.py());
        let mut work = ActiveCopy {
            copier: this,
            memo: mem::take(&mut *this.get().memo()),
            outer: this.get().outer.bind(this.py()),
            classes: FxHashMap::with_hasher(FxBuildHasher),
        };
        let copy = work.copy(object);
        *this.get().memo() = work.memo;
        copy
    }

    /// Stores a copy in the memo. Handlers call this before they copy the parts of an object,
    /// because these may refer back to it.
    fn remember(&self, object: Bound<'_, PyAny>, copy: Bound<'_, PyAny>) {
        self.memo()
            .done
            .insert(object.as_ptr().addr(), (object.unbind(), copy.unbind()));
    }

    /// Adds all copies to the memo of the enclosing `copy.deepcopy`.
    fn report(&self, py: Python<'_>) -> PyResult<()> {
        let outer = self.outer.bind(py);
        let done: Vec<_> = self
            .memo()
            .done
            .iter()
            .map(|(at, (_, copy))| (*at, copy.clone_ref(py)))
            .collect();
        done.into_iter()
            .try_for_each(|(at, copy)| outer.set_item(at, copy))
    }

    /// Returns the copy of the object at an address. `copy.deepcopy` calls this on its memo.
    #[pyo3(signature = (address, default=None))]
    fn get(
        &self,
        py: Python<'_>,
        address: usize,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let known = self
            .memo()
            .done
            .get(&address)
            .map(|(_, copy)| copy.clone_ref(py));
        let outer = || Ok(self.outer.bind(py).get_item(address)?.map(Bound::unbind));
        Ok(known
            .map_or_else(outer, |copy| PyResult::Ok(Some(copy)))?
            .or(default))
    }

    fn __getitem__(&self, py: Python<'_>, address: usize) -> PyResult<Py<PyAny>> {
        self.get(py, address, None)?
            .ok_or_else(|| PyKeyError::new_err(address))
    }

    fn __setitem__(&self, py: Python<'_>, address: usize, copy: Py<PyAny>) -> PyResult<()> {
        // `copy.deepcopy` itself keeps originals alive, in an entry of the memo.
        self.memo().done.remove(&address);
        self.outer.bind(py).set_item(address, copy)
    }
}

impl Copier {
    fn memo(&self) -> MutexGuard<'_, Memo> {
        self.memo.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A copy in progress in Rust code. It owns the memo.
struct ActiveCopy<'a, 'py> {
    copier: &'a Bound<'py, Copier>,
    memo: Memo,
    outer: &'a Bound<'py, PyDict>,
    /// The classes of the objects that were copied, by address. Each class is kept alive so that
    /// its address stays unique.
    classes: FxHashMap<usize, (Bound<'py, PyType>, Rc<Class>)>,
}

impl<'py> ActiveCopy<'_, 'py> {
    fn copy(&mut self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if is_atom(object) {
            return Ok(object.clone());
        }
        let class = self.class(&object.get_type())?;
        if class.kind == Kind::Atomic {
            return Ok(object.clone());
        }
        if let Some(copy) = self.known(object)? {
            return Ok(copy);
        }
        self.memo.depth += 1;
        if self.memo.depth > MAX_DEPTH {
            return Err(PyRecursionError::new_err(format!(
                "nested more than {MAX_DEPTH} deep"
            )));
        }
        let copy = self.make(object, &class)?;
        self.memo.depth -= 1;
        Ok(copy)
    }

    fn known(&self, object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, address) = (object.py(), object.as_ptr().addr());
        if let Some((_, copy)) = self.memo.done.get(&address) {
            return Ok(Some(copy.bind(py).clone()));
        }
        if self.outer.is_empty() {
            Ok(None)
        } else {
            self.outer.get_item(address)
        }
    }

    fn remember(&mut self, object: &Bound<'py, PyAny>, copy: &Bound<'py, PyAny>) {
        self.memo.done.insert(
            object.as_ptr().addr(),
            (object.clone().unbind(), copy.clone().unbind()),
        );
    }

    /// Stores the copy of a built-in object, unless the original has one reference and cannot be
    /// reached again.
    fn remember_shared(&mut self, object: &Bound<'py, PyAny>, copy: &Bound<'py, PyAny>) {
        if !is_unshared(object) {
            self.remember(object, copy);
        }
    }

    fn make(&mut self, object: &Bound<'py, PyAny>, class: &Class) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        match class.kind {
            Kind::Atomic => Ok(object.clone()),
            Kind::Plain => self.plain(object, class),
            Kind::List => {
                let list = object.cast::<PyList>()?;
                let copy = list.get_slice(0, list.len());
                self.remember_shared(object, copy.as_any());
                for (index, item) in list.iter().enumerate() {
                    if !is_atom(&item) {
                        copy.set_item(index, self.copy(&item)?)?;
                    }
                }
                Ok(copy.into_any())
            }
            Kind::Dict => {
                let dict = object.cast::<PyDict>()?;
                let copy = dict.copy()?;
                self.remember_shared(object, copy.as_any());
                self.fill(dict, &copy)?;
                Ok(copy.into_any())
            }
            Kind::Tuple => {
                let items: Vec<_> = object.cast::<PyTuple>()?.iter().collect();
                self.immutable(object, items, |copies| {
                    Ok(PyTuple::new(py, copies)?.into_any())
                })
            }
            Kind::Set => {
                let items: Vec<_> = object.cast::<PySet>()?.iter().collect();
                if items.iter().all(is_atom) {
                    let copy = object.call_method0(pyo3::intern!(py, "copy"))?;
                    self.remember_shared(object, &copy);
                    return Ok(copy);
                }
                let copy = PySet::empty(py)?;
                self.remember(object, copy.as_any());
                for item in items {
                    copy.add(self.copy(&item)?)?;
                }
                Ok(copy.into_any())
            }
            Kind::FrozenSet => {
                let items: Vec<_> = object.cast::<PyFrozenSet>()?.iter().collect();
                self.immutable(object, items, |copies| {
                    Ok(PyFrozenSet::new(py, copies)?.into_any())
                })
            }
            Kind::Array => match copy_array(object, |base| self.copy(base))? {
                Some(copy) => {
                    self.remember_shared(object, &copy);
                    Ok(copy)
                }
                None => self.python(object),
            },
            Kind::Python => self.python(object),
        }
    }

    /// Copies an immutable container. If none of its items changes, the container is its own copy.
    /// Copying the items may already have copied the container, if it is part of a cycle.
    fn immutable(
        &mut self,
        object: &Bound<'py, PyAny>,
        mut items: Vec<Bound<'py, PyAny>>,
        build: impl FnOnce(&[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut same = true;
        for item in &mut items {
            if !is_atom(item) {
                let copy = self.copy(item)?;
                same &= copy.is(&*item);
                *item = copy;
            }
        }
        let shared = !is_unshared(object);
        if shared && let Some(copy) = self.known(object)? {
            return Ok(copy);
        }
        let copy = if same { object.clone() } else { build(&items)? };
        if shared {
            self.remember(object, &copy);
        }
        Ok(copy)
    }

    fn plain(&mut self, object: &Bound<'py, PyAny>, class: &Class) -> PyResult<Bound<'py, PyAny>> {
        let kind = object.get_type();
        let copy = new_instance(&kind)?;
        self.remember(object, &copy);
        let Some(from) = attributes(object) else {
            return Ok(copy);
        };
        let items: Vec<_> = from.iter().collect();
        if !class.has_plain(&kind, &items) {
            if let Some(into) = attributes(&copy) {
                into.update(from.as_mapping())?;
                self.fill(&from, &into)?;
            }
            return Ok(copy);
        }
        for (key, value) in &items {
            if is_atom(value) {
                set_attribute(&copy, key, value)?;
            } else {
                set_attribute(&copy, key, &self.copy(value)?)?;
            }
        }
        Ok(copy)
    }

    /// Replaces the entries of a shallow copy of a dictionary by their copies. Most entries are
    /// atomic and stay as they are.
    fn fill(&mut self, from: &Bound<'py, PyDict>, into: &Bound<'py, PyDict>) -> PyResult<()> {
        let items: Vec<_> = from
            .iter()
            .filter(|(key, value)| !(is_atom(key) && is_atom(value)))
            .collect();
        if items.iter().any(|(key, _)| !is_atom(key)) {
            into.clear();
            let items: Vec<_> = from.iter().collect();
            return items
                .iter()
                .try_for_each(|(key, value)| into.set_item(self.copy(key)?, self.copy(value)?));
        }
        items
            .iter()
            .try_for_each(|(key, value)| into.set_item(key, self.copy(value)?))
    }

    /// Copies an object with Python code, which may call the copier for its parts.
    fn python(&mut self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, copier) = (object.py(), self.copier.get());
        let handler = copier.handlers.bind(py).get_item(object.get_type())?;
        let function = handler.unwrap_or_else(|| copier.fallback.bind(py).clone());
        *copier.memo() = mem::take(&mut self.memo);
        let copy = function.call1((object, self.copier));
        self.memo = mem::take(&mut *copier.memo());
        copy
    }

    fn class(&mut self, class: &Bound<'py, PyType>) -> PyResult<Rc<Class>> {
        let address = class.as_ptr().addr();
        if let Some((_, known)) = self.classes.get(&address) {
            return Ok(Rc::clone(known));
        }
        let class_info = match CLASSES.with_borrow(|classes| classes.get(class)) {
            Some(known) => known,
            None => {
                let class_info = Rc::new(Class {
                    kind: self.copier.get().classify(class)?,
                    plain: RefCell::default(),
                    last: RefCell::default(),
                });
                CLASSES.with_borrow_mut(|classes| classes.insert(class, Rc::clone(&class_info)))?;
                class_info
            }
        };
        self.classes
            .insert(address, (class.clone(), Rc::clone(&class_info)));
        Ok(class_info)
    }
}

impl Class {
    /// Returns whether all attributes of an object can be set one by one.
    fn has_plain<'py>(
        &self,
        class: &Bound<'py, PyType>,
        items: &[(Bound<'py, PyAny>, Bound<'py, PyAny>)],
    ) -> bool {
        let names = items.iter().map(|(name, _)| name.as_ptr().addr());
        if names.clone().eq(self.last.borrow().iter().copied()) {
            return true;
        }
        let plain = items.iter().all(|(name, _)| self.is_plain(class, name));
        if plain {
            *self.last.borrow_mut() = names.collect();
        }
        plain
    }

    /// Returns whether setting this attribute runs no code: the class has no property, slot or
    /// other data descriptor of that name.
    fn is_plain(&self, class: &Bound<'_, PyType>, name: &Bound<'_, PyAny>) -> bool {
        let address = name.as_ptr().addr();
        if let Some((_, plain)) = self.plain.borrow().get(&address) {
            return *plain;
        }
        let py = class.py();
        let found = class
            .mro()
            .iter()
            .find_map(|base| base.getattr("__dict__").ok()?.get_item(name).ok());
        let hooked = |hook: &Bound<'_, PyString>| {
            found
                .as_ref()
                .is_some_and(|found| found.get_type().hasattr(hook).unwrap_or(true))
        };
        let plain = name.is_exact_instance_of::<PyString>()
            && !hooked(pyo3::intern!(py, "__set__"))
            && !hooked(pyo3::intern!(py, "__delete__"));
        self.plain
            .borrow_mut()
            .insert(address, (name.clone().unbind(), plain));
        plain
    }
}

/// Returns whether an object is one of the most frequent immutable values: an `int`, `str`, `bool`,
/// `None`, or a tuple of these.
#[inline]
pub(crate) fn is_atom(object: &Bound<'_, PyAny>) -> bool {
    is_single(object)
        || object
            .cast_exact::<PyTuple>()
            .is_ok_and(|tuple| tuple.iter_borrowed().all(|item| is_single(&item)))
}

#[inline]
fn is_single(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_none()
}

impl Copier {
    fn classify(&self, class: &Bound<'_, PyType>) -> PyResult<Kind> {
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
            return Ok(if handler.is_none() {
                Kind::Atomic
            } else {
                Kind::Python
            });
        }
        let enums = py.import("enum")?.getattr("EnumMeta")?;
        if class.is_instance(&enums)? || class.is_subclass_of::<PyType>()? {
            return Ok(Kind::Atomic);
        }
        let object = py.get_type::<PyAny>();
        let ours = self.ours.bind(py);
        // An instance of a class with a base written in C holds more than attributes and is larger.
        let size = |class: &Bound<'_, PyAny>| class.getattr("__basicsize__")?.extract::<usize>();
        if size(class.as_any())? != size(&ours.get_item(0)?)? {
            return Ok(Kind::Python);
        }
        for between in class.mro().iter().filter(|between| !between.is(&object)) {
            if ours.contains(&between)? {
                continue;
            }
            let attributes = between.getattr("__dict__")?;
            let slots =
                attributes.contains("__slots__")? && between.getattr("__slots__")?.is_truthy()?;
            let hooked = HOOKS
                .iter()
                .any(|hook| attributes.contains(hook).unwrap_or(true));
            if slots || hooked {
                return Ok(Kind::Python);
            }
        }
        Ok(Kind::Plain)
    }
}

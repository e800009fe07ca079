//! Copying a game with everything that it holds, as `copy.deepcopy` does it, but fast, and right where that is wrong.
//!
//! Invariant: an object that is reached twice is copied once, and what is shared stays shared, views of arrays included.
//! What has its own ways to be copied (`__deepcopy__`, `__reduce__`, slots, a base written in C) is handed to Python,
//! which asks this copier for whatever is inside: a `Copier` is the memo of `copy.deepcopy` too.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyKeyError, PyRecursionError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple, PyType};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::raw::{NoCollecting, attributes, blank, copied, is_unshared, set};

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

/// A class, as far as copying its objects is concerned.
struct Class {
    /// Kept alive, so that its address stays its own.
    _class: Py<PyType>,
    kind: Kind,
    /// Attributes that can be set on an object without reaching code of the class, by their names' addresses.
    plain: RefCell<FxHashMap<usize, (Py<PyAny>, bool)>>,
    /// The attributes of the last object that had only such, in their order.
    last: RefCell<Vec<usize>>,
}

thread_local! {
    /// How each class is copied, by its address. Games have few classes, and judging one takes longer than copying a sprite.
    static CLASSES: RefCell<FxHashMap<usize, Rc<Class>>> = const { RefCell::new(FxHashMap::with_hasher(FxBuildHasher)) };
}

/// What has been copied, by the address of the original: it, kept alive so that its address stays its own, and its copy.
#[derive(Default)]
struct Memo {
    done: FxHashMap<usize, (Py<PyAny>, Py<PyAny>)>,
    depth: usize,
}

/// One act of copying.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct Copier {
    /// Empty while a copy is under way, but for the time that Python code runs in it.
    memo: Mutex<Memo>,
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

    /// The copy of an object.
    #[pyo3(name = "copy")]
    fn copy<'py>(
        this: &Bound<'py, Self>,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _making = NoCollecting::begin(this.py());
        let mut work = Work {
            copier: this,
            memo: mem::take(&mut *this.get().memo()),
            outer: this.get().outer.bind(this.py()),
        };
        let copy = work.copy(object);
        *this.get().memo() = work.memo;
        copy
    }

    /// Remembers a copy before what is inside is copied, which may lead back to it.
    fn remember(&self, object: Bound<'_, PyAny>, copy: Bound<'_, PyAny>) {
        self.memo()
            .done
            .insert(object.as_ptr().addr(), (object.unbind(), copy.unbind()));
    }

    /// Tells the `copy.deepcopy` around this one what was copied.
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

    /// As a memo: the copy of the object at an address.
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
        // `copy.deepcopy` keeps originals alive itself, in the memo's own entry.
        self.memo().done.remove(&address);
        self.outer.bind(py).set_item(address, copy)
    }
}

impl Copier {
    fn memo(&self) -> MutexGuard<'_, Memo> {
        self.memo.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A copy under way, with the memo in its hands.
struct Work<'a, 'py> {
    copier: &'a Bound<'py, Copier>,
    memo: Memo,
    outer: &'a Bound<'py, PyDict>,
}

impl<'py> Work<'_, 'py> {
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
        if self.memo.depth > MOST_NESTED {
            return Err(PyRecursionError::new_err(format!(
                "nested more than {MOST_NESTED} deep"
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

    /// Remembers the copy of something built-in, unless nobody else has the original, so that no way leads to it again.
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
            Kind::Array => match copied(object, |base| self.copy(base))? {
                Some(copy) => {
                    self.remember_shared(object, &copy);
                    Ok(copy)
                }
                None => self.python(object),
            },
            Kind::Python => self.python(object),
        }
    }

    /// A container that cannot change is its own copy if nothing inside is copied, and may have been copied by a cycle
    /// through itself.
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
        let copy = blank(&kind)?;
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
                set(&copy, key, value)?
            } else {
                set(&copy, key, &self.copy(value)?)?
            }
        }
        Ok(copy)
    }

    /// Replaces the entries of a shallow copy of a dictionary by copies. Most entries are atomic and stay.
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

    /// Lets Python copy something, which may ask the copier for parts of it.
    fn python(&mut self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, copier) = (object.py(), self.copier.get());
        let handler = copier.handlers.bind(py).get_item(object.get_type())?;
        let function = handler.unwrap_or_else(|| copier.fallback.bind(py).clone());
        *copier.memo() = mem::take(&mut self.memo);
        let copy = function.call1((object, self.copier));
        self.memo = mem::take(&mut *copier.memo());
        copy
    }

    fn class(&self, class: &Bound<'py, PyType>) -> PyResult<Rc<Class>> {
        let address = class.as_ptr().addr();
        if let Some(known) = CLASSES.with_borrow(|classes| classes.get(&address).cloned()) {
            return Ok(known);
        }
        let kind = self.copier.get().judge(class)?;
        let judged = Rc::new(Class {
            _class: class.clone().unbind(),
            kind,
            plain: RefCell::default(),
            last: RefCell::default(),
        });
        CLASSES.with_borrow_mut(|classes| classes.insert(address, judged.clone()));
        Ok(judged)
    }
}

impl Class {
    /// Whether all attributes of an object can be set one by one.
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

    /// Whether setting an attribute with this name sets it and nothing else: no property of the class, no slot.
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

/// Whether an object is of the kinds that most attributes are, which never change: a number, a text, a place.
#[inline]
fn is_atom(object: &Bound<'_, PyAny>) -> bool {
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

//! Where the instances of a class keep their state.
//!
//! **Invariant:** an instance of a class with a supported layout has no state outside the parts that
//! the layout names. A class written in C that is not known here is not supported.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple, PyType};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::class_cache::ClassCache;

/// The state of an instance besides its attributes and slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// Instances are immutable or shared on purpose, so they have no state.
    Atomic,
    /// Attributes and slots only.
    Nothing,
    List,
    Dict,
    Set,
    Deque,
    Array,
    ByteArray,
    Cell,
    /// An immutable container.
    Tuple,
    FrozenSet,
    /// A random generator, whose state functions of the package get and set.
    Generator,
    Unsupported,
}

/// Where the instances of a class keep their state.
pub(super) struct Layout {
    pub(super) storage: Storage,
    pub(super) has_attributes: bool,
    pub(super) slots: Vec<Py<PyString>>,
    /// The names of members that refer to other objects and do not change.
    pub(super) references: &'static [&'static str],
    /// The functions that get and set the state of a [`Storage::Generator`].
    pub(super) functions: Option<(Py<PyAny>, Py<PyAny>)>,
    /// The qualified name of the class.
    pub(super) name: String,
    /// The module in which the class was defined.
    pub(super) module: String,
}

/// What the package defines about classes.
pub(super) struct Config {
    /// Classes whose instances are atomic; subclasses are not included.
    pub(super) atomic: Py<PyFrozenSet>,
    /// Classes whose instances, and those of their subclasses, are atomic.
    pub(super) atomic_bases: Py<PyTuple>,
    /// The functions that get and set the state of random generators, by class.
    pub(super) generators: Py<PyDict>,
    /// Further classes whose members refer to other objects, by kind.
    pub(super) deque: Py<PyType>,
    pub(super) cell: Py<PyType>,
    /// Classes without state of their own, and the members that refer to other objects.
    pub(super) referring: Vec<(Py<PyType>, &'static [&'static str])>,
    /// The class of the members of a class that represent slots.
    pub(super) member: Py<PyType>,
    /// The packages whose objects are followed from the module of a game.
    pub(super) packages: FxHashSet<String>,
    /// Names of attributes that do not belong to a state.
    pub(super) left_out: FxHashSet<String>,
}

/// The layouts of all classes that were seen.
pub(super) struct Layouts {
    pub(super) config: Config,
    cache: Mutex<ClassCache<Arc<Layout>>>,
}

impl Layouts {
    pub(super) const fn new(config: Config) -> Self {
        Self {
            config,
            cache: Mutex::new(ClassCache::new()),
        }
    }

    pub(super) fn cached_classes(&self) -> usize {
        self.lock().len()
    }

    fn of(&self, class: &Bound<'_, PyType>) -> PyResult<Arc<Layout>> {
        if let Some(known) = self.lock().get(class) {
            return Ok(known);
        }
        // The lock is not held, because classifying runs Python code.
        let layout = Arc::new(self.config.classify(class)?);
        self.lock().insert(class, Arc::clone(&layout))?;
        Ok(layout)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ClassCache<Arc<Layout>>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks up layouts during one traversal. It keeps the classes alive, so their addresses are unique.
pub(super) struct LayoutReader<'a, 'py> {
    pub(super) layouts: &'a Layouts,
    known: FxHashMap<usize, (Bound<'py, PyType>, Arc<Layout>)>,
    /// The names of the modules of the game.
    modules: Vec<String>,
}

impl<'a, 'py> LayoutReader<'a, 'py> {
    pub(super) const fn new(layouts: &'a Layouts, modules: Vec<String>) -> Self {
        Self {
            layouts,
            known: FxHashMap::with_hasher(FxBuildHasher),
            modules,
        }
    }

    #[inline]
    pub(super) fn of(&mut self, object: &Bound<'py, PyAny>) -> PyResult<Arc<Layout>> {
        let address = object.get_type_ptr().addr();
        if let Some((_, layout)) = self.known.get(&address) {
            return Ok(Arc::clone(layout));
        }
        let class = object.get_type();
        let layout = self.layouts.of(&class)?;
        self.known.insert(address, (class, Arc::clone(&layout)));
        Ok(layout)
    }

    /// Returns whether an object that the module of a game refers to belongs to the game's state.
    /// Objects and functions of other packages, such as loggers, do not.
    pub(super) fn belongs_to_game(&self, object: &Bound<'py, PyAny>, layout: &Layout) -> bool {
        if layout.is_function() {
            return self.is_defined_by_game(object);
        }
        let package = layout.module.split('.').next().unwrap_or_default();
        self.layouts.config.packages.contains(package) || self.modules.contains(&layout.module)
    }

    fn is_defined_by_game(&self, object: &Bound<'py, PyAny>) -> bool {
        let module = object.getattr(pyo3::intern!(object.py(), "__module__"));
        module.is_ok_and(|module| {
            module
                .extract::<String>()
                .is_ok_and(|module| self.modules.contains(&module))
        })
    }

    /// Returns whether an object is a class that the game defines. Enumerations are constant.
    pub(super) fn is_class_of_game(&self, object: &Bound<'py, PyAny>) -> bool {
        object.cast::<PyType>().is_ok_and(|class| {
            self.is_defined_by_game(object) && !self.layouts.config.is_atomic(class).unwrap_or(true)
        })
    }
}

impl Layout {
    /// Returns whether the instances are Python functions.
    pub(super) fn is_function(&self) -> bool {
        self.references.contains(&"__closure__")
    }
}

impl Config {
    fn is_atomic(&self, class: &Bound<'_, PyType>) -> PyResult<bool> {
        let py = class.py();
        Ok(self.atomic.bind(py).contains(class)?
            || class.is_subclass(self.atomic_bases.bind(py).as_any())?)
    }

    fn classify(&self, class: &Bound<'_, PyType>) -> PyResult<Layout> {
        let py = class.py();
        let text = |name: &str| {
            let found = class.getattr(name)?;
            PyResult::Ok(found.extract::<String>().unwrap_or_default())
        };
        let mut layout = Layout {
            storage: Storage::Unsupported,
            has_attributes: false,
            slots: Vec::new(),
            references: &[],
            functions: None,
            name: text("__qualname__")?,
            module: text("__module__")?,
        };
        if self.is_atomic(class)? {
            layout.storage = Storage::Atomic;
        } else if let Some(functions) = self.generators.bind(py).get_item(class)? {
            layout.storage = Storage::Generator;
            layout.functions = Some(functions.extract()?);
        } else if let Some(storage) = self.built_in(class) {
            layout.storage = storage;
        } else if let Some((_, references)) =
            self.referring.iter().find(|(known, _)| class.is(known))
        {
            // The only container among these classes is `defaultdict`.
            let is_dict = class.is_subclass_of::<PyDict>()?;
            layout.storage = if is_dict {
                Storage::Dict
            } else {
                Storage::Nothing
            };
            layout.references = references;
        } else {
            self.add_python_class(class, &mut layout)?;
        }
        Ok(layout)
    }

    /// Returns the storage of a class of the interpreter or of NumPy.
    fn built_in(&self, class: &Bound<'_, PyType>) -> Option<Storage> {
        let py = class.py();
        let known = [
            (py.get_type::<PyList>(), Storage::List),
            (py.get_type::<PyDict>(), Storage::Dict),
            (py.get_type::<PySet>(), Storage::Set),
            (py.get_type::<PyTuple>(), Storage::Tuple),
            (py.get_type::<PyFrozenSet>(), Storage::FrozenSet),
            (py.get_type::<PyByteArray>(), Storage::ByteArray),
            (py.get_type::<numpy::PyUntypedArray>(), Storage::Array),
            (self.deque.bind(py).clone(), Storage::Deque),
            (self.cell.bind(py).clone(), Storage::Cell),
        ];
        let found = known.iter().find(|(known, _)| class.is(known));
        found.map(|(_, storage)| *storage)
    }

    /// Fills in the layout of a class that is written in Python. Its size shows whether a base that
    /// is written in C adds state of its own.
    fn add_python_class(&self, class: &Bound<'_, PyType>, layout: &mut Layout) -> PyResult<()> {
        let py = class.py();
        let object = py.get_type::<PyAny>();
        let (mut base, mut storage) = (object.clone(), Storage::Nothing);
        for between in class.mro() {
            let between = between.cast_into::<PyType>()?;
            if between.is(&object) {
                break;
            }
            if let Some(found) = self.built_in(&between) {
                (base, storage) = (between, found);
                break;
            }
            let members = between.getattr("__dict__")?.call_method0("items")?;
            for member in members.try_iter()? {
                let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = member?.extract()?;
                if value.get_type().is(self.member.bind(py)) {
                    layout.slots.push(name.cast_into::<PyString>()?.unbind());
                }
            }
        }
        let number =
            |class: &Bound<'_, PyType>, name: &str| class.getattr(name)?.extract::<isize>();
        layout.has_attributes = number(class, "__dictoffset__")? != 0;
        let mut size = number(&base, "__basicsize__")? + 8 * layout.slots.len() as isize;
        for offset in ["__dictoffset__", "__weakrefoffset__"] {
            let is_new = number(&base, offset)? == 0;
            size += if is_new && number(class, offset)? > 0 {
                8
            } else {
                0
            };
        }
        let is_plain = number(class, "__basicsize__")? == size;
        // The attributes of an instance of variable size are not supported.
        let is_variable = number(class, "__itemsize__")? != 0;
        // The names of members are interned. A slot that a subclass repeats is not supported.
        let names: FxHashSet<usize> = layout
            .slots
            .iter()
            .map(|name| name.as_ptr().addr())
            .collect();
        let is_repeated = names.len() < layout.slots.len();
        if is_plain && !is_repeated && !(is_variable && layout.has_attributes) {
            layout.storage = storage;
        }
        Ok(())
    }
}

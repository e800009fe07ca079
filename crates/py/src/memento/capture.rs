//! The traversal that reads the state of a game.
//!
//! **Invariant:** every mutable object that is reachable from the game has a record, or the capture
//! declines. A capture that continues an earlier one reads only what has changed: an unchanged
//! object refers to the same objects as before.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyFrozenSet, PyList, PyModule, PySet, PyTuple};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::Memento;
use super::identity::{ArrayParts, array_parts, slot};
use super::layout::{Layout, LayoutReader, Layouts, Storage};
use super::record::{
    Content, Part, Record, cell, class_entries, fill_set, is_reserved, sets_agree,
};
use crate::copy::is_atom;
use crate::raw::attributes;

/// The number of objects found since the last complete capture from which on the next capture is
/// complete. It drops the records of objects that no longer belong to the game.
const MAX_NEW_OBJECTS: usize = 128;

/// The objects that a complete capture found.
pub(super) struct Known {
    addresses: FxHashSet<usize>,
    /// The objects themselves, kept alive so that their addresses stay unique.
    _objects: Vec<Py<PyAny>>,
}

/// A capture in progress.
struct Capture<'a, 'py> {
    py: Python<'py>,
    reader: LayoutReader<'a, 'py>,
    /// The objects of the earlier capture, if this one continues it.
    earlier: Option<&'a Memento>,
    records: Vec<Arc<Record>>,
    /// The addresses of the objects that this capture has read.
    seen: FxHashSet<usize>,
    /// The objects that this capture has read.
    found: Vec<Py<PyAny>>,
    /// The objects to read.
    pending: Vec<Bound<'py, PyAny>>,
    /// The records of the earlier capture that a complete capture may share.
    shared: FxHashMap<(usize, Part), &'a Arc<Record>>,
    from_module: bool,
}

/// Reads the state of a game and of modules. Returns `None` if the state of an object of the game
/// cannot be read. `earlier` is a capture of the same game.
pub(super) fn capture<'py>(
    layouts: &Layouts,
    game: Option<&Bound<'py, PyAny>>,
    modules: &[Bound<'py, PyModule>],
    earlier: Option<&Memento>,
    py: Python<'py>,
) -> PyResult<Option<Memento>> {
    let names = module_names(modules)?;
    let mut work = Capture {
        py,
        reader: LayoutReader::new(layouts, names),
        earlier: earlier.filter(|earlier| earlier.found.len() < MAX_NEW_OBJECTS),
        records: Vec::with_capacity(earlier.map_or(64, |earlier| earlier.records.len() + 8)),
        seen: FxHashSet::with_hasher(FxBuildHasher),
        found: Vec::new(),
        pending: Vec::new(),
        shared: FxHashMap::with_hasher(FxBuildHasher),
        from_module: false,
    };
    if let Some(earlier) = work.earlier {
        let done = work.continue_from(earlier)?;
        return Ok(done.then(|| work.finish()));
    }
    if let Some(earlier) = earlier {
        let key = |record: &Record| (record.object.as_ptr().addr(), record.part());
        work.shared = earlier
            .records
            .iter()
            .map(|record| (key(record), record))
            .collect();
    }
    work.pending.extend(game.cloned());
    if !work.read_pending()? {
        return Ok(None);
    }
    work.from_module = true;
    work.pending
        .extend(modules.iter().map(|module| module.dict().into_any()));
    let done = work.read_pending()?;
    Ok(done.then(|| work.finish()))
}

pub(super) fn module_names(modules: &[Bound<'_, PyModule>]) -> PyResult<Vec<String>> {
    modules
        .iter()
        .map(|module| Ok(module.name()?.to_string()))
        .collect()
}

impl<'a, 'py> Capture<'a, 'py> {
    fn finish(self) -> Memento {
        match self.earlier {
            Some(earlier) => {
                let mut found: Vec<_> = earlier
                    .found
                    .iter()
                    .map(|object| object.clone_ref(self.py))
                    .collect();
                found.extend(self.found);
                Memento {
                    records: self.records,
                    known: Arc::clone(&earlier.known),
                    found,
                }
            }
            None => Memento {
                records: self.records,
                known: Arc::new(Known {
                    addresses: self.seen,
                    _objects: self.found,
                }),
                found: Vec::new(),
            },
        }
    }

    /// Reads what has changed since an earlier capture. Returns false if the capture declines.
    fn continue_from(&mut self, earlier: &'a Memento) -> PyResult<bool> {
        for record in &earlier.records {
            if record.is_current(self.py) {
                self.records.push(Arc::clone(record));
                continue;
            }
            self.from_module = record.from_module;
            let object = record.object.bind(self.py);
            if !self.read(object, record.part())? || !self.read_pending()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds an object to those that must be read, unless it was read before.
    fn add(&mut self, object: Bound<'py, PyAny>) {
        if !is_atom(&object) {
            self.pending.push(object);
        }
    }

    fn is_known(&self, address: usize) -> bool {
        self.earlier.is_some_and(|earlier| {
            earlier.known.addresses.contains(&address)
                || earlier
                    .found
                    .iter()
                    .any(|object| object.as_ptr().addr() == address)
        })
    }

    fn read_pending(&mut self) -> PyResult<bool> {
        while let Some(object) = self.pending.pop() {
            if !self.read_object(&object)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads all parts of an object. Returns false if its state cannot be read.
    fn read_object(&mut self, object: &Bound<'py, PyAny>) -> PyResult<bool> {
        let address = object.as_ptr().addr();
        if self.seen.contains(&address) || self.is_known(address) {
            return Ok(true);
        }
        if self.from_module && self.reader.is_class_of_game(object) {
            self.mark(object);
            return self.read(object, Part::Class);
        }
        let layout = self.reader.of(object)?;
        match layout.storage {
            Storage::Atomic => return Ok(true),
            // An object that only a module refers to is not followed; if the game refers to it
            // later, it is read then.
            Storage::Unsupported => return Ok(self.from_module),
            _ if self.from_module && !self.reader.belongs_to_game(object, &layout) => {
                return Ok(true);
            }
            _ => self.mark(object),
        }
        if self.read_parts(object, &layout)? {
            return Ok(true);
        }
        if self.from_module {
            self.seen.remove(&address);
        }
        Ok(self.from_module)
    }

    fn mark(&mut self, object: &Bound<'py, PyAny>) {
        self.seen.insert(object.as_ptr().addr());
        self.found.push(object.clone().unbind());
    }

    fn read_parts(&mut self, object: &Bound<'py, PyAny>, layout: &Arc<Layout>) -> PyResult<bool> {
        let part = match layout.storage {
            Storage::List => Some(Part::List),
            Storage::Dict => Some(Part::Dict),
            Storage::Set => Some(Part::Set),
            Storage::Deque => Some(Part::Deque),
            Storage::Array => Some(Part::Array),
            Storage::ByteArray => Some(Part::Bytes),
            Storage::Cell => Some(Part::Cell),
            Storage::Generator => Some(Part::Generator),
            Storage::Tuple => {
                object
                    .cast::<PyTuple>()?
                    .iter()
                    .for_each(|item| self.add(item));
                None
            }
            Storage::FrozenSet => {
                object
                    .cast::<PyFrozenSet>()?
                    .iter()
                    .for_each(|item| self.add(item));
                None
            }
            Storage::Atomic | Storage::Nothing | Storage::Unsupported => None,
        };
        for name in layout.references {
            let referred = object.getattr(*name)?;
            self.add(referred);
        }
        let attributes = layout.has_attributes.then_some(Part::Attributes);
        let slots = (!layout.slots.is_empty()).then_some(Part::Slots);
        for part in [part, attributes, slots].into_iter().flatten() {
            if !self.read(object, part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads one part of an object: adds its record, and the objects it refers to. Returns false if
    /// the part cannot be read.
    fn read(&mut self, object: &Bound<'py, PyAny>, part: Part) -> PyResult<bool> {
        let content = self.content(object, part)?;
        let Some(content) = content else {
            return Ok(false);
        };
        let key = (object.as_ptr().addr(), part);
        let record = match self.shared.get(&key) {
            Some(earlier) if earlier.is_current(self.py) => Arc::clone(earlier),
            _ => Arc::new(Record {
                object: object.clone().unbind(),
                content,
                from_module: self.from_module,
            }),
        };
        self.records.push(record);
        Ok(true)
    }

    fn content(&mut self, object: &Bound<'py, PyAny>, part: Part) -> PyResult<Option<Content>> {
        let py = self.py;
        let content = match part {
            Part::Attributes => {
                let Some(dict) = attributes(object) else {
                    return Ok(None);
                };
                let mut entries = Vec::with_capacity(dict.len());
                for (key, value) in dict.iter() {
                    self.add(value.clone());
                    entries.push((key.unbind(), value.unbind()));
                }
                Content::Attributes {
                    class: object.get_type().unbind(),
                    dict: dict.unbind(),
                    entries,
                }
            }
            Part::Slots => {
                let layout = self.reader.of(object)?;
                let mut values = Vec::with_capacity(layout.slots.len());
                for name in &layout.slots {
                    let value = slot(object, name.bind(py))?;
                    value.iter().for_each(|value| self.add(value.clone()));
                    values.push(value.map(Bound::unbind));
                }
                Content::Slots { layout, values }
            }
            Part::List => Content::List(self.items(object.cast::<PyList>()?.iter())),
            Part::Deque => {
                let items = object.try_iter()?.collect::<PyResult<Vec<_>>>()?;
                Content::Deque(self.items(items.into_iter()))
            }
            Part::Dict => {
                let dict = object.cast::<PyDict>()?;
                for (key, value) in dict.iter() {
                    // The interpreter's own entries of a module are no state of the game.
                    if !(self.from_module && is_reserved(&key)) {
                        self.add(key);
                        self.add(value);
                    }
                }
                let copy = PyDict::new(py);
                copy.update(dict.as_mapping())?;
                Content::Dict(copy.unbind())
            }
            Part::Set => Content::Set(self.set_copy(object.cast::<PySet>()?)?),
            Part::Array => match array_parts(object) {
                ArrayParts::Owner(image) => Content::Array(image),
                ArrayParts::View(image, base) => {
                    self.add(base);
                    Content::Array(image)
                }
                ArrayParts::Unsupported => return Ok(None),
            },
            Part::Bytes => Content::Bytes(object.cast::<PyByteArray>()?.to_vec()),
            Part::Cell => {
                let value = cell(object)?;
                value.iter().for_each(|value| self.add(value.clone()));
                Content::Cell(value.map(Bound::unbind))
            }
            Part::Class => {
                let count = object.getattr("__dict__")?.len()?;
                let mut entries = Vec::new();
                for (name, value) in class_entries(object)? {
                    self.add(value.clone());
                    entries.push((name.unbind(), value.unbind()));
                }
                Content::Class { entries, count }
            }
            Part::Generator => {
                let layout = self.reader.of(object)?;
                let Some((get, set)) = &layout.functions else {
                    return Ok(None);
                };
                Content::Generator {
                    state: get.bind(py).call1((object,))?.unbind(),
                    set: set.clone_ref(py),
                }
            }
        };
        Ok(Some(content))
    }

    fn items(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) -> Vec<Py<PyAny>> {
        items
            .map(|item| {
                self.add(item.clone());
                item.unbind()
            })
            .collect()
    }

    /// Copies a set. If the copy has its items in another order, the set gets that order too, so
    /// that the order does not depend on whether the set was restored.
    fn set_copy(&mut self, set: &Bound<'py, PySet>) -> PyResult<Py<PySet>> {
        let copy = self
            .py
            .get_type::<PySet>()
            .call1((set,))?
            .cast_into::<PySet>()?;
        if !sets_agree(set, &copy) {
            fill_set(set, &copy)?;
        }
        for item in copy.iter() {
            self.add(item);
        }
        Ok(copy.unbind())
    }
}

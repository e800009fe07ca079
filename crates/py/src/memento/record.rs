//! The saved contents of one part of an object.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList, PySet, PyString, PyType};

use super::identity::{
    ArrayImage, Entry, dict_holds, dicts_agree, list_holds, set_attributes, set_slot, slot,
};
use super::layout::Layout;
use crate::raw::attributes;

/// A part of an object. An object with attributes and slots has one record for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Attributes,
    Slots,
    List,
    Dict,
    Set,
    Deque,
    Array,
    Bytes,
    Cell,
    Class,
    Generator,
}

/// The contents of a part of an object at the time of a capture.
pub(super) struct Record {
    pub(super) object: Py<PyAny>,
    pub(super) content: Content,
    /// Whether the object was reached from a module, not from the game.
    pub(super) from_module: bool,
}

/// Saved contents. The items are the objects themselves, which have records of their own.
pub(super) enum Content {
    Attributes {
        class: Py<PyType>,
        dict: Py<PyDict>,
        entries: Vec<Entry>,
    },
    Slots {
        layout: Arc<Layout>,
        values: Vec<Option<Py<PyAny>>>,
    },
    List(Vec<Py<PyAny>>),
    /// A copy. Filling a dictionary or a set from a copy of it calls no `__hash__`.
    Dict(Py<PyDict>),
    /// A copy.
    Set(Py<PySet>),
    Deque(Vec<Py<PyAny>>),
    Array(ArrayImage),
    Bytes(Vec<u8>),
    Cell(Option<Py<PyAny>>),
    /// The attributes of a class, and the number of all entries of its dictionary.
    Class {
        entries: Vec<Entry>,
        count: usize,
    },
    Generator {
        state: Py<PyAny>,
        set: Py<PyAny>,
    },
}

impl Record {
    pub(super) const fn part(&self) -> Part {
        match self.content {
            Content::Attributes { .. } => Part::Attributes,
            Content::Slots { .. } => Part::Slots,
            Content::List(_) => Part::List,
            Content::Dict(_) => Part::Dict,
            Content::Set(_) => Part::Set,
            Content::Deque(_) => Part::Deque,
            Content::Array(_) => Part::Array,
            Content::Bytes(_) => Part::Bytes,
            Content::Cell(_) => Part::Cell,
            Content::Class { .. } => Part::Class,
            Content::Generator { .. } => Part::Generator,
        }
    }

    /// Returns whether the object still has these contents. The state of a random generator is not
    /// compared, because setting it is as fast.
    #[inline]
    pub(super) fn is_current(&self, py: Python<'_>) -> bool {
        let object = self.object.bind(py);
        match &self.content {
            Content::Attributes {
                class,
                dict,
                entries,
            } => {
                object.get_type_ptr() == class.bind(py).as_type_ptr()
                    && attributes(object)
                        .is_some_and(|now| now.is(dict) && dict_holds(&now, entries))
            }
            Content::List(items) => object
                .cast::<PyList>()
                .is_ok_and(|list| list_holds(list, items)),
            Content::Array(image) => image.is_current(object),
            Content::Dict(copy) => object
                .cast::<PyDict>()
                .is_ok_and(|dict| dicts_agree(dict, copy.bind(py))),
            Content::Set(copy) => object
                .cast::<PySet>()
                .is_ok_and(|set| sets_agree(set, copy.bind(py))),
            Content::Slots { layout, values } => {
                layout.slots.iter().zip(values).all(|(name, value)| {
                    slot(object, name.bind(py))
                        .is_ok_and(|now| is_same(now.as_ref(), value.as_ref()))
                })
            }
            Content::Deque(items) => {
                let mut items = items.iter();
                object.try_iter().is_ok_and(|mut now| {
                    now.all(|now| {
                        now.is_ok_and(|now| items.next().is_some_and(|item| now.is(item)))
                    })
                }) && items.next().is_none()
            }
            Content::Bytes(bytes) => object
                .cast::<PyByteArray>()
                .is_ok_and(|now| now.to_vec() == *bytes),
            Content::Cell(value) => {
                cell(object).is_ok_and(|now| is_same(now.as_ref(), value.as_ref()))
            }
            Content::Class { entries, count } => class_holds(object, entries, *count),
            Content::Generator { .. } => false,
        }
    }

    /// Writes the contents back. Returns false if that is impossible.
    pub(super) fn restore(&self, py: Python<'_>) -> PyResult<bool> {
        if self.is_current(py) {
            return Ok(true);
        }
        let object = self.object.bind(py);
        match &self.content {
            Content::Attributes {
                class,
                dict,
                entries,
            } => {
                if !object.get_type().is(class) {
                    set_slot(object, pyo3::intern!(py, "__class__"), Some(class.bind(py)))?;
                }
                let dict = dict.bind(py);
                if !attributes(object).is_some_and(|now| now.is(dict)) {
                    set_attributes(object, dict)?;
                }
                set_entries(dict, entries)?;
            }
            Content::Slots { layout, values } => {
                for (name, value) in layout.slots.iter().zip(values) {
                    let value = value.as_ref().map(|value| value.bind(py));
                    let name = name.bind(py);
                    if value.is_some() || slot(object, name)?.is_some() {
                        set_slot(object, name, value)?;
                    }
                }
            }
            Content::List(items) => {
                let list = object.cast::<PyList>()?;
                list.set_slice(0, list.len(), PyList::new(py, items)?.as_any())?;
            }
            Content::Dict(copy) => {
                let dict = object.cast::<PyDict>()?;
                dict.clear();
                dict.update(copy.bind(py).as_mapping())?;
            }
            Content::Set(copy) => fill_set(object.cast::<PySet>()?, copy.bind(py))?,
            Content::Deque(items) => {
                let class = object.get_type().mro();
                let deque = class.iter().find(|base| is_deque(base));
                let deque = deque.unwrap_or_else(|| object.get_type().into_any());
                deque.call_method1(pyo3::intern!(py, "clear"), (object,))?;
                deque.call_method1(
                    pyo3::intern!(py, "extend"),
                    (object, PyList::new(py, items)?),
                )?;
            }
            Content::Array(image) => return Ok(image.restore(object)),
            Content::Bytes(bytes) => {
                let array = object.cast::<PyByteArray>()?;
                array.resize(0)?;
                object.call_method1(pyo3::intern!(py, "extend"), (bytes.as_slice(),))?;
            }
            Content::Cell(Some(value)) => {
                object.setattr(pyo3::intern!(py, "cell_contents"), value)?;
            }
            Content::Cell(None) => object.delattr(pyo3::intern!(py, "cell_contents"))?,
            Content::Class { entries, .. } => restore_class(object, entries)?,
            Content::Generator { state, set } => {
                set.bind(py).call1((object, state))?;
            }
        }
        Ok(true)
    }
}

fn is_deque(class: &Bound<'_, PyAny>) -> bool {
    class.cast::<PyType>().is_ok_and(|class| {
        class
            .fully_qualified_name()
            .is_ok_and(|name| name == "collections.deque")
    })
}

fn is_same(now: Option<&Bound<'_, PyAny>>, then: Option<&Py<PyAny>>) -> bool {
    match (now, then) {
        (Some(now), Some(then)) => now.is(then),
        (now, then) => now.is_none() && then.is_none(),
    }
}

/// Gives a dictionary these entries. Usually only a few values differ.
fn set_entries(dict: &Bound<'_, PyDict>, entries: &[Entry]) -> PyResult<()> {
    let now: Vec<_> = dict.iter().collect();
    let same_keys = now.len() == entries.len()
        && now
            .iter()
            .zip(entries)
            .all(|((key, _), (then, _))| key.is(then));
    if !same_keys {
        dict.clear();
        return entries
            .iter()
            .try_for_each(|(key, value)| dict.set_item(key, value));
    }
    now.iter()
        .zip(entries)
        .filter(|((_, value), (_, then))| !value.is(then))
        .try_for_each(|(_, (key, value))| dict.set_item(key, value))
}

/// Gives a set the items of a copy. The order of the items becomes that of a copy of the copy.
pub(super) fn fill_set(set: &Bound<'_, PySet>, copy: &Bound<'_, PySet>) -> PyResult<()> {
    set.clear();
    set.py()
        .get_type::<PySet>()
        .call_method1(pyo3::intern!(set.py(), "update"), (set, copy))
        .map(drop)
}

/// Returns whether two sets have the same items in the same order.
pub(super) fn sets_agree(one: &Bound<'_, PySet>, other: &Bound<'_, PySet>) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other.iter())
            .all(|(one, other)| one.is(&other))
}

/// Returns the content of a cell; `None` if it is empty.
pub(super) fn cell<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    match object.getattr(pyo3::intern!(py, "cell_contents")) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyValueError>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

fn class_holds(class: &Bound<'_, PyAny>, entries: &[Entry], count: usize) -> bool {
    let py = class.py();
    let Ok(dict) = class.getattr(pyo3::intern!(py, "__dict__")) else {
        return false;
    };
    dict.len().is_ok_and(|now| now == count)
        && entries
            .iter()
            .all(|(name, value)| dict.get_item(name).is_ok_and(|now| now.is(value)))
}

fn restore_class(class: &Bound<'_, PyAny>, entries: &[Entry]) -> PyResult<()> {
    let py = class.py();
    for (name, now) in class_entries(class)? {
        match entries.iter().find(|(then, _)| name.is(then)) {
            None => class.delattr(name.cast::<PyString>()?)?,
            Some((_, value)) if !now.is(value) => class.setattr(name.cast::<PyString>()?, value)?,
            Some(_) => {}
        }
    }
    let dict = class.getattr(pyo3::intern!(py, "__dict__"))?;
    for (name, value) in entries {
        if !dict.contains(name)? {
            class.setattr(name.bind(py).cast::<PyString>()?, value)?;
        }
    }
    Ok(())
}

/// Returns the attributes of a class that its author has defined.
pub(super) fn class_entries<'py>(
    class: &Bound<'py, PyAny>,
) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let members = class
        .getattr(pyo3::intern!(class.py(), "__dict__"))?
        .call_method0("items")?;
    let mut entries = Vec::new();
    for member in members.try_iter()? {
        let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = member?.extract()?;
        if !is_reserved(&name) {
            entries.push((name, value));
        }
    }
    Ok(entries)
}

/// Returns whether a name is one of those that the interpreter defines, such as `__doc__`.
pub(super) fn is_reserved(name: &Bound<'_, PyAny>) -> bool {
    name.cast::<PyString>().is_ok_and(|name| {
        name.to_str()
            .is_ok_and(|name| name.starts_with("__") || name.starts_with("_abc_"))
    })
}

//! A cache of facts about Python classes.
//!
//! **Invariant:** the cache keeps no class alive. A class that is defined in the module of a game is
//! freed together with that module, and its entry is removed before the next one is added.

use pyo3::prelude::*;
use pyo3::types::{PyType, PyWeakrefReference};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Facts about classes, by the address of the class. `V` is cheap to clone, such as an `Rc`.
pub(crate) struct ClassCache<V> {
    entries: FxHashMap<usize, Entry<V>>,
}

struct Entry<V> {
    /// Shows whether the class at this address is still the one that was classified.
    class: Py<PyWeakrefReference>,
    facts: V,
}

impl<V: Clone> ClassCache<V> {
    pub(crate) const fn new() -> Self {
        Self {
            entries: FxHashMap::with_hasher(FxBuildHasher),
        }
    }

    /// Returns the number of entries, including those of classes that were freed since the last
    /// insertion.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, class: &Bound<'_, PyType>) -> Option<V> {
        let entry = self.entries.get(&class.as_ptr().addr())?;
        let classified = entry.class.bind(class.py()).upgrade()?;
        classified.is(class).then(|| entry.facts.clone())
    }

    /// Adds facts about a class and removes the entries of classes that no longer exist.
    pub(crate) fn insert(&mut self, class: &Bound<'_, PyType>, facts: V) -> PyResult<()> {
        let py = class.py();
        self.entries
            .retain(|_, entry| entry.class.bind(py).upgrade().is_some());
        let entry = Entry {
            class: PyWeakrefReference::new(class.as_any())?.unbind(),
            facts,
        };
        self.entries.insert(class.as_ptr().addr(), entry);
        Ok(())
    }
}

//! Hashes of Python objects by their contents.
//!
//! Two states with the same contents have the same hash in every process: the hash contains no
//! addresses, and instead of generated names (UUIDs) their order of appearance.
//!
//! The attributes in which the engine stores action counts and the last action are not hashed.

use std::mem;

use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyModule, PyString, PyTuple, PyType,
};
use rhae_engine::StateKey;
use rustc_hash::FxHashMap;

use super::capture::module_names;
use super::identity::{read_array, slot};
use super::layout::{Layout, LayoutReader, Layouts, Storage};
use super::record::{cell, class_entries, is_reserved};
use crate::copy::is_atom;
use crate::raw::attributes;

/// The maximum nesting depth, far from a stack overflow.
const MAX_DEPTH: usize = 2000;

/// Returns the hash of a value and of the state of modules.
pub(super) fn digest<'py>(
    layouts: &Layouts,
    value: &Bound<'py, PyAny>,
    modules: &[Bound<'py, PyModule>],
) -> PyResult<StateKey> {
    let mut digest = Digest {
        reader: LayoutReader::new(layouts, module_names(modules)?),
        text: Text::default(),
        orders: FxHashMap::default(),
        atoms: FxHashMap::default(),
        depth: 0,
        from_module: false,
    };
    digest.add(value)?;
    digest.from_module = true;
    for module in modules {
        digest.module(&module.dict())?;
    }
    Ok(rhae_engine::key_of(&digest.text.bytes[..]))
}

/// What is hashed.
#[derive(Default)]
struct Text<'py> {
    bytes: Vec<u8>,
    /// The number of each object, by its address. The object is kept alive, because its address
    /// must stay unique.
    seen: FxHashMap<usize, (u32, Bound<'py, PyAny>)>,
    /// The number of each generated name.
    names: FxHashMap<String, u32>,
}

impl Text<'_> {
    fn tag(&mut self, tag: u8, number: usize) {
        self.bytes.push(tag);
        self.bytes.extend((number as u64).to_le_bytes());
    }

    fn text(&mut self, tag: u8, text: &[u8]) {
        self.tag(tag, text.len());
        self.bytes.extend(text);
    }
}

struct Digest<'a, 'py> {
    reader: LayoutReader<'a, 'py>,
    text: Text<'py>,
    /// For each class: the names of the attributes of the last instance, by address, and their
    /// alphabetical order. Most instances of a class have the same attributes.
    orders: FxHashMap<usize, (Vec<usize>, Vec<usize>)>,
    /// What was added for atomic objects, such as members of enumerations, by address. The objects
    /// are kept alive, because their addresses must stay unique.
    atoms: FxHashMap<usize, (Vec<u8>, Bound<'py, PyAny>)>,
    depth: usize,
    from_module: bool,
}

impl<'py> Digest<'_, 'py> {
    fn add(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if value.is_none() {
            self.text.bytes.push(b'0');
        } else if value.is_exact_instance_of::<PyBool>() {
            self.text.bytes.extend([b'?', u8::from(value.is_truthy()?)]);
        } else if value.is_exact_instance_of::<PyInt>() {
            match value.extract::<i64>() {
                Ok(number) => self.text.tag(b'i', number as usize),
                Err(_) => self.text.text(b'I', value.str()?.to_str()?.as_bytes()),
            }
        } else if let Ok(text) = value.cast_exact::<PyString>() {
            self.string(text)?;
        } else if let Ok(float) = value.cast_exact::<PyFloat>() {
            self.text.tag(b'f', float.value().to_bits() as usize);
        } else if let Ok(bytes) = value.cast_exact::<PyBytes>() {
            self.text.text(b'b', bytes.as_bytes());
        } else {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                let message = format!("nested more than {MAX_DEPTH} deep");
                return Err(PyRecursionError::new_err(message));
            }
            self.object(value)?;
            self.depth -= 1;
        }
        Ok(())
    }

    fn string(&mut self, value: &Bound<'py, PyString>) -> PyResult<()> {
        let Ok(text) = value.to_str() else {
            // A string with a lone surrogate has no UTF-8 form.
            let text = value.repr()?;
            self.text.text(b'S', text.to_str()?.as_bytes());
            return Ok(());
        };
        if is_generated(text) {
            let next = self.text.names.len() as u32;
            let number = *self.text.names.entry(text.to_owned()).or_insert(next);
            self.text.tag(b'g', number as usize);
        } else {
            self.text.text(b's', text.as_bytes());
        }
        Ok(())
    }

    fn object(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if is_atom(value) {
            // Whether two equal tuples are one object does not matter, because none can change.
            self.text.tag(b'l', value.len()?);
            return value
                .cast::<PyTuple>()?
                .iter()
                .try_for_each(|item| self.add(&item));
        }
        let address = value.as_ptr().addr();
        if let Some((number, _)) = self.text.seen.get(&address) {
            let number = *number;
            self.text.tag(b'r', number as usize);
            return Ok(());
        }
        if self.from_module && self.reader.is_class_of_game(value) {
            self.number(value);
            return self.class(value);
        }
        let layout = self.reader.of(value)?;
        if layout.storage == Storage::Atomic {
            if let Some((known, _)) = self.atoms.get(&address) {
                self.text.bytes.extend(known);
                return Ok(());
            }
            let start = self.text.bytes.len();
            self.atom(value, &layout)?;
            let added = self.text.bytes[start..].to_vec();
            self.atoms.insert(address, (added, value.clone()));
            return Ok(());
        }
        self.number(value);
        self.text.text(b'o', layout.name.as_bytes());
        if self.from_module && !self.reader.belongs_to_game(value, &layout) {
            return Ok(());
        }
        self.storage(value, &layout)?;
        for name in &layout.slots {
            if let Some(held) = slot(value, name.bind(value.py()))? {
                self.string(name.bind(value.py()))?;
                self.add(&held)?;
            }
        }
        if layout.has_attributes || layout.storage == Storage::Unsupported {
            self.attributes(value)?;
        }
        Ok(())
    }

    fn number(&mut self, value: &Bound<'py, PyAny>) {
        let number = self.text.seen.len() as u32;
        let address = value.as_ptr().addr();
        self.text.seen.insert(address, (number, value.clone()));
    }

    /// Adds the parts of an object that are neither attributes nor slots.
    fn storage(&mut self, value: &Bound<'py, PyAny>, layout: &Layout) -> PyResult<()> {
        let py = value.py();
        match layout.storage {
            Storage::List | Storage::Tuple | Storage::Deque => {
                self.text.tag(b'l', value.len()?);
                for item in value.try_iter()? {
                    self.add(&item?)?;
                }
            }
            Storage::Dict => {
                let dict = value.cast::<PyDict>()?;
                self.text.tag(b'd', dict.len());
                for (key, item) in dict.iter() {
                    self.add(&key)?;
                    self.add(&item)?;
                }
            }
            Storage::Set | Storage::FrozenSet => {
                // The order of a set is arbitrary, so the hashes of its items are sorted.
                let mut items = Vec::with_capacity(value.len()?);
                for item in value.try_iter()? {
                    items.push(self.separate(&item?)?);
                }
                items.sort_unstable();
                self.text.tag(b't', items.len());
                items
                    .iter()
                    .for_each(|item| self.text.bytes.extend(item.to_le_bytes()));
            }
            Storage::Array => self.array(value)?,
            Storage::ByteArray => {
                let bytes = value.cast::<PyByteArray>()?.to_vec();
                self.text.text(b'b', &bytes);
            }
            Storage::Cell => match cell(value)? {
                Some(content) => self.add(&content)?,
                None => self.text.bytes.push(b'-'),
            },
            Storage::Generator => {
                if let Some((get, _)) = &layout.functions {
                    let state = get.bind(py).call1((value,))?;
                    self.add(&state)?;
                }
            }
            Storage::Atomic | Storage::Nothing | Storage::Unsupported => {}
        }
        if layout.is_function() {
            self.string(value.getattr("__qualname__")?.cast::<PyString>()?)?;
        }
        for name in layout.references {
            let referred = value.getattr(*name)?;
            self.add(&referred)?;
        }
        Ok(())
    }

    fn array(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let text = &mut self.text;
        let added = read_array(value, |(kind, order), shape, bytes| {
            text.bytes.extend([b'n', kind as u8, order]);
            text.tag(b'l', shape.len());
            shape
                .iter()
                .for_each(|&side| text.tag(b'i', side.unsigned_abs()));
            text.text(b'b', bytes);
        });
        if added.is_some() {
            return Ok(());
        }
        let dtype = value.getattr("dtype")?;
        self.text.text(b'a', dtype.str()?.to_str()?.as_bytes());
        self.add(&value.getattr("shape")?)?;
        if dtype.getattr("hasobject")?.is_truthy()? {
            return self.add(&value.call_method0("tolist")?);
        }
        let bytes = value.call_method0("tobytes")?;
        self.text.text(b'b', bytes.cast::<PyBytes>()?.as_bytes());
        Ok(())
    }

    /// Adds the attributes in the order of their names.
    fn attributes(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let Some(dict) = attributes(value) else {
            return Ok(());
        };
        let class = value.get_type_ptr().addr();
        let items: Vec<_> = dict.iter().collect();
        let names = || items.iter().map(|(name, _)| name.as_ptr().addr());
        let order = match self.orders.get(&class) {
            Some((known, order)) if names().eq(known.iter().copied()) => order.clone(),
            _ => {
                let texts: Vec<String> = items
                    .iter()
                    .map(|(name, _)| Ok(name.str()?.to_string()))
                    .collect::<PyResult<_>>()?;
                let left_out = &self.reader.layouts.config.left_out;
                let mut order: Vec<usize> = (0..items.len())
                    .filter(|&at| !left_out.contains(&texts[at]))
                    .collect();
                order.sort_by(|&one, &other| texts[one].cmp(&texts[other]));
                self.orders
                    .insert(class, (names().collect(), order.clone()));
                order
            }
        };
        self.text.tag(b'k', order.len());
        for at in order {
            let (name, item) = &items[at];
            self.add(name)?;
            self.add(item)?;
        }
        Ok(())
    }

    /// Adds the attributes of a class that the game defines.
    fn class(&mut self, class: &Bound<'py, PyAny>) -> PyResult<()> {
        self.text.bytes.push(b'c');
        self.qualified_name(class)?;
        for (name, value) in class_entries(class)? {
            self.add(&name)?;
            self.add(&value)?;
        }
        Ok(())
    }

    /// Adds the variables of a module in the order of their names.
    fn module(&mut self, variables: &Bound<'py, PyDict>) -> PyResult<()> {
        let mut items = Vec::with_capacity(variables.len());
        for (name, value) in variables.iter() {
            if !is_reserved(&name) {
                items.push((name.str()?.to_string(), value));
            }
        }
        items.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, value) in &items {
            self.text.text(b'v', name.as_bytes());
            self.add(value)?;
        }
        Ok(())
    }

    /// Adds an immutable or shared object by its name or its text.
    fn atom(&mut self, value: &Bound<'py, PyAny>, layout: &Layout) -> PyResult<()> {
        self.text.text(b'o', layout.name.as_bytes());
        if value.is_instance_of::<PyType>() || value.hasattr("__qualname__")? {
            self.qualified_name(value)
        } else if value.is_instance_of::<PyModule>() {
            let name = value.getattr("__name__")?;
            self.add(&name)
        } else if let Ok(name) = value.getattr("_name_") {
            // A member of an enumeration.
            self.add(&name)
        } else if layout.module == "numpy"
            || matches!(layout.name.as_str(), "range" | "complex" | "slice")
        {
            self.add(value.repr()?.as_any())
        } else {
            Ok(())
        }
    }

    fn qualified_name(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let name = value.getattr("__qualname__")?;
        self.add(&name)
    }

    /// Returns the hash of a value alone.
    fn separate(&mut self, value: &Bound<'py, PyAny>) -> PyResult<StateKey> {
        let outer = mem::take(&mut self.text);
        let added = self.add(value);
        let text = mem::replace(&mut self.text, outer);
        added?;
        Ok(rhae_engine::key_of(&text.bytes[..]))
    }
}

/// Returns whether a text is a UUID, as which the engine generates names.
fn is_generated(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

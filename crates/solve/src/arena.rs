//! Storage for the values of one pair. Equal values are stored once (interned), and the results of
//! functions are memoised.

use hashbrown::HashTable;

use crate::image::Value;
use crate::meter::Meter;
use crate::op::{Op, PairContext};
use crate::property::PropertyCache;

/// The index of a value in its arena.
pub(crate) type ValueId = u32;

const NOT_TRIED: u32 = 0;
const NO_RESULT: u32 = 1;

/// The values of one pair. Invariant: different ids refer to different values.
pub(crate) struct Arena {
    context: PairContext,
    values: Vec<Value>,
    hashes: Vec<u64>,
    table: HashTable<ValueId>,
    /// For each value, the result of each function that was applied to it: [`NOT_TRIED`],
    /// [`NO_RESULT`] or the id of the result plus 2. Empty until a function is applied to the
    /// value.
    memo: Vec<Vec<u32>>,
    /// The properties of the most recently used lists. They are cached because several functions
    /// use each property.
    property_cache: [(ValueId, PropertyCache); CACHED_LISTS],
    cells: usize,
    max_cells: usize,
}

/// The number of lists whose properties are cached. Consecutive steps often use the same list.
const CACHED_LISTS: usize = 16;

impl Arena {
    /// Creates an arena. [`is_full`](Self::is_full) returns true once it stores more than
    /// `max_cells` cells.
    pub(crate) fn new(context: PairContext, max_cells: usize) -> Self {
        Self {
            context,
            values: Vec::new(),
            hashes: Vec::new(),
            table: HashTable::new(),
            memo: Vec::new(),
            property_cache: std::array::from_fn(|_| (ValueId::MAX, PropertyCache::default())),
            cells: 0,
            max_cells,
        }
    }

    pub(crate) fn value(&self, id: ValueId) -> &Value {
        &self.values[id as usize]
    }

    pub(crate) fn is_full(&self) -> bool {
        self.cells > self.max_cells
    }

    /// Returns the id of a value, and stores the value if it is new.
    pub(crate) fn intern(&mut self, value: Value) -> ValueId {
        let hash = value.hash();
        let (values, hashes) = (&self.values, &self.hashes);
        if let Some(&id) = self.table.find(hash, |&id| {
            hashes[id as usize] == hash && values[id as usize] == value
        }) {
            return id;
        }
        let id = self.values.len() as ValueId;
        self.cells += value.weight() + 64;
        self.values.push(value);
        self.hashes.push(hash);
        self.memo.push(Vec::new());
        let hashes = &self.hashes;
        self.table
            .insert_unique(hash, id, |&id| hashes[id as usize]);
        id
    }

    /// Applies the function with index `index` to a value, or returns the memoised result. Returns
    /// `None` if the function has no result for the value.
    pub(crate) fn apply(
        &mut self,
        id: ValueId,
        index: usize,
        ops: &[Op],
        meter: &mut Meter<'_>,
    ) -> Option<ValueId> {
        let memo = &mut self.memo[id as usize];
        if memo.is_empty() {
            memo.resize(ops.len(), NOT_TRIED);
        }
        match memo[index] {
            NOT_TRIED => {}
            NO_RESULT => return None,
            known => return Some(known - 2),
        }
        let value = &self.values[id as usize];
        meter.charge(value.weight() * ops[index].effort() + 20);
        let (list, property_cache) = &mut self.property_cache[id as usize % CACHED_LISTS];
        if *list != id && matches!(value, Value::Many(_)) {
            (*list, *property_cache) = (id, PropertyCache::default());
        }
        let result = ops[index]
            .apply(value, &self.context, property_cache)
            .map(|value| self.intern(value));
        self.memo[id as usize][index] = result.map_or(NO_RESULT, |id| id + 2);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn values_are_stored_once() {
        let context = PairContext {
            input: (2, 1),
            target: (2, 1),
            max_cells: 100,
        };
        let mut arena = Arena::new(context, 1000);
        let ops = [Op::Symmetry(1), Op::Half(1)];
        let never = || false;
        let mut meter = Meter::new(1000, &never);
        let start = arena.intern(Value::One(image(&["12"])));
        let turned = arena.apply(start, 0, &ops, &mut meter).unwrap();
        assert_ne!(turned, start);
        assert_eq!(arena.apply(turned, 0, &ops, &mut meter), Some(start));
        assert_eq!(arena.apply(start, 1, &ops, &mut meter), None);
        let spent = meter.spent();
        assert_eq!(arena.apply(start, 1, &ops, &mut meter), None);
        assert_eq!(meter.spent(), spent);
    }
}

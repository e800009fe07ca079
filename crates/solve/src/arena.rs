//! The values of one pair, each stored once, and the memory of what functions gave.

use hashbrown::HashTable;

use crate::image::Value;
use crate::meter::Meter;
use crate::op::{Frame, Op};
use crate::quality::Measured;

/// A value's number in its arena.
pub(crate) type ValueId = u32;

const UNKNOWN: u32 = 0;
const NOTHING: u32 = 1;

/// Values of one pair. Invariant: different numbers are different values.
pub(crate) struct Arena {
    frame: Frame,
    values: Vec<Value>,
    hashes: Vec<u64>,
    table: HashTable<ValueId>,
    /// For each value what each function gave, empty until the first is tried.
    memo: Vec<Vec<u32>>,
    /// What was measured of some lists, those that were asked last: each quality is asked for several times.
    measured: [(ValueId, Measured); LISTS],
    cells: usize,
    most_cells: usize,
}

/// Lists whose qualities are remembered. A step often goes through a list on its way, and the next one through the same.
const LISTS: usize = 16;

impl Arena {
    /// An arena that stores up to so many cells in all.
    pub(crate) fn new(frame: Frame, most_cells: usize) -> Self {
        Self {
            frame,
            values: Vec::new(),
            hashes: Vec::new(),
            table: HashTable::new(),
            memo: Vec::new(),
            measured: std::array::from_fn(|_| (ValueId::MAX, Measured::default())),
            cells: 0,
            most_cells,
        }
    }

    pub(crate) fn value(&self, id: ValueId) -> &Value {
        &self.values[id as usize]
    }

    pub(crate) fn is_full(&self) -> bool {
        self.cells > self.most_cells
    }

    /// The number of a value, old or new.
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

    /// Applies one of the functions, or remembers what it gave.
    pub(crate) fn apply(
        &mut self,
        id: ValueId,
        index: usize,
        ops: &[Op],
        meter: &mut Meter<'_>,
    ) -> Option<ValueId> {
        let memo = &mut self.memo[id as usize];
        if memo.is_empty() {
            memo.resize(ops.len(), UNKNOWN);
        }
        match memo[index] {
            UNKNOWN => {}
            NOTHING => return None,
            known => return Some(known - 2),
        }
        let value = &self.values[id as usize];
        meter.charge(value.weight() * ops[index].effort() + 20);
        let (list, measured) = &mut self.measured[id as usize % LISTS];
        if *list != id && matches!(value, Value::Many(_)) {
            (*list, *measured) = (id, Measured::default());
        }
        let result = ops[index]
            .apply(value, &self.frame, measured)
            .map(|value| self.intern(value));
        self.memo[id as usize][index] = result.map_or(NOTHING, |id| id + 2);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn values_are_stored_once() {
        let frame = Frame {
            input: (2, 1),
            target: (2, 1),
            most_cells: 100,
        };
        let mut arena = Arena::new(frame, 1000);
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

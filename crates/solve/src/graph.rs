//! The graph of programs: all short sequences of steps, applied to all pairs in lock-step.
//!
//! A node is a tuple with one value per pair, all produced by the same program. Programs with the
//! same results share a node, which keeps the program that was found first. The search is
//! breadth-first, so it finds short programs before long ones. If the budget is exhausted early,
//! the longest programs are missing.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use crate::arena::{Arena, ValueId};
use crate::image::{Image, Value};
use crate::meter::Meter;
use crate::op::{Op, PairContext};

/// The functions and the steps that consist of them.
pub(crate) struct Language {
    pub(crate) ops: Vec<Op>,
    pub(crate) steps: Vec<Step>,
}

/// A sequence of functions that counts as one step.
pub(crate) struct Step {
    ops: Vec<u16>,
    /// Whether the step is one of the most useful ones, which are also tried as the third or a
    /// later step of a program.
    core: bool,
}

impl Language {
    pub(crate) fn new() -> Self {
        Self {
            ops: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Adds a step that applies these functions in order.
    pub(crate) fn add(&mut self, core: bool, chain: &[Op]) {
        let ops = chain.iter().map(|op| {
            let known = self.ops.iter().position(|other| other == op);
            known.unwrap_or_else(|| {
                self.ops.push(*op);
                self.ops.len() - 1
            }) as u16
        });
        let ops = ops.collect();
        self.steps.push(Step { ops, core });
    }
}

/// The origin of a node: its parent and the step that led from the parent to it. For a root, `step`
/// is the index of the root.
#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    step: u16,
    depth: u8,
}

const ROOT: u32 = u32::MAX;

/// All tuples found so far. See the module documentation.
pub(crate) struct Graph {
    language: Language,
    arenas: Vec<Arena>,
    roots: Vec<&'static str>,
    nodes: Vec<Node>,
    /// The tuples of all nodes, concatenated.
    tuples: Vec<ValueId>,
    table: HashTable<u32>,
    targets: Vec<(usize, usize)>,
    pieces: Vec<u32>,
}

impl Graph {
    /// Creates a graph without nodes. `contexts` contains one element per pair; `max_cells` limits
    /// the memory of all pairs together.
    pub(crate) fn new(language: Language, contexts: &[PairContext], max_cells: usize) -> Self {
        let arenas = contexts
            .iter()
            .map(|&context| Arena::new(context, max_cells / contexts.len()))
            .collect();
        let targets = contexts.iter().map(|context| context.target).collect();
        Self {
            language,
            arenas,
            roots: Vec::new(),
            nodes: Vec::new(),
            tuples: Vec::new(),
            table: HashTable::new(),
            targets,
            pieces: Vec::new(),
        }
    }

    /// Adds a root with one image per pair. A less plausible root starts at a larger `depth`.
    pub(crate) fn add_root(&mut self, name: &'static str, depth: u8, images: Vec<Image>) {
        debug_assert_eq!(images.len(), self.arenas.len());
        let tuple: Vec<ValueId> = images
            .into_iter()
            .zip(&mut self.arenas)
            .map(|(image, arena)| arena.intern(Value::One(image)))
            .collect();
        self.roots.push(name);
        let step = (self.roots.len() - 1) as u16;
        self.insert(
            &tuple,
            Node {
                parent: ROOT,
                step,
                depth,
            },
            true,
        );
    }

    /// Adds all programs of up to `depth` steps, or stops earlier when the budget or the memory is
    /// exhausted. From the third step on, only core steps are tried.
    pub(crate) fn expand(&mut self, depth: u8, meter: &mut Meter<'_>) {
        let mut next = 0;
        while next < self.nodes.len() && !meter.is_exhausted() {
            if self.arenas.iter().any(Arena::is_full) {
                return;
            }
            let node = self.nodes[next];
            if node.depth < depth {
                for step in 0..self.language.steps.len() {
                    if node.depth < 2 || self.language.steps[step].core {
                        self.apply_step(next as u32, step, depth, meter);
                    }
                }
            }
            next += 1;
        }
    }

    fn apply_step(&mut self, from: u32, step: usize, depth: u8, meter: &mut Meter<'_>) {
        let count = self.arenas.len();
        let mut tuple = [0; 16];
        for (pair, arena) in self.arenas.iter_mut().enumerate() {
            let mut value = self.tuples[from as usize * count + pair];
            for &op in &self.language.steps[step].ops {
                match arena.apply(value, usize::from(op), &self.language.ops, meter) {
                    Some(result) => value = result,
                    None => return,
                }
            }
            tuple[pair] = value;
        }
        let node = Node {
            parent: from,
            step: step as u16,
            depth: self.nodes[from as usize].depth + 1,
        };
        let expandable = node.depth < depth;
        self.insert(&tuple[..count], node, expandable);
        meter.charge(4 * count);
    }

    /// Adds a tuple unless it is already known. A tuple that will not be expanded is added only if
    /// it is a piece.
    fn insert(&mut self, tuple: &[ValueId], node: Node, expandable: bool) {
        let piece = self.is_piece(tuple);
        if !piece && !expandable {
            return;
        }
        let count = tuple.len();
        let hash = hash(tuple);
        let tuples = &self.tuples;
        let of = |id: u32| &tuples[id as usize * count..(id as usize + 1) * count];
        if self.table.find(hash, |&id| of(id) == tuple).is_some() {
            return;
        }
        let id = self.nodes.len() as u32;
        self.nodes.push(node);
        self.tuples.extend_from_slice(tuple);
        let tuples = &self.tuples;
        self.table.insert_unique(hash, id, |&id| {
            self::hash(&tuples[id as usize * count..(id as usize + 1) * count])
        });
        if piece {
            self.pieces.push(id);
        }
    }

    fn is_piece(&self, tuple: &[ValueId]) -> bool {
        tuple
            .iter()
            .zip(&self.arenas)
            .zip(&self.targets)
            .all(|((&id, arena), target)| match arena.value(id) {
                Value::One(image) => image.size() == *target,
                Value::Many(_) => false,
            })
    }

    /// Returns the nodes whose images have the output size in all pairs, in the order of discovery.
    pub(crate) fn pieces(&self) -> &[u32] {
        &self.pieces
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the value of a node for a pair.
    pub(crate) fn value(&self, node: u32, pair: usize) -> &Value {
        self.arenas[pair].value(self.tuples[node as usize * self.arenas.len() + pair])
    }

    /// Returns the image of a piece for a pair.
    pub(crate) fn image(&self, node: u32, pair: usize) -> &Image {
        &self.value(node, pair).images()[0]
    }

    pub(crate) fn depth(&self, node: u32) -> u8 {
        self.nodes[node as usize].depth
    }

    /// Returns the program of a node as text.
    pub(crate) fn program(&self, node: u32) -> String {
        let Node { parent, step, .. } = self.nodes[node as usize];
        if parent == ROOT {
            return self.roots[usize::from(step)].to_owned();
        }
        let ops: Vec<String> = self.language.steps[usize::from(step)]
            .ops
            .iter()
            .map(|&op| self.language.ops[usize::from(op)].to_string())
            .collect();
        format!("{}; {}", self.program(parent), ops.join("; "))
    }
}

fn hash(tuple: &[ValueId]) -> u64 {
    let mut bytes = [0; 64];
    for (place, id) in bytes.chunks_exact_mut(4).zip(tuple) {
        place.copy_from_slice(&id.to_le_bytes());
    }
    xxh3_64(&bytes[..4 * tuple.len().min(16)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn programs_run_in_lock_step() {
        let contexts = [(2, 2), (4, 2)].map(|input: (usize, usize)| PairContext {
            input,
            target: (input.0 / 2, 2),
            max_cells: 100,
        });
        let mut language = Language::new();
        language.add(true, &[Op::Half(0)]);
        language.add(true, &[Op::Symmetry(1)]);
        language.add(true, &[Op::Symmetry(1), Op::Symmetry(1)]);
        let mut graph = Graph::new(language, &contexts, 10_000);
        graph.add_root(
            "input",
            0,
            vec![image(&["12", "34"]), image(&["1234", "5678"])],
        );
        let never = || false;
        graph.expand(2, &mut Meter::new(100_000, &never));
        let programs: Vec<String> = graph
            .pieces()
            .iter()
            .map(|&piece| graph.program(piece))
            .collect();
        assert_eq!(
            programs,
            [
                "input; left half",
                "input; left half; flip across",
                "input; flip across; left half"
            ]
        );
        assert_eq!(*graph.image(graph.pieces()[1], 1), image(&["21", "65"]));
    }

    #[test]
    fn exhausted_budget_ends_the_expansion() {
        let context = PairContext {
            input: (2, 2),
            target: (2, 2),
            max_cells: 100,
        };
        let mut language = Language::new();
        (0..8).for_each(|which| language.add(true, &[Op::Symmetry(which)]));
        let mut graph = Graph::new(language, &[context], 10_000);
        graph.add_root("input", 0, vec![image(&["12", "34"])]);
        let never = || false;
        graph.expand(3, &mut Meter::new(30, &never));
        assert!(graph.len() <= 8);
    }
}

//! Building the state graph: breadth-first, with limits that are kept.
//!
//! A state that packs into its key is kept as its key alone and made again when its turn comes; others wait in a queue until
//! then. Actions are carried out in batches and looked up together, so that the look-ups wait for memory together.
//! **Invariant:** the graph depends on the level and the limits alone, not on the number of threads (a stop by time or
//! memory aside).

use std::collections::VecDeque;

use rhae_engine::Outcome;

use crate::expand::Expander;
use crate::graph::{KEY, outcome_of, with_outcome};
use crate::index::{Found, Index, TOGETHER, hash_of};
use crate::pages::{Pages, Rows};
use crate::{Explorable, Graph, Stop, threads};

/// How far a search may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Different states, below 2³¹.
    pub nodes: usize,
    /// Edges, below 2³².
    pub edges: usize,
    /// Actions from the start.
    pub depth: usize,
    /// Memory of the search, and of the analysis that follows it.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 20_000_000, edges: u32::MAX as usize, depth: usize::MAX, bytes: 1 << 30 }
    }
}

/// How a search goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// How far it may go.
    pub limits: Limits,
    /// Whether to click on every cell, not only on those that the environment lists.
    pub all_clicks: bool,
    /// How many threads look for states.
    pub threads: usize,
}

impl Default for Search {
    fn default() -> Self {
        Self { limits: Limits::default(), all_clicks: false, threads: 1 }
    }
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Different states seen.
    pub nodes: usize,
    /// States looked into.
    pub expanded: usize,
    /// The depth that is being looked into.
    pub depth: usize,
}

/// What an analysis needs for each state: two bounds of 16 bytes, its component and place, and lists that grow by doubling.
pub(crate) const ANALYSIS_BYTES: usize = 56;

/// Searches a level. `go_on` is asked every few thousand states.
pub fn explore<E: Explorable>(level: &E, search: &Search, mut go_on: impl FnMut(Progress) -> bool) -> Result<Graph, E::Error> {
    if level.pack(&level.start()).is_some() {
        let mut packed = Builder::<E, true>::new(level, search);
        packed.run(&mut go_on)?;
        if !packed.unpackable {
            return Ok(packed.finish());
        }
        // A later state does not pack, so all of them are told apart by hashes.
    }
    let mut hashed = Builder::<E, false>::new(level, search);
    hashed.run(&mut go_on)?;
    Ok(hashed.finish())
}

/// States between two questions to the caller.
const PATIENCE: usize = 1 << 13;
/// The most states: their numbers have 31 bits.
const MOST: usize = (1 << 31) - 1;

pub(crate) struct Builder<'a, E: Explorable, const PACKED: bool> {
    pub(crate) level: &'a E,
    pub(crate) search: &'a Search,
    pub(crate) graph: Graph,
    /// The states that wait to be looked into, in the order of their numbers, where keys are not states.
    waiting: VecDeque<E::State>,
    waiting_heap: usize,
    /// Memory of the index and of batches, as their owner last measured it.
    pub(crate) elsewhere: usize,
    /// Up to this many states there is nothing to ask for: no limit, no memory.
    free: usize,
    /// The edges of the state that is being numbered.
    pub(crate) row: Vec<u32>,
    pub(crate) unpackable: bool,
}

/// What the actions of some states led to, before it is known which states are new.
struct Batch<S> {
    expander: Expander<S>,
    keys: Vec<u128>,
    hashes: Vec<u64>,
    /// Only where keys are not states.
    states: Vec<S>,
    /// Only where clicks have weights.
    weights: Vec<u16>,
    /// How many edges each state of the batch has.
    counts: Vec<u32>,
}

impl<S: Clone> Batch<S> {
    fn new() -> Self {
        let expander = Expander::default();
        Self { expander, keys: Vec::new(), hashes: Vec::new(), states: Vec::new(), weights: Vec::new(), counts: Vec::new() }
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.hashes.clear();
        self.states.clear();
        self.weights.clear();
        self.counts.clear();
    }

    fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<u128>()
            + self.hashes.capacity() * size_of::<u64>()
            + self.states.capacity() * size_of::<S>()
            + self.weights.capacity() * size_of::<u16>()
            + self.counts.capacity() * size_of::<u32>()
    }
}

impl<'a, E: Explorable, const PACKED: bool> Builder<'a, E, PACKED> {
    fn new(level: &'a E, search: &'a Search) -> Self {
        let start = level.start();
        let key = if PACKED { level.pack(&start).unwrap_or_default() } else { level.key(&start) };
        let mut keys = Pages::new();
        keys.push(with_outcome(key, Outcome::Going));
        let graph = Graph {
            keys,
            rows: Rows::new(search.all_clicks),
            layers: vec![0],
            stop: None,
            packed: PACKED,
            has_clicks: false,
            peak_bytes: 0,
        };
        let waiting_heap = if PACKED { 0 } else { level.heap_bytes(&start) };
        let waiting = if PACKED { VecDeque::new() } else { VecDeque::from([start]) };
        Self { level, search, graph, waiting, waiting_heap, elsewhere: 0, free: 0, row: Vec::new(), unpackable: false }
    }

    fn finish(mut self) -> Graph {
        let nodes = self.graph.nodes() as u32;
        while self.graph.layers.last() == Some(&nodes) {
            self.graph.layers.pop();
        }
        self.graph
    }

    fn run(&mut self, go_on: &mut impl FnMut(Progress) -> bool) -> Result<(), E::Error> {
        if self.search.threads > 1 {
            return threads::run(self, go_on);
        }
        let mut index = Index::new();
        let _ = index.resolve(hash_of(self.graph.keys.at(0)), 0, |_| false);
        let mut batch = Batch::new();
        let mut asked = 0;
        while let Some(end) = self.layer_end() {
            let from = self.graph.expanded();
            if from >= asked + PATIENCE {
                if !self.ask(go_on) {
                    return Ok(());
                }
                asked = from;
            }
            batch.clear();
            let mut node = from;
            while node < end && batch.keys.len() < TOGETHER {
                self.expand_into(&mut batch, node)?;
                node += 1;
            }
            if batch.expander.unpackable {
                self.unpackable = true;
                return Ok(());
            }
            if let Err(stop) = self.take(&batch, &mut index) {
                self.graph.stop = Some(stop);
                return Ok(());
            }
        }
        Ok(())
    }

    /// The last state of the depth that is being looked into, or `None` if nothing is left or allowed.
    pub(crate) fn layer_end(&mut self) -> Option<usize> {
        let (from, nodes) = (self.graph.expanded(), self.graph.nodes());
        let end = self.graph.layers.last().map_or(0, |&first| first as usize);
        if from < end {
            return Some(end);
        }
        if from == nodes {
            return None;
        }
        if self.graph.layers.len() > self.search.limits.depth {
            let goes_on = self.graph.keys.iter_from(from).any(|key| outcome_of(key) == Outcome::Going);
            self.graph.stop = goes_on.then_some(Stop::Depth);
            return None;
        }
        // The last entry is where the next depth will begin.
        self.graph.layers.push(nodes as u32);
        Some(nodes)
    }

    pub(crate) fn ask(&mut self, go_on: &mut impl FnMut(Progress) -> bool) -> bool {
        let depth = self.graph.layers.len() - 1;
        let goes_on = go_on(Progress { nodes: self.graph.nodes(), expanded: self.graph.expanded(), depth });
        if !goes_on {
            self.graph.stop = Some(Stop::Time);
        }
        goes_on
    }

    #[inline]
    fn expand_into(&mut self, batch: &mut Batch<E::State>, node: usize) -> Result<(), E::Error> {
        let key = self.graph.keys.at(node);
        if outcome_of(key) != Outcome::Going {
            batch.counts.push(0);
            return Ok(());
        }
        let Batch { expander, keys, hashes, states, weights, counts } = batch;
        let all_clicks = self.search.all_clicks;
        let found = |key: u128, after: E::State, weight: u16| {
            keys.push(key);
            hashes.push(hash_of(key));
            if !PACKED {
                states.push(after);
            }
            if all_clicks {
                weights.push(weight);
            }
        };
        let state = if PACKED { self.level.unpack(key & KEY).expect("a packed state comes back") } else { self.next_waiting() };
        counts.push(expander.expand::<E, PACKED>(self.level, &state, all_clicks, found)?);
        Ok(())
    }

    /// Takes the next state out of the queue.
    #[inline]
    pub(crate) fn next_waiting(&mut self) -> E::State {
        let state = self.waiting.pop_front().expect("every state that goes on waits for its turn");
        self.waiting_heap -= self.level.heap_bytes(&state);
        state
    }

    /// Numbers what a batch found and adds its edges, up to the first limit.
    fn take(&mut self, batch: &Batch<E::State>, index: &mut Index) -> Result<(), Stop> {
        let (nodes, most) = (self.graph.nodes(), batch.keys.len());
        if !index.has_room(most, nodes + most) {
            self.elsewhere = batch.bytes();
            self.allow(index.room_bytes(most))?;
            index.add_room(most, &self.graph.keys);
        }
        self.elsewhere = batch.bytes() + index.bytes();
        index.announce(&batch.hashes, &self.graph.keys);
        let mut at = 0;
        for &count in &batch.counts {
            let edges = at..at + count as usize;
            at = edges.end;
            let node = self.graph.expanded() as u32;
            let own_key = self.graph.keys.at(node as usize);
            let begun = self.begin_row(edges.len())?;
            for edge in edges.clone() {
                let key = batch.keys[edge];
                let number = self.graph.nodes() as u32;
                let keys = &self.graph.keys;
                let target = if key == own_key {
                    // Nothing changed, so there is nothing to look up.
                    node
                } else {
                    match index.resolve(batch.hashes[edge], number, |known| keys.at(known as usize) == key) {
                        Found::Known(known) => known,
                        Found::New { .. } => self.add_node(key, batch.states.get(edge), begun)?,
                    }
                };
                self.row.push(target);
            }
            self.end_row(batch.weights.get(edges).unwrap_or_default(), begun)?;
        }
        self.graph.has_clicks |= batch.expander.has_clicks;
        Ok(())
    }

    /// Makes room for the edges of the next state; gives how many states there are, which all that follows needs in case
    /// that a limit is reached: of a state either all actions are there or none.
    #[inline]
    pub(crate) fn begin_row(&mut self, edges: usize) -> Result<usize, Stop> {
        self.row.clear();
        if !self.graph.rows.has_room(edges) {
            if !self.graph.rows.can_number(edges) {
                return Err(Stop::Edges);
            }
            self.allow(self.graph.rows.room_bytes(edges))?;
            self.graph.rows.add_room(edges);
        }
        Ok(self.graph.nodes())
    }

    /// Numbers a new state.
    #[inline]
    pub(crate) fn add_node(&mut self, key: u128, state: Option<&E::State>, begun: usize) -> Result<u32, Stop> {
        let number = self.graph.nodes();
        if number >= self.free {
            self.free_more().map_err(|stop| self.forget(stop, begun))?;
        }
        if !PACKED && outcome_of(key) == Outcome::Going {
            let state = state.expect("a state that is no key comes along");
            self.waiting_heap += self.level.heap_bytes(state);
            if self.waiting.len() == self.waiting.capacity() {
                let more = self.waiting.len().max(16) * 2 * size_of::<E::State>();
                self.allow(more).map_err(|stop| self.forget(stop, begun))?;
            }
            self.waiting.push_back(state.clone());
        }
        self.graph.keys.push(key);
        Ok(number as u32)
    }

    #[cold]
    fn free_more(&mut self) -> Result<(), Stop> {
        let nodes = self.graph.nodes();
        if nodes >= self.search.limits.nodes.min(MOST) {
            // An edge that is one too many comes first.
            return Err(if self.too_many_edges(self.row.len()) { Stop::Edges } else { Stop::Nodes });
        }
        if self.graph.keys.is_full() {
            self.allow(self.graph.keys.room_bytes())?;
            self.graph.keys.add_room();
        }
        self.allow(0)?;
        if nodes >= self.free { Err(Stop::Memory) } else { Ok(()) }
    }

    const fn too_many_edges(&self, row: usize) -> bool {
        self.graph.rows.len() + row > self.search.limits.edges
    }

    /// Adds the edges of a state, all of which are in the row.
    #[inline]
    pub(crate) fn end_row(&mut self, weights: &[u16], begun: usize) -> Result<(), Stop> {
        if self.too_many_edges(self.row.len()) {
            return Err(self.forget(Stop::Edges, begun));
        }
        self.graph.rows.push(&self.row, weights);
        Ok(())
    }

    /// What only the actions of the current state led to is forgotten with them, so that every state can be reached along edges.
    #[cold]
    fn forget(&mut self, stop: Stop, begun: usize) -> Stop {
        self.graph.keys.truncate(begun);
        stop
    }

    /// Whether there is room for more. What the analysis needs later is set aside; it gets what the index gives back.
    pub(crate) fn allow(&mut self, more: usize) -> Result<(), Stop> {
        let kept = self.graph.keys.bytes() + self.graph.rows.bytes();
        let search = kept + self.waiting.capacity() * size_of::<E::State>() + self.waiting_heap + self.elsewhere + more;
        let affordable = self.search.limits.bytes.saturating_sub(kept + more) / ANALYSIS_BYTES;
        if search > self.search.limits.bytes || self.graph.nodes() > affordable {
            return Err(Stop::Memory);
        }
        self.free = affordable.min(self.graph.keys.capacity()).min(self.search.limits.nodes).min(MOST);
        self.graph.peak_bytes = self.graph.peak_bytes.max(search);
        Ok(())
    }
}

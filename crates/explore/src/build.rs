//! Building the state graph: breadth-first, with limits that are kept.
//!
//! A state that packs into its key is kept as its key alone and made again when its turn comes; others wait in a queue until
//! then. Actions are carried out in batches and looked up together, so that the look-ups wait for memory together.
//! **Invariant:** the graph depends on the level and the limits alone, not on the number of threads (a stop by time or
//! memory aside).

use std::collections::VecDeque;
use std::hint::black_box;

use rhae_engine::{Action, ActionKind, Outcome};

use crate::graph::{CLICKS, KEY, outcome_of, with_outcome};
use crate::index::{FRESH, Found, Index, hash_of};
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

/// States to look into before new ones are looked up.
const BATCH: usize = 128;
/// States between two questions to the caller.
const PATIENCE: usize = 1 << 13;

pub(crate) struct Builder<'a, E: Explorable, const PACKED: bool> {
    pub(crate) level: &'a E,
    pub(crate) search: &'a Search,
    pub(crate) graph: Graph,
    pub(crate) index: Index,
    /// The states that wait to be looked into, in the order of their numbers, where keys are not states.
    pub(crate) waiting: VecDeque<E::State>,
    waiting_heap: usize,
    /// Memory of batches, as their owner last measured it.
    pub(crate) batch_bytes: usize,
    pub(crate) unpackable: bool,
}

/// What the actions of some states led to, before it is known which states are new.
pub(crate) struct Batch<S> {
    pub(crate) found: Vec<(u128, u64)>,
    pub(crate) states: Vec<S>,
    pub(crate) weights: Vec<u16>,
    /// How many edges each state of the batch has.
    pub(crate) counts: Vec<u32>,
    pub(crate) unpackable: bool,
    pub(crate) has_clicks: bool,
    actions: Vec<Action>,
}

impl<S> Default for Batch<S> {
    fn default() -> Self {
        Self {
            found: Vec::new(),
            states: Vec::new(),
            weights: Vec::new(),
            counts: Vec::new(),
            unpackable: false,
            has_clicks: false,
            actions: Vec::new(),
        }
    }
}

impl<S: Clone> Batch<S> {
    pub(crate) fn clear(&mut self) {
        self.found.clear();
        self.states.clear();
        self.weights.clear();
        self.counts.clear();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.found.capacity() * size_of::<(u128, u64)>()
            + self.states.capacity() * size_of::<S>()
            + self.weights.capacity() * size_of::<u16>()
            + self.counts.capacity() * size_of::<u32>()
    }

    /// Carries out all actions of a state.
    #[inline]
    pub(crate) fn expand<E: Explorable<State = S>, const PACKED: bool>(
        &mut self,
        level: &E,
        state: &S,
        all_clicks: bool,
    ) -> Result<(), E::Error> {
        let before = self.found.len();
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        level.actions(state, &mut actions);
        let clicks = actions.iter().position(|action| action.kind() == ActionKind::Action6);
        self.has_clicks |= clicks.is_some() || level.offered(state).contains(ActionKind::Action6);
        if all_clicks {
            actions.truncate(clicks.unwrap_or(actions.len()));
        }
        for &action in &actions {
            let (key, after) = self.result::<E, PACKED>(level, state, action)?;
            self.add::<PACKED>(key, after, 0);
        }
        if all_clicks && level.offered(state).contains(ActionKind::Action6) {
            let keys_end = self.found.len();
            for cell in 0..CLICKS {
                let action = Action::Action6 { x: (cell % 64) as u8, y: (cell / 64) as u8 };
                let (key, after) = self.result::<E, PACKED>(level, state, action)?;
                match self.found[keys_end..].iter().position(|&(known, _)| known == key) {
                    Some(edge) => self.weights[keys_end + edge] += 1,
                    None => self.add::<PACKED>(key, after, 1),
                }
            }
        }
        self.actions = actions;
        self.counts.push((self.found.len() - before) as u32);
        Ok(())
    }

    #[inline]
    fn result<E: Explorable<State = S>, const PACKED: bool>(
        &mut self,
        level: &E,
        state: &S,
        action: Action,
    ) -> Result<(u128, S), E::Error> {
        let mut after = state.clone();
        let outcome = level.step(&mut after, action)?;
        let key = if PACKED {
            level.pack(&after).unwrap_or_else(|| {
                self.unpackable = true;
                0
            })
        } else {
            level.key(&after)
        };
        Ok((with_outcome(key, outcome), after))
    }

    #[inline]
    fn add<const PACKED: bool>(&mut self, key: u128, after: S, weight: u16) {
        self.found.push((key, hash_of(key)));
        self.weights.push(weight);
        if !PACKED {
            self.states.push(after);
        }
    }
}

impl<'a, E: Explorable, const PACKED: bool> Builder<'a, E, PACKED> {
    fn new(level: &'a E, search: &'a Search) -> Self {
        let start = level.start();
        let key = if PACKED { level.pack(&start).unwrap_or_default() } else { level.key(&start) };
        let key = with_outcome(key, Outcome::Going);
        let graph = Graph {
            keys: vec![key],
            first: vec![0],
            targets: Vec::new(),
            weights: search.all_clicks.then(Vec::new),
            layers: vec![0],
            stop: None,
            packed: PACKED,
            has_clicks: false,
            peak_bytes: 0,
        };
        let waiting_heap = if PACKED { 0 } else { level.heap_bytes(&start) };
        let waiting = if PACKED { VecDeque::new() } else { VecDeque::from([start]) };
        Self { level, search, graph, index: Index::new(), waiting, waiting_heap, batch_bytes: 0, unpackable: false }
    }

    fn finish(mut self) -> Graph {
        let nodes = self.graph.keys.len() as u32;
        while self.graph.layers.last() == Some(&nodes) {
            self.graph.layers.pop();
        }
        self.graph
    }

    fn run(&mut self, go_on: &mut impl FnMut(Progress) -> bool) -> Result<(), E::Error> {
        if self.search.threads > 1 {
            return threads::run(self, go_on);
        }
        let hash = hash_of(self.graph.keys[0]);
        let _ = self.index.resolve(hash, 0, |_| false);
        let mut batch = Batch::default();
        let mut asked = 0;
        while let Some(end) = self.layer_end() {
            let from = self.graph.expanded();
            if from >= asked + PATIENCE && !self.ask(go_on) {
                return Ok(());
            }
            asked = if from >= asked + PATIENCE { from } else { asked };
            batch.clear();
            let mut node = from;
            while node < end && batch.found.len() < BATCH {
                self.expand_into(&mut batch, node)?;
                node += 1;
            }
            self.batch_bytes = batch.bytes();
            if batch.unpackable {
                self.unpackable = true;
                return Ok(());
            }
            if let Err(stop) = self.take(&batch) {
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
            let goes_on = self.graph.keys[from..].iter().any(|&key| outcome_of(key) == Outcome::Going);
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
        let key = self.graph.keys[node];
        if outcome_of(key) != Outcome::Going {
            batch.counts.push(0);
            return Ok(());
        }
        let all_clicks = self.search.all_clicks;
        if PACKED {
            let state = self.level.unpack(key & KEY).expect("a packed state comes back");
            batch.expand::<E, PACKED>(self.level, &state, all_clicks)
        } else {
            let state = self.waiting.pop_front().expect("every state that goes on waits for its turn");
            self.waiting_heap -= self.level.heap_bytes(&state);
            batch.expand::<E, PACKED>(self.level, &state, all_clicks)
        }
    }

    /// Takes states out of the queue for somebody else to look into.
    pub(crate) fn take_waiting(&mut self, count: usize) -> Vec<E::State> {
        let states: Vec<E::State> = self.waiting.drain(..count).collect();
        self.waiting_heap -= states.iter().map(|state| self.level.heap_bytes(state)).sum::<usize>();
        states
    }

    /// Numbers what a batch found and adds its edges, up to the first limit.
    fn take(&mut self, batch: &Batch<E::State>) -> Result<(), Stop> {
        if self.allow(self.index.growth(batch.found.len())).is_err() {
            return Err(Stop::Memory);
        }
        self.index.reserve(batch.found.len());
        self.announce(&batch.found);
        let mut at = 0;
        for &count in &batch.counts {
            let begun = (self.graph.keys.len(), self.graph.targets.len());
            let node = self.graph.expanded();
            let own_key = self.graph.keys[node];
            for edge in at..at + count as usize {
                let (key, hash) = batch.found[edge];
                if key == own_key {
                    // Nothing changed, so there is nothing to look up.
                    if let Err(stop) = self.add_edge(node as u32, batch.weights[edge]) {
                        self.forget_from(begun);
                        return Err(stop);
                    }
                    continue;
                }
                let number = self.graph.keys.len() as u32;
                let keys = &self.graph.keys;
                let target = match self.index.resolve(hash, number, |known| keys[known as usize] == key) {
                    Found::Known(known) => Ok(known),
                    Found::New { .. } => self.add_node(key, batch.states.get(edge)).map(|()| number),
                };
                let added = target.and_then(|target| self.add_edge(target, batch.weights[edge]));
                if let Err(stop) = added {
                    self.forget_from(begun);
                    return Err(stop);
                }
            }
            at += count as usize;
            if let Err(stop) = self.end_node() {
                self.forget_from(begun);
                return Err(stop);
            }
        }
        self.graph.has_clicks |= batch.has_clicks;
        Ok(())
    }

    /// Reads ahead what the look-ups will read.
    #[inline]
    fn announce(&self, found: &[(u128, u64)]) {
        let mut read = 0;
        for &(_, hash) in found {
            let known = self.index.touch(hash).and_then(|number| self.graph.keys.get(number as usize));
            read ^= known.map_or(0, |&key| key as u64);
        }
        black_box(read);
    }

    #[inline]
    pub(crate) fn add_node(&mut self, key: u128, state: Option<&E::State>) -> Result<(), Stop> {
        if self.graph.keys.len() >= self.search.limits.nodes.min(FRESH as usize - 1) {
            return Err(Stop::Nodes);
        }
        if self.graph.keys.len() == self.graph.keys.capacity() {
            self.allow(growth(&self.graph.keys))?;
            grow(&mut self.graph.keys);
        }
        if !PACKED && outcome_of(key) == Outcome::Going {
            let state = state.expect("a state that is no key comes along");
            self.waiting_heap += self.level.heap_bytes(state);
            if self.waiting.len() == self.waiting.capacity() {
                self.allow(self.waiting.len().max(16) * 2 * size_of::<E::State>())?;
            }
            self.waiting.push_back(state.clone());
        }
        self.graph.keys.push(key);
        Ok(())
    }

    #[inline]
    pub(crate) fn add_edge(&mut self, target: u32, weight: u16) -> Result<(), Stop> {
        if self.graph.targets.len() >= self.search.limits.edges.min(u32::MAX as usize) {
            return Err(Stop::Edges);
        }
        if self.graph.targets.len() == self.graph.targets.capacity() {
            self.allow(growth(&self.graph.targets) + self.graph.weights.as_deref().map_or(0, growth))?;
            grow(&mut self.graph.targets);
            self.graph.weights.as_mut().map(grow);
        }
        self.graph.targets.push(target);
        if let Some(weights) = &mut self.graph.weights {
            weights.push(weight);
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn end_node(&mut self) -> Result<(), Stop> {
        if self.graph.first.len() == self.graph.first.capacity() {
            self.allow(growth(&self.graph.first))?;
            grow(&mut self.graph.first);
        }
        self.graph.first.push(self.graph.targets.len() as u32);
        Ok(())
    }

    /// Of a state either all actions are there or none. What only the forgotten ones led to is forgotten too, so that every
    /// state can be reached along edges.
    pub(crate) fn forget_from(&mut self, (node, edge): (usize, usize)) {
        self.graph.keys.truncate(node);
        self.graph.targets.truncate(edge);
        if let Some(weights) = &mut self.graph.weights {
            weights.truncate(edge);
        }
    }

    /// Whether there is room for more. What the analysis needs later is set aside; it gets what the index gives back.
    fn allow(&mut self, more: usize) -> Result<(), Stop> {
        let graph = &self.graph;
        let kept = graph.keys.capacity() * size_of::<u128>()
            + (graph.first.capacity() + graph.targets.capacity()) * size_of::<u32>()
            + graph.weights.as_ref().map_or(0, |weights| weights.capacity() * size_of::<u16>());
        let search =
            self.index.bytes() + self.waiting.capacity() * size_of::<E::State>() + self.waiting_heap + self.batch_bytes + more;
        let analysis = graph.keys.len() * ANALYSIS_BYTES;
        if kept + search.max(analysis) > self.search.limits.bytes {
            return Err(Stop::Memory);
        }
        self.graph.peak_bytes = self.graph.peak_bytes.max(kept + search);
        Ok(())
    }

    /// As [`allow`](Self::allow), for memory that a search with several threads keeps elsewhere.
    pub(crate) fn allow_elsewhere(&mut self, bytes: usize) -> Result<(), Stop> {
        self.allow(bytes)
    }
}

/// How many entries a list gets when it is full: twice as many while it is small, then a quarter more, so that little is
/// held in vain.
fn next_capacity(len: usize) -> usize {
    if len < 1 << 18 { (2 * len).max(1 << 10) } else { len + len / 4 }
}

/// The memory that growing asks for; the old list is held until it is copied.
fn growth<T>(list: &[T]) -> usize {
    next_capacity(list.len()) * size_of::<T>()
}

fn grow<T>(list: &mut Vec<T>) {
    let more = next_capacity(list.len()) - list.len();
    list.reserve_exact(more);
}

//! Building the state graph: breadth-first, with limits that are kept.
//!
//! A state that packs into its key is kept as its key alone and made again when its turn comes; others wait in a queue until
//! then. Actions are carried out in batches and, where there are many states, looked up together, so that the look-ups wait for
//! memory together.
//! **Invariant:** the graph depends on the level and the limits alone, not on the number of threads (a stop by time or
//! memory aside).

use std::collections::VecDeque;
use std::ops::Range;

use rhae_engine::Outcome;

use crate::batch::{Away, Batch};
use crate::expand::Expander;
use crate::graph::{outcome_of, with_outcome};
use crate::index::{Index, NOBODY, TOGETHER};
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
        Self {
            nodes: 20_000_000,
            edges: u32::MAX as usize,
            depth: usize::MAX,
            bytes: 1 << 30,
        }
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
        Self {
            limits: Limits::default(),
            all_clicks: false,
            threads: 1,
        }
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

/// Searches a level. `go_on` is asked every few thousand states, more often where they take long.
pub fn explore<E: Explorable>(
    level: &E,
    search: &Search,
    mut go_on: impl FnMut(Progress) -> bool,
) -> Result<Graph, E::Error> {
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

/// The most states: their numbers have 31 bits.
const MOST: usize = (1 << 31) - 1;
/// A batch with as many actions gets no further states, even if nearly all of them lead back.
const MOST_EDGES: usize = 8 * TOGETHER;

pub(crate) struct Builder<'a, E: Explorable, const PACKED: bool> {
    pub(crate) level: &'a E,
    pub(crate) search: &'a Search,
    pub(crate) graph: Graph,
    /// The states that wait to be looked into, in the order of their numbers, where keys are not states.
    waiting: VecDeque<E::State>,
    waiting_heap: usize,
    /// Of a batch that is numbered: where its edges lead, and which number was found for what leads away, if it was looked for.
    targets: Vec<u32>,
    found: Vec<u32>,
    /// Memory of the index and of batches, as their owner last measured it.
    elsewhere: usize,
    /// Up to this many states there is nothing to ask for: no limit, no memory.
    free: usize,
    pub(crate) unpackable: bool,
}

impl<'a, E: Explorable, const PACKED: bool> Builder<'a, E, PACKED> {
    fn new(level: &'a E, search: &'a Search) -> Self {
        let start = level.start();
        let key = if PACKED {
            level.pack(&start).unwrap_or_default()
        } else {
            level.key(&start)
        };
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
        let waiting = if PACKED {
            VecDeque::new()
        } else {
            VecDeque::from([start])
        };
        let (targets, found) = (Vec::new(), Vec::new());
        Self {
            level,
            search,
            graph,
            waiting,
            waiting_heap,
            targets,
            found,
            elsewhere: 0,
            free: 0,
            unpackable: false,
        }
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
        let mut index = Index::new(&self.graph.keys);
        let mut batch = Batch::new(TOGETHER);
        let mut expander = Expander::<E, PACKED>::new(self.level, self.search.all_clicks);
        let patience = self.level.patience();
        let mut asked = 0;
        while self.goes_on() {
            let from = self.graph.expanded();
            let end = self.graph.nodes().min(from + patience);
            if from >= asked + patience {
                if !self.ask(go_on) {
                    return Ok(());
                }
                asked = from;
            }
            batch.clear();
            let mut node = from;
            while node < end && batch.look_ups() < TOGETHER && batch.edges < MOST_EDGES {
                let key = self.graph.keys.at(node);
                expander.look_into(
                    key,
                    || self.next_waiting(),
                    &mut batch,
                    |hash| index.expect(hash),
                )?;
                node += 1;
            }
            if batch.unpackable {
                self.unpackable = true;
                return Ok(());
            }
            let batches = batch.bytes();
            if let Err(stop) = self.number(&batch, &mut index, batches) {
                self.graph.stop = Some(stop);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether there are states that may be looked into. Where a depth begins is noted here.
    #[inline]
    pub(crate) fn goes_on(&mut self) -> bool {
        // The last entry is where the next depth begins.
        let next = self.graph.layers.last().map_or(0, |&first| first as usize);
        self.graph.expanded() < next || self.enters_depth()
    }

    /// How many states of the depth that is being looked into are not done.
    fn left_in_depth(&self) -> usize {
        self.graph.layers.last().map_or(0, |&next| next as usize) - self.graph.expanded()
    }

    #[cold]
    fn enters_depth(&mut self) -> bool {
        let (from, nodes) = (self.graph.expanded(), self.graph.nodes());
        if from == nodes {
            return false;
        }
        if self.graph.layers.len() > self.search.limits.depth {
            let goes_on = self
                .graph
                .keys
                .iter_from(from)
                .any(|key| outcome_of(key) == Outcome::Going);
            self.graph.stop = goes_on.then_some(Stop::Depth);
            return false;
        }
        self.graph.layers.push(nodes as u32);
        true
    }

    pub(crate) fn ask(&mut self, go_on: &mut impl FnMut(Progress) -> bool) -> bool {
        let depth = self.graph.layers.len() - 1;
        let goes_on = go_on(Progress {
            nodes: self.graph.nodes(),
            expanded: self.graph.expanded(),
            depth,
        });
        if !goes_on {
            self.graph.stop = Some(Stop::Time);
        }
        goes_on
    }

    /// Takes the next state out of the queue.
    #[inline]
    fn next_waiting(&mut self) -> E::State {
        let state = self
            .waiting
            .pop_front()
            .expect("every state that goes on waits for its turn");
        self.waiting_heap -= self.level.heap_bytes(&state);
        state
    }

    /// Takes the next states out of the queue.
    pub(crate) fn take_waiting(&mut self, count: usize, into: &mut Vec<E::State>) {
        let (level, first) = (self.level, into.len());
        into.extend(self.waiting.drain(..count));
        self.waiting_heap -= into[first..]
            .iter()
            .map(|state| level.heap_bytes(state))
            .sum::<usize>();
    }

    /// Numbers what the actions of the next states led to and adds the edges, up to the first limit. `batches` is the memory of all
    /// batches.
    pub(crate) fn number(
        &mut self,
        batch: &Batch<E::State>,
        index: &mut Index,
        batches: usize,
    ) -> Result<(), Stop> {
        self.graph.has_clicks |= batch.has_clicks;
        self.found.clear();
        // What is near is looked up once, when it is numbered.
        if index.is_far() {
            index.find(&batch.away, &self.graph.keys, &mut self.found);
        }
        self.targets.clear();
        for (own, &count) in (self.graph.expanded() as u32..).zip(&batch.counts) {
            self.targets
                .resize(self.targets.len() + count as usize, own);
        }
        let batches =
            batches + (self.targets.capacity() + self.found.capacity()) * size_of::<u32>();
        let most = batch.look_ups();
        if !index.has_room(most) {
            self.elsewhere = batches;
            self.allow(index.room_bytes(most))?;
            index.add_room(most, &self.graph.keys);
        }
        self.elsewhere = batches + index.bytes();
        let (mut row, mut edge, mut away) = (0, 0, 0);
        while row < batch.counts.len() {
            if !self.goes_on() {
                // The next depth is not allowed.
                break;
            }
            // Where a depth begins is known when all states of the one before are done, so they are done first.
            let rows = batch.counts.len().min(row + self.left_in_depth());
            let edges = edge + batch.counts[row..rows].iter().sum::<u32>() as usize;
            let aways =
                away + batch.away[away..].partition_point(|away| (away.edge as usize) < edges);
            self.number_rows(batch, row..rows, edge..edges, away..aways, index)?;
            (row, edge, away) = (rows, edges, aways);
        }
        Ok(())
    }

    /// Numbers what some states of one depth led to: first all new states, then the edges.
    #[inline]
    fn number_rows(
        &mut self,
        batch: &Batch<E::State>,
        rows: Range<usize>,
        edges: Range<usize>,
        away: Range<usize>,
        index: &mut Index,
    ) -> Result<(), Stop> {
        let known = self.graph.nodes();
        let mut stop = None;
        for (at, &Away { key, hash, edge }) in away.clone().zip(&batch.away[away]) {
            let mut number = self.found.get(at).copied().unwrap_or(NOBODY);
            if number == NOBODY {
                let added = match index.resolve(hash, key, &self.graph.keys) {
                    Some(known) => Ok(known),
                    None => self.add_node(key, batch.states.get(at)),
                };
                match added {
                    Ok(added) => number = added,
                    Err(why) => {
                        stop = Some((edge as usize, why));
                        break;
                    }
                }
            }
            self.targets[edge as usize] = number;
        }
        let counts = &batch.counts[rows];
        let all = self.graph.rows.len() + edges.len();
        if stop.is_none()
            && all <= self.search.limits.edges
            && self.graph.rows.has_room(counts.len(), edges.len())
        {
            let weights = batch.weights.get(edges.clone()).unwrap_or_default();
            self.graph.rows.add(counts, &self.targets[edges], weights);
            return Ok(());
        }
        self.add_row_by_row(batch, counts, edges, known, stop)
    }

    /// Adds the edges of states that need more room, or of which not all are allowed: of a state either all actions are there
    /// or none. What only the actions of others led to is forgotten, so that every state can be reached along edges.
    #[cold]
    fn add_row_by_row(
        &mut self,
        batch: &Batch<E::State>,
        counts: &[u32],
        edges: Range<usize>,
        known: usize,
        stop: Option<(usize, Stop)>,
    ) -> Result<(), Stop> {
        let mut begin = edges.start;
        for &count in counts {
            let row = begin..begin + count as usize;
            let too_many = |edges: usize| self.graph.rows.len() + edges > self.search.limits.edges;
            let stopped = match stop {
                // An edge that is one too many comes first.
                Some((edge, why)) if row.contains(&edge) => Err(if too_many(edge - begin) {
                    Stop::Edges
                } else {
                    why
                }),
                _ if too_many(row.len()) => Err(Stop::Edges),
                _ => self.make_row(row.len()),
            };
            if let Err(stop) = stopped {
                let reached = self.targets[edges.start..begin]
                    .iter()
                    .map(|&number| number as usize + 1);
                self.graph.keys.truncate(reached.fold(known, usize::max));
                return Err(stop);
            }
            let weights = batch.weights.get(row.clone()).unwrap_or_default();
            self.graph
                .rows
                .add(&[count], &self.targets[row.clone()], weights);
            begin = row.end;
        }
        Ok(())
    }

    /// Makes room for the edges of the next state.
    fn make_row(&mut self, edges: usize) -> Result<(), Stop> {
        if !self.graph.rows.has_room(1, edges) {
            if !self.graph.rows.can_number(edges) {
                return Err(Stop::Edges);
            }
            self.allow(self.graph.rows.room_bytes(edges))?;
            self.graph.rows.add_room(edges);
        }
        Ok(())
    }

    /// Numbers a new state.
    #[inline]
    fn add_node(&mut self, key: u128, state: Option<&E::State>) -> Result<u32, Stop> {
        let number = self.graph.nodes();
        if number >= self.free {
            self.free_more()?;
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
        Ok(number as u32)
    }

    #[cold]
    fn free_more(&mut self) -> Result<(), Stop> {
        let nodes = self.graph.nodes();
        if nodes >= self.search.limits.nodes.min(MOST) {
            return Err(Stop::Nodes);
        }
        if self.graph.keys.is_full() {
            self.allow(Pages::<u128>::room_bytes())?;
            self.graph.keys.add_room();
        }
        self.allow(0)?;
        if nodes >= self.free {
            Err(Stop::Memory)
        } else {
            Ok(())
        }
    }

    /// Whether there is room for more. What the analysis needs later is set aside; it gets what the index gives back.
    fn allow(&mut self, more: usize) -> Result<(), Stop> {
        let kept = self.graph.keys.bytes() + self.graph.rows.bytes();
        let search = kept
            + self.waiting.capacity() * size_of::<E::State>()
            + self.waiting_heap
            + self.elsewhere
            + more;
        let affordable = self.search.limits.bytes.saturating_sub(kept + more) / ANALYSIS_BYTES;
        if search > self.search.limits.bytes || self.graph.nodes() > affordable {
            return Err(Stop::Memory);
        }
        self.free = affordable
            .min(self.graph.keys.capacity())
            .min(self.search.limits.nodes)
            .min(MOST);
        self.graph.peak_bytes = self.graph.peak_bytes.max(search);
        Ok(())
    }
}

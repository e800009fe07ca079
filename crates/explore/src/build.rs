//! The breadth-first search that builds a state graph.
//!
//! A state that packs is stored as its key only and is unpacked when it is expanded. Other states
//! are kept in a queue until they are expanded. Transitions are collected in batches and looked up
//! together, so that the cache misses of lookups in a large index overlap.
//!
//! **Invariant:** the graph depends only on the level and the options, not on the number of
//! threads. The exception is a search that stops because of time or memory: where it stops may
//! differ between runs.

use std::collections::VecDeque;
use std::ops::Range;

use rhae_engine::Outcome;

use crate::batch::{Batch, Transition};
use crate::expand::Expander;
use crate::graph::{outcome_of, with_outcome};
use crate::index::{BATCH_SIZE, Index, NO_NODE};
use crate::pages::{EdgeRows, Pages};
use crate::{Explorable, Graph, StopReason, parallel};

/// Upper limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of states. Values of 2³¹ and above act as 2³¹ − 1.
    pub nodes: usize,
    /// The maximum number of edges, below 2³².
    pub edges: usize,
    /// The maximum number of actions from the start.
    pub depth: usize,
    /// The memory limit in bytes. It covers the search and the later analysis of the finished
    /// graph.
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

/// Options of [`explore`].
///
/// # Examples
///
/// ```
/// use rhae_explore::{Limits, SearchOptions};
///
/// let options = SearchOptions {
///     limits: Limits { nodes: 1_000, ..Limits::default() },
///     threads: 2,
///     ..SearchOptions::default()
/// };
/// assert!(!options.all_clicks);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    pub limits: Limits,
    /// Whether the search clicks every cell instead of only the cells that the environment lists.
    pub all_clicks: bool,
    /// The number of threads that expand states, the calling thread included. A level whose states
    /// are expanded in other processes uses this number of processes.
    pub threads: usize,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            all_clicks: false,
            threads: 1,
        }
    }
}

/// The progress of a search, as passed to its `should_continue` callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of different states found so far.
    pub nodes: usize,
    /// The number of states expanded so far.
    pub expanded: usize,
    /// The depth of the states that are being expanded.
    pub depth: usize,
}

/// The memory in bytes that an analysis needs per node: two bounds of 16 bytes, the component and
/// the row of the node, and an allowance for lists that double their capacity when they grow.
pub(crate) const ANALYSIS_BYTES: usize = 56;

/// Builds the state graph of a level.
///
/// The search is breadth-first and stops as soon as it reaches one of the limits; [`Graph::stop`]
/// then returns which one. `should_continue` is called every few thousand states, or more often for
/// levels whose states take long to expand (see [`Explorable::check_interval`]). If it returns
/// false, the search stops with [`StopReason::Time`]. A stopped search returns a valid graph with a
/// frontier.
///
/// # Errors
///
/// Returns the first error of [`Explorable::step`]. "First" refers to the order in which a single
/// thread would expand the states, so the number of threads does not change the error.
///
/// # Examples
///
/// See the [crate documentation](crate) for the analysis of a complete graph. This search stops at
/// a limit:
///
/// ```
/// use rhae_engine::{Game, LevelIndex};
/// use rhae_explore::{NativeLevel, SearchOptions, StopReason, explore};
///
/// struct Stopped;
///
/// impl rhae_games::Visitor for Stopped {
///     type Output = Option<StopReason>;
///
///     fn visit<G: Game>(self) -> Self::Output {
///         let mut options = SearchOptions::default();
///         options.limits.nodes = 500;
///         let Ok(graph) = explore(&NativeLevel::<G>::new(0, LevelIndex(7)), &options, |_| true);
///         assert!(graph.nodes() <= 500);
///         graph.stop()
///     }
/// }
///
/// assert_eq!(rhae_games::visit("kq19-v1", Stopped), Some(Some(StopReason::Nodes)));
/// ```
pub fn explore<E: Explorable>(
    level: &E,
    search: &SearchOptions,
    mut should_continue: impl FnMut(Progress) -> bool,
) -> Result<Graph, E::Error> {
    if let Some(graph) = level.explore_in_bulk(search, &mut should_continue)? {
        return Ok(graph);
    }
    if level.pack(&level.start()).is_some() {
        let mut packed = Builder::<E, true>::new(level, search);
        packed.run(&mut should_continue)?;
        if !packed.unpackable {
            return Ok(packed.finish());
        }
        // At least one reachable state cannot be packed, so the search restarts with hashed keys.
    }
    let mut hashed = Builder::<E, false>::new(level, search);
    hashed.run(&mut should_continue)?;
    Ok(hashed.finish())
}

/// The maximum number of nodes: node ids have 31 bits.
const MAX_NODES: usize = (1 << 31) - 1;
/// The number of edges at which a batch is closed. The number of lookups also limits a batch, but
/// self-loops need no lookup, so without this limit a batch with many self-loops could become very
/// large.
const MAX_BATCH_EDGES: usize = 8 * BATCH_SIZE;

pub(crate) struct Builder<'a, E: Explorable, const PACKED: bool> {
    pub(crate) level: &'a E,
    pub(crate) search: &'a SearchOptions,
    pub(crate) graph: Graph,
    /// The states that have not been expanded yet, in the order of their ids. Unused if states are
    /// packed.
    queue: VecDeque<E::State>,
    queue_heap_bytes: usize,
    /// The target of each edge of the batch that is being merged; a reused buffer.
    targets: Vec<u32>,
    /// The ids that a batched lookup found for the transitions of that batch; a reused buffer.
    known_ids: Vec<u32>,
    /// The memory in bytes of the index and of all batches, as last measured.
    external_bytes: usize,
    /// While the graph has fewer nodes than this, `add_node` need not check the limits.
    node_limit: usize,
    pub(crate) unpackable: bool,
}

impl<'a, E: Explorable, const PACKED: bool> Builder<'a, E, PACKED> {
    pub(crate) fn new(level: &'a E, search: &'a SearchOptions) -> Self {
        let start = level.start();
        let key = if PACKED {
            level.pack(&start).unwrap_or_default()
        } else {
            level.key(&start)
        };
        let mut keys = Pages::new();
        keys.push(with_outcome(key, Outcome::Continue));
        let graph = Graph {
            keys,
            rows: EdgeRows::new(search.all_clicks),
            layers: vec![0],
            stop: None,
            packed: PACKED,
            has_clicks: false,
            representative_clicks: false,
            peak_bytes: 0,
        };
        let queue_heap_bytes = if PACKED { 0 } else { level.heap_bytes(&start) };
        let queue = if PACKED {
            VecDeque::new()
        } else {
            VecDeque::from([start])
        };
        let (targets, known_ids) = (Vec::new(), Vec::new());
        Self {
            level,
            search,
            graph,
            queue,
            queue_heap_bytes,
            targets,
            known_ids,
            external_bytes: 0,
            node_limit: 0,
            unpackable: false,
        }
    }

    pub(crate) fn finish(mut self) -> Graph {
        let nodes = self.graph.nodes() as u32;
        while self.graph.layers.last() == Some(&nodes) {
            self.graph.layers.pop();
        }
        self.graph
    }

    fn run(&mut self, should_continue: &mut impl FnMut(Progress) -> bool) -> Result<(), E::Error> {
        if self.search.threads > 1 {
            return parallel::run(self, should_continue);
        }
        let mut index = Index::new(&self.graph.keys);
        let mut batch = Batch::new(BATCH_SIZE);
        let mut expander = Expander::<E, PACKED>::new(self.level, self.search.all_clicks);
        let interval = self.level.check_interval();
        let mut last_report = 0;
        while self.has_work() {
            let from = self.graph.expanded();
            let end = self.graph.nodes().min(from + interval);
            if from >= last_report + interval {
                if !self.report_progress(should_continue) {
                    return Ok(());
                }
                last_report = from;
            }
            batch.clear();
            let mut node = from;
            while node < end && batch.lookups() < BATCH_SIZE && batch.edges < MAX_BATCH_EDGES {
                let key = self.graph.keys.at(node);
                expander.expand(
                    key,
                    || self.pop_queued(),
                    &mut batch,
                    |hash| index.prefetch(hash),
                )?;
                node += 1;
            }
            if batch.unpackable {
                self.unpackable = true;
                return Ok(());
            }
            let batches = batch.bytes();
            if let Err(stop) = self.assign_ids(&batch, &mut index, batches) {
                self.graph.stop = Some(stop);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns whether any state remains to be expanded within the depth limit. When a depth is
    /// finished, records the first node of the next one.
    #[inline]
    pub(crate) fn has_work(&mut self) -> bool {
        // The last entry of `layers` is the first node of the next depth.
        let next = self.graph.layers.last().map_or(0, |&first| first as usize);
        self.graph.expanded() < next || self.enter_next_depth()
    }

    /// Returns the number of nodes at the current depth that are not expanded yet.
    fn remaining_in_depth(&self) -> usize {
        self.graph.layers.last().map_or(0, |&next| next as usize) - self.graph.expanded()
    }

    #[cold]
    fn enter_next_depth(&mut self) -> bool {
        let (from, nodes) = (self.graph.expanded(), self.graph.nodes());
        if from == nodes {
            return false;
        }
        if self.graph.layers.len() > self.search.limits.depth {
            let has_unexpanded = self
                .graph
                .keys
                .iter_from(from)
                .any(|key| outcome_of(key) == Outcome::Continue);
            self.graph.stop = has_unexpanded.then_some(StopReason::Depth);
            return false;
        }
        self.graph.layers.push(nodes as u32);
        true
    }

    pub(crate) fn report_progress(
        &mut self,
        should_continue: &mut impl FnMut(Progress) -> bool,
    ) -> bool {
        let depth = self.graph.layers.len() - 1;
        let continues = should_continue(Progress {
            nodes: self.graph.nodes(),
            expanded: self.graph.expanded(),
            depth,
        });
        if !continues {
            self.graph.stop = Some(StopReason::Time);
        }
        continues
    }

    #[inline]
    fn pop_queued(&mut self) -> E::State {
        let state = self
            .queue
            .pop_front()
            .expect("every unpacked state that is not terminal is queued");
        self.queue_heap_bytes -= self.level.heap_bytes(&state);
        state
    }

    /// Moves the next `count` queued states to `into`.
    pub(crate) fn drain_queued(&mut self, count: usize, into: &mut Vec<E::State>) {
        let (level, first) = (self.level, into.len());
        into.extend(self.queue.drain(..count));
        self.queue_heap_bytes -= into[first..]
            .iter()
            .map(|state| level.heap_bytes(state))
            .sum::<usize>();
    }

    /// Assigns ids to the states that a batch reached and adds its edges to the graph. Stops at the
    /// first limit that is reached and returns it as the error. `batches` is the memory of all
    /// batches in bytes.
    pub(crate) fn assign_ids(
        &mut self,
        batch: &Batch<E::State>,
        index: &mut Index,
        batches: usize,
    ) -> Result<(), StopReason> {
        self.graph.has_clicks |= batch.has_clicks;
        self.graph.representative_clicks |= batch.representative_clicks;
        self.known_ids.clear();
        // Only a table that exceeds the cache gets a batched lookup first. In a smaller table a
        // single lookup, while ids are assigned, is faster.
        if index.exceeds_cache() {
            index.find_batch(&batch.transitions, &self.graph.keys, &mut self.known_ids);
        }
        self.targets.clear();
        for (own, &count) in (self.graph.expanded() as u32..).zip(&batch.counts) {
            self.targets
                .resize(self.targets.len() + count as usize, own);
        }
        let batches =
            batches + (self.targets.capacity() + self.known_ids.capacity()) * size_of::<u32>();
        let lookups = batch.lookups();
        if !index.has_room(lookups) {
            self.external_bytes = batches;
            self.reserve(index.grown_bytes(lookups))?;
            index.grow(lookups, &self.graph.keys);
        }
        self.external_bytes = batches + index.bytes();
        let (mut row, mut edge, mut transition) = (0, 0, 0);
        while row < batch.counts.len() {
            if !self.has_work() {
                // The depth limit is reached.
                break;
            }
            // The first id of the next depth is known only after all nodes of the current depth are
            // merged, so a range never spans two depths.
            let rows = batch.counts.len().min(row + self.remaining_in_depth());
            let edges = edge + batch.counts[row..rows].iter().sum::<u32>() as usize;
            let transition_end = transition
                + batch.transitions[transition..]
                    .partition_point(|transition| (transition.edge as usize) < edges);
            self.assign_row_ids(
                batch,
                row..rows,
                edge..edges,
                transition..transition_end,
                index,
            )?;
            (row, edge, transition) = (rows, edges, transition_end);
        }
        Ok(())
    }

    /// Assigns ids for a range of nodes at one depth: first for all new states, then for the edges.
    #[inline]
    fn assign_row_ids(
        &mut self,
        batch: &Batch<E::State>,
        rows: Range<usize>,
        edges: Range<usize>,
        transition: Range<usize>,
        index: &mut Index,
    ) -> Result<(), StopReason> {
        let known = self.graph.nodes();
        let mut stop = None;
        for (at, &Transition { key, hash, edge }) in
            transition.clone().zip(&batch.transitions[transition])
        {
            let mut node_id = self.known_ids.get(at).copied().unwrap_or(NO_NODE);
            if node_id == NO_NODE {
                let added = match index.find_or_insert(hash, key, &self.graph.keys) {
                    Some(known) => Ok(known),
                    None => self.add_node(key, batch.states.get(at)),
                };
                match added {
                    Ok(added) => node_id = added,
                    Err(why) => {
                        stop = Some((edge as usize, why));
                        break;
                    }
                }
            }
            self.targets[edge as usize] = node_id;
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

    /// Adds edges node by node, for ranges that need more memory or exceed a limit. A node gets all
    /// of its edges or none. New states that only rejected edges reach are removed again, so that
    /// every node of the graph is reachable.
    #[cold]
    fn add_row_by_row(
        &mut self,
        batch: &Batch<E::State>,
        counts: &[u32],
        edges: Range<usize>,
        known: usize,
        stop: Option<(usize, StopReason)>,
    ) -> Result<(), StopReason> {
        let mut start = edges.start;
        for &count in counts {
            let row = start..start + count as usize;
            let too_many = |edges: usize| self.graph.rows.len() + edges > self.search.limits.edges;
            let stopped = match stop {
                // If the edge limit is exceeded as well, it takes precedence.
                Some((edge, why)) if row.contains(&edge) => Err(if too_many(edge - start) {
                    StopReason::Edges
                } else {
                    why
                }),
                _ if too_many(row.len()) => Err(StopReason::Edges),
                _ => self.make_room_for_row(row.len()),
            };
            if let Err(stop) = stopped {
                let reached = self.targets[edges.start..start]
                    .iter()
                    .map(|&id| id as usize + 1);
                self.graph.keys.truncate(reached.fold(known, usize::max));
                return Err(stop);
            }
            let weights = batch.weights.get(row.clone()).unwrap_or_default();
            self.graph
                .rows
                .add(&[count], &self.targets[row.clone()], weights);
            start = row.end;
        }
        Ok(())
    }

    /// Allocates memory for the edges of the next node.
    fn make_room_for_row(&mut self, edges: usize) -> Result<(), StopReason> {
        if !self.graph.rows.has_room(1, edges) {
            if !self.graph.rows.can_address(edges) {
                return Err(StopReason::Edges);
            }
            self.reserve(self.graph.rows.growth_bytes(edges))?;
            self.graph.rows.grow(edges);
        }
        Ok(())
    }

    /// Adds a new state to the graph and, unless it is packed or terminal, to the queue.
    #[inline]
    fn add_node(&mut self, key: u128, state: Option<&E::State>) -> Result<u32, StopReason> {
        let node_id = self.graph.nodes();
        if node_id >= self.node_limit {
            self.raise_node_limit()?;
        }
        if !PACKED && outcome_of(key) == Outcome::Continue {
            let state = state.expect("a batch holds its states unless they are packed");
            self.queue_heap_bytes += self.level.heap_bytes(state);
            if self.queue.len() == self.queue.capacity() {
                self.reserve(self.queue.len().max(16) * 2 * size_of::<E::State>())?;
            }
            self.queue.push_back(state.clone());
        }
        self.graph.keys.push(key);
        Ok(node_id as u32)
    }

    #[cold]
    fn raise_node_limit(&mut self) -> Result<(), StopReason> {
        let nodes = self.graph.nodes();
        if nodes >= self.search.limits.nodes.min(MAX_NODES) {
            return Err(StopReason::Nodes);
        }
        if self.graph.keys.is_full() {
            self.reserve(Pages::<u128>::growth_bytes())?;
            self.graph.keys.grow();
        }
        self.reserve(0)?;
        if nodes >= self.node_limit {
            Err(StopReason::Memory)
        } else {
            Ok(())
        }
    }

    /// Checks that `more` bytes fit into the memory limit and updates `node_limit`. The check
    /// reserves memory for the later analysis, which can also use the memory that the index
    /// releases when the search ends.
    fn reserve(&mut self, more: usize) -> Result<(), StopReason> {
        let graph_bytes = self.graph.keys.bytes() + self.graph.rows.bytes();
        let search_bytes = graph_bytes
            + self.queue.capacity() * size_of::<E::State>()
            + self.queue_heap_bytes
            + self.external_bytes
            + more;
        let affordable_nodes =
            self.search.limits.bytes.saturating_sub(graph_bytes + more) / ANALYSIS_BYTES;
        if search_bytes > self.search.limits.bytes || self.graph.nodes() > affordable_nodes {
            return Err(StopReason::Memory);
        }
        self.node_limit = affordable_nodes
            .min(self.graph.keys.capacity())
            .min(self.search.limits.nodes)
            .min(MAX_NODES);
        self.graph.peak_bytes = self.graph.peak_bytes.max(search_bytes);
        Ok(())
    }
}

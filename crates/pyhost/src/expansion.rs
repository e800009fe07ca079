//! Searches of hosted games: many states are expanded with one request, in processes that serve no
//! other play.
//!
//! Each worker of a search is a process. A process keeps the states that it discovered until they
//! are expanded; here such a kept state is called a copy. A state without a copy (because another
//! process has it, or because memory is short) is rebuilt by repeating actions from its nearest
//! ancestor with a copy, at most from the start of the search. A rebuilt state must have the same
//! key as before, otherwise the game is not deterministic and the search fails.
//!
//! Processes restore the contents of a game's objects, or copy the game if they hold an object for
//! which that is impossible.
//!
//! **Invariant:** the result of an expansion does not depend on which process computes it or on
//! which copies exist. The number of copies is limited by the memory that the process uses, which
//! this process measures.

mod path_node;
mod response;

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rhae_engine::{
    Action, BulkEdge, BulkError, BulkExpansion, BulkOptions, BulkResult, BulkSearch, BulkState,
    Outcome, StateKey,
};

use crate::expansion_wire::{ExpandRequest, Record, Target};
use crate::game::Game;
use crate::host::lock;
use crate::play::{failure, replay_in};
use crate::pool::{Pool, SearchPermit, Slot};
use path_node::{PathNode, Shared, state_request};
use response::{ExpandFailure, request};

/// The maximum number of states in a request.
const MAX_REQUEST_STATES: usize = 64;
/// Requests are sized to take about this long, so that a search can be stopped soon.
const REQUEST_TIME: Duration = Duration::from_millis(200);
/// The number of actions for rebuilding states after which no further state is added to a
/// request.
const MAX_REQUEST_ACTIONS: usize = 1 << 20;
/// The number of copies that a process may keep before its memory use is known.
const FIRST_COPIES: usize = 64;

/// What is needed to rebuild the start of a search in another process.
pub(crate) struct Origin {
    pub(crate) pool: Arc<Pool>,
    pub(crate) game: Arc<Game>,
    pub(crate) seed: u64,
    /// The hash of the frames of the opening RESET.
    pub(crate) opening: u64,
    /// The actions after it, each with the hash of its frames.
    pub(crate) log: Vec<(Action, u64)>,
    /// The key of the start.
    pub(crate) key: StateKey,
}

/// A search of one level of a hosted game.
pub(crate) struct HostedSearch {
    origin: Origin,
    options: BulkOptions,
    root: Arc<PathNode>,
    shared: Arc<Shared>,
    workers: Vec<Mutex<Worker>>,
    _permit: SearchPermit,
}

struct Worker {
    /// The process, once it is needed.
    slot: Option<Slot>,
    /// The number of processes that this worker has started.
    process: u32,
    /// The number of copies that the process keeps.
    copies: usize,
    /// The maximum number of copies.
    max_copies: usize,
    /// The memory of the process before it kept any copy.
    base_memory: u64,
    request_states: usize,
    /// Whether the process copies the game, because it could not restore the game's objects.
    copies_games: bool,
}

impl HostedSearch {
    /// Opens a search, or returns `None` if the host does not support it. `slot` is the play that
    /// is at the start.
    pub(crate) fn open(
        origin: Origin,
        slot: &Slot,
        options: BulkOptions,
    ) -> Result<Option<Self>, String> {
        // A request without states finds out whether the host supports searches.
        let probe = ExpandRequest {
            options: &options,
            copies: false,
            keep: 0,
            released: &[],
            states: &[],
        };
        match request(slot, &probe, &|| true) {
            (_, Ok(key)) if key == origin.key => {}
            (_, Ok(_) | Err(ExpandFailure::Unsupported(_))) => return Ok(None),
            (_, Err(ExpandFailure::Failed(reason) | ExpandFailure::Exhausted(reason))) => {
                return Err(reason);
            }
        }
        let permit = origin.pool.reserve_search(options.workers.max(1));
        let shared = Arc::new(Shared {
            released: (0..permit.count).map(|_| Mutex::default()).collect(),
        });
        let worker = |_| {
            Mutex::new(Worker {
                slot: None,
                process: 0,
                copies: 0,
                max_copies: FIRST_COPIES,
                base_memory: 0,
                request_states: 1,
                copies_games: false,
            })
        };
        Ok(Some(Self {
            options,
            root: Arc::new(PathNode {
                parent: None,
                depth: 0,
                key: origin.key,
                worker: 0,
                process: 0,
                copy: AtomicU32::new(0),
                shared: Arc::clone(&shared),
            }),
            shared,
            workers: (0..permit.count).map(worker).collect(),
            origin,
            _permit: permit,
        }))
    }

    /// Starts a process and rebuilds the start of the search in it.
    fn start(&self, worker: &mut Worker) -> Result<(), String> {
        let origin = &self.origin;
        let slot = origin.pool.dedicated(&origin.game)?;
        replay_in(&slot, origin.seed, origin.opening, &origin.log)?;
        worker.base_memory = slot.host.memory_bytes().unwrap_or(0);
        worker.copies = 0;
        worker.process += 1;
        worker.slot = Some(slot);
        Ok(())
    }

    /// Expands some states with one request. Returns the expansions up to the first failure.
    fn expand_some(
        &self,
        index: usize,
        worker: &mut Worker,
        nodes: &[Arc<PathNode>],
        should_continue: &dyn Fn() -> bool,
    ) -> (Vec<BulkExpansion>, Result<(), ExpandFailure>) {
        if worker.slot.is_none()
            && let Err(reason) = self.start(worker)
        {
            return (Vec::new(), Err(ExpandFailure::Failed(reason)));
        }
        let process = worker.process;
        let released: Vec<u32> = std::mem::take(&mut *lock(&self.shared.released[index]))
            .into_iter()
            .filter(|id| id.process == process)
            .map(|id| id.copy)
            .collect();
        worker.copies = worker.copies.saturating_sub(released.len());
        let (mut states, mut actions) = (Vec::with_capacity(nodes.len()), 0);
        for node in nodes {
            let keeps_checkpoints = worker.copies < worker.max_copies / 2;
            let state = state_request(node, index, process, keeps_checkpoints);
            worker.copies = worker.copies.saturating_sub(usize::from(state.take));
            actions += state.actions.len();
            states.push(state);
            if actions > MAX_REQUEST_ACTIONS {
                break;
            }
        }
        let nodes = &nodes[..states.len()];
        let Some(slot) = &worker.slot else {
            return (Vec::new(), Ok(()));
        };
        let started = Instant::now();
        let body = ExpandRequest {
            options: &self.options,
            copies: worker.copies_games,
            keep: u32::try_from(worker.max_copies).unwrap_or(u32::MAX),
            released: &released,
            states: &states,
        };
        let (records, answered) = request(slot, &body, should_continue);
        let memory = slot.host.memory_bytes();
        let expansions = self.expansions(index, worker, nodes, records);
        // A copy in another process is of no further use.
        nodes[..expansions.len()]
            .iter()
            .filter(|node| node.copy_in(index, process).is_none())
            .for_each(|node| node.release());
        worker.adapt(started.elapsed(), nodes.len(), memory, self.memory_limit());
        (expansions, answered.map(drop))
    }

    /// Converts the records of a response. Records after the last complete state are ignored.
    fn expansions(
        &self,
        index: usize,
        worker: &mut Worker,
        nodes: &[Arc<PathNode>],
        records: Vec<Record>,
    ) -> Vec<BulkExpansion> {
        let mut expansions = Vec::with_capacity(nodes.len());
        let mut edges = Vec::new();
        for record in records {
            match record {
                Record::End(clicks) => expansions.push(BulkExpansion {
                    clicks,
                    edges: std::mem::take(&mut edges),
                }),
                Record::Edge {
                    action,
                    outcome,
                    cells,
                    key,
                    target,
                } => {
                    let copy = match target {
                        Target::Kept(copy) if outcome == Outcome::Continue => copy,
                        _ => 0,
                    };
                    worker.copies += usize::from(copy != 0);
                    let from = &nodes[expansions.len()];
                    let state = (target != Target::Known).then(|| BulkState {
                        worker: index,
                        data: Arc::new(PathNode {
                            parent: Some((Arc::clone(from), action)),
                            depth: from.depth + 1,
                            key,
                            worker: index,
                            process: worker.process,
                            copy: AtomicU32::new(copy),
                            shared: Arc::clone(&self.shared),
                        }),
                    });
                    edges.push(BulkEdge {
                        key,
                        outcome,
                        cells,
                        state,
                    });
                }
            }
        }
        expansions
    }

    /// Returns the memory in bytes that a process may use for copies and the rest together: half of
    /// its limit, because the limit also covers addresses that are not in use.
    fn memory_limit(&self) -> u64 {
        self.origin.pool.config.limits.memory_mb << 19
    }
}

impl BulkSearch for HostedSearch {
    fn workers(&self) -> usize {
        self.workers.len()
    }

    fn root(&self) -> BulkState {
        BulkState {
            worker: 0,
            data: Arc::clone(&self.root) as _,
        }
    }

    fn prepare(&self, worker: usize) {
        let mut worker = lock(&self.workers[worker]);
        if worker.slot.is_none() {
            // If it fails, the first expansion tries again and reports the failure.
            let _ = self.start(&mut worker);
        }
    }

    fn expand(
        &self,
        worker: usize,
        states: &[BulkState],
        should_continue: &dyn Fn() -> bool,
    ) -> BulkResult {
        let index = worker;
        let mut worker = lock(&self.workers[index]);
        let nodes: Vec<Arc<PathNode>> = states
            .iter()
            .map(|state| {
                Arc::clone(&state.data)
                    .downcast()
                    .expect("the state belongs to this search")
            })
            .collect();
        let mut expansions: Vec<BulkExpansion> = Vec::with_capacity(nodes.len());
        let mut exhausted = false;
        while expansions.len() < nodes.len() && should_continue() {
            let rest = &nodes[expansions.len()..];
            let count = worker.request_states.min(rest.len());
            let (done, answered) =
                self.expand_some(index, &mut worker, &rest[..count], should_continue);
            let progress = !done.is_empty();
            expansions.extend(done);
            match answered {
                Ok(()) => exhausted = false,
                // A new process has no copies, so it has more memory. If it fails at the same
                // state, the game is at fault.
                Err(ExpandFailure::Exhausted(_)) if progress || !exhausted => {
                    exhausted = true;
                    worker.slot = None;
                    worker.max_copies = (worker.max_copies / 2).max(1);
                }
                Err(ExpandFailure::Unsupported(_)) if !worker.copies_games => {
                    worker.copies_games = true;
                    worker.slot = None;
                }
                Err(failed) => {
                    let failed = match failed {
                        ExpandFailure::Unsupported(reason) => BulkError::Unsupported(reason),
                        ExpandFailure::Failed(reason) | ExpandFailure::Exhausted(reason) => {
                            BulkError::Failed(failure(&self.origin.game, &reason))
                        }
                    };
                    return BulkResult {
                        expansions,
                        error: Some(failed),
                    };
                }
            }
        }
        BulkResult {
            expansions,
            error: None,
        }
    }
}

impl Worker {
    /// Adapts the size of requests to the time that the last one took, and the number of copies to
    /// the memory of the process.
    fn adapt(&mut self, elapsed: Duration, states: usize, memory: Option<u64>, limit: u64) {
        if elapsed > REQUEST_TIME {
            self.request_states = (states / 2).max(1);
        } else if elapsed < REQUEST_TIME / 3 {
            self.request_states = (self.request_states * 2).min(MAX_REQUEST_STATES);
        }
        let Some(memory) = memory else { return };
        let grown = memory.saturating_sub(self.base_memory).max(1);
        let available = limit.saturating_sub(self.base_memory);
        if self.copies >= FIRST_COPIES / 4 {
            let copies = self.copies as u64;
            let affordable = copies.saturating_mul(available) / grown;
            // The estimate becomes reliable as the number of copies grows.
            self.max_copies = usize::try_from(affordable.min(4 * copies)).unwrap_or(usize::MAX);
        }
    }
}

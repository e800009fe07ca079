//! The expansion of many states at once, in the process that runs the game.
//!
//! A search of a hosted game that sends one action per message spends most of its time on messages
//! and copies. [`BulkSearch`] moves the inner loop (copy, act, hash, compare with known keys) to
//! where the game runs. The search then sends lists of states and receives the keys of their
//! successors.
//!
//! **Invariant:** an expansion depends only on the state and the [`BulkOptions`], not on the worker
//! that computes it.

use std::any::Any;
use std::sync::Arc;

use crate::{CELLS, EnvironmentError, Outcome, PlayState, StateKey, key_of};

/// The parts of an environment that identify a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The settled frame only.
    Frame,
    /// The settled frame, plus the hidden state if the environment reports one.
    FrameAndHidden,
    /// The settled frame, plus every part of the state that the environment can inspect.
    Deep,
}

/// Returns the key of a state from what was observed: the cells of the settled frame, the number of
/// completed levels, the status of the play, and the key of the hidden state if it is known.
pub fn observation_key(
    cells: &[u8; CELLS],
    levels_completed: u8,
    state: PlayState,
    hidden: Option<StateKey>,
) -> StateKey {
    key_of(&(cells, levels_completed, state, hidden))
}

/// The cells that a search clicks in a state that offers clicks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClickRule {
    /// The cells that the environment lists; none where it lists no cells.
    Listed,
    /// The cells that the environment lists or, where it lists none, the cells of
    /// [`representative_clicks`](crate::representative_clicks).
    Representative,
    /// All cells. Cells with the same result form one edge.
    All,
}

/// Options of [`Environment::bulk_search`](crate::Environment::bulk_search).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkOptions {
    pub identity: Identity,
    pub clicks: ClickRule,
    /// The maximum number of workers, at least 1.
    pub workers: usize,
}

/// A search that expands many states of one level at once.
///
/// A search has one or more workers, for example processes. Each worker has the copies of the
/// states that it discovered. It can expand other states too, but must first rebuild them by
/// repeating actions.
pub trait BulkSearch: Send + Sync {
    /// Returns the number of workers. Different workers can be used by different threads at the
    /// same time.
    fn workers(&self) -> usize;

    /// Gets a worker ready, for example by starting its process. This may take long. A worker that is
    /// not ready gets ready when it first expands a state.
    fn prepare(&self, _worker: usize) {}

    /// Returns the state in which the level starts.
    fn root(&self) -> BulkState;

    /// Expands states with one worker, in the given order.
    ///
    /// `should_continue` is called every fraction of a second. If it returns false, the result
    /// holds the expansions of the states before that.
    fn expand(
        &self,
        worker: usize,
        states: &[BulkState],
        should_continue: &dyn Fn() -> bool,
    ) -> BulkResult;
}

/// A state of a [`BulkSearch`]. The worker frees its copy of the state when the last clone is
/// dropped.
#[derive(Clone)]
pub struct BulkState {
    /// The worker that has a copy of the state or is closest to one.
    pub worker: usize,
    /// What the search needs to find or rebuild the state.
    pub data: Arc<dyn Any + Send + Sync>,
}

/// The result of [`BulkSearch::expand`].
pub struct BulkResult {
    /// The expansions of the states in order, up to the first that failed.
    pub expansions: Vec<BulkExpansion>,
    pub error: Option<BulkError>,
}

/// The reason why a state was not expanded.
#[derive(Debug)]
pub enum BulkError {
    /// The environment cannot expand states in bulk after all. They can still be expanded one action
    /// at a time.
    Unsupported(String),
    /// The environment failed.
    Failed(EnvironmentError),
}

/// The successors of one state.
#[derive(Clone)]
pub struct BulkExpansion {
    pub clicks: TriedClicks,
    /// One edge per action: simple actions in the order of their ids, then clicks.
    pub edges: Vec<BulkEdge>,
}

/// The clicks that were tried in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriedClicks {
    /// The state offers no clicks.
    NotOffered,
    /// The cells that the environment lists.
    Listed,
    /// One cell per sprite and per connected component.
    Representative,
    /// All cells.
    All,
}

/// The result of one action in a state, or of all clicks with the same result.
#[derive(Clone)]
pub struct BulkEdge {
    pub key: StateKey,
    pub outcome: Outcome,
    /// The number of clicked cells with this result if all cells were clicked and the action is a
    /// click; otherwise 0.
    pub cells: u16,
    /// The state that the action leads to. `None` if the same worker returned a state with this key
    /// before.
    pub state: Option<BulkState>,
}

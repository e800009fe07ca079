//! States of a search as the paths that lead to them, and the copies that processes have of them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use rhae_engine::{Action, StateKey};

use crate::expansion_wire::StateRequest;
use crate::host::lock;

/// A copy of every state at a multiple of this depth is kept after its expansion, while memory
/// allows, to shorten the paths by which later states are rebuilt.
const CHECKPOINT_DEPTH: u32 = 32;

/// A state as the path that leads to it.
pub(super) struct PathNode {
    /// The state before the last action; `None` for the start.
    pub(super) parent: Option<(Arc<Self>, Action)>,
    pub(super) depth: u32,
    pub(super) key: StateKey,
    pub(super) worker: usize,
    pub(super) process: u32,
    /// The number of the copy in that process; 0 without a copy.
    pub(super) copy: AtomicU32,
    pub(super) shared: Arc<Shared>,
}

impl PathNode {
    /// Returns the number of the copy if the process has one.
    pub(super) fn copy_in(&self, worker: usize, process: u32) -> Option<u32> {
        let here = self.worker == worker && self.process == process;
        let copy = self.copy.load(Ordering::Relaxed);
        (here && copy != 0).then_some(copy)
    }

    /// Allows the process to forget the copy.
    pub(super) fn release(&self) {
        let copy = self.copy.swap(0, Ordering::Relaxed);
        if copy != 0 {
            lock(&self.shared.released[self.worker]).push(CopyId {
                process: self.process,
                copy,
            });
        }
    }
}

impl Drop for PathNode {
    fn drop(&mut self) {
        self.release();
        // A long chain of ancestors is dropped in a loop, because recursion could overflow the
        // stack.
        let mut next = self.parent.take();
        while let Some((parent, _)) = next {
            next = Arc::into_inner(parent).and_then(|mut parent| parent.parent.take());
        }
    }
}

/// Copies that processes can forget, one list per worker.
pub(super) struct Shared {
    pub(super) released: Vec<Mutex<Vec<CopyId>>>,
}

/// The number of a copy, and the process that it is in: processes of a worker are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct CopyId {
    pub(super) process: u32,
    pub(super) copy: u32,
}

/// Returns how a process gets to a state: from its own copy of the state, or from that of the
/// nearest ancestor. The process then forgets the copy of the state, unless it is a checkpoint.
pub(super) fn state_request(
    node: &PathNode,
    worker: usize,
    process: u32,
    keeps_checkpoints: bool,
) -> StateRequest {
    if let Some(copy) = node.copy_in(worker, process) {
        let checkpoint = keeps_checkpoints && node.depth.is_multiple_of(CHECKPOINT_DEPTH);
        if !checkpoint {
            node.copy.store(0, Ordering::Relaxed);
        }
        return StateRequest {
            base: copy,
            take: !checkpoint,
            key: node.key,
            actions: Vec::new(),
        };
    }
    let (mut actions, mut at, mut base) = (Vec::new(), node, 0);
    while let Some((parent, action)) = &at.parent {
        actions.push(*action);
        at = parent;
        if let Some(copy) = at.copy_in(worker, process) {
            base = copy;
            break;
        }
    }
    actions.reverse();
    StateRequest {
        base,
        take: false,
        key: node.key,
        actions,
    }
}

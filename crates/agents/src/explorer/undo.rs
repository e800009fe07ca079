//! The way back by undo (ACTION7).
//!
//! The explorer assumes that undo returns to the state before the last change of this attempt. It
//! stops using undo if that turns out to be wrong.

use super::graph::NodeId;

/// The largest number of states that are remembered.
const MAX_TRAIL: usize = 1024;
/// How often undo must have led elsewhere to be given up, if it never led back.
const MAX_REFUTED: u32 = 2;

/// The states of the current attempt, and how well they predicted undo.
#[derive(Debug, Default)]
pub(super) struct UndoTrail {
    /// The states before each change, the oldest first.
    trail: Vec<NodeId>,
    confirmed: u32,
    refuted: u32,
}

impl UndoTrail {
    /// Starts an attempt: a level begins, or it was reset.
    pub(super) fn start_attempt(&mut self) {
        self.trail.clear();
    }

    /// Records that an action led to another state.
    pub(super) fn push(&mut self, from: NodeId) {
        if self.trail.len() >= MAX_TRAIL {
            self.trail.drain(..MAX_TRAIL / 2);
        }
        self.trail.push(from);
    }

    /// Records where undo led.
    pub(super) fn record_undo(&mut self, to: NodeId) {
        if self.trail.pop() == Some(to) {
            self.confirmed += 1;
        } else {
            self.refuted += 1;
            self.trail.clear();
        }
    }

    /// Replaces the ids of nodes.
    pub(super) fn rename(&mut self, new_ids: &[NodeId]) {
        self.trail
            .iter_mut()
            .for_each(|node| *node = new_ids[*node]);
        self.trail.dedup();
    }

    /// Returns the state to which a number of undos lead.
    pub(super) fn back(&self, undos: usize) -> Option<NodeId> {
        let is_reliable = self.refuted < MAX_REFUTED || self.confirmed > 4 * self.refuted;
        let position = self.trail.len().checked_sub(undos)?;
        self.trail.get(position).copied().filter(|_| is_reliable)
    }
}

//! How actions continue, reverse and move things: priors that rank the untried actions of a state.

use std::collections::{BTreeMap, BTreeSet};

use rhae_engine::Action;

use super::affinity::Pair;
use super::graph::NodeId;

// These weights were tuned by comparing a few values on the built-in environments.

/// The weight of the action that just changed the frame.
const REPEAT_WEIGHT: f64 = 1.3;
/// The weight of an action that reverses the last one.
const REVERSAL_WEIGHT: f64 = 0.5;
/// The largest number of reversals and of movements that are remembered.
const MAX_ENTRIES: usize = 16_384;

/// A mean movement, in cells, and the number of observations.
#[derive(Clone, Copy, Default)]
struct Shift {
    mean: (f64, f64),
    seen: u32,
}

/// What is known about the movements that actions cause.
#[derive(Default)]
pub(super) struct Motion {
    /// The mean movement of the mover of each colour, by action.
    shifts: BTreeMap<(Action, u8), Shift>,
    /// Pairs of actions of which the second reversed the first.
    reversals: BTreeSet<(Action, Action)>,
    /// The last action that changed the frame, and the node at which it was taken.
    last_step: Option<(NodeId, Action)>,
}

impl Motion {
    /// Forgets the last step: a level begins, or nodes have new ids. Movements and reversals persist.
    pub(super) fn forget_last_step(&mut self) {
        self.last_step = None;
    }

    /// Records a transition, from which reversals are recognised.
    pub(super) fn record_step(&mut self, action: Action, from: NodeId, to: NodeId) {
        if from == to {
            return;
        }
        if let Some((origin, before)) = self.last_step
            && origin == to
            && self.reversals.len() < MAX_ENTRIES
        {
            self.reversals.insert((before, action));
        }
        self.last_step = Some((from, action));
    }

    /// Records the movement that an action caused.
    pub(super) fn record_shift(&mut self, action: Action, before: Pair, after: Pair) {
        if self.shifts.len() >= MAX_ENTRIES {
            return;
        }
        if let Some(by) = before.shift_to(after) {
            let shift = self.shifts.entry((action, before.color)).or_default();
            shift.seen += 1;
            let weight = 1.0 / f64::from(shift.seen);
            shift.mean = (
                shift.mean.0 + weight * (by.0 - shift.mean.0),
                shift.mean.1 + weight * (by.1 - shift.mean.1),
            );
        }
    }

    /// Returns the expected reduction of the distance between mover and target, in cells.
    pub(super) fn expected_gain(&self, action: Action, pair: Pair) -> f64 {
        self.shifts.get(&(action, pair.color)).map_or(0.0, |shift| {
            pair.distance() - pair.distance_after(shift.mean)
        })
    }

    /// Returns the weight of an action after the last one: higher for a repetition, lower for a
    /// known reversal.
    pub(super) fn continuity(&self, action: Action) -> f64 {
        match self.last_step {
            Some((_, last)) if last == action => REPEAT_WEIGHT,
            Some((_, last)) if self.reversals.contains(&(last, action)) => REVERSAL_WEIGHT,
            _ => 1.0,
        }
    }
}

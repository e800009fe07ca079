//! Statistics about the effects of actions, and the promise of untried actions derived from them.

use std::collections::{BTreeMap, BTreeSet};

use rhae_engine::{Action, ActionKind, ActionSet, Frame};

use super::affinity::Pair;
use super::bars::Mask;
use super::graph::NodeId;
use super::is_exploratory;
use super::objects::Appearance;

// These weights were tuned by comparing a few values on the built-in environments.

/// The weight of the action that just changed the frame.
const REPEAT_WEIGHT: f64 = 1.3;
/// The weight of an action that reverses the last one.
const REVERSAL_WEIGHT: f64 = 0.5;
/// The weight of a click in a game that also offers keys.
const CLICK_WEIGHT_WITH_KEYS: f64 = 0.6;

/// The property by which actions are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Feature {
    /// All uses of a key.
    Key(ActionKind),
    /// All clicks on objects of this appearance.
    Object(Appearance),
}

/// How often the actions of a feature were tried, and how often they changed the frame.
#[derive(Clone, Copy, Default)]
struct Record {
    tried: u32,
    changed: u32,
}

/// A mean movement, in cells, and the number of observations.
#[derive(Clone, Copy, Default)]
struct Shift {
    mean: (f64, f64),
    seen: u32,
}

/// The effects of the actions tried so far.
#[derive(Default)]
pub(super) struct ActionStats {
    by_feature: BTreeMap<Feature, Record>,
    /// The mean movement of the mover of each colour, by action.
    shifts: BTreeMap<(Action, u8), Shift>,
    /// Pairs of actions of which the second reversed the first.
    reversals: BTreeSet<(Action, Action)>,
    /// The last action that changed the frame, and the node at which it was taken.
    last_step: Option<(NodeId, Action)>,
    /// The colours seen on this level, as a bit set.
    colors: u16,
    /// The weight of a click relative to a key.
    click_weight: f64,
}

impl ActionStats {
    /// Starts a level. The recorded effects of actions persist, but the last step and the seen
    /// colours are cleared.
    pub(super) fn start_level(&mut self) {
        self.last_step = None;
        self.colors = 0;
    }

    /// Updates the click weight. If a game offers keys, they are preferred to clicks, because there
    /// are far fewer keys than cells to click.
    pub(super) fn set_offered(&mut self, offered: ActionSet) {
        self.click_weight = if offered.iter().any(is_exploratory) {
            CLICK_WEIGHT_WITH_KEYS
        } else {
            1.0
        };
    }

    /// Returns whether a frame shows a colour that is new on this level, and records its colours.
    /// The first frame of a level shows no new colour.
    pub(super) fn shows_new_color(&mut self, frame: &Frame, mask: &Mask) -> bool {
        let shown = frame
            .cells()
            .iter()
            .zip(mask)
            .filter(|(_, masked)| !**masked)
            .fold(0_u16, |set, (&cell, _)| set | 1 << (cell & 15));
        let first = self.colors == 0;
        let new = shown & !self.colors != 0;
        self.colors |= shown;
        new && !first
    }

    /// Records whether an action changed the frame.
    pub(super) fn record_result(&mut self, feature: Feature, changed: bool) {
        let record = self.by_feature.entry(feature).or_default();
        record.tried += 1;
        record.changed += u32::from(changed);
    }

    /// Records a transition, from which reversals are recognised.
    pub(super) fn record_step(&mut self, action: Action, from: NodeId, to: NodeId) {
        if from == to {
            return;
        }
        if let Some((origin, before)) = self.last_step
            && origin == to
        {
            self.reversals.insert((before, action));
        }
        self.last_step = Some((from, action));
    }

    /// Records the movement that an action caused.
    pub(super) fn record_shift(&mut self, action: Action, before: Pair, after: Pair) {
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

    /// Returns the promise of an untried action: the smoothed rate at which similar actions changed
    /// the frame, weighted by the salience of the clicked object.
    pub(super) fn promise(&self, feature: Feature) -> f64 {
        let record = self.by_feature.get(&feature).copied().unwrap_or_default();
        let rate = (f64::from(record.changed) + 0.5) / (f64::from(record.tried) + 1.0);
        let weight = match feature {
            Feature::Key(_) => 1.0,
            Feature::Object(appearance) => appearance.salience() * self.click_weight,
        };
        rate * weight
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

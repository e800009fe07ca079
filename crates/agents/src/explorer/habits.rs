//! What actions of a kind have done so far, and so how promising an untried one is.

use std::collections::{BTreeMap, BTreeSet};

use rhae_engine::{Action, ActionKind, ActionSet, Frame};

use super::affinity::Pair;
use super::bars::Mask;
use super::graph::NodeId;
use super::is_exploratory;
use super::objects::Look;

// The weights were found by trying a few values on the built-in environments.

/// The worth of the key that just worked, of the one that takes it back, and of a click where there are keys.
const GOING_ON: f64 = 1.3;
const GOING_BACK: f64 = 0.5;
const CLICK_BESIDE_KEYS: f64 = 0.6;

/// What an action has in common with similar ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Feature {
    /// The same key.
    Key(ActionKind),
    /// A click on an object that looks the same.
    Object(Look),
}

#[derive(Clone, Copy, Default)]
struct Record {
    tried: u32,
    changed: u32,
}

/// A mean shift and how often it was seen.
#[derive(Clone, Copy, Default)]
struct Shift {
    mean: (f64, f64),
    seen: u32,
}

/// The memory of what was tried.
#[derive(Default)]
pub(super) struct Habits {
    by_feature: BTreeMap<Feature, Record>,
    /// How a key moves the traveller of each colour.
    shifts: BTreeMap<(Action, u8), Shift>,
    /// Pairs of actions of which the second took back the first.
    reversals: BTreeSet<(Action, Action)>,
    /// The last step that changed something: where it began and what it was.
    last_step: Option<(NodeId, Action)>,
    /// Colours seen on this level.
    colors: u16,
    /// How much a click is worth beside a key.
    click_weight: f64,
}

impl Habits {
    /// Begins a level: what actions do is remembered, where they led is not.
    pub(super) fn new_level(&mut self) {
        self.last_step = None;
        self.colors = 0;
    }

    /// Takes in what is offered: where there are keys, they come first, because there are far fewer of them than of cells.
    pub(super) fn see_offered(&mut self, offered: ActionSet) {
        self.click_weight = if offered.iter().any(is_exploratory) {
            CLICK_BESIDE_KEYS
        } else {
            1.0
        };
    }

    /// Whether a picture shows a colour for the first time on this level, the level's first picture aside.
    pub(super) fn looks_new(&mut self, picture: &Frame, mask: &Mask) -> bool {
        let shown = picture
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

    /// Remembers whether an action changed the picture.
    pub(super) fn note(&mut self, feature: Feature, changed: bool) {
        let record = self.by_feature.entry(feature).or_default();
        record.tried += 1;
        record.changed += u32::from(changed);
    }

    /// Remembers a step, to learn which actions take each other back.
    pub(super) fn note_step(&mut self, action: Action, from: NodeId, to: NodeId) {
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

    /// Remembers how an action moved a traveller.
    pub(super) fn note_shift(&mut self, action: Action, before: Pair, after: Pair) {
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

    /// By how many cells an action is expected to bring a traveller nearer to its place.
    pub(super) fn expected_gain(&self, action: Action, pair: Pair) -> f64 {
        self.shifts.get(&(action, pair.color)).map_or(0.0, |shift| {
            pair.distance() - pair.distance_after(shift.mean)
        })
    }

    /// How likely an untried action is to show something new, roughly: the rate at which similar ones changed the picture.
    pub(super) fn promise(&self, feature: Feature) -> f64 {
        let record = self.by_feature.get(&feature).copied().unwrap_or_default();
        let rate = (f64::from(record.changed) + 0.5) / (f64::from(record.tried) + 1.0);
        let size = match feature {
            Feature::Key(_) => 1.0,
            Feature::Object(look) => look.salience() * self.click_weight,
        };
        rate * size
    }

    /// How well an action goes on from the last one: better if it is the same key that just worked, worse if it is known to
    /// take the last one back.
    pub(super) fn flow(&self, action: Action) -> f64 {
        match self.last_step {
            Some((_, last)) if last == action => GOING_ON,
            Some((_, last)) if self.reversals.contains(&(last, action)) => GOING_BACK,
            _ => 1.0,
        }
    }
}

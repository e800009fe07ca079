//! What actions of a kind have done so far, and so how promising an untried one is.

use std::collections::BTreeMap;

use rhae_engine::{Action, ActionKind};

use super::graph::NodeId;
use super::objects::Look;

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

/// The memory of what was tried.
#[derive(Default)]
pub(super) struct Habits {
    by_feature: BTreeMap<Feature, Record>,
    /// How often the second action took back the first.
    reversals: BTreeMap<(Action, Action), u32>,
    /// The last two steps that changed something: where they began and what they were.
    last_step: Option<(NodeId, Action)>,
}

impl Habits {
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
            *self.reversals.entry((before, action)).or_default() += 1;
        }
        self.last_step = Some((from, action));
    }

    /// How likely an untried action is to show something new, roughly: the rate at which similar ones changed the
    /// picture, more for going on with what just worked, less for what is known to take it back.
    pub(super) fn promise(&self, feature: Feature, action: Action) -> f64 {
        let record = self.by_feature.get(&feature).copied().unwrap_or_default();
        let rate = (f64::from(record.changed) + 0.5) / (f64::from(record.tried) + 1.0);
        let size = match feature {
            Feature::Key(_) => 1.0,
            Feature::Object(look) => look.salience(),
        };
        let flow = match self.last_step {
            Some((_, last)) if last == action && matches!(feature, Feature::Key(_)) => 1.3,
            Some((_, last)) if self.reversals.contains_key(&(last, action)) => 0.5,
            _ => 1.0,
        };
        rate * size * flow
    }
}

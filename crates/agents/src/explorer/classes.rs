//! Classes of actions, and the chance that an action of a class changes the state.
//!
//! All uses of a key form a class, and so do all clicks on objects that look alike. What an action
//! did at one state is evidence for the others of its class, on this level and on later ones.

use std::collections::BTreeMap;

use rhae_engine::{ActionKind, ActionSet, StateKey};
use rhae_percept::{ClickClass, ShapeId, SizeClass};

use super::is_exploratory;

/// The chance of a postponed class. It is not 0, so everything is tried in the end.
pub(super) const POSTPONED: f64 = 0.02;
/// The number of different states in which a click, or a key, must have had no effect to be postponed.
const MIN_STATES_WITHOUT_CLICK_EFFECT: u8 = 2;
const MIN_STATES_WITHOUT_KEY_EFFECT: u8 = 8;
/// The chance of a key, and of a click on an object that stands out, before any result.
const PRIOR: f64 = 0.5;
/// The number of results that the prior of a key, and that of a click, is worth. A key that a wall
/// stopped works elsewhere; an object that ignored a click usually keeps ignoring clicks.
const KEY_PRIOR_WEIGHT: f64 = 3.0;
const CLICK_PRIOR_WEIGHT: f64 = 1.0;
/// The least chance of a key that is not postponed. There are so few keys that all of them are tried at
/// a state before the explorer leaves it.
const MIN_KEY_CHANCE: f64 = 0.35;
/// The factor for clicks if keys are offered as well: there are far fewer keys than objects.
const CLICK_WEIGHT_WITH_KEYS: f64 = 0.6;
/// How often a part and its whole must have had the same effect to be considered as one.
const MIN_SAME_EFFECTS: u32 = 2;
/// The weight of results on a new level.
const TRANSFER: f64 = 0.5;
/// The largest number of classes. Further ones are distinguished by colour and size only.
const MAX_CLASSES: usize = 65_536;

/// What actions of one class have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ActionClass {
    /// All uses of a key.
    Key(ActionKind),
    /// All clicks on objects that look alike.
    Click(ClickClass),
}

/// The index of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClassId(u32);

impl ClassId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The results of the actions of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    tried: f64,
    changed: f64,
    /// The number of different states without an effect.
    states_without_effect: u8,
    last_state_without_effect: StateKey,
    /// How often a click on a part had the same effect as one on its whole, and how often not.
    same_as_whole: u32,
    other_than_whole: u32,
}

impl Record {
    fn is_postponed(&self, class: ActionClass) -> bool {
        let min_states = match class {
            ActionClass::Key(_) => MIN_STATES_WITHOUT_KEY_EFFECT,
            ActionClass::Click(_) => MIN_STATES_WITHOUT_CLICK_EFFECT,
        };
        self.changed == 0.0 && self.states_without_effect >= min_states
    }
}

/// All classes of a play with their results.
#[derive(Default)]
pub(super) struct Classes {
    ids: BTreeMap<ActionClass, ClassId>,
    classes: Vec<ActionClass>,
    records: Vec<Record>,
    has_keys: bool,
}

impl Classes {
    /// Starts a level. The results of earlier levels count half, and a postponed class gets another
    /// chance, because a level may give it an effect.
    pub(super) fn start_level(&mut self) {
        for record in &mut self.records {
            record.tried *= TRANSFER;
            record.changed *= TRANSFER;
            record.states_without_effect = record.states_without_effect.min(1);
        }
    }

    /// Sets which actions are offered. If there are keys, they are preferred to clicks.
    pub(super) fn set_offered(&mut self, offered: ActionSet) {
        self.has_keys = offered.iter().any(is_exploratory);
    }

    /// Returns the id of a class.
    pub(super) fn id(&mut self, class: ActionClass) -> ClassId {
        let class = match class {
            ActionClass::Click(click) if self.classes.len() >= MAX_CLASSES => {
                let shape = ShapeId(0);
                ActionClass::Click(ClickClass { shape, ..click })
            }
            other => other,
        };
        let next = ClassId(self.classes.len() as u32);
        let id = *self.ids.entry(class).or_insert(next);
        if id == next {
            self.classes.push(class);
            self.records.push(Record::default());
        }
        id
    }

    /// Records whether an action changed a state.
    pub(super) fn record(&mut self, id: ClassId, state: StateKey, is_changed: bool) {
        let record = &mut self.records[id.index()];
        record.tried += 1.0;
        if is_changed {
            record.changed += 1.0;
        } else if record.states_without_effect == 0 || record.last_state_without_effect != state {
            record.states_without_effect = record.states_without_effect.saturating_add(1);
            record.last_state_without_effect = state;
        }
    }

    /// Records whether a click on a part of an object had the same effect as one on the object.
    pub(super) fn record_part(&mut self, part: ClassId, is_same: bool) {
        let record = &mut self.records[part.index()];
        if is_same {
            record.same_as_whole += 1;
        } else {
            record.other_than_whole += 1;
        }
    }

    /// Returns the chance that an untried action of a class changes the state: the smoothed share of
    /// its results.
    pub(super) fn chance(&self, id: ClassId, is_part: bool) -> f64 {
        let record = &self.records[id.index()];
        let class = self.classes[id.index()];
        let is_known_part =
            record.same_as_whole >= MIN_SAME_EFFECTS && record.other_than_whole == 0;
        if record.is_postponed(class) || is_part && is_known_part {
            return POSTPONED;
        }
        let share =
            |prior: f64, weight: f64| (record.changed + prior * weight) / (record.tried + weight);
        let ActionClass::Click(click) = class else {
            return share(PRIOR, KEY_PRIOR_WEIGHT).max(MIN_KEY_CHANCE);
        };
        let weight = if self.has_keys {
            CLICK_WEIGHT_WITH_KEYS
        } else {
            1.0
        };
        share(PRIOR * salience(click.size) * weight, CLICK_PRIOR_WEIGHT)
    }
}

/// Returns how much an object stands out, from 0 to 1.
const fn salience(size: SizeClass) -> f64 {
    match size {
        SizeClass::Dot => 0.4,
        SizeClass::Small | SizeClass::Medium => 1.0,
        SizeClass::Large => 0.2,
    }
}

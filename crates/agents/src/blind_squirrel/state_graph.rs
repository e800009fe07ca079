//! The states of a level, their actions and the transitions between them.

use std::collections::BTreeMap;

use rhae_engine::{ActionKind, ActionSet, StateKey};
use rhae_percept::{Object, ObjectId, Scene};

use super::identities::{Identities, Identity};
use super::priors::Priors;
use super::value_model::StateInput;

/// The largest number of states. A graph that exceeds it is dropped, see [`StateGraph::is_full`].
const MAX_STATES: usize = 65_536;
/// The largest number of actions of all states together: 120 MB.
const MAX_ACTIONS: usize = 4_000_000;
/// The simple actions, which come before the objects.
pub(super) const SIMPLE: [ActionKind; 5] = [
    ActionKind::Action1,
    ActionKind::Action2,
    ActionKind::Action3,
    ActionKind::Action4,
    ActionKind::Action5,
];

/// The index of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StateId(pub(super) u32);

impl StateId {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where an action led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Successor {
    State(StateId),
    /// The level was completed.
    Win,
    /// The level was lost.
    Lost,
}

/// What is known about the worth of an action: the `rweight` of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rating {
    Unknown,
    Bad,
    Good,
}

/// The properties of an object that describe a click on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clicked {
    pub(super) id: u16,
    pub(super) color: u8,
    pub(super) area: u16,
    pub(super) bounds_area: u16,
    pub(super) x: u8,
    pub(super) y: u8,
}

/// An action of a state: first the five simple actions, then clicks on the objects in the order of
/// [`ordered_objects`].
#[derive(Clone, Copy, Debug)]
pub(super) struct StateAction {
    pub(super) rating: Rating,
    pub(super) is_offered: bool,
    pub(super) successor: Option<Successor>,
    /// The object of a click, `None` for a simple action.
    pub(super) clicked: Option<Clicked>,
    pub(super) identity: Identity,
    /// How often the action lost the level here.
    pub(super) losses: u8,
}

pub(super) struct State {
    pub(super) input: StateInput,
    pub(super) actions: Vec<StateAction>,
    /// The transitions that lead here. Some may be outdated.
    predecessors: Vec<(StateId, u16)>,
}

impl State {
    fn is_dead(&self) -> bool {
        let mut actions = self.actions.iter();
        actions.all(|action| action.rating == Rating::Bad)
    }
}

/// The states of one level.
#[derive(Default)]
pub(super) struct StateGraph {
    pub(super) states: Vec<State>,
    by_key: BTreeMap<StateKey, StateId>,
    actions: usize,
}

impl StateGraph {
    pub(super) fn find(&self, key: StateKey) -> Option<StateId> {
        self.by_key.get(&key).copied()
    }

    /// Adds a state. Actions that are not offered are bad.
    pub(super) fn insert(
        &mut self,
        key: StateKey,
        input: StateInput,
        scene: &Scene,
        offered: ActionSet,
        identities: &mut Identities,
    ) -> StateId {
        let action = |is_offered, clicked, identity| StateAction {
            rating: if is_offered {
                Rating::Unknown
            } else {
                Rating::Bad
            },
            is_offered,
            successor: None,
            clicked,
            identity,
            losses: 0,
        };
        let simple = (0..).zip(SIMPLE).map(|(id, kind)| {
            let identity = Identity {
                id,
                rank: 0,
                twins: 1,
            };
            action(offered.contains(kind), None, identity)
        });
        let mut actions: Vec<StateAction> = simple.collect();
        // Without clicks all objects would be bad, so they are left out.
        if offered.contains(ActionKind::Action6) {
            let objects = ordered_objects(scene);
            let ids = identities.of_objects(scene, &objects);
            actions.extend(
                objects.into_iter().zip(ids).map(|(id, identity)| {
                    action(true, Some(clicked(id, scene.object(id))), identity)
                }),
            );
        }
        self.actions += actions.len();
        let id = StateId(self.states.len() as u32);
        self.states.push(State {
            input,
            actions,
            predecessors: Vec::new(),
        });
        self.by_key.insert(key, id);
        id
    }

    /// Returns whether the graph has reached its limits and must be replaced by an empty one.
    pub(super) fn is_full(&self) -> bool {
        self.states.len() >= MAX_STATES || self.actions >= MAX_ACTIONS
    }

    pub(super) fn action(&self, state: StateId, action: u16) -> &StateAction {
        &self.states[state.index()].actions[usize::from(action)]
    }

    /// Records the result of an action. It is bad if it does not change the state, leads back to the
    /// level's first state or loses the level, and good otherwise. The first result of an action at a
    /// state is counted in the priors.
    pub(super) fn record(
        &mut self,
        from: StateId,
        action: u16,
        successor: Successor,
        first: Option<StateId>,
        priors: &mut Priors,
    ) {
        let is_bad = match successor {
            Successor::State(to) => to == from || Some(to) == first,
            Successor::Win => false,
            Successor::Lost => true,
        };
        let edge = &mut self.states[from.index()].actions[usize::from(action)];
        if edge.successor.is_none() {
            priors.count(edge.identity, !is_bad);
        }
        let is_new = edge.successor != Some(successor);
        edge.successor = Some(successor);
        edge.rating = if is_bad { Rating::Bad } else { Rating::Good };
        if let Successor::State(to) = successor {
            if is_new {
                self.states[to.index()].predecessors.push((from, action));
            }
            self.propagate_dead_ends(to);
        }
        self.propagate_dead_ends(from);
    }

    /// Counts that an action lost the level, and returns how often it did at this state.
    pub(super) fn count_loss(&mut self, from: StateId, action: u16) -> u8 {
        let edge = &mut self.states[from.index()].actions[usize::from(action)];
        edge.losses = edge.losses.saturating_add(1);
        edge.losses
    }

    /// If all actions of a state are bad, makes the good transitions into it bad, and so on for the
    /// states before it.
    fn propagate_dead_ends(&mut self, state: StateId) {
        let mut worklist = vec![state];
        while let Some(dead) = worklist.pop() {
            if !self.states[dead.index()].is_dead() {
                continue;
            }
            for position in 0..self.states[dead.index()].predecessors.len() {
                let (from, action) = self.states[dead.index()].predecessors[position];
                let edge = &mut self.states[from.index()].actions[usize::from(action)];
                let leads_here = edge.successor == Some(Successor::State(dead));
                if leads_here && edge.rating == Rating::Good {
                    edge.rating = Rating::Bad;
                    worklist.push(from);
                }
            }
        }
    }
}

/// Returns the objects in the order of their actions: by regularity (the share of the bounding
/// rectangle that is filled), area and colour, each descending, then by position.
pub(super) fn ordered_objects(scene: &Scene) -> Vec<ObjectId> {
    let mut ids: Vec<ObjectId> = scene.iter().map(|(id, _)| id).collect();
    ids.sort_by(|&a, &b| {
        let (first, second) = (scene.object(a), scene.object(b));
        // Compares the two quotients without rounding.
        let share = |object: &Object, other: &Object| {
            u32::from(object.area) * u32::from(other.bounds.area())
        };
        share(second, first)
            .cmp(&share(first, second))
            .then(second.area.cmp(&first.area))
            .then(second.color.cmp(&first.color))
            .then(a.cmp(&b))
    });
    ids
}

fn clicked(id: ObjectId, object: &Object) -> Clicked {
    Clicked {
        id: id.0,
        color: object.color,
        area: object.area,
        bounds_area: object.bounds.area(),
        x: object.center.0,
        y: object.center.1,
    }
}

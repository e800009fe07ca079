//! The identity of an action, by which results at one state count for others.

use std::collections::BTreeMap;

use rhae_percept::{ClickClass, ObjectId, Scene, click_class};

use super::state_graph::SIMPLE;

/// The largest number of classes. Further ones share the last identity.
const MAX_CLASSES: usize = 60_000;

/// Which rules the agent follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Those of the original: an action is identified by its position in the list of its state.
    Faithful,
    /// A click is identified by the class of its object, on all levels.
    ByClass,
}

impl Form {
    /// Returns how often an action must have lost the level at a state to be bad.
    pub(super) const fn believed_losses(self) -> u8 {
        match self {
            Self::Faithful => 1,
            Self::ByClass => 2,
        }
    }
}

/// Assigns identities to actions.
#[derive(Clone, Debug)]
pub(super) struct Identities {
    form: Form,
    classes: BTreeMap<ClickClass, u16>,
}

/// What the prior of an action depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    /// The number under which results are counted.
    pub(super) id: u16,
    /// The rank among the objects or classes of the state, 0 for a simple action.
    pub(super) rank: u16,
    /// The number of actions of the state with this identity, which share the weight.
    pub(super) twins: u16,
}

impl Identities {
    pub(super) const fn new(form: Form) -> Self {
        Self {
            form,
            classes: BTreeMap::new(),
        }
    }

    /// Returns the identities of the clicks on objects, in the given order.
    pub(super) fn of_objects(&mut self, scene: &Scene, order: &[ObjectId]) -> Vec<Identity> {
        let first = SIMPLE.len() as u16;
        if self.form == Form::Faithful {
            let ranks = 0..order.len() as u16;
            return ranks
                .map(|rank| Identity {
                    id: first + rank,
                    rank,
                    twins: 1,
                })
                .collect();
        }
        // The rank of each class in this state, and the number of its objects.
        let mut classes: BTreeMap<u16, (u16, u16)> = BTreeMap::new();
        let ids: Vec<u16> = order
            .iter()
            .map(|&object| {
                let next = first + self.classes.len().min(MAX_CLASSES) as u16;
                let class = click_class(scene, object);
                let id = if usize::from(next - first) < MAX_CLASSES {
                    *self.classes.entry(class).or_insert(next)
                } else {
                    self.classes.get(&class).copied().unwrap_or(next)
                };
                let rank = classes.len() as u16;
                classes.entry(id).or_insert((rank, 0)).1 += 1;
                id
            })
            .collect();
        ids.into_iter()
            .map(|id| {
                let (rank, twins) = classes[&id];
                Identity { id, rank, twins }
            })
            .collect()
    }
}

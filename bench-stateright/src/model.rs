//! A level as a stateright model.

use std::fmt;
use std::sync::Arc;

use rhae_engine::{Action, Game, LevelIndex, Outcome};
use rhae_explore::{Explorable, NativeLevel};
use stateright::{Checker, Model, Property};

/// Searches the level until stateright has generated this many states. Returns the number of
/// distinct states.
pub(crate) fn check<G: Game>(level: LevelIndex, generated: usize) -> usize {
    let model = Peer::<G>(Arc::new(NativeLevel::new(0, level)));
    model
        .checker()
        .threads(1)
        .target_state_count(generated)
        .spawn_bfs()
        .join()
        .unique_state_count()
}

/// The level as a stateright model.
struct Peer<G: Game>(Arc<NativeLevel<G>>);

pub(crate) type StateOf<G> = <NativeLevel<G> as Explorable>::State;

#[derive(Clone, PartialEq, Eq, Hash)]
struct PeerState<S> {
    state: S,
    outcome: Outcome,
}

impl<S> fmt::Debug for PeerState<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.outcome.fmt(f)
    }
}

impl<G: Game> Model for Peer<G> {
    type State = PeerState<StateOf<G>>;
    type Action = Action;

    fn init_states(&self) -> Vec<Self::State> {
        vec![PeerState {
            state: self.0.start(),
            outcome: Outcome::Continue,
        }]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        if state.outcome == Outcome::Continue {
            self.0.actions(&state.state, actions);
        }
    }

    fn next_state(&self, last: &Self::State, action: Action) -> Option<Self::State> {
        let mut state = last.state.clone();
        let Ok(outcome) = self.0.step(&mut state, action);
        Some(PeerState { state, outcome })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // The checker stops unless some property is still undecided.
        vec![Property::always("open", |_, _| true)]
    }
}

//! What a search needs of an environment, and native levels as such.

use std::convert::Infallible;

use rhae_engine::{
    Action, ActionKind, ActionSet, Frame, Game, LevelIndex, NoFrames, Outcome, StateKey, StateOf,
    key_of,
};

/// One level as a graph of states.
///
/// **Invariant:** equal states have equal successors; what an action does depends on the state alone.
pub trait Explorable: Sync {
    /// A position in the graph.
    type State: Clone + Send + Sync;
    /// Why an action got no answer; native games never fail.
    type Error: Send;

    /// Where the level begins.
    fn start(&self) -> Self::State;

    /// The kinds of action that are offered in a state.
    fn offered(&self, state: &Self::State) -> ActionSet;

    /// Adds the clicks that may matter in a state, where clicks are offered.
    fn clicks(&self, _state: &Self::State, _actions: &mut Vec<Action>) {}

    /// The actions worth trying in a state: keys in the order of their ids, then the clicks that may matter. RESET is left
    /// out, and so is undo: going back to an earlier board never shortens a win.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        let offered = self.offered(state);
        actions.extend(keys_of(offered));
        if offered.contains(ActionKind::Action6) {
            self.clicks(state, actions);
        }
    }

    /// Takes an action.
    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Self::Error>;

    /// Tells states apart.
    fn key(&self, state: &Self::State) -> StateKey;

    /// Tells states apart for a search: equal boards count as one place whatever was spent on the way. So a shortest win is
    /// right for games in which a longer way to a board never leaves more to spend; every win that is found is real.
    fn place(&self, state: &Self::State) -> StateKey {
        self.key(state)
    }

    /// The whole state as a number below 2^[`PACKED_BITS`](rhae_engine::PACKED_BITS), where it fits.
    fn pack(&self, _state: &Self::State) -> Option<u128> {
        None
    }

    /// The state of a number that [`pack`](Self::pack) gave.
    fn unpack(&self, _packed: u128) -> Option<Self::State> {
        None
    }

    /// Whether an action led back to where it was taken, if that is quickly seen: then the state is not hashed again. Saying no is never wrong.
    fn is_same(&self, _before: &Self::State, _after: &Self::State) -> bool {
        false
    }

    /// After how many states a search asks whether to go on: fewer where a state takes long.
    fn patience(&self) -> usize {
        1 << 13
    }

    /// Memory that a state holds beside its own size.
    fn heap_bytes(&self, _state: &Self::State) -> usize {
        0
    }
}

/// The keys worth trying of those that are offered.
pub(crate) fn keys_of(offered: ActionSet) -> impl Iterator<Item = Action> {
    offered
        .iter()
        .filter(|kind| !matches!(kind, ActionKind::Reset | ActionKind::Action7))
        .filter_map(ActionKind::simple)
}

/// A level of a native game.
pub struct NativeLevel<G: Game> {
    level: G::Level,
    packs: bool,
}

impl<G: Game> NativeLevel<G> {
    /// A level under a seed.
    pub fn new(seed: u64, index: LevelIndex) -> Self {
        Self {
            level: G::level(index, seed),
            packs: true,
        }
    }

    /// The same level without packed states, so that every state is told apart by its hash.
    #[must_use]
    pub fn hashed(self) -> Self {
        Self {
            packs: false,
            ..self
        }
    }

    /// The settled picture of a state.
    pub fn drawn(&self, state: &StateOf<G>) -> Frame {
        let mut frame = Frame::filled(0);
        G::draw(&self.level, state, &mut frame);
        frame
    }
}

impl<G: Game> Explorable for NativeLevel<G> {
    type State = StateOf<G>;
    type Error = Infallible;

    fn start(&self) -> Self::State {
        G::start(&self.level)
    }

    #[inline]
    fn offered(&self, state: &Self::State) -> ActionSet {
        G::offered(&self.level, state)
    }

    #[inline]
    fn clicks(&self, state: &Self::State, actions: &mut Vec<Action>) {
        actions.extend(G::clicks(&self.level, state).map(|(x, y)| Action::Action6 { x, y }));
    }

    #[inline]
    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Infallible> {
        Ok(G::step(&self.level, state, action, &mut NoFrames))
    }

    #[inline]
    fn key(&self, state: &Self::State) -> StateKey {
        key_of(state)
    }

    fn place(&self, state: &Self::State) -> StateKey {
        key_of(&state.board)
    }

    #[inline]
    fn pack(&self, state: &Self::State) -> Option<u128> {
        if self.packs {
            G::pack(&self.level, state)
        } else {
            None
        }
    }

    #[inline]
    fn unpack(&self, packed: u128) -> Option<Self::State> {
        if self.packs {
            G::unpack(&self.level, packed)
        } else {
            None
        }
    }

    #[inline]
    fn is_same(&self, before: &Self::State, after: &Self::State) -> bool {
        // What is spent is small and, where there is any, mostly differs.
        before.spent == after.spent && before.board == after.board
    }
}

//! The interface between a search and a level, and its implementation for native games.

use std::convert::Infallible;

use rhae_engine::{
    Action, ActionKind, ActionSet, Frame, Game, LevelIndex, NoFrames, Outcome, StateKey, StateOf,
    key_of,
};

use crate::{Graph, Progress, SearchOptions};

/// A level as an implicit graph of states.
///
/// A search starts at [`start`](Self::start), applies every action in [`actions`](Self::actions)
/// with [`step`](Self::step), and identifies the states that it reaches by [`key`](Self::key). The
/// other methods have defaults; implementing them makes a search faster or its limits more precise.
/// The [crate documentation](crate) contains a complete implementation.
///
/// **Invariant:** the effect of an action depends only on the state, so equal states have equal
/// successors.
pub trait Explorable: Sync {
    /// A state of the level. A search clones it once for each action.
    type State: Clone + Send + Sync;
    /// The error of an action that the environment could not apply; [`Infallible`] for native
    /// games.
    type Error: Send;

    /// Returns the state in which the level starts.
    fn start(&self) -> Self::State;

    /// Returns the kinds of action that are offered in a state.
    fn offered(&self, state: &Self::State) -> ActionSet;

    /// Appends the clicks that may have an effect in a state. It is called only where clicks are
    /// offered. The default appends none.
    fn clicks(&self, _state: &Self::State, _actions: &mut Vec<Action>) {}

    /// Returns whether the [`clicks`](Self::clicks) of a state are only representative: other clicks
    /// may have other effects.
    fn has_representative_clicks(&self, _state: &Self::State) -> bool {
        false
    }

    /// Appends the actions that a search tries in a state: simple actions in the order of their
    /// ids, then the [`clicks`](Self::clicks).
    ///
    /// RESET and undo are omitted: they only return to an earlier board, which never makes a win
    /// shorter.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        let offered = self.offered(state);
        actions.extend(simple_actions(offered));
        if offered.contains(ActionKind::Action6) {
            self.clicks(state, actions);
        }
    }

    /// Applies an action to `state`.
    ///
    /// # Errors
    ///
    /// Returns an error if the environment cannot apply the action. A native game never fails.
    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Self::Error>;

    /// Returns a key that identifies the state. Different states must have different keys, up to
    /// hash collisions.
    fn key(&self, state: &Self::State) -> StateKey;

    /// Returns a key that identifies only the board of a state: the part that undo restores.
    ///
    /// [`shortest_win`](crate::shortest_win) visits every board only once, on the first path that
    /// reaches it, even if another path would have spent less of a limited supply. Its result is
    /// therefore optimal only for games in which a longer path to a board never leaves more of the
    /// supply. Every win that it finds is valid in any case.
    fn board_key(&self, state: &Self::State) -> StateKey {
        self.key(state)
    }

    /// Encodes the whole state as a number below 2^[`PACKED_BITS`](rhae_engine::PACKED_BITS), or
    /// returns `None` if it does not fit. Packed states need no queue, and no two of them share a
    /// key.
    fn pack(&self, _state: &Self::State) -> Option<u128> {
        None
    }

    /// Decodes a number that [`pack`](Self::pack) returned.
    fn unpack(&self, _packed: u128) -> Option<Self::State> {
        None
    }

    /// Returns true if a cheap comparison shows that an action left the state unchanged. The search
    /// then does not hash the state again. Returning false is always correct.
    fn is_same(&self, _before: &Self::State, _after: &Self::State) -> bool {
        false
    }

    /// Returns the number of states that a search expands between two calls of its
    /// `should_continue` callback. Slow environments return a small number.
    fn check_interval(&self) -> usize {
        1 << 13
    }

    /// Returns the heap memory that a state owns, in bytes. A search counts it towards its memory
    /// limit.
    fn heap_bytes(&self, _state: &Self::State) -> usize {
        0
    }

    /// Builds the graph where the game runs, if that is faster than to apply the actions one by one
    /// with [`step`](Self::step). The graph must be the same. The default returns `None`, which means
    /// that the search uses `step`.
    ///
    /// # Errors
    ///
    /// Returns an error if the environment fails.
    fn explore_in_bulk(
        &self,
        _search: &SearchOptions,
        _should_continue: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Option<Graph>, Self::Error> {
        Ok(None)
    }
}

/// Returns the simple actions (those without coordinates) that a search tries among the offered
/// ones: all except RESET and undo.
pub(crate) fn simple_actions(offered: ActionSet) -> impl Iterator<Item = Action> {
    offered
        .iter()
        .filter(|kind| !matches!(kind, ActionKind::Reset | ActionKind::Action7))
        .filter_map(ActionKind::simple)
}

/// A level of a native game.
///
/// # Examples
///
/// `rhae_games::visit` runs generic code on a shipped game:
///
/// ```
/// use rhae_engine::{Game, LevelIndex};
/// use rhae_explore::{NativeLevel, SearchOptions, explore, first_win};
/// use rhae_games::{Visitor, visit};
///
/// /// Returns the number of states of the first level and the length of its shortest win.
/// struct FirstLevel;
///
/// impl Visitor for FirstLevel {
///     type Output = (usize, Option<usize>);
///
///     fn visit<G: Game>(self) -> Self::Output {
///         let level = NativeLevel::<G>::new(0, LevelIndex(0));
///         let Ok(graph) = explore(&level, &SearchOptions::default(), |_| true);
///         (graph.nodes(), first_win(&graph).map(|win| graph.depth_of(win)))
///     }
/// }
///
/// let (states, shortest) = visit("bx20-v1", FirstLevel).expect("the game is registered");
/// assert_eq!(states, 208);
/// assert!(shortest.is_some_and(|actions| actions > 0));
/// ```
pub struct NativeLevel<G: Game> {
    level: G::Level,
    packs: bool,
}

impl<G: Game> NativeLevel<G> {
    /// Builds the level with the given index for an environment seed.
    pub fn new(seed: u64, index: LevelIndex) -> Self {
        Self {
            level: G::level(index, seed),
            packs: true,
        }
    }

    /// Returns the level with packing disabled, so that every state is identified by its hash.
    #[must_use]
    pub fn hashed(self) -> Self {
        Self {
            packs: false,
            ..self
        }
    }

    /// Draws the settled frame of a state.
    pub fn render(&self, state: &StateOf<G>) -> Frame {
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

    fn board_key(&self, state: &Self::State) -> StateKey {
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
        // `spent` is compared first, because it is small and, in games that use it, usually
        // differs.
        before.spent == after.spent && before.board == after.board
    }
}

//! What a search needs of an environment.

use rhae_engine::{Action, ActionKind, Game, LevelIndex, Levels, NoFrames, Outcome, StateKey, StateOf, key_of};

/// One level as a graph of states.
pub trait Explorable {
    /// A position in the graph.
    type State: Clone;

    /// Where the level begins.
    fn start(&self) -> Self::State;

    /// The actions worth trying in a state. Undo is left out: going back to an earlier board never shortens a win.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>);

    /// Takes an action.
    fn step(&self, state: &mut Self::State, action: Action) -> Outcome;

    /// Tells states apart for a search: equal boards count as one place whatever was spent on the way. So a shortest win is
    /// right for games in which a longer way to a board never leaves more to spend; every win that is found is real.
    fn place(&self, state: &Self::State) -> StateKey;
}

/// A level of a native game.
pub struct NativeLevel<G: Game> {
    levels: Levels<G>,
    index: LevelIndex,
}

impl<G: Game> NativeLevel<G> {
    /// A level under a seed.
    pub fn new(seed: u64, index: LevelIndex) -> Self {
        Self { levels: Levels::new(seed), index }
    }

    fn level(&self) -> &G::Level {
        self.levels.get(self.index)
    }
}

impl<G: Game> Explorable for NativeLevel<G> {
    type State = StateOf<G>;

    fn start(&self) -> Self::State {
        G::start(self.level())
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        let offered = G::offered(self.level(), state);
        for kind in offered.iter() {
            match kind {
                ActionKind::Reset | ActionKind::Action7 => {}
                ActionKind::Action6 => {
                    let mut cells = Vec::new();
                    G::clicks(self.level(), state, &mut cells);
                    actions.extend(cells.into_iter().filter_map(|(x, y)| Action::click(x, y)));
                }
                key => actions.extend(key.simple()),
            }
        }
    }

    fn step(&self, state: &mut Self::State, action: Action) -> Outcome {
        G::step(self.level(), state, action, &mut NoFrames)
    }

    fn place(&self, state: &Self::State) -> StateKey {
        key_of(&state.board)
    }
}

//! The rules of a native game: a pure state machine over a small state.

use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Action, ActionSet, Facts, Frame, FrameSink, LevelIndex};

/// The effect of a step on the level being played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The level continues.
    Continue,
    /// The level is won.
    LevelWon,
    /// The level is lost; every action is ignored until RESET restarts the level.
    GameOver,
}

/// The part of a level that changes while it is played.
///
/// The state is split in two because undo treats the halves differently: it restores `board` and
/// leaves `spent` alone. Two states are equal only if both halves are equal, so a search treats two
/// states with the same board but different `spent` halves as different.
///
/// **Invariant:** the level, the state and the later actions determine all later frames and
/// outcomes. A game that needs randomness during a level therefore stores the generator in the
/// board.
///
/// # Examples
///
/// ```
/// use rhae_engine::State;
///
/// let before = State { board: (3_u8, 4_u8), spent: 20_u16 };
/// let mut after = before.clone();
/// after.spent -= 1;
/// assert_eq!(after.board, before.board);
/// assert_ne!(after, before);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<Board, Spent> {
    /// The part that undo restores, including any random generator.
    pub board: Board,
    /// The part that undo does not restore, such as the remaining energy or lives. It may count up
    /// or down: the name only means that undo does not give it back.
    pub spent: Spent,
}

/// The traits that both halves of a [`State`] need: searches compare and hash states, and snapshots
/// serialise them. `StateData` is implemented for every type that implements these traits.
pub trait StateData: Clone + Eq + Hash + Serialize + DeserializeOwned + Send + Sync {}

impl<T: Clone + Eq + Hash + Serialize + DeserializeOwned + Send + Sync> StateData for T {}

/// The [`State`] of the game `G`.
pub type StateOf<G> = State<<G as Game>::Board, <G as Game>::Spent>;

/// The rules of a native game.
///
/// A game is a type that is never instantiated; its associated functions are the rules. Data that
/// never changes during a level, such as walls or a pre-drawn background, belongs in
/// [`Level`](Game::Level), which an episode builds once and shares with its clones. Data that does
/// change belongs in a small [`State`], so that a search can clone and compare millions of states
/// cheaply.
///
/// [`Episode`](crate::Episode) calls these functions and adds the behaviour that all games share:
/// RESET, undo, the sequence of levels, and what happens after a win or a loss. The
/// [crate documentation](crate) contains a complete game.
///
/// # Invariants
///
/// * All functions are pure: their results depend on nothing but their arguments.
/// * States hold no heap memory, so that a step does not allocate.
/// * [`draw`](Game::draw) sets every cell of the frame to a colour in `0..=15`.
///
/// The tests of the registered games check these invariants on random plays.
///
/// # Examples
///
/// The functions can be called without an episode, which is convenient in unit tests. Here
/// `Counter` is a game whose levels are won when a counter reaches 3:
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/counter.rs"));
/// use rhae_engine::NoFrames;
///
/// # fn main() -> Result<(), rhae_engine::EnvironmentError> {
/// let level = Counter::level(LevelIndex(0), 0);
/// let mut state = Counter::start(&level);
/// let outcome = Counter::step(&level, &mut state, Action::Action1, &mut NoFrames);
/// assert_eq!((outcome, state.board), (Outcome::Continue, 1));
/// let outcome = Counter::step(&level, &mut state, Action::Action2, &mut NoFrames);
/// assert_eq!((outcome, state.board), (Outcome::LevelWon, 3));
/// # Ok(())
/// # }
/// ```
pub trait Game: Sized + Send + Sync + 'static {
    /// The metadata of the game.
    const FACTS: Facts;

    /// The data that does not change while a level is played.
    type Level: Send + Sync;
    /// The part of the state that undo restores.
    type Board: StateData;
    /// The part of the state that undo does not restore, or `()`.
    type Spent: StateData;

    /// Builds a level. Seed 0 is the canonical game; other seeds may change the level only if
    /// [`Facts::seeded`] is set.
    fn level(index: LevelIndex, seed: u64) -> Self::Level;

    /// Returns the state in which a level starts.
    fn start(level: &Self::Level) -> StateOf<Self>;

    /// Applies one of the [`offered`](Game::offered) actions to `state`.
    ///
    /// RESET and undo (ACTION7) are handled by the episode and never reach this function. Pass only
    /// animation frames to `sink`. The settled frame, which ends every observation, is drawn by
    /// [`draw`](Game::draw); an animation that ends with the final state shows it twice.
    fn step(
        level: &Self::Level,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome;

    /// Draws the settled frame of a state. It must set every cell, because `frame` holds an older
    /// image.
    fn draw(level: &Self::Level, state: &StateOf<Self>, frame: &mut Frame);

    /// Charges the cost of an undo and passes the frames of its animation to `sink`.
    ///
    /// The episode calls this function after it has restored the board. `restored` is false if
    /// there was nothing to undo. By default, an undo costs nothing.
    fn on_undo(
        _level: &Self::Level,
        _state: &mut StateOf<Self>,
        _restored: bool,
        _sink: &mut impl FrameSink,
    ) -> Outcome {
        Outcome::Continue
    }

    /// Returns the kinds of action offered in a state. Any other action is counted and changes
    /// nothing. The default is all actions of [`Facts::actions`].
    fn offered(_level: &Self::Level, _state: &StateOf<Self>) -> ActionSet {
        Self::FACTS.actions
    }

    /// Returns one cell `(x, y)` of the frame for each area in which a click may have an effect in
    /// this state.
    ///
    /// Only exploration uses the list; agents never see it. A click on any other cell must have the
    /// same effect as a click on one of these cells, or the same effect as every other click that
    /// hits no target.
    fn clicks(_level: &Self::Level, _state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        std::iter::empty()
    }

    /// Encodes the whole state as a number below 2^[`PACKED_BITS`](crate::PACKED_BITS), or returns
    /// `None` if it does not fit.
    ///
    /// If it fits, a search stores this number instead of a key and the state. Two states of a
    /// level may have the same number only if they are equal; this includes states in which the
    /// level has ended. [`Packer`](crate::Packer) and [`Unpacker`](crate::Unpacker) do the bit
    /// arithmetic.
    fn pack(_level: &Self::Level, _state: &StateOf<Self>) -> Option<u128> {
        None
    }

    /// Decodes a number that [`pack`](Game::pack) returned for the same level.
    fn unpack(_level: &Self::Level, _packed: u128) -> Option<StateOf<Self>> {
        None
    }
}

//! The rules of a native game: a pure state machine over a small state.

use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Action, ActionSet, Facts, Frame, FrameSink, LevelIndex};

/// What a step led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The level goes on.
    Going,
    /// The level is won.
    LevelWon,
    /// The level is lost; only RESET leads on.
    GameOver,
}

/// Everything that changes while a level is played.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<Board, Spent> {
    /// What undo restores, randomness included.
    pub board: Board,
    /// What stays spent when the board is restored: a budget, lives.
    pub spent: Spent,
}

/// What a state may be made of: compared and hashed by searches, written and read by snapshots. A `derive` gives all of it.
pub trait Part: Clone + Eq + Hash + Serialize + DeserializeOwned + Send + Sync {}

impl<T: Clone + Eq + Hash + Serialize + DeserializeOwned + Send + Sync> Part for T {}

/// The state of a game's levels.
pub type StateOf<G> = State<<G as Game>::Board, <G as Game>::Spent>;

/// The rules of a native game.
///
/// A game has no value: it is a type whose functions are its rules. What never changes during a level (walls, a drawn
/// background) is a [`Level`](Game::Level), made once and shared; what does change is a small [`State`]. So cloning a
/// state, comparing two and searching millions of them is cheap.
///
/// **Invariant:** all functions are pure, and a step depends on nothing but its arguments.
/// **Invariant:** states hold no heap memory, so that a step allocates nothing.
pub trait Game: Sized + Send + Sync + 'static {
    /// What is known of the game without playing it.
    const FACTS: Facts;

    /// What does not change while a level is played.
    type Level: Send + Sync;
    /// What undo restores.
    type Board: Part;
    /// What undo does not restore; `()` if there is no such thing.
    type Spent: Part;

    /// Makes a level. Seed 0 is the canonical game.
    fn level(index: LevelIndex, seed: u64) -> Self::Level;

    /// The state in which a level begins.
    fn start(level: &Self::Level) -> StateOf<Self>;

    /// Carries out one of the offered actions; RESET and undo never arrive here.
    ///
    /// Goes through the sink only the frames of an animation: the settled picture that ends every observation is drawn by
    /// [`draw`](Game::draw).
    fn step(
        level: &Self::Level,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome;

    /// Draws the settled picture of a state, every cell of it.
    fn draw(level: &Self::Level, state: &StateOf<Self>, frame: &mut Frame);

    /// Called after undo has restored the board, or found nothing to restore, to charge what undo costs and to show what
    /// became of it.
    fn undone(
        _level: &Self::Level,
        _state: &mut StateOf<Self>,
        _restored: bool,
        _sink: &mut impl FrameSink,
    ) -> Outcome {
        Outcome::Going
    }

    /// The actions offered in a state; an action that is not offered changes nothing.
    fn offered(_level: &Self::Level, _state: &StateOf<Self>) -> ActionSet {
        Self::FACTS.actions
    }

    /// One cell, on the frame, of each area in which a click may matter in this state. For exploration only, never shown to an agent:
    /// a click elsewhere must do the same as one of these, or nothing but what every idle click does.
    fn clicks(_level: &Self::Level, _state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        std::iter::empty()
    }

    /// The whole state as a number below 2^[`PACKED_BITS`](crate::PACKED_BITS), where it fits. Then a search keeps that
    /// number alone, in place of a hash and of the state. Equal numbers must mean equal states, ended levels included.
    fn pack(_level: &Self::Level, _state: &StateOf<Self>) -> Option<u128> {
        None
    }

    /// The state of a number that [`pack`](Game::pack) gave for the same level.
    fn unpack(_level: &Self::Level, _packed: u128) -> Option<StateOf<Self>> {
        None
    }
}

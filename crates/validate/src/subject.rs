//! What is checked: an environment that can be opened as often as needed.

use rhae_engine::{Action, Environment, EnvironmentError, GameInfo};
use rhae_explore::{Identity, Progress};

use crate::{GraphLimits, LevelGraph, NoGraph};

/// An environment that is checked.
pub trait Subject: Sync {
    /// What is known of it.
    fn info(&self) -> &GameInfo;

    /// How many levels it has.
    fn levels(&self) -> u8;

    /// Whether it runs elsewhere under rules of its own: it may act on what it does not offer, and may not tell what it hides.
    fn is_hosted(&self) -> bool;

    /// What tells its states apart, if it is not a key of the whole state that the environment has itself.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// A new play, as after its first RESET.
    fn open(&self, seed: u64) -> Result<Box<dyn Environment>, EnvironmentError>;

    /// A new play that stands where a level begins; `None` if no way there is known.
    fn enter(&self, seed: u64, level: u8)
    -> Result<Option<Box<dyn Environment>>, EnvironmentError>;

    /// The actions from the opening to where a level begins, if they are known.
    fn prefix(&self, level: u8) -> Option<Vec<Action>>;

    /// A line that wins a level from its start.
    fn solution(&self, level: u8) -> Option<Vec<Action>>;

    /// Whether the solution of a level comes with the environment, or was found.
    fn has_stored_solution(&self, level: u8) -> bool;

    /// Recordings that come with the environment.
    fn stored(&self) -> Vec<Stored> {
        Vec::new()
    }

    /// The state graph of a level; an error is why there is none. `go_on` is asked every few thousand states.
    fn graph(
        &self,
        seed: u64,
        level: u8,
        within: u32,
        limits: &GraphLimits,
        go_on: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<LevelGraph, NoGraph>;

    /// The fewest actions that win a level, if that can be proved by looking at no more than so many boards.
    fn optimum(&self, seed: u64, level: u8, most_places: usize) -> Option<Vec<Action>> {
        let _ = (seed, level, most_places);
        None
    }

    /// Compares boards before an action and after its undo, at random moments of random play.
    fn undo(&self, seed: u64, level: u8, steps: u32, random_seed: u64) -> LevelUndo {
        let _ = (seed, level, steps, random_seed);
        LevelUndo::Unknown
    }
}

/// What undo was seen to do, by an environment that can tell what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LevelUndo {
    /// Only pictures can tell.
    Unknown,
    /// Every undo restored the board: so many were tried.
    Restores(u32),
    /// After these actions of the level, the last of which is an undo, the board is another one.
    Differs(Vec<Action>),
}

/// A recording that comes with an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Where it is kept.
    pub name: String,
    /// What became of it when it was replayed: an error says where it differs.
    pub replayed: Result<String, String>,
}

//! The subject of a validation: an environment that can be opened as often as necessary.

use rhae_engine::{Action, Environment, EnvironmentError, GameInfo};
use rhae_explore::{Identity, Progress};

use crate::{GraphError, GraphLimits, LevelGraph};

/// An environment under validation.
///
/// The checks open many plays of a subject, enter its levels directly, and ask for solutions and
/// state graphs. Levels are counted from 0. [`NativeSubject`](crate::NativeSubject) and
/// [`EnvironmentSubject`](crate::EnvironmentSubject) implement the trait; another implementation is
/// needed only for environments that can provide more than the [`Environment`] interface offers,
/// such as direct entry to a level.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Environment, EnvironmentError};
/// use rhae_validate::{EnvironmentSubject, GraphLimits, Subject};
///
/// let open = |seed: u64| -> Result<Box<dyn Environment>, EnvironmentError> {
///     Ok(rhae_games::find("bx20").expect("the game is registered").open(seed))
/// };
/// let subject = EnvironmentSubject::new(open, 0, GraphLimits::default())?;
/// // No solution is stored, so the subject searches for one.
/// let solution = subject.solution(0).expect("the first level is easy to search");
/// assert!(!subject.has_stored_solution(0));
/// // Playing it leads to the second level.
/// assert_eq!(subject.prefix(1), Some(solution));
/// let play = subject.enter(0, 1)?.expect("the first level is won");
/// assert_eq!(play.observation().levels_completed, 1);
/// # Ok::<(), EnvironmentError>(())
/// ```
pub trait Subject: Sync {
    /// Returns the metadata of the environment.
    fn info(&self) -> &GameInfo;

    /// Returns the number of levels.
    fn levels(&self) -> u8;

    /// Returns whether the environment is hosted. Hosted environments follow looser rules: they may
    /// react to actions that they do not offer, and need not report hidden state.
    fn is_hosted(&self) -> bool;

    /// Returns which parts of the environment identify a state, or `None` if the environment
    /// provides a key of its complete state.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// Opens a new play, in the state after its first RESET.
    ///
    /// # Errors
    ///
    /// Fails if the environment cannot be opened.
    fn open(&self, seed: u64) -> Result<Box<dyn Environment>, EnvironmentError>;

    /// Opens a new play at the start of a level. Returns `None` if no path to the level is known.
    ///
    /// # Errors
    ///
    /// Fails if the environment cannot be opened or an action on the path fails.
    fn enter(&self, seed: u64, level: u8)
    -> Result<Option<Box<dyn Environment>>, EnvironmentError>;

    /// Returns the actions that lead from the opening to the start of a level, if they are known.
    fn prefix(&self, level: u8) -> Option<Vec<Action>>;

    /// Returns a sequence of actions that wins a level from its start, if one is known.
    fn solution(&self, level: u8) -> Option<Vec<Action>>;

    /// Returns whether the solution of a level is stored with the environment. If not,
    /// [`solution`](Self::solution) returns one that a search found, if any.
    fn has_stored_solution(&self, level: u8) -> bool;

    /// Returns the recordings that are stored with the environment.
    fn recordings(&self) -> Vec<StoredRecording> {
        Vec::new()
    }

    /// Builds and analyses the state graph of a level. `within` is the number of actions for which
    /// the probability of a random win is computed. `should_continue` is called every few thousand
    /// states.
    ///
    /// # Errors
    ///
    /// Returns a [`GraphError`] if the level cannot be searched or the environment fails.
    fn graph(
        &self,
        seed: u64,
        level: u8,
        within: u32,
        limits: &GraphLimits,
        should_continue: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<LevelGraph, GraphError>;

    /// Returns a win of a level that is proved to be a shortest one, if a search of at most
    /// `max_boards` boards finds it. The default returns `None`.
    fn optimum(&self, seed: u64, level: u8, max_boards: usize) -> Option<Vec<Action>> {
        let _ = (seed, level, max_boards);
        None
    }

    /// Compares the board before an action with the board after undoing it, at random moments of
    /// random play. The default returns [`UndoCheck::Unknown`].
    fn check_undo(&self, seed: u64, level: u8, steps: u32, random_seed: u64) -> UndoCheck {
        let _ = (seed, level, steps, random_seed);
        UndoCheck::Unknown
    }
}

/// The result of [`Subject::check_undo`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoCheck {
    /// The subject cannot compare boards; only frames can be compared.
    Unknown,
    /// Every undo restored the board. The value is the number of undos that were tried.
    Restores(u32),
    /// An undo did not restore the board. The actions start at the level's start and end with the
    /// undo.
    Differs(Vec<Action>),
}

/// A recording that is stored with an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecording {
    /// The name of its file.
    pub name: String,
    /// The result of replaying it; the error describes the first difference.
    pub replayed: Result<String, String>,
}

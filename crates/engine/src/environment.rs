//! The object-safe interface of a play. It is the same for a native game, a game hosted in another
//! process and a game on a server.

use crate::{
    Action, ActionSet, Baseline, BulkOptions, BulkSearch, Facts, Frame, FrameBuffer, GameId,
    StateKey,
};

/// The status of a play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PlayState {
    /// The current level is in progress.
    #[default]
    NotFinished,
    /// All levels are completed.
    Win,
    /// The level is lost; RESET restarts it.
    GameOver,
}

impl PlayState {
    /// Returns the name that the official API uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotFinished => "NOT_FINISHED",
            Self::Win => "WIN",
            Self::GameOver => "GAME_OVER",
        }
    }

    /// Returns the state with this official name, or `None` if no state has it.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::NotFinished, Self::Win, Self::GameOver]
            .into_iter()
            .find(|state| state.name() == name)
    }
}

/// The metadata of an environment, native or hosted. [`Facts`] is the constant form that native
/// games declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameInfo {
    /// The id, including its version.
    pub id: GameId,
    /// The public title.
    pub title: String,
    /// One baseline for each level; empty if the baselines are unknown.
    pub baselines: Vec<Baseline>,
    /// The number of levels, if the game itself has stated it. A hosted game states it when its
    /// first play is opened; see [`level_count`](Self::level_count).
    pub levels: Option<u8>,
    /// The kinds of action that the environment offers.
    pub actions: ActionSet,
    /// The tags by which lists of environments can be filtered.
    pub tags: Vec<String>,
    /// The intended playback speed of animations.
    pub frames_per_second: u8,
    /// Whether levels depend on the seed.
    pub seeded: bool,
    /// The name of the class that implements the game, if the game has a Python source.
    pub class_name: Option<String>,
    /// The SHA-256 digest of the source of a hosted game, in hexadecimal. It is part of the game's
    /// identity, because the id does not change when the author edits the source. `None` for a
    /// native game, whose id changes with its rules.
    pub source_digest: Option<String>,
}

impl GameInfo {
    /// Returns the number of levels: that of the game itself or that of the baselines, whichever is
    /// larger. It is 0 if neither is known.
    pub fn level_count(&self) -> usize {
        self.baselines.len().max(self.levels.map_or(0, usize::from))
    }
}

impl From<&Facts> for GameInfo {
    fn from(facts: &Facts) -> Self {
        Self {
            id: facts.game_id(),
            title: facts.game_id().base().to_owned(),
            baselines: facts.baselines.to_vec(),
            levels: u8::try_from(facts.level_count()).ok(),
            actions: facts.actions,
            tags: facts.tags.iter().map(|&tag| tag.to_owned()).collect(),
            frames_per_second: facts.frames_per_second,
            seeded: facts.seeded,
            class_name: None,
            source_digest: None,
        }
    }
}

/// The result of a command: the frames that it produced and the status of the play after it.
///
/// **Invariant:** `frames` holds at least one frame, and the last one is the settled frame.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The command that produced this observation.
    pub action: Action,
    /// The settled frame, preceded by the frames of an animation if there was one.
    pub frames: FrameBuffer,
    /// The status of the play after the command.
    pub state: PlayState,
    /// The number of levels completed so far.
    pub levels_completed: u8,
    /// The number of levels of the game.
    pub win_levels: u8,
    /// The kinds of action offered now.
    pub available: ActionSet,
    /// Whether the command restarted the whole game.
    pub full_reset: bool,
    /// Whether the command counts as an action.
    pub counted: bool,
    /// Whether the command changed the state.
    pub changed: bool,
}

impl Observation {
    /// Returns the settled frame.
    ///
    /// # Panics
    ///
    /// Panics if the observation has no frame, which violates its invariant.
    pub fn settled(&self) -> &Frame {
        self.frames
            .frames()
            .last()
            .expect("an observation has at least one frame")
    }
}

/// The error that an environment returns if it cannot execute a command, or cannot write or restore
/// a snapshot. Commands of native games never fail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// The process or server that runs the game is gone or broke the protocol, so the play cannot
    /// continue; or the play could not be serialised.
    #[error("environment failed: {0}")]
    Failed(String),
    /// The environment rejected a snapshot. The play is unchanged.
    #[error("cannot restore the snapshot: {0}")]
    Snapshot(String),
    /// The environment rejected a snapshot of another version of the software. The play is
    /// unchanged.
    #[error("cannot restore the snapshot: it was made by version `{found}`, expected `{expected}`")]
    SnapshotVersion {
        found: String,
        expected: &'static str,
    },
}

/// One play of an environment, in this process or elsewhere.
///
/// A new environment is in the state after its first RESET: [`observation`](Self::observation)
/// already shows the first level. [`act`](Self::act) executes one command at a time and replaces
/// the observation.
///
/// The optional capabilities, from [`fork`](Self::fork) to [`restore`](Self::restore), have
/// defaults that report "not supported". [`NativeEnvironment`](crate::NativeEnvironment) supports
/// all of them that apply to a game in this process.
///
/// **Invariant:** the same environment, seed and commands produce the same observations.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/counter.rs"));
/// use rhae_engine::{Environment, NativeEnvironment, PlayState};
///
/// # fn main() -> Result<(), rhae_engine::EnvironmentError> {
/// // `Counter` is the native game of the examples. ACTION5 loses the level.
/// let mut play: Box<dyn Environment> = Box::new(NativeEnvironment::<Counter>::new(0));
/// assert_eq!(play.info().id.as_str(), "cnt0-v1");
///
/// let observation = play.act(Action::Action5)?;
/// assert_eq!(observation.state, PlayState::GameOver);
///
/// // After the end, every command except RESET is ignored and not counted.
/// let observation = play.act(Action::Action1)?;
/// assert!(!observation.counted && !observation.changed);
///
/// // A fork continues independently of the original.
/// let mut fork = play.fork().expect("native environments can be forked");
/// assert_eq!(fork.act(Action::Reset)?.state, PlayState::NotFinished);
/// assert_eq!(play.observation().state, PlayState::GameOver);
/// # Ok(())
/// # }
/// ```
pub trait Environment: Send {
    /// Returns the metadata of the environment.
    fn info(&self) -> &GameInfo;

    /// Returns the latest observation.
    fn observation(&self) -> &Observation;

    /// Executes a command, including RESET, with the semantics of the official engine.
    ///
    /// After a win or a loss, every command except RESET leaves the play unchanged. The observation
    /// then repeats the settled frame and is marked as not counted.
    ///
    /// # Errors
    ///
    /// Returns [`EnvironmentError::Failed`] if the process or server that runs the game fails.
    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError>;

    /// Returns whether [`act`](Self::act) may block because another process or server executes it.
    fn may_block(&self) -> bool {
        false
    }

    /// Returns the maximum size in bytes of the reasoning that the environment stores with a command,
    /// or 0 if it stores none. Only a play on a server stores reasoning.
    fn max_reasoning_bytes(&self) -> usize {
        0
    }

    /// Attaches reasoning, as a JSON object or a JSON string, to the next command, instead of what was
    /// attached before. It has no effect on the play.
    fn set_reasoning(&mut self, json: Option<String>) {
        let _ = json;
    }

    /// Returns a second, independent play in the same state, or `None` if forking is not supported.
    fn fork(&self) -> Option<Box<dyn Environment>> {
        None
    }

    /// Returns a key of the hidden state: the part that the settled frame does not show although
    /// later frames depend on it. Returns `None` if the environment does not report it.
    fn hidden_key(&self) -> Option<StateKey> {
        None
    }

    /// Returns a key of the complete state, or `None` if the state cannot be inspected.
    ///
    /// The environment of a hosted game computes this key from the memory of the game, so that the
    /// key does not rely on the state that the game itself reports. By default, this function
    /// returns [`hidden_key`](Self::hidden_key).
    fn deep_key(&self) -> Option<StateKey> {
        self.hidden_key()
    }

    /// Returns one cell `(x, y)` for each area in which a click may have an effect now, or `None`
    /// if the environment does not list them. Only exploration uses the list; agents never see it.
    fn clicks(&self) -> Option<Vec<(u8, u8)>> {
        None
    }

    /// Returns one cell `(x, y)` for each sprite and each connected component of the settled frame,
    /// or `None` if the environment does not compute them. A search clicks these cells where the
    /// environment does not list its [`clicks`](Self::clicks).
    fn representative_clicks(&self) -> Option<Vec<(u8, u8)>> {
        None
    }

    /// Starts a search from the current state that expands many states at once where the game runs.
    /// Returns `None` if the environment does not support that.
    ///
    /// # Errors
    ///
    /// Returns [`EnvironmentError::Failed`] if the current state cannot be rebuilt in the process
    /// that is to search it.
    fn bulk_search(
        &self,
        options: &BulkOptions,
    ) -> Result<Option<Box<dyn BulkSearch>>, EnvironmentError> {
        let _ = options;
        Ok(None)
    }

    /// Returns the memory use, in bytes, of the process that runs the game. Returns `None` if the
    /// game runs in this process or its memory use is unknown.
    fn memory_bytes(&self) -> Option<u64> {
        None
    }

    /// Serialises the whole play. Only the same environment with the same seed and software version
    /// can [`restore`](Self::restore) it. Returns `None` if snapshots are not supported.
    ///
    /// # Errors
    ///
    /// Returns [`EnvironmentError::Failed`] if the play cannot be serialised.
    fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        Ok(None)
    }

    /// Replaces this play with the play saved in a snapshot. From then on, the play responds
    /// exactly as the saved play would have. The returned observation holds only the settled frame,
    /// without the animation that led to it.
    ///
    /// # Errors
    ///
    /// Returns [`EnvironmentError::Snapshot`] and leaves the play unchanged if the snapshot was
    /// made by another environment, seed or software version, or is damaged.
    fn restore(&mut self, snapshot: &[u8]) -> Result<&Observation, EnvironmentError> {
        let _ = snapshot;
        Err(EnvironmentError::Snapshot(format!(
            "`{}` does not support snapshots",
            self.info().id
        )))
    }
}

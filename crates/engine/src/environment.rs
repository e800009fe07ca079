//! The object-safe face of a play: the same for a native game, one hosted in another process and one on a server.

use crate::{Action, ActionSet, Baseline, Facts, Frame, FrameBuffer, GameId, StateKey};

/// Where a play stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlayState {
    /// It goes on.
    NotFinished,
    /// All levels are completed.
    Win,
    /// The level is lost; RESET starts it again.
    GameOver,
}

impl PlayState {
    /// The official name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotFinished => "NOT_FINISHED",
            Self::Win => "WIN",
            Self::GameOver => "GAME_OVER",
        }
    }

    /// The state with this official name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::NotFinished, Self::Win, Self::GameOver]
            .into_iter()
            .find(|state| state.name() == name)
    }
}

/// What is known of an environment before it is played, in a form that can also come from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameInfo {
    /// The id with its version.
    pub id: GameId,
    /// The public title.
    pub title: String,
    /// One baseline for each level; empty where none is known.
    pub baselines: Vec<Baseline>,
    /// The kinds of action that it offers.
    pub actions: ActionSet,
    /// What a list may filter by.
    pub tags: Vec<String>,
    /// The speed of its animations.
    pub frames_per_second: u8,
    /// Whether levels differ from seed to seed.
    pub seeded: bool,
    /// The class that plays it, for one that has a Python source.
    pub class_name: Option<String>,
}

impl From<&Facts> for GameInfo {
    fn from(facts: &Facts) -> Self {
        Self {
            id: facts.game_id(),
            title: facts.game_id().base().to_owned(),
            baselines: facts.baselines.to_vec(),
            actions: facts.actions,
            tags: facts.tags.iter().map(|&tag| tag.to_owned()).collect(),
            frames_per_second: facts.frames_per_second,
            seeded: facts.seeded,
            class_name: None,
        }
    }
}

/// What an environment answers to a command.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The command that it answers.
    pub action: Action,
    /// One frame or an animation, the settled picture last.
    pub frames: FrameBuffer,
    /// Where the play stands.
    pub state: PlayState,
    /// Completed levels.
    pub levels_completed: u8,
    /// All levels.
    pub win_levels: u8,
    /// The actions that are offered now.
    pub available: ActionSet,
    /// Whether the command started the game anew.
    pub full_reset: bool,
    /// Whether the command counts as an action.
    pub counted: bool,
    /// Whether the command changed the state.
    pub changed: bool,
}

impl Observation {
    /// The settled picture.
    pub fn settled(&self) -> &Frame {
        self.frames
            .frames()
            .last()
            .expect("an observation has at least one frame")
    }
}

/// Why an environment gave no answer. Native games never fail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// The other side is gone or broke the protocol; the play cannot go on.
    #[error("environment failed: {0}")]
    Failed(String),
    /// The snapshot is not one that this environment takes; the play stands where it stood.
    #[error("the snapshot does not fit: {0}")]
    Snapshot(String),
}

/// One play of an environment, wherever it runs. It is created as after its first RESET.
pub trait Environment: Send {
    /// What is known of the environment.
    fn info(&self) -> &GameInfo;

    /// The last observation.
    fn observation(&self) -> &Observation;

    /// Carries out a command, RESET included, as the official engine does it.
    ///
    /// After the end every command but RESET leaves all as it is; the observation then shows the settled frame again and
    /// says that it was not counted.
    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError>;

    /// Whether a command is carried out elsewhere, so that whoever gives it may have to wait.
    fn waits(&self) -> bool {
        false
    }

    /// A second play in the same state, where that is possible.
    fn fork(&self) -> Option<Box<dyn Environment>> {
        None
    }

    /// A key of what the settled frame does not show and the next frames depend on, where the environment reports it.
    fn hidden_key(&self) -> Option<StateKey> {
        None
    }

    /// A key of the whole state, whatever the environment reports, where it can be taken apart so far.
    fn deep_key(&self) -> Option<StateKey> {
        self.hidden_key()
    }

    /// One cell of each area in which a click may matter now, where the environment lists them. For exploration only, never shown to
    /// an agent.
    fn clicks(&self) -> Option<Vec<(u8, u8)>> {
        None
    }

    /// The memory of the process that carries it out, in bytes, where that is another one and can be known.
    fn memory_bytes(&self) -> Option<u64> {
        None
    }

    /// The whole play as bytes that [`restore`](Self::restore) of the same environment and software takes, where that is possible.
    fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        Ok(None)
    }

    /// Goes back, or on, to the play of a snapshot: every later answer is the one that the other play would give. Until then the
    /// observation shows the settled picture alone, without the animation that led to it.
    fn restore(&mut self, snapshot: &[u8]) -> Result<&Observation, EnvironmentError> {
        let _ = snapshot;
        Err(EnvironmentError::Snapshot(format!(
            "`{}` has no snapshots",
            self.info().id
        )))
    }
}

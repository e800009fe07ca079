//! A native game behind the [`Environment`] interface.

use crate::snapshot;
use crate::{
    Action, Environment, EnvironmentError, Episode, FrameBuffer, FrameSink, Game, GameInfo,
    Observation, StateKey, key_of,
};

/// An [`Episode`] of a native game that also keeps its latest [`Observation`].
///
/// It supports every optional capability of [`Environment`] that applies within one process:
/// forks, snapshots, click targets and a key of the hidden state. Its commands never fail.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/counter.rs"));
/// use rhae_engine::{Environment, NativeEnvironment};
///
/// # fn main() -> Result<(), rhae_engine::EnvironmentError> {
/// let mut play = NativeEnvironment::<Counter>::new(0);
/// play.act(Action::Action1)?;
/// let snapshot = play.snapshot()?.expect("native environments support snapshots");
///
/// let mut other = NativeEnvironment::<Counter>::new(0);
/// other.restore(&snapshot)?;
/// assert_eq!(other.episode().state(), play.episode().state());
/// assert_eq!(other.observation().settled(), play.observation().settled());
/// # Ok(())
/// # }
/// ```
pub struct NativeEnvironment<G: Game> {
    info: GameInfo,
    episode: Episode<G>,
    observation: Observation,
}

impl<G: Game> NativeEnvironment<G> {
    /// Creates a play in the state after its first RESET.
    pub fn new(seed: u64) -> Self {
        Self::from_episode(Episode::new(seed))
    }

    /// Creates a play that continues `episode`. Its first observation looks like the result of a
    /// full reset.
    pub fn from_episode(episode: Episode<G>) -> Self {
        let mut frames = FrameBuffer::with_capacity(4);
        frames.frame(|frame| episode.draw(frame));
        let observation = Observation {
            action: Action::Reset,
            frames,
            state: episode.status(),
            levels_completed: episode.completed(),
            win_levels: episode.level_count(),
            available: episode.offered(),
            full_reset: true,
            counted: false,
            changed: true,
        };
        Self {
            info: GameInfo::from(&G::FACTS),
            episode,
            observation,
        }
    }

    /// Returns the underlying episode, which gives access to the typed state of the game.
    pub const fn episode(&self) -> &Episode<G> {
        &self.episode
    }
}

impl<G: Game> Environment for NativeEnvironment<G> {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn observation(&self) -> &Observation {
        &self.observation
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        let observation = &mut self.observation;
        observation.frames.clear();
        let step = self.episode.act(action, &mut observation.frames);
        // An ignored command draws nothing, but an observation always has a settled frame.
        if observation.frames.frames().is_empty() {
            observation.frames.frame(|frame| self.episode.draw(frame));
        }
        observation.action = action;
        observation.state = self.episode.status();
        observation.levels_completed = self.episode.completed();
        observation.available = self.episode.offered();
        observation.full_reset = step.full_reset;
        observation.counted = step.counted;
        observation.changed = step.changed;
        Ok(observation)
    }

    fn fork(&self) -> Option<Box<dyn Environment>> {
        Some(Box::new(Self {
            info: self.info.clone(),
            episode: self.episode.clone(),
            observation: self.observation.clone(),
        }))
    }

    fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        snapshot::save(&self.episode, &self.observation).map(Some)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<&Observation, EnvironmentError> {
        let (episode, last) = snapshot::restore(&self.episode, snapshot)?;
        *self = Self::from_episode(episode);
        let observation = &mut self.observation;
        observation.action = last.action;
        observation.full_reset = last.full_reset;
        observation.counted = last.counted;
        observation.changed = last.changed;
        Ok(observation)
    }

    fn clicks(&self) -> Option<Vec<(u8, u8)>> {
        Some(
            G::clicks(
                self.episode.levels().get(self.episode.level()),
                self.episode.state(),
            )
            .collect(),
        )
    }

    /// Returns a key of the whole state of the level, because the frame does not necessarily show
    /// all of it.
    fn hidden_key(&self) -> Option<StateKey> {
        Some(key_of(self.episode.state()))
    }
}

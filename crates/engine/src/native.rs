//! A native game behind the [`Environment`] interface.

use crate::snapshot;
use crate::{
    Action, Environment, EnvironmentError, Episode, FrameBuffer, FrameSink, Game, GameInfo,
    Observation, StateKey, key_of,
};

/// One play of a native game.
pub struct Native<G: Game> {
    info: GameInfo,
    episode: Episode<G>,
    observation: Observation,
}

impl<G: Game> Native<G> {
    /// A new play under a seed, as after its first RESET.
    pub fn new(seed: u64) -> Self {
        Self::from_episode(Episode::new(seed))
    }

    /// A play that goes on from an episode.
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

    /// The play itself.
    pub const fn episode(&self) -> &Episode<G> {
        &self.episode
    }
}

impl<G: Game> Environment for Native<G> {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn observation(&self) -> &Observation {
        &self.observation
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        let seen = &mut self.observation;
        seen.frames.clear();
        let step = self.episode.act(action, &mut seen.frames);
        if seen.frames.frames().is_empty() {
            seen.frames.frame(|frame| self.episode.draw(frame));
        }
        seen.action = action;
        seen.state = self.episode.status();
        seen.levels_completed = self.episode.completed();
        seen.available = self.episode.offered();
        seen.full_reset = step.full_reset;
        seen.counted = step.counted;
        seen.changed = step.changed;
        Ok(seen)
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
        let seen = &mut self.observation;
        (seen.action, seen.full_reset, seen.counted, seen.changed) =
            (last.action, last.full_reset, last.counted, last.changed);
        Ok(seen)
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

    /// The whole state of the level: a frame need not show what is left to spend.
    fn hidden_key(&self) -> Option<StateKey> {
        Some(key_of(self.episode.state()))
    }
}

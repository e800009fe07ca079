//! Many plays of one native environment, stepped in parallel for training and search.
//!
//! [`Vector`] owns the plays and a pool of threads. Each call steps all plays and draws their
//! settled frames into a buffer that the caller owns: [`CELLS`] bytes for each play, one play after
//! the other. [`Vector::reports`] returns the reward of each play, whether its episode has ended,
//! and the actions that are available.
//!
//! Animation frames are not drawn. RESET restarts the level and never the whole game, as in
//! competitions, so that an agent cannot earn the same reward twice in an episode.
//!
//! **Invariant:** the frames and reports of a play depend only on its seed, its actions and the
//! [`EpisodeRules`], not on the number of threads or the other plays.
//!
//! ```
//! use std::num::NonZero;
//!
//! use rhae_engine::{Action, CELLS};
//! use rhae_vector::{Ending, EpisodeRules, Vector};
//!
//! let (plays, threads) = (NonZero::new(4).unwrap(), NonZero::new(2).unwrap());
//! let rules = EpisodeRules {
//!     max_actions: Some(100),
//!     ..EpisodeRules::default()
//! };
//! let mut vector = Vector::new("kq19", plays, threads, rules)?;
//! let mut frames = vec![0; 4 * CELLS];
//! vector.reset(None, &mut frames)?;
//! vector.step(&[Action::Action1; 4], &mut frames)?;
//!
//! let report = vector.reports()[0];
//! assert_eq!((report.reward, report.ending, report.actions), (0, Ending::None, 1));
//! assert_eq!(frames[..CELLS], frames[CELLS..2 * CELLS], "identical plays, identical frames");
//! # Ok::<(), rhae_vector::VectorError>(())
//! ```

mod batch;
mod slot;
mod workers;

use std::num::NonZero;

use rhae_engine::{Action, CELLS, Game, GameInfo, LevelIndex, UnknownGame};
use rhae_games::Visitor;

use crate::batch::{Batch, Plays};
pub use crate::slot::{Ending, Report};
use crate::workers::Workers;

/// The rules for the start and the end of an episode. By default an episode plays all levels, ends
/// with a win or a loss, and has no limit on actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EpisodeRules {
    /// Plays only this level instead of all levels from the first.
    pub level: Option<LevelIndex>,
    /// Truncates an episode after this many actions.
    pub max_actions: Option<u32>,
    /// Continues an episode after a loss instead of ending it, so that RESET can restart the level.
    pub continue_after_loss: bool,
}

/// The reason why plays could not be created, stepped or restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    #[error(transparent)]
    Unknown(#[from] UnknownGame),
    /// The requested level does not exist.
    #[error("`{id}` has {levels} levels, so there is no level {level}")]
    Level {
        id: String,
        /// The number of levels of the environment.
        levels: usize,
        /// The requested level, starting at 1.
        level: usize,
    },
    /// A list does not have one entry for each play.
    #[error("expected {expected} {what}, one for each play, found {found}")]
    Length {
        /// The name of the entries, in the plural.
        what: &'static str,
        /// The number of plays.
        expected: usize,
        found: usize,
    },
    /// The snapshot belongs to another environment.
    #[error("the snapshot is of `{theirs}`, the plays are of `{ours}`")]
    Foreign {
        /// The environment of the snapshot.
        theirs: String,
        /// The environment of this vector.
        ours: String,
    },
    /// The snapshot has no play with this index.
    #[error("the snapshot has {plays} plays, so there is no play {index}")]
    NoSuchPlay {
        /// The number of plays in the snapshot.
        plays: usize,
        /// The requested play.
        index: usize,
    },
    /// The operating system refused to start the threads.
    #[error("cannot start {threads} threads: {reason}")]
    Threads { threads: usize, reason: String },
}

/// The states and reports of all plays at one moment. Clones of a snapshot share them.
#[derive(Clone)]
pub struct Snapshot {
    info: GameInfo,
    plays: std::sync::Arc<dyn std::any::Any + Send + Sync>,
    count: usize,
}

impl Snapshot {
    /// Returns the number of plays.
    pub const fn count(&self) -> usize {
        self.count
    }
}

/// Many plays of one native environment.
///
/// All lists that a call takes have one entry for each play, and `frames` has [`CELLS`] bytes for
/// each play. A call with a list of the wrong length changes nothing.
pub struct Vector {
    info: GameInfo,
    plays: Box<dyn Batch>,
    reports: Vec<Report>,
    workers: Workers,
}

impl Vector {
    /// Creates `count` plays of an environment under seed 0, stepped on `threads` threads. Call
    /// [`reset`](Self::reset) before the first step to draw the first frames.
    ///
    /// # Errors
    ///
    /// Returns an error if the environment or the level of `rules` does not exist, or if the
    /// threads cannot be started.
    pub fn new(
        name: &str,
        count: NonZero<usize>,
        threads: NonZero<usize>,
        rules: EpisodeRules,
    ) -> Result<Self, VectorError> {
        let facts = rhae_games::find(name)?.facts;
        let levels = facts.level_count();
        if let Some(level) = rules
            .level
            .map(LevelIndex::get)
            .filter(|&level| level >= levels)
        {
            return Err(VectorError::Level {
                id: facts.id.to_owned(),
                levels,
                level: level + 1,
            });
        }
        let workers = Workers::new(threads.get())?;
        let plays = rhae_games::visit(
            facts.id,
            CreatePlays {
                count: count.get(),
                rules,
            },
        );
        let plays = plays.expect("the registry contains every game that `find` returns");
        Ok(Self {
            info: GameInfo::from(facts),
            plays,
            reports: vec![Report::default(); count.get()],
            workers,
        })
    }

    /// Returns the metadata of the environment.
    pub const fn info(&self) -> &GameInfo {
        &self.info
    }

    /// Returns the number of plays.
    pub const fn count(&self) -> usize {
        self.reports.len()
    }

    /// Returns the result of the last reset, step or restore, one report for each play.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// Sets the seed of each play. It takes effect with the next call of [`reset`](Self::reset); an
    /// episode that [`step`](Self::step) starts keeps the previous seed.
    ///
    /// # Errors
    ///
    /// Returns [`VectorError::Length`] unless there is one seed for each play.
    pub fn seed(&mut self, seeds: &[u64]) -> Result<(), VectorError> {
        self.check("seeds", seeds.len())?;
        self.plays.seed(seeds);
        Ok(())
    }

    /// Starts a new episode in every play, or only in those whose entry in `chosen` is true, and
    /// draws the frames of these plays.
    ///
    /// # Errors
    ///
    /// Returns [`VectorError::Length`] if `chosen` or `frames` has the wrong length.
    pub fn reset(&mut self, chosen: Option<&[bool]>, frames: &mut [u8]) -> Result<(), VectorError> {
        if let Some(chosen) = chosen {
            self.check("choices", chosen.len())?;
        }
        self.check_frames(frames)?;
        let Self {
            plays,
            reports,
            workers,
            ..
        } = self;
        plays.reset(chosen, frames, reports, workers);
        Ok(())
    }

    /// Executes one action in each play and draws all settled frames. A play whose episode has
    /// ended ignores its action and starts a new episode.
    ///
    /// # Errors
    ///
    /// Returns [`VectorError::Length`] if `actions` or `frames` has the wrong length.
    pub fn step(&mut self, actions: &[Action], frames: &mut [u8]) -> Result<(), VectorError> {
        self.check("actions", actions.len())?;
        self.check_frames(frames)?;
        let Self {
            plays,
            reports,
            workers,
            ..
        } = self;
        plays.step(actions, frames, reports, workers);
        Ok(())
    }

    /// Copies the states and reports of all plays.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            info: self.info.clone(),
            plays: self.plays.snapshot(&self.reports),
            count: self.count(),
        }
    }

    /// Restores the states of a snapshot and draws the frames. Play `i` takes the state of play
    /// `from[i]` of the snapshot, or of play `i` if `from` is `None`.
    ///
    /// # Errors
    ///
    /// Returns an error and changes nothing if the snapshot belongs to another environment, if it
    /// has no play with a requested index, or if `from` or `frames` has the wrong length.
    pub fn restore(
        &mut self,
        snapshot: &Snapshot,
        from: Option<&[usize]>,
        frames: &mut [u8],
    ) -> Result<(), VectorError> {
        let (theirs, ours) = (&snapshot.info.id, &self.info.id);
        if theirs != ours {
            return Err(VectorError::Foreign {
                theirs: theirs.to_string(),
                ours: ours.to_string(),
            });
        }
        let own: Vec<usize>;
        let from = match from {
            Some(from) => from,
            None => {
                own = (0..self.count()).collect();
                &own
            }
        };
        self.check("indices", from.len())?;
        if let Some(&index) = from.iter().find(|&&index| index >= snapshot.count) {
            return Err(VectorError::NoSuchPlay {
                plays: snapshot.count,
                index,
            });
        }
        self.check_frames(frames)?;
        let Self {
            plays,
            reports,
            workers,
            ..
        } = self;
        plays.restore(snapshot.plays.as_ref(), from, frames, reports, workers);
        Ok(())
    }

    fn check(&self, what: &'static str, found: usize) -> Result<(), VectorError> {
        let expected = self.count();
        if found == expected {
            Ok(())
        } else {
            Err(VectorError::Length {
                what,
                expected,
                found,
            })
        }
    }

    fn check_frames(&self, frames: &[u8]) -> Result<(), VectorError> {
        let whole = frames.len().is_multiple_of(CELLS);
        self.check(
            "frames of 4,096 cells",
            if whole { frames.len() / CELLS } else { 0 },
        )
    }
}

/// A visitor that creates the plays of the game that it visits.
struct CreatePlays {
    count: usize,
    rules: EpisodeRules,
}

impl Visitor for CreatePlays {
    type Output = Box<dyn Batch>;

    fn visit<G: Game>(self) -> Self::Output {
        Box::new(Plays::<G>::new(self.count, self.rules))
    }
}

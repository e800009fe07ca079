//! Many plays of one native environment at once, for training and search: stepped on several threads, drawn into a buffer
//! that the caller owns.
//!
//! Only the settled frame of each answer is drawn. RESET starts the level anew and never the game, as in competitions, so that
//! no reward is earned twice.
//!
//! **Invariant:** what a play answers depends on its seed and its actions alone, whatever the number of threads or of other plays.

mod batch;
mod slot;

use std::num::NonZero;

use rhae_engine::{Action, CELLS, Game, GameInfo, LevelIndex};
use rhae_games::{UnknownGame, Visitor};
use rhae_team::Team;

use crate::batch::{Batch, Plays};
pub use crate::slot::{Ending, Report};

/// What makes an episode of a play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Plays this level alone instead of all from the first.
    pub level: Option<LevelIndex>,
    /// Cuts an episode off after so many actions.
    pub most_actions: Option<u32>,
    /// Lets a lost level go on by RESET instead of ending the episode.
    pub goes_on_after_loss: bool,
}

/// Why plays could not be made or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// No such environment.
    #[error(transparent)]
    Unknown(#[from] UnknownGame),
    /// No such level.
    #[error("`{id}` has {levels} levels, so there is no level {level}")]
    Level {
        /// The environment.
        id: String,
        /// Its levels.
        levels: usize,
        /// The level asked for, from 1.
        level: usize,
    },
    /// A list is not as long as there are plays.
    #[error("expected {expected} {what}, one for each play, found {found}")]
    Length {
        /// What the list is of.
        what: &'static str,
        /// How many plays there are.
        expected: usize,
        /// How long the list is.
        found: usize,
    },
    /// A snapshot is of other plays.
    #[error("the snapshot is of `{theirs}`, the plays are of `{ours}`")]
    Foreign {
        /// The snapshot's environment.
        theirs: String,
        /// The plays' environment.
        ours: String,
    },
    /// A snapshot has fewer plays.
    #[error("the snapshot has {plays} plays, so there is no play {index}")]
    NoSuchPlay {
        /// How many it has.
        plays: usize,
        /// The one asked for.
        index: usize,
    },
    /// The system refused threads.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
}

/// The states of all plays at one moment.
#[derive(Clone)]
pub struct Snapshot {
    info: GameInfo,
    plays: std::sync::Arc<dyn std::any::Any + Send + Sync>,
    count: usize,
}

impl Snapshot {
    /// How many plays it has.
    pub const fn count(&self) -> usize {
        self.count
    }
}

/// Many plays of one environment.
pub struct Vector {
    info: GameInfo,
    plays: Box<dyn Batch>,
    reports: Vec<Report>,
    team: Team,
}

impl Vector {
    /// This many plays of an environment, stepped on this many threads. They begin with [`reset`](Self::reset).
    pub fn new(
        name: &str,
        count: NonZero<usize>,
        threads: NonZero<usize>,
        rules: Rules,
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
        let team = Team::new(threads.get()).map_err(|error| VectorError::Threads {
            threads: threads.get(),
            reason: error.to_string(),
        })?;
        let made = rhae_games::visit(
            facts.id,
            Make {
                count: count.get(),
                rules,
            },
        );
        let plays = made.expect("what is found in the registry can be visited");
        Ok(Self {
            info: GameInfo::from(facts),
            plays,
            reports: vec![Report::default(); count.get()],
            team,
        })
    }

    /// What is known of the environment.
    pub const fn info(&self) -> &GameInfo {
        &self.info
    }

    /// How many plays there are.
    pub const fn count(&self) -> usize {
        self.reports.len()
    }

    /// What the plays answered last, one report for each.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// Gives each play a seed of its own from the next reset on.
    pub fn seed(&mut self, seeds: &[u64]) -> Result<(), VectorError> {
        self.check("seeds", seeds.len())?;
        self.plays.seed(seeds);
        Ok(())
    }

    /// Begins a new episode of every play, or of those that are chosen.
    pub fn reset(&mut self, chosen: Option<&[bool]>, frames: &mut [u8]) -> Result<(), VectorError> {
        if let Some(chosen) = chosen {
            self.check("choices", chosen.len())?;
        }
        self.check_frames(frames)?;
        let Self {
            plays,
            reports,
            team,
            ..
        } = self;
        plays.reset(chosen, frames, reports, team);
        Ok(())
    }

    /// Carries out one action of each play and draws what is seen then, 4,096 cells for each play. A play whose episode has
    /// ended begins a new one instead.
    pub fn step(&mut self, actions: &[Action], frames: &mut [u8]) -> Result<(), VectorError> {
        self.check("actions", actions.len())?;
        self.check_frames(frames)?;
        let Self {
            plays,
            reports,
            team,
            ..
        } = self;
        plays.step(actions, frames, reports, team);
        Ok(())
    }

    /// The states of all plays now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            info: self.info.clone(),
            plays: self.plays.snapshot(&self.reports),
            count: self.count(),
        }
    }

    /// Goes to the states of a snapshot: each play to its own, or to that of the play named for it.
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
            team,
            ..
        } = self;
        plays.restore(snapshot.plays.as_ref(), from, frames, reports, team);
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

/// Makes the plays of a game chosen by its id.
struct Make {
    count: usize,
    rules: Rules,
}

impl Visitor for Make {
    type Output = Box<dyn Batch>;

    fn visit<G: Game>(self) -> Self::Output {
        Box::new(Plays::<G>::new(self.count, self.rules))
    }
}

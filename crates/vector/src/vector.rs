//! The plays of a vector, in blocks of one environment each.

use std::any::Any;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;

use rhae_engine::{Action, Catalog, Game, GameInfo, LevelIndex};
use rhae_games::{Builtin, Visitor};

use crate::batch::{Batch, Output, Plays};
use crate::environments::EnvironmentPlays;
use crate::saved::SavedPlays;
use crate::slot::Report;
use crate::workers::Workers;
use crate::{Encoding, EpisodeRules, VectorError};

/// The states and reports of all plays at one moment. Clones of a snapshot share them.
#[derive(Clone)]
pub struct Snapshot {
    blocks: Vec<SavedBlock>,
    count: usize,
}

#[derive(Clone)]
struct SavedBlock {
    block: Block,
    plays: Arc<dyn Any + Send + Sync>,
}

impl Snapshot {
    /// Returns the number of plays.
    pub const fn count(&self) -> usize {
        self.count
    }
}

/// Consecutive plays of one environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The metadata of the environment.
    pub info: GameInfo,
    /// The indices of the plays.
    pub plays: Range<usize>,
}

/// Many plays of one or several environments.
///
/// All lists that a call takes have one entry for each play, and the buffer of observations has
/// [`Encoding::bytes`] bytes for each play. A call with a list of the wrong length changes nothing.
pub struct Vector {
    blocks: Vec<(Block, Box<dyn Batch>)>,
    reports: Vec<Report>,
    workers: Workers,
    encoding: Encoding,
}

impl Vector {
    /// Creates `count` plays of a built-in environment under seed 0, stepped on `threads` threads.
    /// Call [`reset`](Self::reset) before the first step to draw the first frames.
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
        let catalog: Arc<dyn Catalog> = Arc::new(Builtin);
        Self::of_games(&catalog, &[name.to_owned()], count, threads, rules)
    }

    /// Creates `count` plays of several environments of a catalogue. Each environment gets a block
    /// of consecutive plays; if they cannot be divided equally, the first blocks get one more.
    ///
    /// # Errors
    ///
    /// Returns an error if an environment or the level of `rules` does not exist, if a hosted game
    /// is to start at a later level than its first, if there are no environments or more than
    /// plays, or if the threads cannot be started.
    pub fn of_games(
        catalog: &Arc<dyn Catalog>,
        names: &[String],
        count: NonZero<usize>,
        threads: NonZero<usize>,
        rules: EpisodeRules,
    ) -> Result<Self, VectorError> {
        let (count, games) = (count.get(), names.len());
        if games == 0 {
            return Err(VectorError::NoGames);
        }
        if games > count {
            return Err(VectorError::TooFewPlays {
                games,
                plays: count,
            });
        }
        let mut blocks = Vec::with_capacity(games);
        let mut first = 0;
        for (index, name) in names.iter().enumerate() {
            let end = first + count / games + usize::from(index < count % games);
            let info = catalog.find(name)?;
            let plays = create_plays(catalog, &info, end - first, rules)?;
            let range = first..end;
            blocks.push((Block { info, plays: range }, plays));
            first = end;
        }
        Ok(Self {
            blocks,
            reports: vec![Report::default(); count],
            workers: Workers::new(threads.get())?,
            encoding: Encoding::default(),
        })
    }

    /// Sets the form of the observations. It takes effect with the next call of
    /// [`reset`](Self::reset).
    #[must_use]
    pub fn with_encoding(self, encoding: Encoding) -> Self {
        Self { encoding, ..self }
    }

    /// Returns the environments with their plays.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = &Block> {
        self.blocks.iter().map(|(block, _)| block)
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
        for (block, plays) in &mut self.blocks {
            plays.seed(&seeds[block.plays.clone()]);
        }
        Ok(())
    }

    /// Starts a new episode in every play, or only in those whose entry in `chosen` is true, and
    /// draws the frames of these plays.
    ///
    /// # Errors
    ///
    /// Returns an error if `chosen` or `observations` has the wrong length, or if a hosted game
    /// fails.
    pub fn reset(
        &mut self,
        chosen: Option<&[bool]>,
        observations: &mut [u8],
    ) -> Result<(), VectorError> {
        if let Some(chosen) = chosen {
            self.check("choices", chosen.len())?;
        }
        self.for_each_block(observations, |plays, block, output, reports, workers| {
            let chosen = chosen.map(|chosen| &chosen[block.plays.clone()]);
            plays.reset(chosen, output, reports, workers)
        })
    }

    /// Executes one action in each play and draws the settled frames. A play whose episode has
    /// ended ignores its action and starts a new episode.
    ///
    /// `observations` must contain what the previous call wrote: the frame of a play whose state has
    /// not changed is not written again.
    ///
    /// # Errors
    ///
    /// Returns [`VectorError::Length`] or [`VectorError::Bytes`] if `actions` or `observations` has
    /// the wrong length, and [`VectorError::Failed`] if a hosted game fails. After a failure the
    /// play must be reset.
    pub fn step(&mut self, actions: &[Action], observations: &mut [u8]) -> Result<(), VectorError> {
        self.check("actions", actions.len())?;
        self.for_each_block(observations, |plays, block, output, reports, workers| {
            plays.step(&actions[block.plays.clone()], output, reports, workers)
        })
    }

    /// Copies the states and reports of all plays.
    ///
    /// # Errors
    ///
    /// Returns [`VectorError::Failed`] if a play of a hosted game cannot be copied. Plays of
    /// built-in environments always can.
    pub fn snapshot(&self) -> Result<Snapshot, VectorError> {
        let save = |(block, plays): &(Block, Box<dyn Batch>)| {
            let saved = plays.snapshot(&self.reports[block.plays.clone()]);
            Ok(SavedBlock {
                plays: saved.map_err(|error| in_block(error, block))?,
                block: block.clone(),
            })
        };
        let blocks: Result<Vec<SavedBlock>, VectorError> = self.blocks.iter().map(save).collect();
        Ok(Snapshot {
            blocks: blocks?,
            count: self.count(),
        })
    }

    /// Restores the states of a snapshot and draws the frames. Play `i` takes the state of play
    /// `from[i]` of the snapshot, or of play `i` if `from` is `None`.
    ///
    /// # Errors
    ///
    /// Returns an error and changes nothing if the snapshot belongs to other environments, if it
    /// has no play with a requested index, if a play would take the state of another environment,
    /// or if `from` or `observations` has the wrong length. Returns [`VectorError::Failed`] if a
    /// play of a hosted game cannot be copied.
    pub fn restore(
        &mut self,
        snapshot: &Snapshot,
        from: Option<&[usize]>,
        observations: &mut [u8],
    ) -> Result<(), VectorError> {
        let ids = |blocks: &mut dyn Iterator<Item = &Block>| {
            let ids: Vec<&str> = blocks.map(|block| block.info.id.as_str()).collect();
            ids.join(", ")
        };
        let theirs = ids(&mut snapshot.blocks.iter().map(|saved| &saved.block));
        let ours = ids(&mut self.blocks());
        if theirs != ours {
            return Err(VectorError::Foreign { theirs, ours });
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
        let mut sources = Vec::with_capacity(from.len());
        for ((block, _), saved) in self.blocks.iter().zip(&snapshot.blocks) {
            for play in block.plays.clone() {
                let index = from[play];
                if index >= snapshot.count {
                    let plays = snapshot.count;
                    return Err(VectorError::NoSuchPlay { plays, index });
                }
                if !saved.block.plays.contains(&index) {
                    let id = block.info.id.to_string();
                    return Err(VectorError::OtherGame { play, id, index });
                }
                sources.push(index - saved.block.plays.start);
            }
        }
        let mut saved = snapshot.blocks.iter();
        self.for_each_block(observations, |plays, block, output, reports, workers| {
            let saved = saved.next().expect("both have the same blocks");
            let from = &sources[block.plays.clone()];
            plays.restore(saved.plays.as_ref(), from, output, reports, workers)
        })
    }

    /// Serialises the states of all plays, for [`load`](Self::load) in this or another process.
    ///
    /// # Errors
    ///
    /// Returns [`VectorError::Failed`] if a play of a hosted game cannot be saved.
    pub fn save(&self) -> Result<Vec<u8>, VectorError> {
        let mut plays = Vec::with_capacity(self.count());
        for (block, batch) in &self.blocks {
            let saved = batch.save(&self.reports[block.plays.clone()]);
            plays.extend(saved.map_err(|error| in_block(error, block))?);
        }
        Ok(SavedPlays::new(self.ids(), plays).encode())
    }

    /// Replaces all plays by saved ones of the same environments and draws the frames. The seeds of
    /// later episodes do not change.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not of this version of the software, are damaged, belong to
    /// other environments or to another number of plays, or if `observations` has the wrong length.
    /// After [`VectorError::Failed`], all plays must be reset.
    pub fn load(&mut self, saved: &[u8], observations: &mut [u8]) -> Result<(), VectorError> {
        let saved = SavedPlays::decode(saved)?;
        let ours = self.ids();
        if saved.environments != ours {
            return Err(VectorError::Foreign {
                theirs: saved.environments.join(", "),
                ours: ours.join(", "),
            });
        }
        self.check("saved plays", saved.plays.len())?;
        self.for_each_block(observations, |plays, block, output, reports, workers| {
            plays.load(&saved.plays[block.plays.clone()], output, reports, workers)
        })
    }

    /// Returns the id of the environment of each block.
    fn ids(&self) -> Vec<String> {
        self.blocks()
            .map(|block| block.info.id.to_string())
            .collect()
    }

    /// Calls `change` for each block with its parts of the buffer and of the reports. All blocks
    /// are processed even if one fails; the first error is returned.
    fn for_each_block(
        &mut self,
        observations: &mut [u8],
        mut change: impl FnMut(
            &mut dyn Batch,
            &Block,
            Output<'_>,
            &mut [Report],
            &Workers,
        ) -> Result<(), VectorError>,
    ) -> Result<(), VectorError> {
        let (size, encoding) = (self.encoding.bytes(), self.encoding);
        let (expected, found) = (self.count() * size, observations.len());
        if expected != found {
            return Err(VectorError::Bytes { expected, found });
        }
        let mut result = Ok(());
        for (block, plays) in &mut self.blocks {
            let bytes = &mut observations[block.plays.start * size..block.plays.end * size];
            let reports = &mut self.reports[block.plays.clone()];
            let output = Output { bytes, encoding };
            let changed = change(plays.as_mut(), block, output, reports, &self.workers);
            result = result.and(changed.map_err(|error| in_block(error, block)));
        }
        result
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
}

/// Replaces the index of a play in a block by its index in the vector.
fn in_block(error: VectorError, block: &Block) -> VectorError {
    match error {
        VectorError::Failed { play, reason } => VectorError::Failed {
            play: block.plays.start + play,
            reason,
        },
        other => other,
    }
}

/// Creates the plays of one environment.
fn create_plays(
    catalog: &Arc<dyn Catalog>,
    info: &GameInfo,
    count: usize,
    rules: EpisodeRules,
) -> Result<Box<dyn Batch>, VectorError> {
    let id = info.id.to_string();
    let level = rules.level.map(LevelIndex::get);
    let builtin = rhae_games::find(&id).is_ok() && info.source_digest.is_none();
    if !builtin {
        if let Some(level) = level.filter(|&level| level > 0) {
            let level = level + 1;
            return Err(VectorError::HostedLevel { id, level });
        }
        let catalog = Arc::clone(catalog);
        return Ok(Box::new(EnvironmentPlays::new(catalog, id, count, rules)));
    }
    let levels = info.level_count();
    if let Some(level) = level.filter(|&level| level >= levels) {
        let level = level + 1;
        return Err(VectorError::Level { id, levels, level });
    }
    let plays = rhae_games::visit(&id, CreatePlays { count, rules });
    Ok(plays.expect("the registry contains every game that `find` returns"))
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

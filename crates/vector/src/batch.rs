//! All plays of one game, stepped in parallel.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rhae_engine::{Action, Frame, Game, Levels};

use crate::saved::SavedPlay;
use crate::slot::Slot;
use crate::workers::Workers;
use crate::{Encoding, EpisodeRules, Report, VectorError};

/// The minimum number of plays that are worth handing to another thread.
const MIN_CHUNK: usize = 16;
/// The number of chunks for each thread. There are several, so that the other threads can process
/// more chunks while one thread is delayed.
const CHUNKS_PER_THREAD: usize = 8;

/// The buffer that receives the observations of some consecutive plays.
pub(crate) struct Output<'a> {
    pub(crate) bytes: &'a mut [u8],
    pub(crate) encoding: Encoding,
}

/// The plays of one game, with the type of the game erased. Callers must check the lengths of all
/// lists.
pub(crate) trait Batch: Send + Sync {
    fn seed(&mut self, seeds: &[u64]);
    fn reset(
        &mut self,
        chosen: Option<&[bool]>,
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
    ) -> Result<(), VectorError>;
    fn step(
        &mut self,
        actions: &[Action],
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
    ) -> Result<(), VectorError>;
    fn snapshot(&self, reports: &[Report]) -> Result<Arc<dyn Any + Send + Sync>, VectorError>;
    fn restore(
        &mut self,
        snapshot: &(dyn Any + Send + Sync),
        from: &[usize],
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
    ) -> Result<(), VectorError>;
    /// Serialises the plays.
    fn save(&self, reports: &[Report]) -> Result<Vec<SavedPlay>, VectorError>;
    /// Replaces the plays by saved ones.
    fn load(
        &mut self,
        saved: &[SavedPlay],
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
    ) -> Result<(), VectorError>;
}

/// A play whose settled frame can be drawn.
pub(crate) trait Drawn {
    fn draw(&mut self, frame: &mut Frame);
}

/// The plays of the game `G`.
pub(crate) struct Plays<G: Game> {
    slots: Vec<Slot<G>>,
    /// The levels for each play's seed; plays with the same seed share them.
    levels: Vec<Levels<G>>,
    rules: EpisodeRules,
}

/// The content of a snapshot: the states and reports of all plays.
struct SavedPlays<G: Game> {
    slots: Vec<Slot<G>>,
    reports: Vec<Report>,
}

impl<G: Game> Plays<G> {
    pub(crate) fn new(count: usize, rules: EpisodeRules) -> Self {
        let levels = vec![Levels::new(0); count];
        let slots = levels
            .iter()
            .map(|levels| Slot::new(levels.clone(), rules))
            .collect();
        Self {
            slots,
            levels,
            rules,
        }
    }
}

/// Calls `change` with the index, state and report of each play, in parallel, and draws the plays
/// for which it returns true. A thread processes at least `min_chunk` plays.
pub(crate) fn for_each_play<S: Drawn + Send>(
    slots: &mut [S],
    reports: &mut [Report],
    output: Output<'_>,
    workers: &Workers,
    min_chunk: usize,
    change: impl Fn(usize, &mut S, &mut Report) -> bool + Sync,
) {
    let Output { bytes, encoding } = output;
    let chunks = match workers.threads() {
        1 => 1,
        threads => threads * CHUNKS_PER_THREAD,
    };
    let size = slots.len().div_ceil(chunks).max(min_chunk);
    let chunks = slots
        .chunks_mut(size)
        .zip(reports.chunks_mut(size))
        .zip(bytes.chunks_mut(size * encoding.bytes()))
        .enumerate();
    workers.for_each(chunks, |(part, ((slots, reports), observations))| {
        // One small buffer stays in the first-level cache while a frame is drawn into it; the
        // finished frame is then copied once.
        let mut scratch = Frame::filled(0);
        let plays = slots
            .iter_mut()
            .zip(reports)
            .zip(observations.chunks_exact_mut(encoding.bytes()));
        for (index, ((slot, report), observation)) in (part * size..).zip(plays) {
            if change(index, slot, report) {
                slot.draw(&mut scratch);
                encoding.write(&scratch, observation);
            }
        }
    });
}

/// Calls `change` for each play like [`for_each_play`], and returns the error of the first play for
/// which it fails. `fail` is called for each of these plays, which are not drawn.
pub(crate) fn try_for_each_play<S: Drawn + Send>(
    slots: &mut [S],
    reports: &mut [Report],
    output: Output<'_>,
    workers: &Workers,
    min_chunk: usize,
    change: impl Fn(usize, &mut S, &mut Report) -> Result<bool, String> + Sync,
    fail: impl Fn(&mut S) + Sync,
) -> Result<(), VectorError> {
    let failed: Mutex<Option<(usize, String)>> = Mutex::default();
    for_each_play(
        slots,
        reports,
        output,
        workers,
        min_chunk,
        |index, slot, report| {
            change(index, slot, report).unwrap_or_else(|reason| {
                fail(slot);
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.as_ref().is_none_or(|&(first, _)| index < first) {
                    *failed = Some((index, reason));
                }
                false
            })
        },
    );
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(()), |(play, reason)| {
        Err(VectorError::Failed { play, reason })
    })
}

impl<G: Game> Batch for Plays<G> {
    fn seed(&mut self, seeds: &[u64]) {
        let mut by_seed: BTreeMap<u64, Levels<G>> = BTreeMap::new();
        for (levels, &seed) in self.levels.iter_mut().zip(seeds) {
            // If the levels do not depend on the seed, all plays share them.
            let seed = if G::FACTS.seeded { seed } else { 0 };
            *levels = by_seed
                .entry(seed)
                .or_insert_with(|| Levels::new(seed))
                .clone();
        }
    }

    fn reset(
        &mut self,
        chosen: Option<&[bool]>,
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
    ) -> Result<(), VectorError> {
        let Self {
            slots,
            levels,
            rules,
        } = self;
        for_each_play(
            slots,
            reports,
            output,
            workers,
            MIN_CHUNK,
            |index, slot, report| {
                let is_chosen = chosen.is_none_or(|chosen| chosen[index]);
                if is_chosen {
                    *slot = Slot::new(levels[index].clone(), *rules);
                    *report = slot.report(0, true);
                }
                is_chosen
            },
        );
        Ok(())
    }

    fn step(
        &mut self,
        actions: &[Action],
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
    ) -> Result<(), VectorError> {
        let Self { slots, rules, .. } = self;
        for_each_play(
            slots,
            reports,
            output,
            workers,
            MIN_CHUNK,
            |index, slot, report| {
                *report = slot.step(actions[index], *rules);
                // The buffer contains the frame of an unchanged state.
                report.changed
            },
        );
        Ok(())
    }

    fn snapshot(&self, reports: &[Report]) -> Result<Arc<dyn Any + Send + Sync>, VectorError> {
        Ok(Arc::new(SavedPlays {
            slots: self.slots.clone(),
            reports: reports.to_vec(),
        }))
    }

    fn restore(
        &mut self,
        snapshot: &(dyn Any + Send + Sync),
        from: &[usize],
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
    ) -> Result<(), VectorError> {
        let saved = snapshot
            .downcast_ref::<SavedPlays<G>>()
            .expect("the caller compared the environments' ids");
        for_each_play(
            &mut self.slots,
            reports,
            output,
            workers,
            MIN_CHUNK,
            |index, slot, report| {
                *slot = saved.slots[from[index]].clone();
                *report = saved.reports[from[index]];
                true
            },
        );
        Ok(())
    }

    fn save(&self, reports: &[Report]) -> Result<Vec<SavedPlay>, VectorError> {
        let plays = self.slots.iter().zip(reports).enumerate();
        let save = |(play, (slot, report)): (usize, (&Slot<G>, &Report))| {
            slot.save(report).map_err(|error| VectorError::Failed {
                play,
                reason: error.to_string(),
            })
        };
        plays.map(save).collect()
    }

    fn load(
        &mut self,
        saved: &[SavedPlay],
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
    ) -> Result<(), VectorError> {
        let Self { slots, levels, .. } = self;
        let load = |index: usize, slot: &mut Slot<G>, report: &mut Report| {
            let saved = &saved[index];
            let shared = &levels[index];
            let levels = if shared.seed() == saved.seed {
                shared.clone()
            } else {
                Levels::new(saved.seed)
            };
            (*slot, *report) = Slot::load(saved, levels).map_err(|error| error.to_string())?;
            Ok(true)
        };
        try_for_each_play(slots, reports, output, workers, MIN_CHUNK, load, |_| {})
    }
}

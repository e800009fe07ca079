//! All plays of one game, stepped in parallel.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use rhae_engine::{Action, CELLS, Frame, Game, Levels};

use crate::slot::Slot;
use crate::workers::Workers;
use crate::{EpisodeRules, Report};

/// The minimum number of plays that are worth handing to another thread.
const MIN_CHUNK: usize = 16;
/// The number of chunks for each thread. There are several, so that the other threads can process
/// more chunks while one thread is delayed.
const CHUNKS_PER_THREAD: usize = 4;

/// The plays of one game, with the type of the game erased. Callers must check the lengths of all
/// lists.
pub(crate) trait Batch: Send + Sync {
    fn seed(&mut self, seeds: &[u64]);
    fn reset(
        &mut self,
        chosen: Option<&[bool]>,
        frames: &mut [u8],
        reports: &mut [Report],
        workers: &Workers,
    );
    fn step(
        &mut self,
        actions: &[Action],
        frames: &mut [u8],
        reports: &mut [Report],
        workers: &Workers,
    );
    fn snapshot(&self, reports: &[Report]) -> Arc<dyn Any + Send + Sync>;
    fn restore(
        &mut self,
        snapshot: &(dyn Any + Send + Sync),
        from: &[usize],
        frames: &mut [u8],
        reports: &mut [Report],
        workers: &Workers,
    );
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

/// The index of a chunk of plays, with their states, reports and frames.
type Chunk<'a, G> = (usize, ((&'a mut [Slot<G>], &'a mut [Report]), &'a mut [u8]));

/// Calls `change` with the index, state and report of each play, in parallel, and draws the plays
/// for which it returns true.
fn for_each_play<G: Game>(
    slots: &mut [Slot<G>],
    reports: &mut [Report],
    frames: &mut [u8],
    workers: &Workers,
    change: impl Fn(usize, &mut Slot<G>, &mut Report) -> bool + Sync,
) {
    let size = slots
        .len()
        .div_ceil(workers.threads() * CHUNKS_PER_THREAD)
        .max(MIN_CHUNK);
    let change_chunk = |(part, ((slots, reports), frames)): Chunk<'_, G>| {
        // One small buffer stays in the first-level cache while a frame is drawn into it; the
        // finished frame is then copied once.
        let mut scratch = Frame::filled(0);
        let plays = slots
            .iter_mut()
            .zip(reports)
            .zip(frames.chunks_exact_mut(CELLS));
        for (index, ((slot, report), cells)) in (part * size..).zip(plays) {
            if change(index, slot, report) {
                slot.draw(&mut scratch);
                cells.copy_from_slice(scratch.cells());
            }
        }
    };
    match workers.pool().filter(|_| slots.len() > size) {
        Some(pool) => pool.install(|| {
            slots
                .par_chunks_mut(size)
                .zip(reports.par_chunks_mut(size))
                .zip(frames.par_chunks_mut(size * CELLS))
                .enumerate()
                .with_max_len(1)
                .for_each(change_chunk);
        }),
        None => slots
            .chunks_mut(size)
            .zip(reports.chunks_mut(size))
            .zip(frames.chunks_mut(size * CELLS))
            .enumerate()
            .for_each(change_chunk),
    }
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
        frames: &mut [u8],
        reports: &mut [Report],
        workers: &Workers,
    ) {
        let Self {
            slots,
            levels,
            rules,
        } = self;
        for_each_play(slots, reports, frames, workers, |index, slot, report| {
            let is_chosen = chosen.is_none_or(|chosen| chosen[index]);
            if is_chosen {
                *slot = Slot::new(levels[index].clone(), *rules);
                *report = slot.report(0, true);
            }
            is_chosen
        });
    }

    fn step(
        &mut self,
        actions: &[Action],
        frames: &mut [u8],
        reports: &mut [Report],
        workers: &Workers,
    ) {
        let Self { slots, rules, .. } = self;
        for_each_play(slots, reports, frames, workers, |index, slot, report| {
            *report = slot.step(actions[index], *rules);
            true
        });
    }

    fn snapshot(&self, reports: &[Report]) -> Arc<dyn Any + Send + Sync> {
        Arc::new(SavedPlays {
            slots: self.slots.clone(),
            reports: reports.to_vec(),
        })
    }

    fn restore(
        &mut self,
        snapshot: &(dyn Any + Send + Sync),
        from: &[usize],
        frames: &mut [u8],
        reports: &mut [Report],
        workers: &Workers,
    ) {
        let saved = snapshot
            .downcast_ref::<SavedPlays<G>>()
            .expect("the caller compared the environments' ids");
        for_each_play(
            &mut self.slots,
            reports,
            frames,
            workers,
            |index, slot, report| {
                *slot = saved.slots[from[index]].clone();
                *report = saved.reports[from[index]];
                true
            },
        );
    }
}

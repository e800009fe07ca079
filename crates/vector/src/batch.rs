//! All plays of one game, stepped in parallel.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;
use rhae_engine::{Action, CELLS, Frame, Game, Levels};

use crate::slot::Slot;
use crate::{Report, Rules};

/// The fewest plays worth handing to another thread.
const FEWEST: usize = 16;

/// Plays with the type of their game erased. Lists are as long as there are plays.
pub(crate) trait Batch: Send + Sync {
    fn seed(&mut self, seeds: &[u64]);
    fn reset(&mut self, chosen: Option<&[bool]>, frames: &mut [u8], reports: &mut [Report]);
    fn step(&mut self, actions: &[Action], frames: &mut [u8], reports: &mut [Report]);
    fn snapshot(&self, reports: &[Report]) -> Arc<dyn Any + Send + Sync>;
    fn restore(&mut self, snapshot: &(dyn Any + Send + Sync), from: &[usize], frames: &mut [u8], reports: &mut [Report]);
}

pub(crate) struct Plays<G: Game> {
    slots: Vec<Slot<G>>,
    /// The levels of each play's seed; equal seeds share theirs.
    levels: Vec<Levels<G>>,
    rules: Rules,
}

/// What [`Batch::snapshot`] gives.
struct Saved<G: Game> {
    slots: Vec<Slot<G>>,
    reports: Vec<Report>,
}

impl<G: Game> Plays<G> {
    pub(crate) fn new(count: usize, rules: Rules) -> Self {
        let levels = vec![Levels::new(0); count];
        let slots = levels.iter().map(|levels| Slot::new(levels.clone(), rules)).collect();
        Self { slots, levels, rules }
    }
}

/// Draws a play into its part of the buffer. A frame is drawn where it stays in the nearest cache, then copied once.
fn draw<G: Game>(slot: &Slot<G>, scratch: &mut Frame, cells: &mut [u8]) {
    slot.draw(scratch);
    cells.copy_from_slice(scratch.cells());
}

fn scratch() -> Frame {
    Frame::filled(0)
}

impl<G: Game> Batch for Plays<G> {
    fn seed(&mut self, seeds: &[u64]) {
        let mut made: BTreeMap<u64, Levels<G>> = BTreeMap::new();
        for (levels, &seed) in self.levels.iter_mut().zip(seeds) {
            // Where levels do not depend on the seed, all plays share one set.
            let seed = if G::FACTS.seeded { seed } else { 0 };
            *levels = made.entry(seed).or_insert_with(|| Levels::new(seed)).clone();
        }
    }

    fn reset(&mut self, chosen: Option<&[bool]>, frames: &mut [u8], reports: &mut [Report]) {
        let Self { slots, levels, rules } = self;
        let all = slots.par_iter_mut().zip(reports).zip(frames.par_chunks_exact_mut(CELLS)).zip(&*levels).enumerate();
        all.with_min_len(FEWEST).for_each_init(scratch, |scratch, (index, (((slot, report), cells), levels))| {
            if chosen.is_none_or(|chosen| chosen[index]) {
                *slot = Slot::new(levels.clone(), *rules);
                *report = slot.report(0, true);
                draw(slot, scratch, cells);
            }
        });
    }

    fn step(&mut self, actions: &[Action], frames: &mut [u8], reports: &mut [Report]) {
        let Self { slots, rules, .. } = self;
        let all = slots.par_iter_mut().zip(reports).zip(frames.par_chunks_exact_mut(CELLS)).zip(actions);
        all.with_min_len(FEWEST).for_each_init(scratch, |scratch, (((slot, report), cells), &action)| {
            *report = slot.step(action, *rules);
            draw(slot, scratch, cells);
        });
    }

    fn snapshot(&self, reports: &[Report]) -> Arc<dyn Any + Send + Sync> {
        Arc::new(Saved { slots: self.slots.clone(), reports: reports.to_vec() })
    }

    fn restore(&mut self, snapshot: &(dyn Any + Send + Sync), from: &[usize], frames: &mut [u8], reports: &mut [Report]) {
        let saved = snapshot.downcast_ref::<Saved<G>>().expect("the caller compared the environments' ids");
        let all = self.slots.par_iter_mut().zip(reports).zip(frames.par_chunks_exact_mut(CELLS)).zip(from.par_iter());
        all.with_min_len(FEWEST).for_each_init(scratch, |scratch, (((slot, report), cells), &from)| {
            *slot = saved.slots[from].clone();
            *report = saved.reports[from];
            draw(slot, scratch, cells);
        });
    }
}

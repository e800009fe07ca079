//! All plays of one game, stepped in parallel.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use rhae_engine::{Action, CELLS, Frame, Game, Levels};
use rhae_team::Team;

use crate::slot::Slot;
use crate::{Report, Rules};

/// The fewest plays worth handing to another thread.
const FEWEST: usize = 16;
/// Parts of the plays for each thread: one that was held up leaves the rest to others.
const SHARE: usize = 4;

/// Plays with the type of their game erased. Lists are as long as there are plays.
pub(crate) trait Batch: Send + Sync {
    fn seed(&mut self, seeds: &[u64]);
    fn reset(
        &mut self,
        chosen: Option<&[bool]>,
        frames: &mut [u8],
        reports: &mut [Report],
        team: &Team,
    );
    fn step(&mut self, actions: &[Action], frames: &mut [u8], reports: &mut [Report], team: &Team);
    fn snapshot(&self, reports: &[Report]) -> Arc<dyn Any + Send + Sync>;
    fn restore(
        &mut self,
        snapshot: &(dyn Any + Send + Sync),
        from: &[usize],
        frames: &mut [u8],
        reports: &mut [Report],
        team: &Team,
    );
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

/// Changes plays and draws those that `change` says it did change. It gets the number of each play, the play and its report.
fn each<G: Game>(
    slots: &mut [Slot<G>],
    reports: &mut [Report],
    frames: &mut [u8],
    team: &Team,
    change: impl Fn(usize, &mut Slot<G>, &mut Report) -> bool + Sync,
) {
    let size = slots.len().div_ceil(team.threads() * SHARE).max(FEWEST);
    let parts = slots
        .chunks_mut(size)
        .zip(reports.chunks_mut(size))
        .zip(frames.chunks_mut(size * CELLS));
    team.share(parts.enumerate(), |(part, ((slots, reports), frames))| {
        // A frame is drawn where it stays in the nearest cache, then copied once.
        let mut scratch = Frame::filled(0);
        let plays = slots
            .iter_mut()
            .zip(reports)
            .zip(frames.chunks_exact_mut(CELLS));
        for (number, ((slot, report), cells)) in (part * size..).zip(plays) {
            if change(number, slot, report) {
                slot.draw(&mut scratch);
                cells.copy_from_slice(scratch.cells());
            }
        }
    });
}

impl<G: Game> Batch for Plays<G> {
    fn seed(&mut self, seeds: &[u64]) {
        let mut made: BTreeMap<u64, Levels<G>> = BTreeMap::new();
        for (levels, &seed) in self.levels.iter_mut().zip(seeds) {
            // Where levels do not depend on the seed, all plays share one set.
            let seed = if G::FACTS.seeded { seed } else { 0 };
            *levels = made
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
        team: &Team,
    ) {
        let Self {
            slots,
            levels,
            rules,
        } = self;
        each(slots, reports, frames, team, |number, slot, report| {
            let is_chosen = chosen.is_none_or(|chosen| chosen[number]);
            if is_chosen {
                *slot = Slot::new(levels[number].clone(), *rules);
                *report = slot.report(0, true);
            }
            is_chosen
        });
    }

    fn step(&mut self, actions: &[Action], frames: &mut [u8], reports: &mut [Report], team: &Team) {
        let Self { slots, rules, .. } = self;
        each(slots, reports, frames, team, |number, slot, report| {
            *report = slot.step(actions[number], *rules);
            true
        });
    }

    fn snapshot(&self, reports: &[Report]) -> Arc<dyn Any + Send + Sync> {
        Arc::new(Saved {
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
        team: &Team,
    ) {
        let saved = snapshot
            .downcast_ref::<Saved<G>>()
            .expect("the caller compared the environments' ids");
        each(
            &mut self.slots,
            reports,
            frames,
            team,
            |number, slot, report| {
                *slot = saved.slots[from[number]].clone();
                *report = saved.reports[from[number]];
                true
            },
        );
    }
}

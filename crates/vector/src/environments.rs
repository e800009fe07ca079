//! All plays of one game that is not built in, such as a hosted game in its own process.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use rhae_engine::{Action, Catalog, Environment, Frame, PlayState};

use crate::batch::{Batch, Drawn, Output, try_for_each_play};
use crate::saved::SavedPlay;
use crate::slot::{Ending, Report};
use crate::workers::Workers;
use crate::{EpisodeRules, VectorError};

/// The plays of one game of a catalogue. A play is opened by the first reset.
pub(crate) struct EnvironmentPlays {
    catalog: Arc<dyn Catalog>,
    id: String,
    slots: Vec<OpenSlot>,
    /// The seed with which a reset opens each play.
    seeds: Vec<u64>,
    rules: EpisodeRules,
}

/// One play of an [`EnvironmentPlays`].
#[derive(Default)]
struct OpenSlot {
    /// The seed of the current episode.
    seed: u64,
    /// `None` before the first reset, and after the environment failed. The lock makes the plays
    /// `Sync`; it is never contended.
    environment: Option<Mutex<Box<dyn Environment>>>,
    progress: Progress,
}

/// The state that a vector adds to that of the environment.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// Whether an action was taken since the last level change or RESET.
    acted: bool,
    actions: u32,
    ending: Ending,
}

/// The content of a snapshot.
struct CopiedPlays {
    slots: Vec<CopiedSlot>,
    reports: Vec<Report>,
}

/// A fork of an environment, with what its slot knows about it.
struct CopiedSlot {
    environment: Mutex<Box<dyn Environment>>,
    seed: u64,
    progress: Progress,
}

impl EnvironmentPlays {
    pub(crate) fn new(
        catalog: Arc<dyn Catalog>,
        id: String,
        count: usize,
        rules: EpisodeRules,
    ) -> Self {
        Self {
            catalog,
            id,
            slots: (0..count).map(|_| OpenSlot::default()).collect(),
            seeds: vec![0; count],
            rules,
        }
    }

    /// Calls `change` for each play like [`try_for_each_play`] and returns the first error.
    fn try_for_each(
        &mut self,
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
        change: impl Fn(&Opener<'_>, usize, &mut OpenSlot, &mut Report) -> Result<bool, String> + Sync,
    ) -> Result<(), VectorError> {
        let opener = Opener {
            catalog: self.catalog.as_ref(),
            id: &self.id,
            seeds: &self.seeds,
            rules: self.rules,
        };
        try_for_each_play(
            &mut self.slots,
            reports,
            output,
            workers,
            1,
            |index, slot, report| change(&opener, index, slot, report),
            |slot| slot.environment = None,
        )
    }
}

/// What is needed to open a play.
struct Opener<'a> {
    catalog: &'a dyn Catalog,
    id: &'a str,
    seeds: &'a [u64],
    rules: EpisodeRules,
}

impl Opener<'_> {
    /// Starts a new episode in a slot.
    fn open(&self, slot: &mut OpenSlot) -> Result<Report, String> {
        let opened = self.catalog.open(self.id, slot.seed);
        slot.environment = Some(Mutex::new(opened.map_err(|error| error.to_string())?));
        slot.progress = Progress::default();
        slot.report(0, true)
    }
}

impl OpenSlot {
    fn environment(&mut self) -> Result<&mut dyn Environment, String> {
        match &mut self.environment {
            Some(environment) => Ok(environment
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner)
                .as_mut()),
            None => Err("the play failed before: reset it".to_owned()),
        }
    }

    /// Executes an action. If the episode has ended, ignores the action and starts a new episode.
    fn step(&mut self, action: Action, opener: &Opener<'_>) -> Result<Report, String> {
        if self.progress.ending != Ending::None {
            return opener.open(self);
        }
        let mut progress = self.progress;
        let environment = self.environment()?;
        let before = environment.observation().levels_completed;
        let mut changed = false;
        // As in `Slot::step`, a RESET that would restart the whole game is ignored.
        if action != Action::Reset || progress.acted {
            let seen = environment.act(action).map_err(|error| error.to_string())?;
            changed = seen.changed;
            progress.actions += u32::from(seen.counted);
            if seen.counted {
                progress.acted = action != Action::Reset && seen.levels_completed == before;
            }
        }
        let seen = environment.observation();
        progress.ending = opener
            .rules
            .ending(seen.state, seen.levels_completed, progress.actions);
        let reward = seen.levels_completed.saturating_sub(before);
        self.progress = progress;
        self.report(reward, changed)
    }

    fn report(&mut self, reward: u8, changed: bool) -> Result<Report, String> {
        let Progress {
            acted,
            actions,
            ending,
        } = self.progress;
        let seen = self.environment()?.observation();
        Ok(Report {
            reward,
            ending,
            state: seen.state,
            levels_completed: seen.levels_completed,
            level: seen.levels_completed.min(seen.win_levels.saturating_sub(1)),
            actions,
            available: seen.available,
            may_reset: acted && seen.state != PlayState::Win,
            changed,
        })
    }
}

impl Drawn for OpenSlot {
    fn draw(&mut self, frame: &mut Frame) {
        if let Ok(environment) = self.environment() {
            frame.copy_from(environment.observation().settled());
        }
    }
}

impl Batch for EnvironmentPlays {
    fn seed(&mut self, seeds: &[u64]) {
        self.seeds.copy_from_slice(seeds);
    }

    fn reset(
        &mut self,
        chosen: Option<&[bool]>,
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
    ) -> Result<(), VectorError> {
        self.try_for_each(output, reports, workers, |opener, index, slot, report| {
            let is_chosen = chosen.is_none_or(|chosen| chosen[index]);
            if is_chosen {
                slot.seed = opener.seeds[index];
                *report = opener.open(slot)?;
            }
            Ok(is_chosen)
        })
    }

    fn step(
        &mut self,
        actions: &[Action],
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
    ) -> Result<(), VectorError> {
        self.try_for_each(output, reports, workers, |opener, index, slot, report| {
            *report = slot.step(actions[index], opener)?;
            Ok(true)
        })
    }

    fn snapshot(&self, reports: &[Report]) -> Result<Arc<dyn Any + Send + Sync>, VectorError> {
        let fork = |(play, slot): (usize, &OpenSlot)| {
            let fork = slot
                .environment
                .as_ref()
                .and_then(|open| open.lock().unwrap_or_else(PoisonError::into_inner).fork());
            let fork = fork.ok_or_else(|| VectorError::Failed {
                play,
                reason: format!("`{}` cannot be copied in its current state", self.id),
            })?;
            Ok(CopiedSlot {
                environment: Mutex::new(fork),
                seed: slot.seed,
                progress: slot.progress,
            })
        };
        let slots: Result<Vec<_>, VectorError> = self.slots.iter().enumerate().map(fork).collect();
        Ok(Arc::new(CopiedPlays {
            slots: slots?,
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
            .downcast_ref::<CopiedPlays>()
            .expect("the caller compared the environments' ids");
        self.try_for_each(output, reports, workers, |opener, index, slot, report| {
            let from = from[index];
            let saved_slot = &saved.slots[from];
            let environment = saved_slot
                .environment
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let fork = environment.fork();
            let fork = fork.ok_or_else(|| format!("`{}` cannot be copied", opener.id))?;
            slot.environment = Some(Mutex::new(fork));
            slot.seed = saved_slot.seed;
            slot.progress = saved_slot.progress;
            *report = saved.reports[from];
            Ok(true)
        })
    }

    fn save(&self, reports: &[Report]) -> Result<Vec<SavedPlay>, VectorError> {
        let save = |(play, (slot, report)): (usize, (&OpenSlot, &Report))| {
            let failed = |reason: String| VectorError::Failed { play, reason };
            let environment = match &slot.environment {
                None => None,
                Some(open) => {
                    let open = open.lock().unwrap_or_else(PoisonError::into_inner);
                    let saved = open.snapshot().map_err(|error| failed(error.to_string()))?;
                    Some(saved.ok_or_else(|| failed(format!("`{}` cannot be saved", self.id)))?)
                }
            };
            let Progress {
                acted,
                actions,
                ending,
            } = slot.progress;
            Ok(SavedPlay {
                seed: slot.seed,
                environment,
                acted,
                actions,
                ending,
                reward: report.reward,
                changed: report.changed,
            })
        };
        let plays = self.slots.iter().zip(reports).enumerate();
        plays.map(save).collect()
    }

    fn load(
        &mut self,
        saved: &[SavedPlay],
        output: Output<'_>,
        reports: &mut [Report],
        workers: &Workers,
    ) -> Result<(), VectorError> {
        self.try_for_each(output, reports, workers, |opener, index, slot, report| {
            let saved = &saved[index];
            slot.seed = saved.seed;
            opener.open(slot)?;
            match &saved.environment {
                Some(snapshot) => {
                    let restored = slot.environment()?.restore(snapshot);
                    restored.map_err(|error| error.to_string())?;
                }
                None => {
                    slot.environment = None;
                    return Ok(false);
                }
            }
            slot.progress = Progress {
                acted: saved.acted,
                actions: saved.actions,
                ending: saved.ending,
            };
            *report = slot.report(saved.reward, saved.changed)?;
            Ok(true)
        })
    }
}

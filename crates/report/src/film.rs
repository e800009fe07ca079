//! A film: a replayed play with all its frames, from which GIFs and pages with a browser player are
//! made.
//!
//! Invariant: the first moment is the opening RESET, and every moment has at least one frame, the
//! settled frame last. The drawing code skips a moment without frames instead of failing.
//!
//! A film contains neither scores nor baselines, and it does not know where its frames come from.

use rhae_engine::{Action, Frame, Observation, PlayState};
use rhae_protocol::{Details, ModelUsage, sent_usage};
use serde_json::Value;

use crate::picture::{PictureError, contact_sheet};
use crate::reasoning::{context_tokens, reasoning_text};

/// The maximum number of frames on a contact sheet.
const MAX_SHEET_FRAMES: usize = 120;

/// A play with all its frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Film {
    /// The name of the environment.
    pub title: String,
    /// One line with the agent and its seed.
    pub subtitle: String,
    /// The speed of animations.
    pub frames_per_second: u8,
    /// The number of levels of the environment.
    pub win_levels: u8,
    /// Every observation in order, the opening RESET first.
    pub moments: Vec<Moment>,
}

/// One command of a film with its frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    pub action: Action,
    /// One frame or an animation, the settled frame last.
    pub frames: Vec<Frame>,
    /// The state of the play after the command.
    pub state: PlayState,
    /// The number of completed levels after the command.
    pub levels_completed: u8,
    /// Whether the command changed the state.
    pub changed: bool,
    /// Whether the command counted as an action.
    pub counted: bool,
    /// Whether the command restarted the game at its first level.
    pub full_reset: bool,
    /// The reasoning that the agent recorded with the command.
    pub reasoning: Option<String>,
    /// What the agent asked its model since the command before, if it did.
    pub work: Option<ModelWork>,
    /// The time of the command since the start of the play, in milliseconds, if it was recorded.
    pub t_ms: Option<u64>,
}

/// What an agent asked its model before a command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelWork {
    pub spent: ModelUsage,
    /// The tokens of the conversation after its last request.
    pub context_tokens: Option<u64>,
}

impl ModelWork {
    /// Returns what a log entry with these details says about requests, if it says anything. The log
    /// of a server has the usage in the reasoning.
    pub fn of(details: &Details) -> Option<Self> {
        let reasoning = details.reasoning.as_ref();
        let sent = || reasoning.and_then(sent_usage);
        Some(Self {
            spent: ModelUsage::from_details(details).or_else(sent)?,
            context_tokens: reasoning.and_then(context_tokens),
        })
    }
}

/// The counts of one level in one run of a film.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelTally {
    /// Counted actions.
    pub actions: u64,
    /// Counted actions that changed nothing.
    pub unchanged: u64,
}

impl Film {
    /// Creates a film without moments.
    pub fn new(
        title: impl Into<String>,
        subtitle: impl Into<String>,
        frames_per_second: u8,
        win_levels: u8,
    ) -> Self {
        Self {
            title: title.into(),
            subtitle: subtitle.into(),
            frames_per_second,
            win_levels,
            moments: Vec::new(),
        }
    }

    /// Appends an observation of the environment.
    pub fn push(&mut self, observation: &Observation, reasoning: Option<&Value>) {
        self.moments.push(Moment::new(observation, reasoning));
    }

    /// Returns the number of counted actions.
    pub fn actions(&self) -> usize {
        self.moments.iter().filter(|moment| moment.counted).count()
    }

    /// Returns the index of the first moment that shows `level`, which is counted from 1. For
    /// levels after the first, it is the moment that completes the previous level. Returns `None`
    /// if the film does not reach the level.
    pub fn first_moment_of_level(&self, level: u8) -> Option<usize> {
        self.moments
            .iter()
            .position(|moment| moment.levels_completed >= level.saturating_sub(1))
    }

    /// Returns the part that shows one level, which is counted from 1, or `None` if the film does
    /// not reach the level.
    pub fn only_level(mut self, level: u8) -> Option<Self> {
        let first = self.first_moment_of_level(level)?;
        let last = self
            .moments
            .iter()
            .position(|moment| moment.levels_completed >= level);
        self.moments
            .truncate(last.map_or(self.moments.len(), |last| last + 1));
        self.moments.drain(..first);
        Some(self)
    }

    /// Returns the time of each moment in milliseconds, the first at 0, or `None` if the times were
    /// not recorded. Times never decrease.
    pub fn times(&self) -> Option<Vec<u64>> {
        let (first, rest) = self.moments.split_first()?;
        // The opening RESET is often recorded without a time.
        let start = first.t_ms.unwrap_or(0);
        let mut times = vec![0];
        for moment in rest {
            let before = times.last().copied().unwrap_or(0);
            times.push(moment.t_ms?.saturating_sub(start).max(before));
        }
        (times.len() > 1).then_some(times)
    }

    /// Returns the duration of one animation frame in milliseconds.
    pub(crate) fn frame_ms(&self) -> u32 {
        1000 / u32::from(self.frames_per_second.clamp(1, 60))
    }

    /// Returns the counts of each level for every run of the play. A full reset starts another run.
    /// An action is counted on the level on which it was taken.
    pub fn tallies(&self) -> Vec<Vec<LevelTally>> {
        let mut runs = vec![vec![LevelTally::default(); usize::from(self.win_levels)]];
        let mut level = 0;
        for (index, moment) in self.moments.iter().enumerate() {
            if index > 0 && moment.full_reset {
                runs.push(vec![LevelTally::default(); usize::from(self.win_levels)]);
            } else if let Some(tally) = runs.last_mut().and_then(|run| run.get_mut(level)) {
                tally.actions += u64::from(moment.counted);
                tally.unchanged += u64::from(moment.counted && !moment.changed);
            }
            level = usize::from(moment.levels_completed);
        }
        runs
    }
}

impl Moment {
    /// Creates a moment from an observation.
    pub fn new(observation: &Observation, reasoning: Option<&Value>) -> Self {
        Self {
            action: observation.action,
            frames: observation.frames.frames().to_vec(),
            state: observation.state,
            levels_completed: observation.levels_completed,
            changed: observation.changed,
            counted: observation.counted,
            full_reset: observation.full_reset,
            reasoning: reasoning.map(reasoning_text),
            work: None,
            t_ms: None,
        }
    }

    /// Returns the column and row of a click.
    pub(crate) fn click(&self) -> Option<(usize, usize)> {
        match self.action {
            Action::Action6 { x, y } => Some((usize::from(x), usize::from(y))),
            _ => None,
        }
    }
}

/// Draws the settled frames of a film as a PNG contact sheet, thinned evenly to at most 120 frames,
/// each cell `zoom` pixels wide.
///
/// # Errors
///
/// Returns an error if the film has no frames or the picture is too large.
pub fn film_sheet(film: &Film, zoom: usize) -> Result<Vec<u8>, PictureError> {
    let settled: Vec<&Frame> = film
        .moments
        .iter()
        .filter_map(|moment| moment.frames.last())
        .collect();
    let shown = settled.len().min(MAX_SHEET_FRAMES);
    let thinned: Vec<&Frame> = (0..shown)
        .map(|index| settled[index * (settled.len() - 1) / (shown - 1).max(1)])
        .collect();
    contact_sheet(&thinned, 8, zoom)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A square that moves right, five steps per level, with one click without effect and an
    /// animation at the end of each level.
    pub(crate) fn walking_square(levels: u8) -> Film {
        let mut film = Film::new("wa1k-v1", "tester · seed 0", 20, levels);
        let draw = |level: u8, x: usize| {
            let mut frame = Frame::filled(5);
            frame.rect(4, 4, 56, 56, 4 - level % 3);
            frame.rect(8 + x * 8, 28, 8, 8, 8 + level % 8);
            frame.rect(48, 28, 8, 8, 14);
            frame
        };
        let moment = |action, frames, levels_completed| Moment {
            action,
            frames,
            state: if levels_completed == levels {
                PlayState::Win
            } else {
                PlayState::NotFinished
            },
            levels_completed,
            changed: true,
            counted: action != Action::Reset,
            full_reset: action == Action::Reset,
            reasoning: None,
            work: None,
            t_ms: None,
        };
        film.moments
            .push(moment(Action::Reset, vec![draw(0, 0)], 0));
        for level in 0..levels {
            let mut click = moment(
                Action::Action6 {
                    x: 10 + 7 * level,
                    y: 40,
                },
                vec![draw(level, 0)],
                level,
            );
            click.changed = false;
            click.reasoning = Some(format!("Level {}: what does this cell do?", level + 1));
            film.moments.push(click);
            for x in 1..5 {
                film.moments
                    .push(moment(Action::Action4, vec![draw(level, x)], level));
            }
            let mut frames: Vec<Frame> = (0..6)
                .map(|step| Frame::filled([14, 11][step % 2]))
                .collect();
            frames.push(draw((level + 1).min(levels - 1), 0));
            film.moments
                .push(moment(Action::Action4, frames, level + 1));
        }
        film
    }

    #[test]
    fn times_are_those_of_a_completely_timed_recording() {
        let mut film = walking_square(1);
        assert_eq!(film.times(), None);
        for (index, moment) in (0..).zip(film.moments.iter_mut().skip(1)) {
            moment.t_ms = Some(1000 + 10 * index);
        }
        film.moments[3].t_ms = Some(5);
        let expected = [0, 1000, 1010, 1010, 1030, 1040, 1050];
        assert_eq!(film.times().unwrap(), expected);
        film.moments[0].t_ms = Some(900);
        assert_eq!(film.times().unwrap()[1], 100);
        film.moments[4].t_ms = None;
        assert_eq!(film.times(), None);
    }

    #[test]
    fn actions_belong_to_the_level_on_which_they_were_taken() {
        let mut film = walking_square(2);
        film.moments.push(Moment {
            levels_completed: 0,
            state: PlayState::NotFinished,
            ..film.moments[0].clone()
        });
        film.moments.push(film.moments[2].clone());
        let tally = LevelTally {
            actions: 6,
            unchanged: 1,
        };
        let second = LevelTally {
            actions: 1,
            unchanged: 0,
        };
        assert_eq!(
            film.tallies(),
            [vec![tally, tally], vec![second, LevelTally::default()]]
        );
        assert_eq!(film.actions(), 13);
    }
}

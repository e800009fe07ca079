//! The playback state of a recording: which frame is shown, and until when.
//!
//! Invariant: there is always a moment with a frame to show. The caller passes the current time;
//! this module does not know the terminal.

use std::time::{Duration, Instant};

use rhae_engine::{Action, Frame, PlayState};
use rhae_report::{Film, Moment, PerceivedBox, Perception, perceive};

use super::keys::PlayerCommand;
use crate::TuiError;

/// The lowest playback speed. Keys change the speed by factors of two.
pub const MIN_SPEED: f64 = 0.125;
/// The highest playback speed.
pub const MAX_SPEED: f64 = 64.0;

/// Minimum display time of a settled frame at speed 1, in milliseconds, after an action that
/// changed something and after one that did not.
const SETTLED_MS: f64 = 300.0;
const UNCHANGED_MS: f64 = 120.0;
/// How long a clicked cell is marked. The playback speed does not affect it.
const CLICK_MARK_TIME: Duration = Duration::from_millis(800);

/// Plays a film under the control of key commands.
pub(crate) struct Player {
    film: Film,
    /// The number of counted actions up to and including each moment.
    actions: Vec<usize>,
    /// The indices of the moments at which a level or a new game starts.
    level_starts: Vec<usize>,
    moment: usize,
    frame: usize,
    speed: f64,
    /// The time of each moment in milliseconds, if it was recorded.
    times: Option<Vec<u64>>,
    /// Whether the film plays at the recorded pace.
    recorded_pace: bool,
    /// The time of the next frame; `None` while paused.
    due: Option<Instant>,
    /// The time until which the clicked cell is marked.
    marked: Option<Instant>,
    /// A message that is shown with the last entry.
    failure: Option<String>,
    /// What perception sees in each moment, computed when it is shown first.
    perceptions: Vec<Perception>,
    /// Whether that is shown.
    shows_perception: bool,
}

impl Player {
    /// Creates a player that starts at the first frame or, if `first` is not 0, at the settled
    /// frame of moment `first`.
    pub(crate) fn new(
        mut film: Film,
        speed: f64,
        first: usize,
        now: Instant,
    ) -> Result<Self, TuiError> {
        film.moments.retain(|moment| !moment.frames.is_empty());
        if film.moments.is_empty() {
            return Err(TuiError::NoFrames);
        }
        let actions = film.moments.iter().scan(0, |count, moment| {
            *count += usize::from(moment.counted);
            Some(*count)
        });
        let actions = actions.collect();
        let begins = |&index: &usize| {
            index == 0
                || film.moments[index].full_reset
                || level_after(&film, index) != level_after(&film, index - 1)
        };
        let level_starts = (0..film.moments.len()).filter(begins).collect();
        let mut player = Self {
            times: film.times(),
            recorded_pace: false,
            film,
            actions,
            level_starts,
            moment: 0,
            frame: 0,
            speed,
            due: None,
            marked: None,
            failure: None,
            perceptions: Vec::new(),
            shows_perception: false,
        };
        if first > 0 {
            player.seek(first, now);
        }
        player.schedule(now);
        Ok(player)
    }

    /// Adds a message that is shown with the last entry.
    pub(crate) fn with_failure(self, failure: Option<String>) -> Self {
        Self { failure, ..self }
    }

    /// Returns the text to show with the current entry: its reasoning and, at the end, the failure.
    pub(crate) fn caption(&self) -> Option<String> {
        let is_last = self.moment + 1 == self.film.moments.len();
        let failure = self.failure.as_ref().filter(|_| is_last);
        let perceived = self.perception().map(|seen| seen.text.trim_end());
        let reasoning = self.moment().reasoning.iter();
        let parts: Vec<&str> = perceived
            .into_iter()
            .filter(|text| !text.is_empty())
            .chain(reasoning.chain(failure).map(String::as_str))
            .collect();
        (!parts.is_empty()).then(|| parts.join("\n"))
    }

    /// Returns what perception sees in the current moment, if that is shown.
    fn perception(&self) -> Option<&Perception> {
        let is_shown = self.shows_perception && self.is_settled();
        is_shown.then(|| &self.perceptions[self.moment])
    }

    /// Returns the parts of the board to outline.
    pub(crate) fn boxes(&self) -> &[PerceivedBox] {
        self.perception().map_or(&[], |seen| &seen.boxes)
    }

    /// Returns the id of the environment.
    pub(crate) fn title(&self) -> &str {
        &self.film.title
    }

    /// Returns the number of the current entry, from 1, and the number of entries.
    pub(crate) const fn entry(&self) -> (usize, usize) {
        (self.moment + 1, self.film.moments.len())
    }

    pub(crate) fn moment(&self) -> &Moment {
        &self.film.moments[self.moment]
    }

    /// Returns the frame to show.
    pub(crate) fn frame(&self) -> &Frame {
        &self.moment().frames[self.frame]
    }

    /// Returns the displayed level, counted from 1, and the number of levels, which is 0 if
    /// unknown. The animation that completes a level still belongs to that level.
    pub(crate) fn level(&self) -> (usize, usize) {
        let shown = if self.is_settled() {
            self.moment
        } else {
            self.moment.saturating_sub(1)
        };
        (
            level_after(&self.film, shown),
            usize::from(self.film.win_levels),
        )
    }

    /// Returns the number of actions counted so far and in total.
    pub(crate) fn actions(&self) -> (usize, usize) {
        (
            self.actions[self.moment],
            self.actions.last().copied().unwrap_or(0),
        )
    }

    /// Returns the level completed by the current entry, once its animation has ended.
    pub(crate) fn completed(&self) -> Option<usize> {
        let before = self
            .moment
            .checked_sub(1)
            .map(|before| &self.film.moments[before])?;
        let now = self.moment();
        let completed =
            self.is_settled() && !now.full_reset && now.levels_completed > before.levels_completed;
        completed.then_some(usize::from(now.levels_completed))
    }

    /// Returns the state of the play. While an animation runs, its outcome is not revealed.
    pub(crate) fn state(&self) -> PlayState {
        if self.is_settled() {
            self.moment().state
        } else {
            PlayState::NotFinished
        }
    }

    /// Returns the clicked cell while it is marked.
    pub(crate) fn marked_cell(&self) -> Option<(u8, u8)> {
        match self.moment().action {
            Action::Action6 { x, y } if self.marked.is_some() => Some((x, y)),
            _ => None,
        }
    }

    pub(crate) const fn speed(&self) -> f64 {
        self.speed
    }

    pub(crate) const fn plays_at_recorded_pace(&self) -> bool {
        self.recorded_pace
    }

    pub(crate) const fn is_playing(&self) -> bool {
        self.due.is_some()
    }

    /// Returns the time until the screen changes next, or `None` if it changes only when a key is
    /// pressed.
    pub(crate) fn time_to_next_tick(&self, now: Instant) -> Option<Duration> {
        let next = self.due.into_iter().chain(self.marked).min()?;
        Some(next.saturating_duration_since(now))
    }

    /// Shows the next frame if it is due, and removes an expired click mark. A late call also
    /// advances by one frame only, so no frame is skipped.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.marked = self.marked.filter(|end| *end > now);
        if self.due.is_some_and(|due| due <= now) {
            if self.is_settled() {
                self.seek(self.moment + 1, now);
                self.frame = 0;
            } else {
                self.frame += 1;
            }
            self.schedule(now);
        }
    }

    /// Executes a key command. A step pauses playback; a jump does not.
    pub(crate) fn handle(&mut self, command: PlayerCommand, now: Instant) {
        let last = self.film.moments.len() - 1;
        match command {
            PlayerCommand::Quit => {}
            PlayerCommand::TogglePause if self.is_playing() => self.due = None,
            PlayerCommand::TogglePause => {
                if self.is_at_end() {
                    self.seek(0, now);
                    self.frame = 0;
                }
                self.schedule(now);
            }
            PlayerCommand::Step(by) => {
                self.due = None;
                self.seek(self.moment.saturating_add_signed(by), now);
            }
            PlayerCommand::Start => self.jump(0, now),
            PlayerCommand::End => self.jump(last, now),
            PlayerCommand::Faster => self.set_speed(self.speed * 2.0, now),
            PlayerCommand::Slower => self.set_speed(self.speed / 2.0, now),
            PlayerCommand::TogglePace => {
                self.recorded_pace = !self.recorded_pace && self.times.is_some();
                if self.is_playing() {
                    self.schedule(now);
                }
            }
            PlayerCommand::TogglePercept => {
                self.shows_perception = !self.shows_perception;
                if self.perceptions.is_empty() {
                    self.perceptions = perceive(&self.film);
                }
            }
            PlayerCommand::NextLevel => {
                let next = self.level_starts.iter().find(|&&start| start > self.moment);
                self.jump(next.copied().unwrap_or(last), now);
            }
            PlayerCommand::PreviousLevel => {
                let here = self
                    .level_starts
                    .partition_point(|&start| start <= self.moment);
                self.jump(self.level_starts[here.saturating_sub(2)], now);
            }
        }
    }

    fn jump(&mut self, moment: usize, now: Instant) {
        self.seek(moment, now);
        if self.is_playing() {
            self.schedule(now);
        }
    }

    /// Shows the settled frame of a moment, or of the last one if `moment` is out of range.
    fn seek(&mut self, moment: usize, now: Instant) {
        self.moment = moment.min(self.film.moments.len() - 1);
        self.frame = self.moment().frames.len() - 1;
        self.marked =
            matches!(self.moment().action, Action::Action6 { .. }).then(|| now + CLICK_MARK_TIME);
    }

    fn set_speed(&mut self, speed: f64, now: Instant) {
        self.speed = speed.clamp(MIN_SPEED, MAX_SPEED);
        if self.is_playing() {
            self.schedule(now);
        }
    }

    /// Schedules the next frame, or pauses playback if the last frame is shown.
    fn schedule(&mut self, now: Instant) {
        let frame_ms = 1000.0 / f64::from(self.film.frames_per_second.clamp(1, 60));
        let settled_ms = if self.moment().changed {
            SETTLED_MS
        } else {
            UNCHANGED_MS
        };
        let display_ms = match self.recorded_ms() {
            Some(recorded_ms) => self.share_of(recorded_ms, frame_ms),
            None if self.is_settled() => frame_ms.max(settled_ms),
            None => frame_ms,
        };
        self.due = (!self.is_at_end())
            .then(|| now + Duration::from_secs_f64(display_ms / 1000.0 / self.speed));
    }

    /// Returns the recorded time between the current entry and the next one, if the film plays at the
    /// recorded pace.
    fn recorded_ms(&self) -> Option<f64> {
        let times = self.times.as_ref().filter(|_| self.recorded_pace)?;
        let (this, next) = (times.get(self.moment)?, times.get(self.moment + 1)?);
        Some(Duration::from_millis(next - this).as_secs_f64() * 1000.0)
    }

    /// Returns the part of an entry's time that the current frame is shown. An animation plays at its
    /// own speed, or faster if it would take longer than the entry; the settled frame takes the rest.
    fn share_of(&self, entry_ms: f64, frame_ms: f64) -> f64 {
        let frames = u32::try_from(self.moment().frames.len()).unwrap_or(u32::MAX);
        let frame_ms = frame_ms.min(entry_ms / f64::from(frames));
        if self.is_settled() {
            entry_ms - frame_ms * f64::from(frames - 1)
        } else {
            frame_ms
        }
    }

    fn is_settled(&self) -> bool {
        self.frame + 1 == self.moment().frames.len()
    }

    fn is_at_end(&self) -> bool {
        self.is_settled() && self.moment + 1 == self.film.moments.len()
    }
}

/// Returns the level displayed after a moment, from 1. A won game shows its last level.
fn level_after(film: &Film, moment: usize) -> usize {
    let level = usize::from(film.moments[moment].levels_completed) + 1;
    if film.win_levels == 0 {
        level
    } else {
        level.min(usize::from(film.win_levels))
    }
}

#[cfg(test)]
pub(crate) mod tests;

//! Which moment of a film is on show, and for how long.
//!
//! Invariant: there is always a moment with a frame to show. Time comes in as an argument, and nothing is known of the
//! terminal.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rhae_engine::{Action, Frame, PlayState};
use rhae_report::{Film, Moment};

use super::keys::Wish;

/// Bounds of the speed, powers of two apart.
pub(crate) const SLOWEST: f64 = 0.125;
pub(crate) const FASTEST: f64 = 64.0;

/// How long a settled picture stays at speed 1, if its action changed something and if not.
const SETTLED_MS: f64 = 300.0;
const UNCHANGED_MS: f64 = 120.0;
/// How long a click is marked, at every speed.
const MARK: Duration = Duration::from_millis(800);

/// A film with a person before it.
pub(crate) struct Player {
    film: Film,
    /// For each moment the actions counted so far.
    actions: Vec<usize>,
    /// The moments that a level or another run begins with.
    starts: Vec<usize>,
    moment: usize,
    frame: usize,
    speed: f64,
    /// When the next frame is due; `None` while paused.
    due: Option<Instant>,
    /// Until when the clicked cell is marked.
    marked: Option<Instant>,
    /// What is said at the end.
    ending: Option<String>,
}

impl Player {
    /// Begins to play: with the first picture of all, or with the settled one of a later moment.
    pub(crate) fn new(mut film: Film, speed: f64, first: usize, now: Instant) -> Result<Self> {
        film.moments.retain(|moment| !moment.frames.is_empty());
        ensure!(
            !film.moments.is_empty(),
            "the recording has no frames to show"
        );
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
        let starts = (0..film.moments.len()).filter(begins).collect();
        let mut player = Self {
            film,
            actions,
            starts,
            moment: 0,
            frame: 0,
            speed,
            due: None,
            marked: None,
            ending: None,
        };
        if first > 0 {
            player.seek(first, now);
        }
        player.play(now);
        Ok(player)
    }

    /// With something to say at the end.
    pub(crate) fn ending(self, ending: Option<String>) -> Self {
        Self { ending, ..self }
    }

    /// What is to be said about the entry on show.
    pub(crate) fn words(&self) -> Option<String> {
        let is_last = self.moment + 1 == self.film.moments.len();
        let ending = self.ending.as_ref().filter(|_| is_last);
        let words: Vec<&str> = self
            .moment()
            .reasoning
            .iter()
            .chain(ending)
            .map(String::as_str)
            .collect();
        (!words.is_empty()).then(|| words.join("\n"))
    }

    /// What was played.
    pub(crate) fn title(&self) -> &str {
        &self.film.title
    }

    /// The number of the entry on show, from 1, and of all.
    pub(crate) const fn entry(&self) -> (usize, usize) {
        (self.moment + 1, self.film.moments.len())
    }

    /// What is on show.
    pub(crate) fn moment(&self) -> &Moment {
        &self.film.moments[self.moment]
    }

    /// The picture to show.
    pub(crate) fn frame(&self) -> &Frame {
        &self.moment().frames[self.frame]
    }

    /// The level on show, from 1, and how many there are, if that is known. While the last picture of a level moves, it is
    /// still that level.
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

    /// The actions counted so far and in all.
    pub(crate) fn actions(&self) -> (usize, usize) {
        (
            self.actions[self.moment],
            self.actions.last().copied().unwrap_or(0),
        )
    }

    /// The level that the entry on show completed, once that can be seen.
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

    /// Where the play stands, as far as it has been shown.
    pub(crate) fn state(&self) -> PlayState {
        if self.is_settled() {
            self.moment().state
        } else {
            PlayState::NotFinished
        }
    }

    /// The clicked cell, for as long as it is marked.
    pub(crate) fn mark(&self) -> Option<(u8, u8)> {
        match self.moment().action {
            Action::Action6 { x, y } if self.marked.is_some() => Some((x, y)),
            _ => None,
        }
    }

    pub(crate) const fn speed(&self) -> f64 {
        self.speed
    }

    pub(crate) const fn is_playing(&self) -> bool {
        self.due.is_some()
    }

    /// How long what is shown stays as it is; `None` if only the person changes it.
    pub(crate) fn wait(&self, now: Instant) -> Option<Duration> {
        let next = self.due.into_iter().chain(self.marked).min()?;
        Some(next.saturating_duration_since(now))
    }

    /// Goes on to the next frame if it is due. After a delay none is left out: one sees every step.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.marked = self.marked.filter(|end| *end > now);
        if self.due.is_some_and(|due| due <= now) {
            if self.is_settled() {
                self.seek(self.moment + 1, now);
                self.frame = 0;
            } else {
                self.frame += 1;
            }
            self.play(now);
        }
    }

    /// Does what a key asks for. A step stops the film; a jump does not.
    pub(crate) fn fulfil(&mut self, wish: Wish, now: Instant) {
        let last = self.film.moments.len() - 1;
        match wish {
            Wish::Quit => {}
            Wish::Pause if self.is_playing() => self.due = None,
            Wish::Pause => {
                if self.is_at_end() {
                    self.seek(0, now);
                    self.frame = 0;
                }
                self.play(now);
            }
            Wish::Step(by) => {
                self.due = None;
                self.seek(self.moment.saturating_add_signed(by), now);
            }
            Wish::Start => self.jump(0, now),
            Wish::End => self.jump(last, now),
            Wish::Faster => self.set_speed(self.speed * 2.0, now),
            Wish::Slower => self.set_speed(self.speed / 2.0, now),
            Wish::NextLevel => {
                let next = self.starts.iter().find(|&&start| start > self.moment);
                self.jump(next.copied().unwrap_or(last), now);
            }
            Wish::PreviousLevel => {
                let here = self.starts.partition_point(|&start| start <= self.moment);
                self.jump(self.starts[here.saturating_sub(2)], now);
            }
        }
    }

    fn jump(&mut self, moment: usize, now: Instant) {
        self.seek(moment, now);
        if self.is_playing() {
            self.play(now);
        }
    }

    /// Shows the settled picture of a moment, or of the last.
    fn seek(&mut self, moment: usize, now: Instant) {
        self.moment = moment.min(self.film.moments.len() - 1);
        self.frame = self.moment().frames.len() - 1;
        self.marked = matches!(self.moment().action, Action::Action6 { .. }).then(|| now + MARK);
    }

    fn set_speed(&mut self, speed: f64, now: Instant) {
        self.speed = speed.clamp(SLOWEST, FASTEST);
        if self.is_playing() {
            self.play(now);
        }
    }

    /// Lets the frame on show stay for its time, and forever at the end.
    fn play(&mut self, now: Instant) {
        let frame_ms = 1000.0 / f64::from(self.film.frames_per_second.clamp(1, 60));
        let settled_ms = if self.moment().changed {
            SETTLED_MS
        } else {
            UNCHANGED_MS
        };
        let stays_ms = if self.is_settled() {
            frame_ms.max(settled_ms)
        } else {
            frame_ms
        };
        self.due = (!self.is_at_end())
            .then(|| now + Duration::from_secs_f64(stays_ms / 1000.0 / self.speed));
    }

    fn is_settled(&self) -> bool {
        self.frame + 1 == self.moment().frames.len()
    }

    fn is_at_end(&self) -> bool {
        self.is_settled() && self.moment + 1 == self.film.moments.len()
    }
}

/// The level that is on show after a moment, from 1; a won game shows its last.
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

//! A person's play: what they see, what their wishes do, and what they are told.
//!
//! Invariant: only an action that the environment offers, in a play that goes on, reaches it; everything else costs
//! nothing. Time comes in as an argument, and nothing is known of the terminal.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use rhae_engine::{Action, ActionKind, ActionSet, Frame, GameInfo, PlayState, SIZE};
use rhae_protocol::Ending;
use rhae_session::{Play, Tally};

use super::film::Film;
use super::keys::{Focus, Wish, key_name};
use super::record::Recorder;
use crate::output::counted;

/// A play with a person before it.
pub(crate) struct Sitting {
    play: Play,
    recorder: Option<Recorder>,
    film: Film,
    pause: Pause,
    cursor: Cursor,
    hint: Option<String>,
}

/// Where keys move to without a mouse.
#[derive(Clone, Copy)]
struct Cursor {
    on: bool,
    x: u8,
    y: u8,
}

/// Why the board waits for a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pause {
    None,
    LevelWon { level: usize, actions: u32 },
    Question,
}

impl Sitting {
    /// Sits down before a play that was just opened.
    pub(crate) fn new(play: Play, recorder: Option<Recorder>) -> Self {
        let film = Film::still(
            play.opening().observation.settled().clone(),
            play.info().frames_per_second,
        );
        let middle = SIZE as u8 / 2;
        let cursor = Cursor {
            on: false,
            x: middle,
            y: middle,
        };
        Self {
            play,
            recorder,
            film,
            pause: Pause::None,
            cursor,
            hint: None,
        }
    }

    /// What is known of the environment.
    pub(crate) fn info(&self) -> &GameInfo {
        self.play.info()
    }

    /// The counts.
    pub(crate) const fn tally(&self) -> &Tally {
        self.play.tally()
    }

    /// The frames on show.
    pub(crate) const fn film(&self) -> &Film {
        &self.film
    }

    /// The frames on show, to let time pass.
    pub(crate) const fn film_mut(&mut self) -> &mut Film {
        &mut self.film
    }

    /// The picture to show.
    pub(crate) fn frame(&self) -> &Frame {
        self.film.frame()
    }

    /// The cell under the cursor, if there is one.
    pub(crate) fn cursor(&self) -> Option<(u8, u8)> {
        (self.cursor.on && self.offered().contains(ActionKind::Action6))
            .then_some((self.cursor.x, self.cursor.y))
    }

    /// The actions that are offered now.
    pub(crate) fn offered(&self) -> ActionSet {
        self.play.opening().observation.available
    }

    /// What keys refer to.
    pub(crate) fn focus(&self) -> Focus {
        match self.pause {
            Pause::LevelWon { .. } => Focus::LevelWon,
            Pause::Question => Focus::Question,
            Pause::None if self.cursor().is_some() => Focus::Cursor,
            Pause::None => Focus::Board,
        }
    }

    /// The number of the level on show, from 1, and of all levels.
    pub(crate) fn level(&self) -> (usize, usize) {
        let all = self.level_count();
        match self.pause {
            Pause::LevelWon { level, .. } => (level, all),
            Pause::None | Pause::Question => ((self.tally().level() + 1).min(all), all),
        }
    }

    /// Actions on the level on show and in the whole run.
    pub(crate) fn actions(&self) -> (u32, u32) {
        let (level, _) = self.level();
        let levels = self
            .tally()
            .runs()
            .last()
            .map_or(&[][..], |run| &run.levels);
        (
            levels.get(level - 1).map_or(0, |level| level.actions),
            levels.iter().map(|level| level.actions).sum(),
        )
    }

    /// Where the play stands, in a word, as far as it has been shown.
    pub(crate) fn state_word(&self) -> &'static str {
        match (self.state(), self.pause) {
            _ if self.film.is_running() => "playing",
            (_, Pause::LevelWon { .. }) => "level completed",
            (PlayState::NotFinished, _) => "playing",
            (PlayState::Win, _) => "won",
            (PlayState::GameOver, _) => "lost",
        }
    }

    /// What the person should know now, and whether the play waits for an answer to it.
    pub(crate) fn message(&self) -> Option<(String, bool)> {
        let (level, levels) = self.level();
        let urgent = match (self.pause, self.state()) {
            (Pause::Question, PlayState::Win) => {
                "RESET starts the whole game again. y starts it, any other key does not.".to_owned()
            }
            (Pause::Question, _) => {
                "The level is as at its start, so RESET restarts the whole game, counted anew. \
                 y restarts it, any other key goes on."
                    .to_owned()
            }
            _ if self.film.is_running() => return None,
            (Pause::LevelWon { level, actions }, _) => {
                let actions = counted(actions.into(), "action");
                format!(
                    "Level {level} completed with {actions}. Space, enter or a click leads to level {}.",
                    level + 1
                )
            }
            (Pause::None, PlayState::Win) => {
                format!(
                    "You won: all {} completed. q quits and shows the score, r starts again.",
                    counted(levels as u64, "level")
                )
            }
            (Pause::None, PlayState::GameOver) => {
                format!("Level {level} is lost. r starts it again, which counts as an action.")
            }
            (Pause::None, PlayState::NotFinished) => {
                return self.hint.clone().map(|hint| (hint, false));
            }
        };
        Some((urgent, true))
    }

    /// Does what a key asks for. An animation under way is cut short first. True if it was to quit.
    pub(crate) fn fulfil(&mut self, wish: Wish, now: Instant) -> Result<bool> {
        self.film.skip();
        self.hint = None;
        match wish {
            Wish::Quit => return Ok(true),
            Wish::Act(action) => self.act(action, now)?,
            Wish::ClickAtCursor => self.click(self.cursor.x, self.cursor.y, now)?,
            Wish::MoveCursor(right, down) => {
                let moved = |place: u8, by: i8| place.saturating_add_signed(by).min(SIZE as u8 - 1);
                (self.cursor.x, self.cursor.y) =
                    (moved(self.cursor.x, right), moved(self.cursor.y, down));
            }
            Wish::ToggleCursor if self.offered().contains(ActionKind::Action6) => {
                self.cursor.on = !self.cursor.on
            }
            Wish::ToggleCursor => {
                self.hint = Some("There is no cursor: clicks are not offered here.".to_owned())
            }
            Wish::Reset => self.reset(now)?,
            Wish::Confirm => {
                self.pause = Pause::None;
                self.command(Action::Reset, now)?;
            }
            Wish::Decline => self.pause = Pause::None,
            Wish::GoOn => self.go_on(),
            Wish::Nothing => {}
        }
        Ok(false)
    }

    /// A click of the mouse on a cell.
    pub(crate) fn click(&mut self, x: u8, y: u8, now: Instant) -> Result<()> {
        self.film.skip();
        self.hint = None;
        match self.pause {
            Pause::LevelWon { .. } => {
                self.go_on();
                Ok(())
            }
            Pause::Question => Ok(()),
            Pause::None => match Action::click(x, y) {
                Some(action) => self.act(action, now),
                None => Ok(()),
            },
        }
    }

    /// Gets up: closes the counts and the recording, and gives the latter's path.
    pub(crate) fn end(&mut self, failure: Option<String>) -> Result<Option<PathBuf>> {
        let ending = match failure {
            Some(message) => Ending::Failed(message),
            None if self.state() == PlayState::Win => Ending::Won,
            None => Ending::Stopped,
        };
        self.play.tally_mut().end(ending.name(), None);
        self.recorder
            .take()
            .map(|recorder| recorder.end(&ending))
            .transpose()
    }

    /// How many levels there are; at least one, so that there is always one to show.
    pub(crate) fn level_count(&self) -> usize {
        usize::from(self.play.opening().observation.win_levels).max(1)
    }

    fn state(&self) -> PlayState {
        self.play.opening().observation.state
    }

    fn act(&mut self, action: Action, now: Instant) -> Result<()> {
        let kind = action.kind();
        if self.state() != PlayState::NotFinished {
            // The message on show says which keys lead on.
            return Ok(());
        }
        if !self.offered().contains(kind) {
            self.hint = Some(format!(
                "{kind} ({}) is not offered here; nothing was counted.",
                key_name(kind)
            ));
            return Ok(());
        }
        self.command(action, now)
    }

    /// RESET as the official rules have it; before it would restart a game that has begun, the person is asked.
    fn reset(&mut self, now: Instant) -> Result<()> {
        if !self.play.reset_starts_anew() {
            return self.command(Action::Reset, now);
        }
        if self.tally().level() == 0 && self.actions().1 == 0 {
            self.hint = Some("There is nothing to reset: the game has just begun.".to_owned());
        } else {
            self.pause = Pause::Question;
        }
        Ok(())
    }

    fn go_on(&mut self) {
        self.pause = Pause::None;
        self.film.finish();
    }

    fn command(&mut self, action: Action, now: Instant) -> Result<()> {
        let before = self.tally().level();
        let actions_before = self.actions().0;
        let answer = self.play.command(action).context("the play cannot go on")?;
        if let Some(recorder) = &mut self.recorder {
            recorder.add(action, &answer)?;
        }
        let seen = answer.seen;
        let level = usize::from(seen.levels_completed);
        let won_level = !seen.reset && level > before && seen.state == PlayState::NotFinished;
        self.film.start(answer.frames, won_level, now);
        if won_level {
            self.pause = Pause::LevelWon {
                level,
                actions: actions_before + u32::from(seen.counted),
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

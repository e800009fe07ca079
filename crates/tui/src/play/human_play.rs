//! The state of a play by a person, and of the screen on which it is shown.
//!
//! Invariant: the environment receives an action other than RESET only if the action is available
//! and the play is not finished. Other input is not counted as an action. The caller passes the
//! current time; this module does not know the terminal.

use std::path::PathBuf;
use std::time::Instant;

use rhae_engine::{Action, ActionKind, ActionSet, Frame, GameInfo, PlayState, SIZE};
use rhae_protocol::Ending;
use rhae_report::counted;
use rhae_session::{Play, Tally};

use super::animation::Animation;
use super::keys::{Focus, KeyCommand, key_name};
use super::record::Recorder;
use crate::TuiError;

/// A play controlled by a person: the play itself, its recording, and the state of the screen.
pub(crate) struct HumanPlay {
    play: Play,
    recorder: Option<Recorder>,
    animation: Animation,
    pause: Pause,
    cursor: Cursor,
    hint: Option<String>,
}

/// The cell to click with the keyboard.
#[derive(Clone, Copy)]
struct Cursor {
    visible: bool,
    x: u8,
    y: u8,
}

/// Why the board waits for the player.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pause {
    None,
    LevelWon { level: usize, actions: u32 },
    RestartPrompt,
}

impl HumanPlay {
    /// Creates the state for a play that was just opened.
    pub(crate) fn new(play: Play, recorder: Option<Recorder>) -> Self {
        let animation = Animation::still(
            play.current().observation.settled().clone(),
            play.info().frames_per_second,
        );
        let middle = SIZE as u8 / 2;
        let cursor = Cursor {
            visible: false,
            x: middle,
            y: middle,
        };
        Self {
            play,
            recorder,
            animation,
            pause: Pause::None,
            cursor,
            hint: None,
        }
    }

    pub(crate) fn info(&self) -> &GameInfo {
        self.play.info()
    }

    pub(crate) const fn tally(&self) -> &Tally {
        self.play.tally()
    }

    pub(crate) const fn animation(&self) -> &Animation {
        &self.animation
    }

    pub(crate) const fn animation_mut(&mut self) -> &mut Animation {
        &mut self.animation
    }

    /// Returns the frame to show.
    pub(crate) fn frame(&self) -> &Frame {
        self.animation.frame()
    }

    /// Returns the cell under the cursor, or `None` while the cursor is hidden or clicks are not
    /// available.
    pub(crate) fn cursor(&self) -> Option<(u8, u8)> {
        (self.cursor.visible && self.available_actions().contains(ActionKind::Action6))
            .then_some((self.cursor.x, self.cursor.y))
    }

    pub(crate) fn available_actions(&self) -> ActionSet {
        self.play.current().observation.available
    }

    /// Returns the state on which the meaning of keys depends.
    pub(crate) fn focus(&self) -> Focus {
        match self.pause {
            Pause::LevelWon { .. } => Focus::LevelWon,
            Pause::RestartPrompt => Focus::RestartPrompt,
            Pause::None if self.cursor().is_some() => Focus::Cursor,
            Pause::None => Focus::Board,
        }
    }

    /// Returns the number of the displayed level, from 1, and the number of levels.
    pub(crate) fn level(&self) -> (usize, usize) {
        let all = self.level_count();
        match self.pause {
            Pause::LevelWon { level, .. } => (level, all),
            Pause::None | Pause::RestartPrompt => ((self.tally().level() + 1).min(all), all),
        }
    }

    /// Returns the number of actions on the displayed level and in the whole run.
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

    /// Returns a label for the state of the play. While an animation runs, its outcome is not
    /// revealed.
    pub(crate) fn state_label(&self) -> &'static str {
        match (self.state(), self.pause) {
            _ if self.animation.is_running() => "playing",
            (_, Pause::LevelWon { .. }) => "level completed",
            (PlayState::NotFinished, _) => "playing",
            (PlayState::Win, _) => "won",
            (PlayState::GameOver, _) => "lost",
        }
    }

    /// Returns the message to show and whether it is urgent, that is, whether the play waits for
    /// the player.
    pub(crate) fn message(&self) -> Option<(String, bool)> {
        let (level, levels) = self.level();
        let urgent = match (self.pause, self.state()) {
            (Pause::RestartPrompt, PlayState::Win) => {
                "RESET restarts the whole game. y restarts it, any other key cancels.".to_owned()
            }
            (Pause::RestartPrompt, _) => {
                "The level is at its start, so RESET restarts the whole game as a new run. \
                 y restarts it, any other key cancels."
                    .to_owned()
            }
            _ if self.animation.is_running() => return None,
            (Pause::LevelWon { level, actions }, _) => {
                let actions = counted(actions.into(), "action");
                format!(
                    "Level {level} completed with {actions}. Space, enter or a click continues to level {}.",
                    level + 1
                )
            }
            (Pause::None, PlayState::Win) => {
                format!(
                    "You won: all {} completed. q quits and shows the score, r restarts.",
                    counted(levels as u64, "level")
                )
            }
            (Pause::None, PlayState::GameOver) => {
                format!("Level {level} is lost. r restarts it and counts as an action.")
            }
            (Pause::None, PlayState::NotFinished) => {
                return self.hint.clone().map(|hint| (hint, false));
            }
        };
        Some((urgent, true))
    }

    /// Executes a key command after skipping a running animation. Returns whether the player quits.
    pub(crate) fn handle(&mut self, command: KeyCommand, now: Instant) -> Result<bool, TuiError> {
        self.animation.skip();
        self.hint = None;
        match command {
            KeyCommand::Quit => return Ok(true),
            KeyCommand::Act(action) => self.act(action, now)?,
            KeyCommand::ClickAtCursor => self.click(self.cursor.x, self.cursor.y, now)?,
            KeyCommand::MoveCursor(right, down) => {
                let moved =
                    |position: u8, by: i8| position.saturating_add_signed(by).min(SIZE as u8 - 1);
                (self.cursor.x, self.cursor.y) =
                    (moved(self.cursor.x, right), moved(self.cursor.y, down));
            }
            KeyCommand::ToggleCursor if self.available_actions().contains(ActionKind::Action6) => {
                self.cursor.visible = !self.cursor.visible;
            }
            KeyCommand::ToggleCursor => {
                self.hint = Some(
                    "The cursor is not available, because this environment has no clicks."
                        .to_owned(),
                );
            }
            KeyCommand::Reset => self.reset(now)?,
            KeyCommand::Confirm => {
                self.pause = Pause::None;
                self.step(Action::Reset, now)?;
            }
            KeyCommand::Cancel => self.pause = Pause::None,
            KeyCommand::NextLevel => self.enter_next_level(),
            KeyCommand::Ignore => {}
        }
        Ok(false)
    }

    /// Handles a mouse click on a cell.
    pub(crate) fn click(&mut self, x: u8, y: u8, now: Instant) -> Result<(), TuiError> {
        self.animation.skip();
        self.hint = None;
        match self.pause {
            Pause::LevelWon { .. } => {
                self.enter_next_level();
                Ok(())
            }
            Pause::RestartPrompt => Ok(()),
            Pause::None => match Action::click(x, y) {
                Some(action) => self.act(action, now),
                None => Ok(()),
            },
        }
    }

    /// Ends the play and closes the recording. Returns the path of the recording, if there is one.
    pub(crate) fn end(&mut self, failure: Option<&str>) -> Result<Option<PathBuf>, TuiError> {
        let ending = match failure {
            Some(_) => Ending::EnvironmentFailed,
            None if self.state() == PlayState::Win => Ending::Won,
            None => Ending::Stopped,
        };
        self.play.tally_mut().end(ending.clone(), None);
        self.recorder
            .take()
            .map(|recorder| recorder.end(&ending, failure))
            .transpose()
    }

    /// Returns the number of levels, at least 1, so that there is always a level to show.
    pub(crate) fn level_count(&self) -> usize {
        usize::from(self.play.current().observation.win_levels).max(1)
    }

    fn state(&self) -> PlayState {
        self.play.current().observation.state
    }

    fn act(&mut self, action: Action, now: Instant) -> Result<(), TuiError> {
        let kind = action.kind();
        if self.state() != PlayState::NotFinished {
            // Ignore the action, because the displayed message names the keys that work now.
            return Ok(());
        }
        if !self.available_actions().contains(kind) {
            self.hint = Some(format!(
                "{kind} ({}) is not available here; no action was counted.",
                key_name(kind)
            ));
            return Ok(());
        }
        self.step(action, now)
    }

    /// Executes RESET under the official rules. If RESET would restart the whole game, asks for
    /// confirmation first, or shows a hint if the game has just started.
    fn reset(&mut self, now: Instant) -> Result<(), TuiError> {
        if !self.play.reset_restarts_game() {
            return self.step(Action::Reset, now);
        }
        if self.tally().level() == 0 && self.actions().1 == 0 {
            self.hint = Some("There is nothing to reset: the game has just started.".to_owned());
        } else {
            self.pause = Pause::RestartPrompt;
        }
        Ok(())
    }

    fn enter_next_level(&mut self) {
        self.pause = Pause::None;
        self.animation.finish();
    }

    fn step(&mut self, action: Action, now: Instant) -> Result<(), TuiError> {
        let before = self.tally().level();
        let actions_before = self.actions().0;
        let step = self.play.command(action).map_err(TuiError::Environment)?;
        if let Some(recorder) = &mut self.recorder {
            recorder.add(action, &step)?;
        }
        let outcome = step.outcome;
        let level = usize::from(outcome.levels_completed);
        let won_level = !outcome.reset && level > before && outcome.state == PlayState::NotFinished;
        self.animation.start(step.frames, won_level, now);
        if won_level {
            self.pause = Pause::LevelWon {
                level,
                actions: actions_before + u32::from(outcome.counted),
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

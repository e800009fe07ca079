//! A recording is shown in the terminal.
//!
//! This module dispatches terminal events. Its submodules decide which moment is shown, what keys
//! do and what the screen contains, without access to the terminal.

mod keys;
mod player;
mod reasoning;
mod view;

use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyEventKind};
use rhae_report::Film;

use self::keys::{PlayerCommand, command_for};
use self::player::Player;
pub use self::player::{MAX_SPEED, MIN_SPEED};
use crate::TuiError;
use crate::terminal::canvas::Canvas;
use crate::terminal::event_loop::{self, App, Exit};
use crate::terminal::layout::Layout;
use crate::terminal::screen::{MouseCapture, Screen};

/// What a replay shows at its start. Keys change both.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplayOptions {
    /// Each action takes the time that it took in the play, if the film has times.
    pub recorded_pace: bool,
    /// Objects that changed and status bars are marked and described.
    pub perception: bool,
}

/// Shows a film from moment `first` on, until the user quits or a signal arrives. `speed` is a
/// multiple of the normal speed, from [`MIN_SPEED`] to [`MAX_SPEED`]. `failure` is a message that is
/// shown with the last moment.
///
/// # Errors
///
/// Returns [`TuiError::NoFrames`] if the film has no frames, or another error if the terminal cannot
/// be used.
pub fn replay(
    film: Film,
    speed: f64,
    first: usize,
    options: ReplayOptions,
    failure: Option<String>,
) -> Result<Exit, TuiError> {
    let mut player = Player::new(film, speed, first, Instant::now())?.with_failure(failure);
    if options.recorded_pace {
        player.handle(PlayerCommand::TogglePace, Instant::now());
    }
    if options.perception {
        player.handle(PlayerCommand::TogglePercept, Instant::now());
    }
    Screen::enter(MouseCapture::Off).and_then(|screen| event_loop::run(&mut player, &screen))
}

impl App for Player {
    fn view(&self, columns: u16, rows: u16) -> Canvas {
        view::view(self, columns, rows)
    }

    fn time_to_next_tick(&self, now: Instant) -> Option<Duration> {
        self.time_to_next_tick(now)
    }

    fn tick(&mut self, now: Instant) {
        self.tick(now);
    }

    /// While the board does not fit on the screen, all keys except those that quit are ignored.
    fn handle_event(&mut self, event: &Event, columns: u16, rows: u16) -> Result<bool, TuiError> {
        let Event::Key(key) = event else {
            return Ok(false);
        };
        if key.kind == KeyEventKind::Release {
            return Ok(false);
        }
        let command = command_for(*key);
        if let Some(command) = command
            && Layout::fit(columns, rows).is_some()
        {
            self.handle(command, Instant::now());
        }
        Ok(command == Some(PlayerCommand::Quit))
    }
}

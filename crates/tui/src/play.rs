//! A person plays an environment in the terminal.
//!
//! This module dispatches terminal events. Its submodules decide what keys do and what is shown,
//! without access to the terminal.

mod animation;
mod human_play;
mod keys;
mod record;
mod summary;
mod view;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};
use rhae_session::Play;

use self::human_play::HumanPlay;
use self::keys::{Focus, KeyCommand, command_for};
use self::record::Recorder;
use crate::TuiError;
use crate::terminal::canvas::Canvas;
use crate::terminal::event_loop::{self, App, Exit};
use crate::terminal::layout::Layout;
use crate::terminal::screen::{MouseCapture, Screen};

/// A play that the player has ended.
pub struct FinishedPlay {
    play: HumanPlay,
    seed: u64,
    exit: Exit,
    recording: Option<PathBuf>,
}

impl FinishedPlay {
    /// Returns how the play ended.
    pub const fn exit(&self) -> Exit {
        self.exit
    }

    /// Formats the levels, the actions compared with the baselines, the score and the path of the
    /// recording. Notes are wrapped to `width` columns.
    pub fn summary(&self, width: usize) -> String {
        let mut text = summary::summary(
            self.play.info(),
            self.seed,
            self.play.level_count(),
            self.play.tally().runs(),
            width,
        );
        if let Some(path) = &self.recording {
            text.push_str(&format!("recording: {}\n", path.display()));
        }
        text
    }
}

/// Lets a person play until they quit or a signal arrives. `seed` is the seed with which `play` was
/// opened. If `record` is given, the play is recorded in that new file, entry by entry.
///
/// # Errors
///
/// Returns an error if the recording cannot be written, if the terminal cannot be used, or if the
/// environment fails. The recording of a failed play ends with the reason.
pub fn play(play: Play, seed: u64, record: Option<&Path>) -> Result<FinishedPlay, TuiError> {
    let recorder = record
        .map(|path| Recorder::create(path, &play, seed))
        .transpose()?;
    let mut play = HumanPlay::new(play, recorder);
    // The closure drops the screen, which restores the terminal, before anything is printed.
    let exit =
        Screen::enter(MouseCapture::On).and_then(|screen| event_loop::run(&mut play, &screen));
    let failure = exit.as_ref().err().map(TuiError::to_string);
    let recording = play.end(failure.as_deref());
    Ok(FinishedPlay {
        exit: exit?,
        recording: recording?,
        play,
        seed,
    })
}

impl App for HumanPlay {
    fn view(&self, columns: u16, rows: u16) -> Canvas {
        view::view(self, columns, rows)
    }

    fn time_to_next_tick(&self, now: Instant) -> Option<Duration> {
        self.animation().time_to_next_frame(now)
    }

    fn tick(&mut self, now: Instant) {
        self.animation_mut().tick(now);
    }

    /// While the board does not fit on the screen, all input except the keys that quit is ignored.
    fn handle_event(&mut self, event: &Event, columns: u16, rows: u16) -> Result<bool, TuiError> {
        let layout = Layout::fit(columns, rows);
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                if layout.is_none() {
                    return Ok(command_for(*key, Focus::Board) == KeyCommand::Quit);
                }
                self.handle(command_for(*key, self.focus()), Instant::now())
            }
            Event::Mouse(mouse) if mouse.kind == MouseEventKind::Down(MouseButton::Left) => {
                if let Some((x, y)) =
                    layout.and_then(|layout| layout.cell_at(mouse.column, mouse.row))
                {
                    self.click(x, y, Instant::now())?;
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }
}

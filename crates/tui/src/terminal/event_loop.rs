//! The event loop of a full-screen command.

use std::process::ExitCode;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crossterm::event::Event;

use super::canvas::{Canvas, Renderer};
use super::color::ColorDepth;
use super::layout::Layout;
use super::screen::{Input, Screen};
use crate::TuiError;

/// A full-screen application. It never reads the clock: the event loop passes the time.
pub(crate) trait App {
    /// Draws the whole screen at this size.
    fn view(&self, columns: u16, rows: u16) -> Canvas;

    /// Returns the time until the next [`App::tick`], or `None` if only user input changes the
    /// view.
    fn time_to_next_tick(&self, now: Instant) -> Option<Duration>;

    /// Advances animations to `now`.
    fn tick(&mut self, now: Instant);

    /// Handles a key or mouse event on a screen of this size. Returns whether the user quits.
    fn handle_event(&mut self, event: &Event, columns: u16, rows: u16) -> Result<bool, TuiError>;
}

/// Why the event loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The user quit.
    Quit,
    /// This signal arrived.
    Signal(i32),
}

impl Exit {
    /// Returns the exit code of the process: 0 if the user quit, or 128 plus the number of the
    /// signal, as in a shell.
    pub fn code(self) -> ExitCode {
        match self {
            Self::Quit => ExitCode::SUCCESS,
            Self::Signal(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)),
        }
    }
}

/// Draws the app and handles input until the user quits or a signal arrives. While the terminal is
/// too small for the board, animations are suspended.
pub(crate) fn run(app: &mut impl App, screen: &Screen) -> Result<Exit, TuiError> {
    let mut renderer = Renderer::new(ColorDepth::detect(|name| std::env::var(name).ok()));
    let mut size = screen.size()?;
    loop {
        screen.write(&renderer.render(app.view(size.0, size.1)))?;
        let timeout =
            Layout::fit(size.0, size.1).and_then(|_| app.time_to_next_tick(Instant::now()));
        let input = match timeout {
            Some(timeout) => screen.inputs().recv_timeout(timeout),
            None => screen
                .inputs()
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        };
        match input {
            Err(RecvTimeoutError::Timeout) => app.tick(Instant::now()),
            Err(RecvTimeoutError::Disconnected) => return Err(TuiError::Disconnected),
            Ok(Input::Failed(error)) => {
                return Err(TuiError::terminal("read from the terminal")(error));
            }
            Ok(Input::Signal(signal)) => return Ok(Exit::Signal(signal)),
            Ok(Input::Event(Event::Resize(..))) => {
                size = screen.size()?;
                renderer.invalidate();
            }
            Ok(Input::Event(event)) => {
                if app.handle_event(&event, size.0, size.1)? {
                    return Ok(Exit::Quit);
                }
            }
        }
    }
}

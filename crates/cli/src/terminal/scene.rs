//! The loop between the terminal and what a full-screen command shows.

use std::process::ExitCode;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use crossterm::event::Event;

use super::canvas::{Canvas, Painter};
use super::color::Depth;
use super::layout::Layout;
use super::screen::{Incoming, Screen};

/// Something to show and to handle. Time comes in as an argument.
pub(crate) trait Scene {
    /// The whole screen at this size.
    fn view(&self, columns: u16, rows: u16) -> Canvas;

    /// How long what is shown stays as it is; `None` if only the person changes it.
    fn wait(&self, now: Instant) -> Option<Duration>;

    /// Lets time pass.
    fn tick(&mut self, now: Instant);

    /// Takes a key or the mouse at this size of the screen; true if the person wants to leave.
    fn take(&mut self, event: &Event, columns: u16, rows: u16) -> Result<bool>;
}

/// Why the person left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Quit,
    Signal(i32),
}

impl Left {
    /// How the program ends then.
    pub(crate) fn code(self) -> ExitCode {
        match self {
            Self::Quit => ExitCode::SUCCESS,
            Self::Signal(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)),
        }
    }
}

/// Shows, waits, and does what comes in, until the person leaves. While the board does not fit, time stands still.
pub(crate) fn run(scene: &mut impl Scene, screen: &Screen) -> Result<Left> {
    let mut painter = Painter::new(Depth::detect(|name| std::env::var(name).ok()));
    let mut size = screen.size()?;
    loop {
        screen.write(&painter.paint(scene.view(size.0, size.1)))?;
        let wait = Layout::fit(size.0, size.1).and_then(|_| scene.wait(Instant::now()));
        let incoming = match wait {
            Some(wait) => screen.incoming().recv_timeout(wait),
            None => screen
                .incoming()
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        };
        match incoming {
            Err(RecvTimeoutError::Timeout) => scene.tick(Instant::now()),
            Err(RecvTimeoutError::Disconnected) => bail!("the terminal can no longer be read"),
            Ok(Incoming::Failed(error)) => bail!("the terminal can no longer be read: {error}"),
            Ok(Incoming::Signal(signal)) => return Ok(Left::Signal(signal)),
            Ok(Incoming::Event(Event::Resize(..))) => {
                size = screen.size()?;
                painter.forget();
            }
            Ok(Incoming::Event(event)) => {
                if scene.take(&event, size.0, size.1)? {
                    return Ok(Left::Quit);
                }
            }
        }
    }
}

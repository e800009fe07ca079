//! Full-screen mode of the terminal.
//!
//! Invariant: the terminal is restored exactly once, either when the [`Screen`] is dropped or, if
//! the program panics, before the panic message is printed.

use std::io::{self, IsTerminal, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crossterm::cursor::{Hide, Show};
use crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event};
use crossterm::style::ResetColor;
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};

use crate::TuiError;

/// Whether the terminal is in full-screen mode and must be restored.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// Input received in full-screen mode.
#[derive(Debug)]
pub(crate) enum Input {
    /// A key, mouse or resize event.
    Event(Event),
    /// A signal that asks the program to terminate.
    Signal(i32),
    /// Reading failed. No further events follow.
    Failed(io::Error),
}

/// Whether mouse events go to the program. Otherwise the mouse selects text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MouseCapture {
    On,
    Off,
}

/// The terminal in full-screen mode: alternate screen, raw mode, hidden cursor.
pub(crate) struct Screen {
    inputs: Receiver<Input>,
}

/// Returns an error unless standard input and output are terminals. `alternative` tells the user
/// what to do without one.
///
/// # Errors
///
/// Returns [`TuiError::NoTerminal`] with `command` and `alternative`.
pub fn require_terminal(command: &'static str, alternative: &'static str) -> Result<(), TuiError> {
    let missing = match (io::stdin().is_terminal(), io::stdout().is_terminal()) {
        (true, true) => return Ok(()),
        (false, true) => "standard input is not a terminal",
        (true, false) => "standard output is not a terminal",
        (false, false) => "standard input and output are not terminals",
    };
    Err(TuiError::NoTerminal {
        command,
        missing,
        alternative,
    })
}

impl Screen {
    /// Switches the terminal to full-screen mode and starts listening for events and signals.
    pub(crate) fn enter(mouse: MouseCapture) -> Result<Self, TuiError> {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            previous(info);
        }));
        let (sender, inputs) = channel();
        listen_for_signals(&sender)?;
        terminal::enable_raw_mode()
            .map_err(TuiError::terminal("switch the terminal to raw mode"))?;
        ENTERED.store(true, Ordering::SeqCst);
        // From here on, dropping `screen` restores the terminal, even if the rest of the setup
        // fails.
        let screen = Self { inputs };
        crossterm::execute!(
            io::stdout(),
            EnterAlternateScreen,
            Hide,
            Clear(ClearType::All)
        )
        .and_then(|()| {
            if mouse == MouseCapture::On {
                crossterm::execute!(io::stdout(), EnableMouseCapture)
            } else {
                Ok(())
            }
        })
        .map_err(TuiError::terminal("write to the terminal"))?;
        listen_for_events(sender);
        Ok(screen)
    }

    /// Returns the channel of events and signals, in order of arrival.
    pub(crate) const fn inputs(&self) -> &Receiver<Input> {
        &self.inputs
    }

    /// Returns the number of columns and rows.
    pub(crate) fn size(&self) -> Result<(u16, u16), TuiError> {
        terminal::size().map_err(TuiError::terminal("determine the size of the terminal"))
    }

    /// Writes bytes to the terminal and flushes them.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), TuiError> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)
            .and_then(|()| out.flush())
            .map_err(TuiError::terminal("write to the terminal"))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    // Errors are ignored: the terminal may be gone, and then there is no place to report them.
    let _ = crossterm::execute!(
        io::stdout(),
        DisableMouseCapture,
        ResetColor,
        Show,
        LeaveAlternateScreen
    );
    discard_input();
    let _ = terminal::disable_raw_mode();
}

/// Discards unread mouse reports, which the shell would take for typed text.
fn discard_input() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Reads events on a dedicated thread and forwards them. A read may block after the terminal is
/// gone, and signals must be handled even then.
fn listen_for_events(sender: Sender<Input>) {
    thread::spawn(move || {
        loop {
            let (input, last) = match event::read() {
                Ok(event) => (Input::Event(event), false),
                Err(error) => (Input::Failed(error), true),
            };
            if sender.send(input).is_err() || last {
                return;
            }
        }
    });
}

#[cfg(unix)]
fn listen_for_signals(sender: &Sender<Input>) -> Result<(), TuiError> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])
        .map_err(TuiError::terminal("listen for signals"))?;
    let sender = sender.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            if sender.send(Input::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn listen_for_signals(_sender: &Sender<Input>) -> Result<(), TuiError> {
    Ok(())
}

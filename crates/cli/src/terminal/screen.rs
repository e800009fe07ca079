//! The terminal taken over by a full-screen command, and given back on every way out.
//!
//! Invariant: whatever was switched on is switched off exactly once, by dropping the [`Screen`] or, if the program panics,
//! before the panic's message is printed.

use std::io::{self, IsTerminal, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use anyhow::{Context, Result, bail};
use crossterm::cursor::{Hide, Show};
use crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event};
use crossterm::style::ResetColor;
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};

static ENTERED: AtomicBool = AtomicBool::new(false);

/// What comes in while the screen is taken.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A key, the mouse, or another size.
    Event(Event),
    /// The system asks the program to end, with this signal.
    Signal(i32),
    /// Nothing more can be read.
    Failed(io::Error),
}

/// Whether the mouse is reported to the program; if not, it selects text as ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mouse {
    Reported,
    Free,
}

/// The alternate screen in raw mode without a cursor.
pub(crate) struct Screen {
    incoming: Receiver<Incoming>,
}

/// Says what to do if a person cannot see or type; `otherwise` is what works without a terminal.
pub(crate) fn require_terminal(command: &str, otherwise: &str) -> Result<()> {
    let missing = match (io::stdin().is_terminal(), io::stdout().is_terminal()) {
        (true, true) => return Ok(()),
        (false, true) => "standard input is",
        (true, false) => "standard output is",
        (false, false) => "standard input and output are",
    };
    bail!(
        "`{command}` needs a terminal, and {missing} none; start it in a terminal window without pipes or redirections, \
         or {otherwise}"
    )
}

impl Screen {
    /// Takes the terminal over.
    pub(crate) fn enter(mouse: Mouse) -> Result<Self> {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            previous(info);
        }));
        let (sender, incoming) = channel();
        listen_for_signals(&sender)?;
        terminal::enable_raw_mode().context("cannot switch the terminal to raw mode")?;
        ENTERED.store(true, Ordering::SeqCst);
        // From here on dropping this gives the terminal back, also if the rest of the setup fails.
        let screen = Self { incoming };
        crossterm::execute!(
            io::stdout(),
            EnterAlternateScreen,
            Hide,
            Clear(ClearType::All)
        )
        .and_then(|()| {
            if mouse == Mouse::Reported {
                crossterm::execute!(io::stdout(), EnableMouseCapture)
            } else {
                Ok(())
            }
        })
        .context("cannot write to the terminal")?;
        listen_for_events(sender);
        Ok(screen)
    }

    /// What comes in, in order.
    pub(crate) const fn incoming(&self) -> &Receiver<Incoming> {
        &self.incoming
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> Result<(u16, u16)> {
        terminal::size().context("cannot find out the size of the terminal")
    }

    /// Sends bytes to the terminal in one piece.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)
            .and_then(|()| out.flush())
            .context("cannot write to the terminal")
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
    // There is nobody to tell of a failure: the terminal may be gone.
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

/// Drops reports of the mouse that nobody has read, which the shell would take for typing.
fn discard_input() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Reads in a thread of its own: reading does not return when the terminal is gone, and a signal must be heard even then.
fn listen_for_events(sender: Sender<Incoming>) {
    thread::spawn(move || {
        loop {
            let (incoming, last) = match event::read() {
                Ok(event) => (Incoming::Event(event), false),
                Err(error) => (Incoming::Failed(error), true),
            };
            if sender.send(incoming).is_err() || last {
                return;
            }
        }
    });
}

#[cfg(unix)]
fn listen_for_signals(sender: &Sender<Incoming>) -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])
        .context("cannot listen for signals")?;
    let sender = sender.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            if sender.send(Incoming::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn listen_for_signals(_sender: &Sender<Incoming>) -> Result<()> {
    Ok(())
}

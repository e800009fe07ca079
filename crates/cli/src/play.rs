//! `rhae play`: a person plays an environment in the terminal.
//!
//! Here are the flags and the loop between the terminal and the play. What keys mean, where things stand, which colours
//! there are and what is shown is decided in the modules below, which know no terminal.

mod canvas;
mod color;
mod film;
mod keys;
mod layout;
mod record;
mod sitting;
mod summary;
mod terminal;
mod view;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};
use rhae_session::{Builtin, Catalog, Play, ResetRule};

use self::canvas::Painter;
use self::color::Depth;
use self::keys::{Focus, Wish, wish};
use self::layout::Layout;
use self::record::Recorder;
use self::sitting::Sitting;
use self::terminal::{Incoming, Screen, require_terminal};
use crate::output;

/// Play an environment yourself, in the terminal.
///
/// Nothing explains an environment but its behaviour. The keys are shown below the board; they are the same in all
/// environments. A character shows two cells, and a click is on the upper one: for the lower one use the cursor (c).
#[derive(Args)]
#[command(after_help = "Examples:
  rhae play hk26
  rhae play hk26 --record my-play.jsonl")]
pub(crate) struct PlayArgs {
    /// The environment, with or without its version
    #[arg(value_name = "ID")]
    id: String,
    /// The environment's seed; scores and baselines are for 0
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write a recording of the play to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// Why the person left.
#[derive(Clone, Copy)]
enum Left {
    Quit,
    Signal(i32),
}

pub(crate) fn run(args: &PlayArgs) -> Result<ExitCode> {
    let play = Play::new(Builtin.open(&args.id, args.seed)?, ResetRule::Official);
    require_terminal("rhae play")?;
    let recorder = args.record.as_deref().map(|path| Recorder::create(path, &play, args.seed)).transpose()?;
    let mut sitting = Sitting::new(play, recorder);

    // The screen is given back before anything is printed.
    let left = Screen::enter().and_then(|screen| sit(&mut sitting, &screen));
    let recording = sitting.end(left.as_ref().err().map(|error| format!("{error:#}")));
    let left = left?;
    let mut text = summary::summary(sitting.info(), args.seed, sitting.level_count(), sitting.tally().runs());
    if let Some(path) = recording? {
        text.push_str(&format!("recording: {}\n", path.display()));
    }
    match left {
        Left::Quit => {
            output::print(&text)?;
            Ok(ExitCode::SUCCESS)
        }
        Left::Signal(signal) => {
            // After a hang-up nobody is left to read it.
            let _ = output::print(&text);
            Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)))
        }
    }
}

/// Shows, waits, and does what comes in, until the person leaves.
fn sit(sitting: &mut Sitting, screen: &Screen) -> Result<Left> {
    let mut painter = Painter::new(Depth::detect(|name| std::env::var(name).ok()));
    let mut size = screen.size()?;
    loop {
        screen.write(&painter.paint(view::view(sitting, size.0, size.1)))?;
        let incoming = match sitting.film().wait(Instant::now()) {
            Some(wait) => screen.incoming().recv_timeout(wait),
            None => screen.incoming().recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match incoming {
            Err(RecvTimeoutError::Timeout) => sitting.film_mut().tick(Instant::now()),
            Err(RecvTimeoutError::Disconnected) => bail!("the terminal can no longer be read"),
            Ok(Incoming::Failed(error)) => bail!("the terminal can no longer be read: {error}"),
            Ok(Incoming::Signal(signal)) => return Ok(Left::Signal(signal)),
            Ok(Incoming::Event(Event::Resize(..))) => {
                size = screen.size()?;
                painter.forget();
            }
            Ok(Incoming::Event(event)) => {
                if take(sitting, &event, Layout::fit(size.0, size.1))? {
                    return Ok(Left::Quit);
                }
            }
        }
    }
}

/// Hands an event to the play; true if the person wants to leave. Where no board is shown, nothing else is done.
fn take(sitting: &mut Sitting, event: &Event, layout: Option<Layout>) -> Result<bool> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            if layout.is_none() {
                return Ok(wish(*key, Focus::Board) == Wish::Quit);
            }
            sitting.fulfil(wish(*key, sitting.focus()), Instant::now())
        }
        Event::Mouse(mouse) if mouse.kind == MouseEventKind::Down(MouseButton::Left) => {
            if let Some((x, y)) = layout.and_then(|layout| layout.cell_at(mouse.column, mouse.row)) {
                sitting.click(x, y, Instant::now())?;
            }
            Ok(false)
        }
        _ => Ok(false),
    }
}

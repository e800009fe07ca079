//! `rhae play`: a person plays an environment in the terminal.
//!
//! Here are the flags and what events do. What keys mean and what is shown is decided in the modules below, which know no
//! terminal.

mod film;
mod keys;
mod record;
mod sitting;
mod summary;
mod view;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};
use rhae_session::{Catalog, Play, ResetRule};

use self::keys::{Focus, Wish, wish};
use self::record::Recorder;
use self::sitting::Sitting;
use crate::output;
use crate::outside::OutsideArgs;
use crate::terminal::canvas::Canvas;
use crate::terminal::layout::Layout;
use crate::terminal::scene::{self, Left, Scene};
use crate::terminal::screen::{Mouse, Screen, require_terminal};

/// Play an environment yourself, in the terminal.
///
/// Nothing explains an environment but its behaviour. The keys are shown below the board; they are the same in all
/// environments. The board needs a terminal of 64 x 38 or 94 x 32 characters. A character shows two cells, and a click is on the upper one: for the lower one use the cursor (c).
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
    #[command(flatten)]
    outside: OutsideArgs,
}

pub(crate) fn run(args: &PlayArgs) -> Result<ExitCode> {
    let games = args.outside.games()?;
    let play = Play::new(games.open(&args.id, args.seed)?, ResetRule::Official);
    require_terminal("rhae play", "let an agent play with `rhae run`")?;
    let recorder = args
        .record
        .as_deref()
        .map(|path| Recorder::create(path, &play, args.seed))
        .transpose()?;
    let mut sitting = Sitting::new(play, recorder);

    // The screen is given back before anything is printed.
    let left = Screen::enter(Mouse::Reported).and_then(|screen| scene::run(&mut sitting, &screen));
    let recording = sitting.end(left.as_ref().err().map(|error| format!("{error:#}")));
    let left = left?;
    let mut text = summary::summary(
        sitting.info(),
        args.seed,
        sitting.level_count(),
        sitting.tally().runs(),
    );
    if let Some(path) = recording? {
        text.push_str(&format!("recording: {}\n", path.display()));
    }
    let printed = output::print(&text);
    // After a hang-up nobody is left to read it.
    if left == Left::Quit {
        printed?;
    }
    Ok(left.code())
}

impl Scene for Sitting {
    fn view(&self, columns: u16, rows: u16) -> Canvas {
        view::view(self, columns, rows)
    }

    fn wait(&self, now: Instant) -> Option<Duration> {
        self.film().wait(now)
    }

    fn tick(&mut self, now: Instant) {
        self.film_mut().tick(now);
    }

    /// Where no board is shown, nothing can be done but leave.
    fn take(&mut self, event: &Event, columns: u16, rows: u16) -> Result<bool> {
        let layout = Layout::fit(columns, rows);
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                if layout.is_none() {
                    return Ok(wish(*key, Focus::Board) == Wish::Quit);
                }
                self.fulfil(wish(*key, self.focus()), Instant::now())
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

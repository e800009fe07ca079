//! `rhae play`: a person plays an environment in the terminal.
//!
//! This module parses the flags and dispatches terminal events. Its submodules decide what keys do
//! and what is shown, without access to the terminal.

mod animation;
mod human_play;
mod keys;
mod record;
mod summary;
mod view;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};
use rhae_engine::Catalog;
use rhae_session::{Play, ResetRule};

use self::human_play::HumanPlay;
use self::keys::{Focus, KeyCommand, command_for};
use self::record::Recorder;
use crate::hosted_games::HostedGamesArgs;
use crate::output;
use crate::terminal::canvas::Canvas;
use crate::terminal::event_loop::{self, App, Exit};
use crate::terminal::layout::Layout;
use crate::terminal::screen::{MouseCapture, Screen, require_terminal};

/// Play an environment yourself in the terminal.
///
/// Environments come without instructions: their rules have to be discovered by playing. The keys
/// are listed on the screen and are the same in all environments. The board needs a terminal of at
/// least 64 x 38 or 94 x 32 characters. A character shows two cells. A mouse click selects the
/// upper one; to click the lower one, use the cursor (c).
#[derive(Args)]
#[command(after_help = "Examples:
  rhae play hk26
  rhae play hk26 --record my-play.jsonl")]
pub(crate) struct PlayArgs {
    /// Environment, with or without its version
    #[arg(value_name = "ID")]
    id: String,
    /// Seed of the environment; baselines are valid for 0
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// File to write the recording of the play to; it must not exist
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(crate) fn run(args: &PlayArgs) -> Result<ExitCode> {
    let games = args.hosted.games()?;
    let play = Play::new(games.open(&args.id, args.seed)?, ResetRule::Official);
    require_terminal("rhae play", "let an agent play with `rhae run`")?;
    let recorder = args
        .record
        .as_deref()
        .map(|path| Recorder::create(path, &play, args.seed))
        .transpose()?;
    let mut human_play = HumanPlay::new(play, recorder);

    // The closure drops the screen, which restores the terminal, before anything is printed.
    let exit = Screen::enter(MouseCapture::On)
        .and_then(|screen| event_loop::run(&mut human_play, &screen));
    let failure = exit.as_ref().err().map(|error| format!("{error:#}"));
    let recording = human_play.end(failure.as_deref());
    let exit = exit?;
    let mut text = summary::summary(
        human_play.info(),
        args.seed,
        human_play.level_count(),
        human_play.tally().runs(),
    );
    if let Some(path) = recording? {
        text.push_str(&format!("recording: {}\n", path.display()));
    }
    let printed = output::print(&text);
    // If a signal such as a hang-up ended the play, the terminal may be gone, so a failure to print
    // is ignored.
    if exit == Exit::Quit {
        printed?;
    }
    Ok(exit.code())
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
    fn handle_event(&mut self, event: &Event, columns: u16, rows: u16) -> Result<bool> {
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

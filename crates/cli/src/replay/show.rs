//! `rhae replay show`: plays a recording in the terminal.
//!
//! This module parses the flags and dispatches terminal events. Its submodules decide which moment
//! is shown, what keys do and what the screen contains, without access to the terminal.

mod keys;
mod player;
mod reasoning;
mod view;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use crossterm::event::{Event, KeyEventKind};
use rhae_pyhost::Games;

use self::keys::{PlayerCommand, command_for};
use self::player::{MAX_SPEED, MIN_SPEED, Player};
use super::{first_moment_of_level, load_film_with_failure};
use crate::hosted_games::HostedGamesArgs;
use crate::terminal::canvas::Canvas;
use crate::terminal::event_loop::{self, App};
use crate::terminal::layout::Layout;
use crate::terminal::screen::{MouseCapture, Screen, require_terminal};

#[derive(Args)]
pub(crate) struct ShowArgs {
    /// Recording to show
    file: PathBuf,
    /// Playback speed as a multiple of the normal speed, from 0.125 to 64
    #[arg(long, default_value_t = 1.0, value_parser = speed)]
    speed: f64,
    /// Start at this level, counted from 1
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=254))]
    level: Option<u8>,
    #[command(flatten)]
    pub(super) hosted: HostedGamesArgs,
}

pub(crate) fn run(games: &Games, args: &ShowArgs) -> Result<ExitCode> {
    let (film, failure) = load_film_with_failure(games, &args.file)?;
    let first = args
        .level
        .map_or(Ok(0), |level| first_moment_of_level(&film, level))?;
    require_terminal(
        "rhae replay show",
        "render the recording with `rhae replay render`",
    )?;
    let mut player = Player::new(film, args.speed, first, Instant::now())?.with_failure(failure);
    let exit = Screen::enter(MouseCapture::Off)
        .and_then(|screen| event_loop::run(&mut player, &screen))?;
    Ok(exit.code())
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text
        .parse()
        .ok()
        .filter(|speed| (MIN_SPEED..=MAX_SPEED).contains(speed));
    speed.ok_or_else(|| format!("expected a number from {MIN_SPEED} to {MAX_SPEED}"))
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
    fn handle_event(&mut self, event: &Event, columns: u16, rows: u16) -> Result<bool> {
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

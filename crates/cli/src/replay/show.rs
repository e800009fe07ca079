//! `rhae replay show`: a recording played in the terminal.
//!
//! Here are the flags and what events do. Which moment is on show, what keys mean and what the screen says is decided in
//! the modules below, which know no terminal.

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

use self::keys::{Wish, wish};
use self::player::{FASTEST, Player, SLOWEST};
use super::{film_and_ending, first_of_level};
use crate::outside::OutsideArgs;
use crate::terminal::canvas::Canvas;
use crate::terminal::layout::Layout;
use crate::terminal::scene::{self, Scene};
use crate::terminal::screen::{Mouse, Screen, require_terminal};

#[derive(Args)]
pub(crate) struct ShowArgs {
    file: PathBuf,
    /// How many times as fast as usual, from 0.125 to 64
    #[arg(long, default_value_t = 1.0, value_parser = speed)]
    speed: f64,
    /// Begin at this level, counted from 1
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=254))]
    level: Option<u8>,
    #[command(flatten)]
    pub(super) outside: OutsideArgs,
}

pub(crate) fn run(games: &Games, args: &ShowArgs) -> Result<ExitCode> {
    let (film, ending) = film_and_ending(games, &args.file)?;
    let first = args
        .level
        .map_or(Ok(0), |level| first_of_level(&film, level))?;
    require_terminal(
        "rhae replay show",
        "draw the recording with `rhae replay render`",
    )?;
    let mut player = Player::new(film, args.speed, first, Instant::now())?.ending(ending);
    let left = Screen::enter(Mouse::Free).and_then(|screen| scene::run(&mut player, &screen))?;
    Ok(left.code())
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text
        .parse()
        .ok()
        .filter(|speed| (SLOWEST..=FASTEST).contains(speed));
    speed.ok_or_else(|| format!("a number from {SLOWEST} to {FASTEST} is needed"))
}

impl Scene for Player {
    fn view(&self, columns: u16, rows: u16) -> Canvas {
        view::view(self, columns, rows)
    }

    fn wait(&self, now: Instant) -> Option<Duration> {
        self.wait(now)
    }

    fn tick(&mut self, now: Instant) {
        self.tick(now);
    }

    /// Where no board is shown, nothing can be done but leave.
    fn take(&mut self, event: &Event, columns: u16, rows: u16) -> Result<bool> {
        let Event::Key(key) = event else {
            return Ok(false);
        };
        if key.kind == KeyEventKind::Release {
            return Ok(false);
        }
        let wish = wish(*key);
        if let Some(wish) = wish
            && Layout::fit(columns, rows).is_some()
        {
            self.fulfil(wish, Instant::now());
        }
        Ok(wish == Some(Wish::Quit))
    }
}

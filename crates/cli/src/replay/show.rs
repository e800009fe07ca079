//! `rhae replay show`: plays a recording in the terminal.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_engine::Catalog;
use rhae_tui::{MAX_SPEED, MIN_SPEED, ReplayOptions};

use super::{level_not_reached, load_film};
use crate::hosted_games::HostedGamesArgs;

#[derive(Args)]
pub(crate) struct ShowArgs {
    /// Recording to show
    file: PathBuf,
    /// Playback speed as a multiple of the normal speed, from 0.125 to 64
    #[arg(long, default_value_t = 1.0, value_parser = speed)]
    speed: f64,
    /// Let each action take the time that it took in the play; the key `t` switches
    #[arg(long)]
    recorded_pace: bool,
    /// Mark and describe what changed: objects and status bars, as `rhae.percept` sees them; the key
    /// `o` switches
    #[arg(long)]
    percept: bool,
    /// Start at this level, counted from 1
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=254))]
    level: Option<u8>,
    #[command(flatten)]
    pub(super) hosted: HostedGamesArgs,
}

impl ShowArgs {
    pub(super) fn files(&self) -> &[PathBuf] {
        std::slice::from_ref(&self.file)
    }
}

pub(crate) fn run(games: &dyn Catalog, args: &ShowArgs) -> Result<ExitCode> {
    let (film, failure) = load_film(games, &args.file)?;
    let first = match args.level {
        Some(level) => film
            .first_moment_of_level(level)
            .with_context(|| level_not_reached(level))?,
        None => 0,
    };
    ensure!(
        !args.recorded_pace || film.times().is_some(),
        "the recording has no times; omit --recorded-pace"
    );
    rhae_tui::require_terminal(
        "rhae replay show",
        "render the recording with `rhae replay render`",
    )?;
    let options = ReplayOptions {
        recorded_pace: args.recorded_pace,
        perception: args.percept,
    };
    Ok(rhae_tui::replay(film, args.speed, first, options, failure)?.code())
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text
        .parse()
        .ok()
        .filter(|speed| (MIN_SPEED..=MAX_SPEED).contains(speed));
    speed.ok_or_else(|| format!("expected a number from {MIN_SPEED} to {MAX_SPEED}"))
}

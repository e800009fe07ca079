//! `rhae play`: a person plays an environment in the terminal.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_engine::Catalog;
use rhae_session::{Play, ResetRule};
use rhae_tui::Exit;

use crate::hosted_games::HostedGamesArgs;
use crate::output;

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
    rhae_tui::require_terminal("rhae play", "let an agent play with `rhae run`")?;
    let finished = rhae_tui::play(play, args.seed, args.record.as_deref())?;
    let printed = output::print(&finished.summary(output::width()));
    // If a signal such as a hang-up ended the play, the terminal may be gone, so a failure to print
    // is ignored.
    if finished.exit() == Exit::Quit {
        printed?;
    }
    Ok(finished.exit().code())
}

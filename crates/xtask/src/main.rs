//! The repository's own commands: `cargo xtask --help`.

mod game;
mod needs;
mod package;
mod python;
mod shuffled;
mod skeleton;
mod test;
mod tidy;
mod web;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

/// The repository's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Set up what tests need, where it is missing, and run all of them.
    Test(test::TestArgs),
    /// Check what no compiler checks: layers, sizes of files, licences of dependencies.
    Tidy,
    /// Search, measure and draw a game while it is being written.
    Game(game::GameArgs),
    /// Make the pictures of pages for the documentation: those of the web app, and reports.
    Screenshots(web::ScreenshotsArgs),
    /// Solve static tasks again with colours permuted and grids turned: the score must hold.
    SolveShuffled(shuffled::ShuffledArgs),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Test(args) => test::run(&args),
        Command::Tidy => tidy::run(),
        Command::Game(args) => game::run(&args),
        Command::Screenshots(args) => web::screenshots(&args),
        Command::SolveShuffled(args) => shuffled::run(&args),
    }
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .map_or_else(PathBuf::new, Path::to_owned)
}

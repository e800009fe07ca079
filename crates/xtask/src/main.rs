//! The repository's own commands: `cargo xtask --help`.

mod game;

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
    /// Search, measure and draw a game while it is being written.
    Game(game::GameArgs),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Game(args) => game::run(&args),
    }
}

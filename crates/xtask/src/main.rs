//! Commands for working on the repository: `cargo xtask --help`.

mod cargo;
mod command_line;
mod docs;
mod environment;
mod game;
mod learning;
mod licences;
mod lint;
mod neural;
mod python_package;
mod requirements;
mod skeleton;
mod skip_report;
mod solve_shuffled;
mod test;
mod tidy;
mod venv;
mod web;
mod workflows;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

/// Commands for working on the repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install missing test requirements and run all tests.
    Test(test::TestArgs),
    /// Check crate layers, file sizes, workflows and the licences of dependencies.
    Tidy,
    /// Check the Python package, the shell scripts, the fuzz targets and the binary without features.
    Lint,
    /// Write the generated pages in docs/reference, or check them.
    Docs(docs::DocsArgs),
    /// Solve, measure and draw a game during development.
    Game(game::GameArgs),
    /// Create the documentation's screenshots of the web app and of reports.
    Screenshots(web::ScreenshotsArgs),
    /// Check that the solver solves nearly as many tasks with permuted colours and rotated grids.
    SolveShuffled(solve_shuffled::ShuffledArgs),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Test(args) => test::run(&args),
        Command::Tidy => tidy::run(),
        Command::Lint => lint::run(),
        Command::Docs(args) => docs::run(&args),
        Command::Game(args) => game::run(&args),
        Command::Screenshots(args) => web::screenshots(&args),
        Command::SolveShuffled(args) => solve_shuffled::run(&args),
    }
}

/// Returns the root folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .map_or_else(PathBuf::new, Path::to_owned)
}

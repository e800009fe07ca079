//! The `rhae` binary.
//!
//! Each command is a module that parses flags, calls a library and prints the result. An error says
//! what was expected, what was found and what to do. The exit code is 0 only if the command did what
//! was asked.

mod arc;
mod bench;
mod db;
mod explore;
mod games;
mod hosted_games;
mod interrupt;
mod keys;
mod llm;
mod models;
mod output;
mod play;
mod replay;
mod run;
mod score;
mod serve;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures how efficiently an agent, artificial or human, learns something it has never seen.
#[derive(Parser)]
#[command(name = "rhae", version, max_term_width = 100)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::RunArgs),
    Play(play::PlayArgs),
    Games(games::GamesArgs),
    Replay(replay::ReplayArgs),
    Score(score::ScoreArgs),
    Serve(Box<serve::ServeArgs>),
    Keys(keys::KeysArgs),
    Db(db::DbArgs),
    Validate(Box<validate::ValidateArgs>),
    Explore(Box<explore::ExploreArgs>),
    Arc(arc::ArcArgs),
    Llm(llm::LlmArgs),
    Bench(bench::BenchArgs),
    #[command(name = hosted_games::SANDBOXED, hide = true, disable_help_flag = true)]
    Sandboxed(hosted_games::SandboxedArgs),
}

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Run(args) => run::run(args),
        Command::Play(args) => play::run(&args),
        Command::Games(args) => games::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Score(args) => score::run(&args),
        Command::Serve(args) => serve::run(*args),
        Command::Keys(args) => keys::run(args),
        Command::Db(args) => db::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Arc(args) => arc::run(&args),
        Command::Llm(args) => llm::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Sandboxed(args) => return hosted_games::run_sandboxed(args),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            output::print_error(&error);
            ExitCode::FAILURE
        }
    }
}

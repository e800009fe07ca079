//! The `rhae` binary.
//!
//! Each command is a module that parses flags, calls a library and prints the result. An error says
//! what was expected, what was found and what to do. The exit code is 0 only if the command did what
//! was asked.

mod arc;
mod bench;
#[cfg(feature = "server")]
mod board;
mod compare;
mod completions;
#[cfg(feature = "server")]
mod db;
mod explore;
mod games;
mod hosted_games;
mod interrupt;
#[cfg(feature = "server")]
mod keys;
mod listed;
mod llm;
mod merge;
mod models;
#[cfg(feature = "server")]
mod on;
mod output;
mod play;
#[cfg(feature = "server")]
mod reference;
mod replay;
mod report;
mod run;
mod run_args;
mod runs;
mod score;
#[cfg(feature = "server")]
mod serve;
#[cfg(feature = "server")]
mod study;
mod validate;
#[cfg(feature = "server")]
mod work;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

/// Measures how efficiently an agent, artificial or human, learns something it has never seen.
#[derive(Parser)]
#[command(name = "rhae", version, max_term_width = 100)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

/// Defines the subcommands from a list. `#[cfg(…)]`, then `#[command(…)]`, may precede a line.
macro_rules! commands {
    ($(
        $(#[cfg($condition:meta)])?
        $(#[command($($option:tt)*)])?
        $command:ident($args:ty) => $run:expr;
    )*) => {
        #[derive(Subcommand)]
        enum Command {
            $(
                $(#[cfg($condition)])?
                $(#[command($($option)*)])?
                $command($args)
            ),*
        }

        impl Command {
            fn run(self) -> Result<ExitCode> {
                match self {
                    $($(#[cfg($condition)])? Self::$command(args) => {
                        let run: fn($args) -> Result<ExitCode> = $run;
                        run(args)
                    })*
                }
            }
        }
    };
}

// Every subcommand, in the order of the help text. A subcommand is one module and one line here.
commands! {
    Run(Box<run::RunArgs>) => |args| run::run(&args);
    Merge(merge::MergeArgs) => |args| merge::run(&args);
    #[cfg(feature = "server")]
    Work(work::WorkArgs) => |args| work::run(&args);
    Runs(runs::RunsArgs) => |args| runs::run(&args);
    Compare(Box<compare::CompareArgs>) => |args| compare::run(&args);
    Report(Box<report::ReportArgs>) => |args| report::run(&args);
    Play(play::PlayArgs) => |args| play::run(&args);
    Games(games::GamesArgs) => |args| games::run(&args);
    Replay(replay::ReplayArgs) => |args| replay::run(&args);
    Score(score::ScoreArgs) => |args| score::run(&args);
    #[cfg(feature = "server")]
    Serve(Box<serve::ServeArgs>) => |args| serve::run(*args);
    #[cfg(feature = "server")]
    Keys(keys::KeysArgs) => keys::run;
    #[cfg(feature = "server")]
    Db(db::DbArgs) => |args| db::run(&args);
    #[cfg(feature = "server")]
    Study(study::StudyArgs) => study::run;
    #[cfg(feature = "server")]
    Board(board::BoardArgs) => board::run;
    Validate(Box<validate::ValidateArgs>) => |args| validate::run(&args);
    Explore(Box<explore::ExploreArgs>) => |args| explore::run(&args);
    Arc(arc::ArcArgs) => |args| arc::run(&args);
    Llm(llm::LlmArgs) => |args| llm::run(&args);
    Bench(bench::BenchArgs) => |args| bench::run(&args);
    Completions(completions::CompletionsArgs) => |args| completions::run(&args, Args::command());
    #[cfg(feature = "server")]
    #[command(hide = true)]
    Reference(reference::ReferenceArgs) => |args| reference::run(&args, &Args::command());
    #[cfg(feature = "hosting")]
    #[command(name = hosted_games::SANDBOXED, hide = true, disable_help_flag = true)]
    Sandboxed(hosted_games::SandboxedArgs) => |args| Ok(hosted_games::run_sandboxed(args));
}

fn main() -> ExitCode {
    match Args::parse().command.run() {
        Ok(code) => code,
        Err(error) => {
            output::print_error(&error);
            ExitCode::FAILURE
        }
    }
}

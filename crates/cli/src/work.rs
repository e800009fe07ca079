//! `rhae work`: a worker of a run that `rhae run --on` distributes.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use clap::Args;
use rhae_harness::{WorkerOptions, new_run_id, work};

use crate::hosted_games::HostedGamesArgs;
use crate::interrupt::interrupt_flag;
use crate::output;

/// Play for a run that another process coordinates.
///
/// The worker asks the coordinator for plays until there are no more. It must be the same build of
/// rhae as the coordinator. SIGTERM and SIGINT return the play in progress.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae work --join http://127.0.0.1:4000 --token-file token")]
pub(crate) struct WorkArgs {
    /// Address of the coordinator
    #[arg(long, value_name = "URL")]
    join: String,
    /// File with the token of the coordinator
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// Name of the worker, which no other process may have [default: a random one]
    #[arg(long)]
    name: Option<String>,
    /// Folder for the files of plays in progress [default: a folder for temporary files]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Stop when standard input closes, which happens when the parent process ends
    #[arg(long, hide = true)]
    until_stdin_closes: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(crate) fn run(args: &WorkArgs) -> Result<ExitCode> {
    let token = std::fs::read_to_string(&args.token_file)
        .with_context(|| format!("cannot read the token `{}`", args.token_file.display()))?;
    let name = match &args.name {
        Some(name) => name.clone(),
        None => new_run_id()?,
    };
    let scratch = args.scratch.clone();
    let scratch = scratch.unwrap_or_else(|| std::env::temp_dir().join("rhae-work"));
    let options = WorkerOptions {
        url: args.join.clone(),
        token: token.trim().to_owned(),
        scratch: scratch.join(&name),
        name,
        games_dirs: args.hosted.games_dir.clone(),
    };
    let interrupt = interrupt_flag()?;
    if args.until_stdin_closes {
        let interrupt = Arc::clone(&interrupt);
        std::thread::spawn(move || {
            // An error also means that the parent process has ended.
            let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
            interrupt.store(true, Ordering::Relaxed);
        });
    }
    let worked = work(
        &options,
        |folders| args.hosted.games_in(folders),
        &interrupt,
    );
    // The folder is absent if there was nothing to do.
    let _ = std::fs::remove_dir_all(&options.scratch);
    let plays = output::counted(worked?, "play");
    output::print(&format!("{plays} reported"))?;
    Ok(ExitCode::SUCCESS)
}

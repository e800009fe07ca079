//! `rhae merge`: joins the shards of a run.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_harness::{MergeRequest, merge};

use crate::hosted_games::HostedGamesArgs;
use crate::output::{counted, plain};
use crate::run::{self, INCOMPLETE};

/// Join the shards of a run, which `rhae run --shard` played, into one run folder.
///
/// Every recording is replayed, and its counts must be those of its shard. The result equals that of
/// a run on one machine, except for times, paths and ids.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae run --agent random --repeat 5 --shard 0/2 --out shards/0
  rhae run --agent random --repeat 5 --shard 1/2 --out shards/1
  rhae merge shards/0 shards/1 --out runs/random")]
pub(crate) struct MergeArgs {
    /// Folders of the shards, in any order
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
    /// Run folder to create, which must be empty or not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Accept missing plays. They count as 0; `rhae run --resume` plays them later
    #[arg(long)]
    allow_missing: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(crate) fn run(args: &MergeArgs) -> Result<ExitCode> {
    let request = MergeRequest {
        folders: args.shards.clone(),
        out: args.out.clone(),
        allow_missing: args.allow_missing,
        games_dirs: args.hosted.games_dir.clone(),
    };
    let merged = merge(&request, |folders| args.hosted.games_in(folders))?;
    if merged.repeated > 0 {
        let plays = counted(merged.repeated as u64, "play");
        eprintln!("note: {plays} occurred in several shards with the same result");
    }
    for name in &merged.missing {
        eprintln!("missing: {}", plain(name));
    }
    let code = run::report(&merged.results, args.json)?;
    Ok(if merged.missing.is_empty() {
        code
    } else {
        INCOMPLETE.into()
    })
}

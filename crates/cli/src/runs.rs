//! `rhae runs`: lists, shows and removes run folders.

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use rhae_protocol::{RunListing, rfc3339_utc};
use rhae_runs::{describe_run, find_run, list_runs, remove_run};

use crate::output;

/// List, show and remove runs of `rhae run` and `rhae arc eval`.
#[derive(Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: RunsCommand,
}

#[derive(Subcommand)]
enum RunsCommand {
    List(ListArgs),
    Show(ShowArgs),
    Rm(RmArgs),
}

/// List the runs in a folder, the newest first.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae runs list
  rhae runs list --tag baseline --json")]
struct ListArgs {
    /// Folder that contains run folders
    #[arg(default_value = "runs")]
    folder: PathBuf,
    /// List only runs with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Print the runs as JSON
    #[arg(long)]
    json: bool,
}

/// Show one run: its identity, status, score and cost.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae runs show runs/mine
  rhae runs show mine")]
struct ShowArgs {
    /// Run folder, or the name of a folder in `runs`
    run: String,
    /// Print the run as JSON
    #[arg(long)]
    json: bool,
}

/// Remove run folders with all their files.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae runs rm runs/mine
  rhae runs rm --yes old1 old2")]
struct RmArgs {
    /// Run folders, or names of folders in `runs`
    #[arg(required = true)]
    run: Vec<String>,
    /// Remove without asking
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(args: &RunsArgs) -> Result<ExitCode> {
    match &args.command {
        RunsCommand::List(args) => list(args),
        RunsCommand::Show(args) => show(args),
        RunsCommand::Rm(args) => remove(args),
    }
}

fn list(args: &ListArgs) -> Result<ExitCode> {
    let mut runs = list_runs(&args.folder)?;
    if let Some(tag) = &args.tag {
        runs.retain(|run| run.identity.tags.contains(tag));
    }
    if args.json {
        output::print_json(&runs)?;
        return Ok(ExitCode::SUCCESS);
    }
    if runs.is_empty() {
        output::print(&format!("no runs in `{}`", args.folder.display()))?;
    }
    for run in &runs {
        let name = run.identity.name.as_deref().unwrap_or_default();
        output::print(&output::plain(&format!(
            "{:<20}  {:<11}  {:>8}  {:<20}  {}  {name}",
            time(run.started_ms),
            run.status.name(),
            percent(run.score),
            run.agent,
            run.folder
        )))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(args: &ShowArgs) -> Result<ExitCode> {
    let run = describe_run(&find_run("runs".as_ref(), &args.run))?;
    if args.json {
        output::print_json(&run)?;
    } else {
        output::print(&output::plain(&text(&run)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(run: &RunListing) -> String {
    let identity = &run.identity;
    let sources = identity.source_digests.iter();
    let mut lines = vec![
        ("folder", run.folder.clone()),
        ("kind", run.kind.clone()),
        ("agent", run.agent.clone()),
        ("status", run.status.name().to_owned()),
        ("name", identity.name.clone().unwrap_or_default()),
        ("tags", identity.tags.join(", ")),
        ("note", identity.note.clone().unwrap_or_default()),
        ("started", time(run.started_ms)),
        ("ended", time(run.ended_ms)),
        ("score", percent(run.score)),
        (
            "cost",
            run.cost_usd
                .map_or_else(String::new, |usd| format!("{usd:.4} USD")),
        ),
        ("software", run.software.clone()),
        ("commit", identity.git_commit.clone().unwrap_or_default()),
        ("run id", run.run_id.clone()),
    ];
    lines.extend(sources.map(|(id, digest)| ("source", format!("{id} {digest}"))));
    lines
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name:<9} {value}\n"))
        .collect()
}

fn remove(args: &RmArgs) -> Result<ExitCode> {
    let folders: Vec<PathBuf> = args
        .run
        .iter()
        .map(|name| find_run("runs".as_ref(), name))
        .collect();
    for folder in &folders {
        // All folders are checked before the first is removed.
        describe_run(folder)?;
    }
    if !args.yes && !confirmed(&folders)? {
        bail!("nothing was removed");
    }
    for folder in &folders {
        remove_run(folder)?;
        output::print(&format!("removed {}", folder.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks on the terminal whether the folders may be removed.
fn confirmed(folders: &[PathBuf]) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!("standard input is not a terminal, so nothing can be confirmed; add --yes");
    }
    for folder in folders {
        eprintln!("{}", folder.display());
    }
    eprint!("Remove these run folders with all their files? [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn time(ms: Option<u64>) -> String {
    ms.map_or_else(String::new, rfc3339_utc)
}

fn percent(score: Option<f64>) -> String {
    score.map_or_else(String::new, |score| format!("{score:.2} %"))
}

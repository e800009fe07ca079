//! `rhae runs`: lists, shows and removes run folders.

use std::io::IsTerminal;
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
        return Ok(ExitCode::SUCCESS);
    }
    output::print(&output::plain(&table(&runs)))?;
    Ok(ExitCode::SUCCESS)
}

/// Formats a list of runs, one line each, with aligned columns.
fn table(runs: &[RunListing]) -> String {
    let rows: Vec<[String; 6]> = runs
        .iter()
        .map(|run| {
            [
                time(run.started_ms),
                run.status.name().to_owned(),
                percent(run.score),
                short(&run.agent),
                run.folder.clone(),
                run.identity.name.clone().unwrap_or_default(),
            ]
        })
        .collect();
    let width = |column: usize| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.max().unwrap_or(0)
    };
    let [started, status, score, agent, folder] = [0, 1, 2, 3, 4].map(width);
    let line = |row: &[String; 6]| {
        let line = format!(
            "{:<started$}  {:<status$}  {:>score$}  {:<agent$}  {:<folder$}  {}",
            row[0], row[1], row[2], row[3], row[4], row[5]
        );
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Shortens the name of an agent, which may be a long command, to one line of 24 characters.
fn short(agent: &str) -> String {
    const MAX_CHARS: usize = 24;
    let line = agent.lines().next().unwrap_or_default();
    if line.chars().count() <= MAX_CHARS && line.len() == agent.len() {
        return line.to_owned();
    }
    line.chars().take(MAX_CHARS - 1).chain(['…']).collect()
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
        ("kind", run.kind.name().to_owned()),
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
    output::confirm("Remove these run folders with all their files?")
}

fn time(ms: Option<u64>) -> String {
    ms.map_or_else(String::new, rfc3339_utc)
}

fn percent(score: Option<f64>) -> String {
    score.map_or_else(String::new, |score| format!("{score:.2} %"))
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{RunIdentity, RunKind, RunStatus};

    use super::*;

    #[test]
    fn long_names_do_not_shift_the_columns() {
        let run = |agent: &str, folder: &str| RunListing {
            folder: folder.to_owned(),
            kind: RunKind::Plays,
            run_id: String::new(),
            agent: agent.to_owned(),
            software: String::new(),
            status: RunStatus::Finished,
            started_ms: Some(5),
            ended_ms: None,
            score: Some(1.0),
            cost_usd: None,
            identity: RunIdentity {
                name: Some("NAME".to_owned()),
                ..RunIdentity::default()
            },
        };
        let text = table(&[
            run("random", "runs/a"),
            run(
                "python3 -c 'a very long command of an agent'",
                "runs/a-longer-name",
            ),
            run("two\nlines", "runs/b"),
        ]);
        let at: Vec<usize> = text
            .lines()
            .map(|line| {
                line.chars()
                    .collect::<Vec<_>>()
                    .windows(4)
                    .position(|four| four == ['N', 'A', 'M', 'E'])
                    .unwrap()
            })
            .collect();
        assert_eq!(at.len(), 3, "{text}");
        assert!(at.iter().all(|&column| column == at[0]), "{text}");
        assert!(
            text.contains("python3 -c 'a very long…") && text.contains("two…"),
            "{text}"
        );
    }
}

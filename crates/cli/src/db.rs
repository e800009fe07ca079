//! `rhae db`: maintenance of a server's database.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use rhae_protocol::DatabaseReport;
use rhae_server::verify;
use rhae_store::Database;

use crate::hosted_games::HostedGamesArgs;
use crate::output;

/// Check the database of `rhae serve`.
#[derive(Args)]
pub(crate) struct DbArgs {
    #[command(subcommand)]
    command: DbCommand,
}

#[derive(Subcommand)]
enum DbCommand {
    Check(CheckArgs),
}

/// Verify a database by replaying every play.
///
/// Compares every hash, count and snapshot with the replay. Nothing is written, and servers may use
/// the database at the same time. The exit code is 1 if there is a finding.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae db check
  rhae db check --db /var/lib/rhae/rhae.db --json
  rhae db check --db postgres://rhae@db.example.org/rhae")]
struct CheckArgs {
    /// Database: a file or postgres://user:password@host/database
    #[arg(
        long,
        env = "RHAE_DB",
        default_value = "rhae.db",
        value_name = "FILE|URL",
        hide_env_values = true
    )]
    db: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(crate) fn run(args: &DbArgs) -> Result<ExitCode> {
    let DbCommand::Check(args) = &args.command;
    let games = args.hosted.games()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let report = runtime.block_on(async {
        let database = Database::open_read_only(&args.db).await?;
        let bar = if args.json {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(0)
        };
        let style = ProgressStyle::with_template(
            "{bar:20} {pos}/{len} plays, {msg} entries, about {eta} left",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let store = database.store();
        let report = verify(store.as_ref(), &games, |progress| {
            bar.set_length(progress.total_plays.max(progress.plays));
            bar.set_position(progress.plays);
            bar.set_message(progress.entries.to_string());
        });
        let report = report.await?;
        bar.finish_and_clear();
        drop(store);
        database.close().await;
        anyhow::Ok(report)
    })?;
    if args.json {
        output::print_json(&report)?;
    } else {
        for finding in &report.findings {
            let entry = finding
                .entry
                .map(|entry| format!(", entry {entry}"))
                .unwrap_or_default();
            output::print(&output::plain(&format!(
                "play {}{entry}: {}",
                finding.guid, finding.what
            )))?;
        }
        let DatabaseReport {
            plays,
            entries,
            snapshots,
            findings,
        } = &report;
        output::print(&format!(
            "{plays} plays, {entries} entries, {snapshots} snapshots, {} findings",
            findings.len()
        ))?;
    }
    Ok(if report.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

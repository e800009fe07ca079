//! `rhae db`: maintenance of a server's database.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use rhae_engine::Catalog;
use rhae_protocol::{DatabaseCopy, DatabaseCounts, DatabaseReport};
use rhae_server::verify;
use rhae_store::Database;

use crate::hosted_games::HostedGamesArgs;
use crate::output;

/// Check, back up and restore the database of `rhae serve`.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae db check
  rhae db backup rhae-backup.db
  rhae db restore rhae-backup.db --db restored.db")]
pub(crate) struct DbArgs {
    #[command(subcommand)]
    command: DbCommand,
}

#[derive(Subcommand)]
enum DbCommand {
    Check(CheckArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
}

#[derive(Args)]
struct DatabaseArgs {
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
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

/// Write a backup of a database to a new file.
///
/// The backup is the state of the database at one moment; servers may use the database at the same
/// time. It is an SQLite file with all scorecards, plays, keys, links and studies, also if the database is a
/// PostgreSQL database, so `rhae db check --db FILE` verifies it. An existing file is not
/// overwritten.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae db backup rhae-backup.db
  rhae db backup /backups/2026-11-18.db --db postgres://rhae@db.example.org/rhae")]
struct BackupArgs {
    /// File to write
    file: PathBuf,
    #[command(flatten)]
    database: DatabaseArgs,
}

/// Restore a backup to a new database, and verify it by replaying every play.
///
/// The database must be a file that does not exist, or a PostgreSQL database without content; a
/// backup of one kind can be restored to the other. Stop the servers that use the address first. The
/// exit code is 1 if the check has a finding.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae db restore rhae-backup.db --db restored.db
  rhae db restore rhae-backup.db --db postgres://rhae@db.example.org/rhae")]
struct RestoreArgs {
    /// Backup to read
    file: PathBuf,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(crate) fn run(args: &DbArgs) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(async {
        match &args.command {
            DbCommand::Check(args) => {
                let games = args.hosted.games()?;
                let report = check(&args.database, &games).await?;
                if args.database.json {
                    output::print_json(&report)?;
                } else {
                    print_report(&report)?;
                }
                Ok(exit_code(&report))
            }
            DbCommand::Backup(args) => backup(args).await,
            DbCommand::Restore(args) => restore(args).await,
        }
    })
}

async fn backup(args: &BackupArgs) -> Result<ExitCode> {
    let DatabaseArgs { db, json } = &args.database;
    let copied = Database::backup(db, &args.file).await?;
    if *json {
        output::print_json(&copy_document(&args.file, db, copied, None))?;
    } else {
        let counts = counts_text(&copied);
        output::print(&format!("{}: {counts}", args.file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn restore(args: &RestoreArgs) -> Result<ExitCode> {
    let DatabaseArgs { db, json } = &args.database;
    let games = args.hosted.games()?;
    let copied = Database::restore(&args.file, db).await?;
    let report = check(&args.database, &games).await?;
    let code = exit_code(&report);
    if *json {
        output::print_json(&copy_document(&args.file, db, copied, Some(report)))?;
    } else {
        output::print(&format!("restored {}", counts_text(&copied)))?;
        print_report(&report)?;
    }
    Ok(code)
}

fn copy_document(
    file: &Path,
    db: &Path,
    copied: DatabaseCounts,
    check: Option<DatabaseReport>,
) -> DatabaseCopy {
    DatabaseCopy {
        file: file.display().to_string(),
        database: Database::name(db),
        copied,
        check,
    }
}

fn counts_text(counts: &DatabaseCounts) -> String {
    let DatabaseCounts {
        cards,
        plays,
        entries,
        keys,
        links,
        study_records,
        board_records,
    } = counts;
    format!(
        "{cards} scorecards, {plays} plays, {entries} entries, {keys} keys, {links} links, {study_records} study records, {board_records} board records"
    )
}

/// Replays every play of a database, with a progress bar.
async fn check(args: &DatabaseArgs, games: &dyn Catalog) -> Result<DatabaseReport> {
    let database = Database::open_read_only(&args.db).await?;
    let bar = if args.json {
        ProgressBar::hidden()
    } else {
        ProgressBar::new(0)
    };
    let style =
        ProgressStyle::with_template("{bar:20} {pos}/{len} plays, {msg} entries, about {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let store = database.store();
    let report = verify(store.as_ref(), games, |progress| {
        bar.set_length(progress.total_plays.max(progress.plays));
        bar.set_position(progress.plays);
        bar.set_message(progress.entries.to_string());
    });
    let report = report.await?;
    bar.finish_and_clear();
    drop(store);
    database.close().await;
    Ok(report)
}

fn print_report(report: &DatabaseReport) -> Result<()> {
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
    } = report;
    output::print(&format!(
        "{plays} plays, {entries} entries, {snapshots} snapshots, {} findings",
        findings.len()
    ))
}

fn exit_code(report: &DatabaseReport) -> ExitCode {
    if report.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

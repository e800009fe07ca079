//! `rhae board check|export|import`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_board::Audience;
use rhae_board_service::{
    check_export, export_board, parse_submission, submission_benchmark, submission_yaml,
    submitted_version,
};
use rhae_protocol::BoardCheck;
use rhae_report::board_check_text;

use super::show::references;
use super::{BoardIdArgs, DatabaseArgs, Opened, entry_id, finish, now_ms};
use crate::hosted_games::HostedGamesArgs;
use crate::output;

/// Check an export: compute every row again from its files, and replay every recording.
///
/// No database is needed. The exit code is 1 if anything differs.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board check public/
  rhae board check public/ --json")]
pub(super) struct CheckArgs {
    /// Folder of the export
    folder: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) fn check(args: &CheckArgs) -> Result<ExitCode> {
    let catalog = args.hosted.games()?;
    print_check(&check_export(&args.folder, catalog.as_ref())?, args.json)
}

fn print_check(check: &BoardCheck, json: bool) -> Result<ExitCode> {
    if json {
        output::print_json(check)?;
    } else {
        output::print(&board_check_text(check))?;
    }
    Ok(if check.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Export a board for others to check, or a row as `submission.yaml`.
///
/// The public gets everything about a public set, and only rounded rows of a hidden one.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board export main public/
  rhae board export closed backup/ --organiser
  rhae board export main submission.yaml --entry mine")]
pub(super) struct ExportArgs {
    #[command(flatten)]
    board: BoardIdArgs,
    /// New folder, or new file with --entry
    to: PathBuf,
    /// Include what only the organiser may see of a hidden set
    #[arg(long)]
    organiser: bool,
    /// Row to write as a submission of the community leaderboard of ARC-AGI
    #[arg(long, value_name = "ID", conflicts_with_all = ["organiser", "json"])]
    entry: Option<String>,
}

pub(super) async fn export(args: &ExportArgs) -> Result<ExitCode> {
    let name = args.to.display();
    ensure!(
        !args.to.exists(),
        "`{name}` exists already: choose another name"
    );
    let (opened, id) = Opened::board(&args.board).await?;
    if let Some(entry) = &args.entry {
        let board = opened.service.load(&id).await?;
        opened.close().await;
        let version = submitted_version(board.state(), &entry_id(entry)?)?;
        let version = version.with_context(|| format!("the board has no row `{entry}`"))?;
        let text = submission_yaml(&version)?;
        std::fs::write(&args.to, text).with_context(|| format!("cannot write `{name}`"))?;
        output::print(&format!("wrote `{name}`"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let audience = if args.organiser {
        Audience::Organiser
    } else {
        Audience::Public
    };
    let exported = export_board(&opened.service, &id, &args.to, audience, references());
    let manifest = exported.await?;
    opened.close().await;
    if args.board.database.json {
        output::print_json(&manifest)?;
    } else {
        let count = output::counted(manifest.files.len() as u64, "file");
        let check = if manifest.complete {
            format!("; next: rhae board check {name}")
        } else {
            ", without the records, because the set is hidden".to_owned()
        };
        output::print(&format!("exported {count} to `{name}`{check}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Import an export into a database, or a `submission.yaml` as claims.
///
/// An export is checked first, and nothing is imported if anything differs.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board import public/ --db copy.db
  rhae board import submission.yaml --board main --entry mine")]
pub(super) struct ImportArgs {
    /// Folder of an export, or a submission of the community leaderboard of ARC-AGI
    from: PathBuf,
    /// Board that receives the claims of a submission
    #[arg(long, value_name = "ID", requires = "entry")]
    board: Option<String>,
    /// Id of the new row; further versions of a submission get a number
    #[arg(long, value_name = "ID", requires = "board")]
    entry: Option<String>,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) async fn import(args: &ImportArgs) -> Result<ExitCode> {
    let (Some(board), Some(entry)) = (&args.board, &args.entry) else {
        let catalog = args.hosted.games()?;
        let opened = Opened::create(&args.database).await?;
        let check = opened.service.import(&args.from, catalog.as_ref()).await;
        opened.close().await;
        return print_check(&check?, args.database.json);
    };
    let name = args.from.display();
    let text =
        std::fs::read_to_string(&args.from).with_context(|| format!("cannot read `{name}`"))?;
    let target = BoardIdArgs {
        board: board.clone(),
        database: DatabaseArgs {
            db: args.database.db.clone(),
            json: args.database.json,
        },
    };
    let (opened, id) = Opened::board(&target).await?;
    let board = opened.service.load(&id).await?;
    let benchmark = submission_benchmark(&board.state().definition.set)?;
    let versions = parse_submission(&text, benchmark)?;
    let mut rows = Vec::new();
    for (index, version) in versions.into_iter().enumerate() {
        let row = match index {
            0 => entry_id(entry)?,
            _ => entry_id(&format!("{entry}-{}", index + 1))?,
        };
        rows.push((row, version));
    }
    let last = rows.last().map(|(row, _)| row.clone());
    let records = opened.service.submit_claims(&id, now_ms(), rows).await?;
    finish(opened, &target, &id, &records, last.as_ref()).await
}

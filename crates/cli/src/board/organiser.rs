//! `rhae board verify|retract|erase|contest|release`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail, ensure};
use clap::Args;
use rhae_board::{Command, ORGANISER};
use rhae_board_service::{BoardService, RunFiles};
use rhae_protocol::{BoardId, BoardRecord, EntryId, RetractionReason};

use super::{BoardIdArgs, Opened, entry_id, finish, now_ms};
use crate::hosted_games::HostedGamesArgs;

/// Raise the verification state of a row by evidence.
///
/// --run replays further runs of the row. --card finds its plays on scorecards of the server with this
/// database. --rerun compares its score with at least three runs of the
/// organiser with other seeds. --certify confirms a row of an official board.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board verify main --entry mine --run runs/x
  rhae board verify main --entry mine --card 0a4fd4d5-62e9-4fd0-8b4a-3c1b7a2d9e10
  rhae board verify main --entry mine --rerun runs/y
  rhae board verify closed --entry gpt --certify \"played by us on 2026-11-18\"")]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    board: BoardIdArgs,
    /// Id of the row
    #[arg(long)]
    entry: String,
    /// Folder of a run that belongs to the row; may be repeated
    #[arg(long = "run", value_name = "DIR")]
    runs: Vec<PathBuf>,
    /// Scorecard in competition mode on which the plays of the row are; may be repeated
    #[arg(long = "card", value_name = "ID", conflicts_with_all = ["reruns", "certify"])]
    cards: Vec<String>,
    /// Folder of a run that the organiser made with the code of the row; may be repeated
    #[arg(long = "rerun", value_name = "DIR", conflicts_with = "runs")]
    reruns: Vec<PathBuf>,
    /// Confirm that the organiser ran the model, and state when and how
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["runs", "reruns"])]
    certify: Option<String>,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) async fn verify(args: &VerifyArgs) -> Result<ExitCode> {
    let entry = entry_id(&args.entry)?;
    let read = |folders: &[PathBuf]| -> Result<Vec<RunFiles>> {
        let read = folders.iter().map(|folder| RunFiles::read(folder));
        Ok(read.collect::<Result<_, _>>()?)
    };
    let (runs, reruns) = (read(&args.runs)?, read(&args.reruns)?);
    ensure!(
        !runs.is_empty() || !args.cards.is_empty() || !reruns.is_empty() || args.certify.is_some(),
        "name the evidence with --run, --card, --rerun or --certify"
    );
    let catalog = args.hosted.games()?;
    let (opened, id) = Opened::board(&args.board).await?;
    let service = &opened.service;
    let mut records = Vec::new();
    for run in &runs {
        records.extend(
            service
                .add_run(&id, now_ms(), &entry, run, catalog.as_ref())
                .await?,
        );
    }
    if !args.cards.is_empty() {
        let store = opened.database.store();
        let witnessed = service.witness(&id, now_ms(), &entry, &args.cards, store.as_ref());
        records.extend(witnessed.await?);
    }
    if !reruns.is_empty() {
        let compared = service.reproduce(&id, now_ms(), &entry, &reruns, catalog.as_ref());
        records.extend(compared.await?);
    }
    if let Some(statement) = &args.certify {
        let command = Command::Certify {
            entry: entry.clone(),
            statement: statement.clone(),
        };
        records.extend(execute(service, &id, ORGANISER, &command).await?);
    }
    finish(opened, &args.board, &id, &records, Some(&entry)).await
}

async fn execute(
    service: &BoardService,
    id: &BoardId,
    actor: &str,
    command: &Command,
) -> Result<Vec<BoardRecord>> {
    Ok(service
        .execute(id, now_ms(), actor, command, Vec::new())
        .await?)
}

/// Retract a row. Its tombstone stays, with the reason.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board retract main --entry mine --by Ada --note \"a wrong prompt\"
  rhae board retract main --entry mine --reason cheating --note \"the solutions were stored\"")]
pub(super) struct RetractArgs {
    #[command(flatten)]
    board: BoardIdArgs,
    /// Id of the row
    #[arg(long)]
    entry: String,
    /// Author who withdraws the row; without it, the organiser retracts it
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "reason",
        required_unless_present = "reason"
    )]
    by: Option<String>,
    /// Reason of the organiser: `cheating`, `leak`, `bug-ours`, `bug-theirs` or `rules`
    #[arg(long, value_parser = reason)]
    reason: Option<RetractionReason>,
    /// What happened, which everybody can read
    #[arg(long, value_name = "TEXT")]
    note: String,
}

fn reason(name: &str) -> Result<RetractionReason, String> {
    let mut reasons = RetractionReason::ALL.into_iter();
    let found = reasons.find(|reason| reason.name() == name);
    found.ok_or_else(|| "expected cheating, leak, bug-ours, bug-theirs or rules".to_owned())
}

pub(super) async fn retract(args: &RetractArgs) -> Result<ExitCode> {
    let entry = entry_id(&args.entry)?;
    let (opened, id) = Opened::board(&args.board).await?;
    let board = opened.service.load(&id).await?;
    let found = board.state().entries.get(&entry);
    let actor = match &args.by {
        Some(name) if found.is_some_and(|found| !board.state().is_author(found, name)) => {
            bail!("`{name}` is not an author of `{entry}`")
        }
        Some(name) => name.as_str(),
        None => ORGANISER,
    };
    let command = Command::Retract {
        entry: entry.clone(),
        reason: args.reason.unwrap_or(RetractionReason::Author),
        note: args.note.clone(),
    };
    let records = execute(&opened.service, &id, actor, &command).await?;
    finish(opened, &args.board, &id, &records, Some(&entry)).await
}

/// Erase the names of the people of a row: its authors with their links, and who contested it.
///
/// Salted hashes of the names stay in the log, so that every check of it gives the same result. Copies, such
/// as backups and earlier exports, keep the names.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board erase main --entry mine")]
pub(super) struct EraseArgs {
    #[command(flatten)]
    board: BoardIdArgs,
    /// Id of the row
    #[arg(long)]
    entry: String,
}

pub(super) async fn erase(args: &EraseArgs) -> Result<ExitCode> {
    let entry = entry_id(&args.entry)?;
    let (opened, id) = Opened::board(&args.board).await?;
    let service = &opened.service;
    let records = service.erase(&id, now_ms(), ORGANISER, &entry).await?;
    finish(opened, &args.board, &id, &records, Some(&entry)).await
}

/// Contest a row, or answer an objection. Both texts stay.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board contest main --entry mine --by Bo --text \"It contains stored solutions.\"
  rhae board contest main --entry mine --answer \"We looked, and it does not.\"")]
pub(super) struct ContestArgs {
    #[command(flatten)]
    board: BoardIdArgs,
    /// Id of the row
    #[arg(long)]
    entry: String,
    /// Who contests the row
    #[arg(long, value_name = "NAME", requires = "text")]
    by: Option<String>,
    /// Objection
    #[arg(long, requires = "by", required_unless_present = "answer")]
    text: Option<String>,
    /// Answer of the organiser
    #[arg(long, conflicts_with_all = ["by", "text"])]
    answer: Option<String>,
}

pub(super) async fn contest(args: &ContestArgs) -> Result<ExitCode> {
    let entry: EntryId = entry_id(&args.entry)?;
    let (command, actor) = match &args.answer {
        Some(text) => {
            let (entry, text) = (entry.clone(), text.clone());
            (Command::Answer { entry, text }, ORGANISER)
        }
        None => {
            let (entry, text) = (entry.clone(), args.text.clone().unwrap_or_default());
            let by = args.by.as_deref().unwrap_or_default();
            (Command::Contest { entry, text }, by)
        }
    };
    let (opened, id) = Opened::board(&args.board).await?;
    let records = execute(&opened.service, &id, actor, &command).await?;
    finish(opened, &args.board, &id, &records, Some(&entry)).await
}

/// Release the rows under a name, correct them after an error of this program, or close the board.
///
/// A release is computed from the event log alone, and `rhae board check` computes it again.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board release main
  rhae board release main --rescore \"levels were counted twice\"
  rhae board release main --close \"the set has a new version\"")]
pub(super) struct ReleaseArgs {
    #[command(flatten)]
    board: BoardIdArgs,
    /// Close the board after the release, and state the reason; it stays readable
    #[arg(long, value_name = "REASON")]
    close: Option<String>,
    /// Verify all stored runs again with this version of Rhae, and state what was wrong before. Rows
    /// whose scores change are corrected in this release, and show both scores
    #[arg(long, value_name = "TEXT", conflicts_with = "close")]
    rescore: Option<String>,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) async fn release(args: &ReleaseArgs) -> Result<ExitCode> {
    let (opened, id) = Opened::board(&args.board).await?;
    if let Some(note) = &args.rescore {
        let catalog = args.hosted.games()?;
        let rescored = opened
            .service
            .rescore(&id, now_ms(), note, catalog.as_ref());
        let records = rescored.await?;
        return finish(opened, &args.board, &id, &records, None).await;
    }
    let mut records = execute(&opened.service, &id, ORGANISER, &Command::Release).await?;
    if let Some(reason) = &args.close {
        let reason = reason.clone();
        let close = Command::Close { reason };
        records.extend(execute(&opened.service, &id, ORGANISER, &close).await?);
    }
    finish(opened, &args.board, &id, &records, None).await
}

//! `rhae board`: leaderboards in a database.

mod exchange;
mod init;
mod organiser;
mod show;
mod submit;
mod tiers;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};
use rhae_board::Audience;
use rhae_board_service::{BoardService, board_change, check_board_id};
use rhae_protocol::{BoardId, BoardRecord, EntryId};
use rhae_report::board_change_text;
use rhae_server::{Clock, SystemClock};
use rhae_store::Database;

pub(crate) use show::references as published_references;

use crate::output;

/// Run a leaderboard: register, submit, replay, rank, release and check results.
///
/// A board is an event log in the database of `rhae serve`; see docs/board.md.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board init main --title \"Built-in environments\" --games all
  rhae board submit main --entry mine --system system.json --run runs/x
  rhae board show main
  rhae board export main public/
  rhae board check public/")]
pub(crate) struct BoardArgs {
    #[command(subcommand)]
    command: BoardCommand,
}

#[derive(Subcommand)]
enum BoardCommand {
    Init(Box<init::InitArgs>),
    Register(submit::RegisterArgs),
    Submit(submit::SubmitArgs),
    Verify(organiser::VerifyArgs),
    Show(show::ShowArgs),
    Compare(show::CompareArgs),
    Plot(show::PlotArgs),
    Tiers(tiers::TiersArgs),
    Retract(organiser::RetractArgs),
    Erase(organiser::EraseArgs),
    Contest(organiser::ContestArgs),
    Release(organiser::ReleaseArgs),
    Check(exchange::CheckArgs),
    Export(exchange::ExportArgs),
    Import(exchange::ImportArgs),
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

/// A board and its database.
#[derive(Args)]
struct BoardIdArgs {
    /// Id of the board
    board: String,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(crate) fn run(args: BoardArgs) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(async {
        match args.command {
            BoardCommand::Init(args) => init::init(&args).await,
            BoardCommand::Register(args) => submit::register(&args).await,
            BoardCommand::Submit(args) => submit::submit(&args).await,
            BoardCommand::Verify(args) => organiser::verify(&args).await,
            BoardCommand::Show(args) => show::show(&args).await,
            BoardCommand::Compare(args) => show::compare(&args).await,
            BoardCommand::Plot(args) => show::plot(&args).await,
            BoardCommand::Tiers(args) => tiers::tiers(&args).await,
            BoardCommand::Retract(args) => organiser::retract(&args).await,
            BoardCommand::Erase(args) => organiser::erase(&args).await,
            BoardCommand::Contest(args) => organiser::contest(&args).await,
            BoardCommand::Release(args) => organiser::release(&args).await,
            BoardCommand::Check(args) => exchange::check(&args),
            BoardCommand::Export(args) => exchange::export(&args).await,
            BoardCommand::Import(args) => exchange::import(&args).await,
        }
    })
}

/// An open database with its boards.
struct Opened {
    database: Database,
    service: BoardService,
}

impl Opened {
    /// Opens a database that must exist, because only `init` and `import` create one.
    async fn existing(args: &DatabaseArgs) -> Result<Self> {
        ensure!(
            Database::may_exist(&args.db),
            "the database `{}` does not exist; name one with --db, or create a board with `rhae board init`",
            args.db.display()
        );
        Self::create(args).await
    }

    async fn create(args: &DatabaseArgs) -> Result<Self> {
        let database = Database::open(&args.db).await?;
        let service = BoardService::new(database.boards());
        Ok(Self { database, service })
    }

    /// Opens the database of a board.
    async fn board(args: &BoardIdArgs) -> Result<(Self, BoardId)> {
        let id = BoardId::from(check_board_id(&args.board)?);
        Ok((Self::existing(&args.database).await?, id))
    }

    async fn close(self) {
        let Self { database, service } = self;
        drop(service);
        database.close().await;
    }
}

fn now_ms() -> u64 {
    SystemClock.now_ms()
}

fn entry_id(text: &str) -> Result<EntryId> {
    Ok(EntryId::from(check_board_id(text)?))
}

/// Prints what a command changed, and closes the database.
async fn finish(
    opened: Opened,
    args: &BoardIdArgs,
    id: &BoardId,
    records: &[BoardRecord],
    entry: Option<&EntryId>,
) -> Result<ExitCode> {
    let board = opened.service.load(id).await?;
    opened.close().await;
    let change = board_change(&board, Audience::Organiser, records, entry);
    if args.database.json {
        output::print_json(&change)?;
    } else {
        let proofs = |state| board.state().definition.set.proofs(state);
        output::print(&board_change_text(&change, proofs))?;
    }
    Ok(ExitCode::SUCCESS)
}

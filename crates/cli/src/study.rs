//! `rhae study`: human studies in a database.

mod data;
mod review;
mod setup;
mod simulate;
mod simulation_server;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};
use rhae_protocol::{StudyChange, StudyId, StudyRecord};
use rhae_server::{Clock, SystemClock};
use rhae_store::Database;
use rhae_study::Moment;
use rhae_study_service::{StudyService, check_study_id, event_kinds};

use crate::output;

/// Run a human study: set it up, watch it, review it, pay people and publish baselines.
///
/// A study is an event log in the database of `rhae serve`; see docs/study.md.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study new lab-1 --title \"First study\" --games kq19,ny40 --consent en=consent.txt
  rhae study check lab-1
  rhae study freeze lab-1
  rhae study open lab-1
  rhae study status lab-1
  rhae study baselines lab-1 --publish baselines.json")]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    command: StudyCommand,
}

#[derive(Subcommand)]
enum StudyCommand {
    New(setup::NewArgs),
    Check(setup::CheckArgs),
    Freeze(setup::FreezeArgs),
    Open(setup::OpenArgs),
    Close(setup::CloseArgs),
    Status(setup::StatusArgs),
    Assign(setup::AssignArgs),
    Exclude(review::ExcludeArgs),
    Baselines(review::BaselinesArgs),
    Report(review::ReportArgs),
    Pay(data::PayArgs),
    Export(data::ExportArgs),
    Erase(data::EraseArgs),
    Verify(data::VerifyArgs),
    Simulate(simulate::SimulateArgs),
    #[command(hide = true)]
    SimulationServer(simulation_server::SimulationServerArgs),
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

/// A study and its database.
#[derive(Args)]
struct StudyIdArgs {
    /// Id of the study
    study: String,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(crate) fn run(args: StudyArgs) -> Result<ExitCode> {
    let command = match args.command {
        // These two start their own runtimes.
        StudyCommand::Simulate(args) => return simulate::simulate(args),
        StudyCommand::SimulationServer(args) => return simulation_server::serve(args),
        command => command,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(async {
        match command {
            StudyCommand::New(args) => setup::new(&args).await,
            StudyCommand::Check(args) => setup::check(&args).await,
            StudyCommand::Freeze(args) => setup::freeze(&args).await,
            StudyCommand::Open(args) => setup::open(&args).await,
            StudyCommand::Close(args) => setup::close(&args).await,
            StudyCommand::Status(args) => setup::status(&args).await,
            StudyCommand::Assign(args) => setup::assign(&args).await,
            StudyCommand::Exclude(args) => review::exclude(&args).await,
            StudyCommand::Baselines(args) => review::baselines(&args).await,
            StudyCommand::Report(args) => review::report(&args).await,
            StudyCommand::Pay(args) => data::pay(&args).await,
            StudyCommand::Export(args) => data::export(&args).await,
            StudyCommand::Erase(args) => data::erase(&args).await,
            StudyCommand::Verify(args) => data::verify(&args).await,
            StudyCommand::Simulate(_) | StudyCommand::SimulationServer(_) => {
                unreachable!("handled above")
            }
        }
    })
}

/// An open database with its studies.
struct Opened {
    database: Database,
    service: StudyService,
}

impl Opened {
    /// Opens a database that must exist, because only `new` creates one.
    async fn existing(args: &DatabaseArgs) -> Result<Self> {
        ensure!(
            Database::may_exist(&args.db),
            "the database `{}` does not exist; name one with --db, or create a study with `rhae study new`",
            args.db.display()
        );
        Self::create(args).await
    }

    async fn create(args: &DatabaseArgs) -> Result<Self> {
        let database = Database::open(&args.db).await?;
        let service = StudyService::new(database.studies());
        Ok(Self { database, service })
    }

    /// Opens the database of a study.
    async fn study(args: &StudyIdArgs) -> Result<(Self, StudyId)> {
        let id = check_study_id(&args.study)?;
        Ok((Self::existing(&args.database).await?, id))
    }

    async fn close(self) {
        let Self { database, service } = self;
        drop(service);
        database.close().await;
    }
}

fn now() -> Moment {
    Moment::at(SystemClock.now_ms())
}

/// Prints what a command changed, and closes the database.
async fn finish(
    opened: Opened,
    args: &StudyIdArgs,
    id: StudyId,
    records: &[StudyRecord],
    text: &str,
) -> Result<ExitCode> {
    let last = opened
        .service
        .read(&id, rhae_study::Study::last_seq)
        .await?;
    opened.close().await;
    if args.database.json {
        output::print_json(&StudyChange {
            study: id,
            events: event_kinds(records),
            records: last,
        })?;
    } else {
        output::print(text)?;
    }
    Ok(ExitCode::SUCCESS)
}

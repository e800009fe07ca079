//! `rhae board register|submit`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use rhae_board::Command;
use rhae_board_service::{RunFiles, Submission, check_board_id};
use rhae_protocol::{BoardSystem, RegistrationId};

use super::{BoardIdArgs, Opened, entry_id, finish, now_ms};
use crate::hosted_games::HostedGamesArgs;

/// Announce runs before their first action.
///
/// All registered plays enter the mean. Plays that are missing after 14 days count as 0.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board register main --registration r1 --system system.json --seed 0 --repeat 3")]
pub(super) struct RegisterArgs {
    #[command(flatten)]
    board: BoardIdArgs,
    /// Id of the registration
    #[arg(long)]
    registration: String,
    /// Description of the system; docs/board.md describes the file
    #[arg(long, value_name = "FILE")]
    system: PathBuf,
    /// Seed of the agent in the first repeat; each further repeat uses the next one
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of repeats
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    repeat: u64,
}

fn read_system(file: &Path) -> Result<BoardSystem> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{name}`"))?;
    serde_json::from_str(&text).with_context(|| format!("`{name}` does not describe a system"))
}

pub(super) async fn register(args: &RegisterArgs) -> Result<ExitCode> {
    let system = read_system(&args.system)?;
    let actor = first_author(&system);
    let command = Command::Register {
        registration: RegistrationId::from(check_board_id(&args.registration)?),
        system: Box::new(system),
        seeds: (0..args.repeat)
            .map(|repeat| args.seed.wrapping_add(repeat))
            .collect(),
    };
    let (opened, id) = Opened::board(&args.board).await?;
    let executed = opened
        .service
        .execute(&id, now_ms(), &actor, &command, Vec::new());
    let records = executed.await?;
    finish(opened, &args.board, &id, &records, None).await
}

fn first_author(system: &BoardSystem) -> String {
    system
        .authors
        .first()
        .map_or_else(String::new, |author| author.name.clone())
}

/// Submit a system with its runs. Every recording is replayed and scored by the board.
///
/// A run that does not replay leaves the row `claimed`. A run that the rules refuse is an error, and
/// nothing is stored.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board submit main --entry mine --system system.json --run runs/x
  rhae board submit main --entry mine --system system.json --registration r1 --run runs/x")]
pub(super) struct SubmitArgs {
    #[command(flatten)]
    board: BoardIdArgs,
    /// Id of the new row
    #[arg(long)]
    entry: String,
    /// Description of the system; docs/board.md describes the file
    #[arg(long, value_name = "FILE")]
    system: PathBuf,
    /// Registration of the runs
    #[arg(long, value_name = "ID")]
    registration: Option<String>,
    /// Folder of a run of `rhae run`; may be repeated
    #[arg(long = "run", value_name = "DIR")]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) async fn submit(args: &SubmitArgs) -> Result<ExitCode> {
    let entry = entry_id(&args.entry)?;
    let system = read_system(&args.system)?;
    let registration = args
        .registration
        .as_deref()
        .map(check_board_id)
        .transpose()?;
    let runs = args.runs.iter().map(|folder| RunFiles::read(folder));
    let submission = Submission {
        actor: first_author(&system),
        registration: registration.map(RegistrationId::from),
        runs: runs.collect::<Result<_, _>>()?,
        ..Submission::default()
    };
    let catalog = args.hosted.games()?;
    let (opened, id) = Opened::board(&args.board).await?;
    let submitted =
        opened
            .service
            .submit(&id, now_ms(), &entry, system, submission, catalog.as_ref());
    let records = submitted.await?;
    finish(opened, &args.board, &id, &records, Some(&entry)).await
}

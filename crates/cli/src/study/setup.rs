//! `rhae study new|check|freeze|open|close|status|assign`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_engine::{Catalog, GameInfo};
use rhae_protocol::{ConsentText, StudyProtocol};
use rhae_report::{coverage_table, studies_table, study_check_text, study_status_text};
use rhae_study::{Command, Preset, SetupCommand};
use rhae_study_service::{
    Expectation, MAIN_ARM, NewSite, NewStudy, add_environment, check_study, check_study_id,
    coverage, create_study, study_listing, study_status,
};

use super::{DatabaseArgs, Opened, StudyIdArgs, finish, now};
use crate::hosted_games::HostedGamesArgs;
use crate::output;

/// Create a study as a draft.
///
/// The protocol is a preset with your consent text. Edit it with --protocol on `check` and `freeze`;
/// --write-protocol writes the file to start from.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study new lab-1 --title \"First study\" --games kq19,ny40 --consent en=consent.txt
  rhae study new paper --title Replication --preset paper --site room:20 --write-protocol p.json")]
pub(super) struct NewArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    /// Title, which participants do not see
    #[arg(long)]
    title: String,
    /// Preset of the protocol: `paper` or `rhae-1`
    #[arg(long, default_value = "rhae-1", value_parser = preset)]
    preset: Preset,
    /// Environments, separated by commas, or `all`
    #[arg(long, default_value = "all")]
    games: String,
    /// Consent text: language and file; may be repeated
    #[arg(long, value_name = "LANGUAGE=FILE", value_parser = consent)]
    consent: Vec<(String, PathBuf)>,
    /// Site: its id, with the number of seats of a room; may be repeated
    #[arg(long = "site", value_name = "ID[:SEATS]", default_value = "online", value_parser = site)]
    sites: Vec<NewSite>,
    /// Seed of all draws
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write the protocol to a new file
    #[arg(long, value_name = "FILE")]
    write_protocol: Option<PathBuf>,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

fn preset(name: &str) -> Result<Preset, String> {
    name.parse::<Preset>().map_err(|error| error.to_string())
}

fn consent(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((language, file)) if !language.is_empty() && !file.is_empty() => {
            Ok((language.to_owned(), file.into()))
        }
        _ => Err("expected a language and a file, such as en=consent.txt".to_owned()),
    }
}

fn site(text: &str) -> Result<NewSite, String> {
    let (id, seats) = text.split_once(':').unwrap_or((text, "0"));
    let seats = seats.parse().ok().filter(|_| !id.is_empty());
    let seats = seats.ok_or("expected an id with a number of seats, such as room:20")?;
    let site = id.into();
    Ok(NewSite { site, seats })
}

/// Returns the environments of a list of names.
fn select(catalog: &dyn Catalog, names: &str) -> Result<Vec<GameInfo>> {
    let selected = if names == "all" {
        catalog.list()
    } else {
        let names = names.split(',').map(str::trim);
        names
            .map(|name| catalog.find(name))
            .collect::<Result<_, _>>()?
    };
    for info in &selected {
        ensure!(
            info.level_count() > 0,
            "the number of levels of `{}` is not known: play it once first",
            info.id
        );
    }
    Ok(selected)
}

fn read_protocol(file: &Path) -> Result<StudyProtocol> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{name}`"))?;
    serde_json::from_str(&text).with_context(|| format!("`{name}` is not a protocol"))
}

pub(super) async fn new(args: &NewArgs) -> Result<ExitCode> {
    let id = check_study_id(&args.study.study)?;
    let mut protocol = args.preset.protocol();
    if !args.consent.is_empty() {
        protocol.consent.clear();
    }
    for (language, file) in &args.consent {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read `{}`", file.display()))?;
        let consent = ConsentText { version: 1, text };
        protocol.consent.insert(language.clone(), consent);
    }
    let environments = select(&args.hosted.games()?, &args.games)?;
    let new = NewStudy {
        id: id.clone(),
        title: args.title.clone(),
        seed: args.seed,
        protocol,
        environments,
        sites: args.sites.clone(),
    };
    if let Some(file) = &args.write_protocol {
        let text = serde_json::to_string_pretty(&new.protocol)?;
        let name = file.display();
        ensure!(
            !file.exists(),
            "`{name}` exists already: choose another name"
        );
        std::fs::write(file, format!("{text}\n"))
            .with_context(|| format!("cannot write `{name}`"))?;
    }
    let opened = Opened::create(&args.study.database).await?;
    create_study(&opened.service, now(), &new).await?;
    let records = opened.service.records(&id).await?;
    let count = output::counted(new.environments.len() as u64, "environment");
    let text = format!("created the draft `{id}` with {count}; next: rhae study check {id}");
    finish(opened, &args.study, id, &records, &text).await
}

/// Check a protocol, and plan the study: sittings, cost and power.
///
/// Nothing is changed. The exit code is 1 if something must be corrected.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study check lab-1
  rhae study check lab-1 --protocol p.json --per-sitting 6 --solve-rate 0.3")]
pub(super) struct CheckArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    /// Protocol to check instead of the study's own
    #[arg(long, value_name = "FILE")]
    protocol: Option<PathBuf>,
    /// Environments that a sitting is expected to start
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    per_sitting: u32,
    /// Expected share of valid attempts that solve an environment
    #[arg(long, default_value_t = 0.5)]
    solve_rate: f64,
}

pub(super) async fn check(args: &CheckArgs) -> Result<ExitCode> {
    ensure!(
        (0.0..=1.0).contains(&args.solve_rate),
        "--solve-rate must be between 0 and 1"
    );
    let file = args.protocol.as_deref().map(read_protocol).transpose()?;
    let (opened, id) = Opened::study(&args.study).await?;
    let expectation = Expectation {
        per_sitting: args.per_sitting,
        solve_rate: args.solve_rate,
    };
    let checked = opened.service.read(&id, |study| {
        let state = study.state();
        let own = state.protocol().map(|(_, protocol)| protocol);
        let protocol = file.as_ref().or(own);
        let currency = protocol.map(|one| one.money.currency.clone());
        let check = check_study(state, file.as_ref(), expectation);
        (check, currency.unwrap_or_default())
    });
    let (check, currency) = checked.await?;
    opened.close().await;
    if args.study.database.json {
        output::print_json(&check)?;
    } else {
        output::print(&study_check_text(&check, &currency))?;
    }
    Ok(if check.violations.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Freeze the protocol, or amend a frozen one.
///
/// The hash of a frozen protocol fixes limits, exclusion rules and analysis before the first live
/// sitting. Later changes are amendments with a reason.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study freeze lab-1
  rhae study freeze lab-1 --protocol p.json
  rhae study freeze lab-1 --protocol p2.json --amend \"the consent text had an error\"")]
pub(super) struct FreezeArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    /// Protocol to freeze instead of the draft's own
    #[arg(long, value_name = "FILE")]
    protocol: Option<PathBuf>,
    /// Amend the frozen protocol, and state the reason
    #[arg(long, value_name = "REASON", requires = "protocol")]
    amend: Option<String>,
}

pub(super) async fn freeze(args: &FreezeArgs) -> Result<ExitCode> {
    let protocol = args.protocol.as_deref().map(read_protocol).transpose()?;
    let protocol = protocol.map(Box::new);
    let commands = match (protocol, &args.amend) {
        (Some(protocol), Some(reason)) => vec![SetupCommand::Amend {
            protocol,
            reason: reason.clone(),
        }],
        (Some(protocol), None) => vec![SetupCommand::SetProtocol(protocol), SetupCommand::Freeze],
        (None, _) => vec![SetupCommand::Freeze],
    };
    let (opened, id) = Opened::study(&args.study).await?;
    let mut records = Vec::new();
    for command in commands {
        let command = Command::Setup(command);
        records.extend(opened.service.execute(&id, now(), &command).await?);
    }
    let hash = opened.service.read(&id, |study| {
        let current = study.state().protocol();
        current.map(|(hash, _)| hash.to_string())
    });
    let text = format!("frozen: protocol {}", hash.await?.unwrap_or_default());
    finish(opened, &args.study, id, &records, &text).await
}

/// Open a study for participants, continue after a pause, or pause it.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study open lab-1
  rhae study open lab-1 --pause \"the room is closed\"")]
pub(super) struct OpenArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    /// Pause the study instead, and state the reason; open sittings continue
    #[arg(long, value_name = "REASON")]
    pause: Option<String>,
}

pub(super) async fn open(args: &OpenArgs) -> Result<ExitCode> {
    let (command, text) = match &args.pause {
        Some(reason) => {
            let reason = reason.clone();
            (SetupCommand::Pause { reason }, "paused")
        }
        None => (SetupCommand::Open, "open"),
    };
    let (opened, id) = Opened::study(&args.study).await?;
    let command = Command::Setup(command);
    let records = opened.service.execute(&id, now(), &command).await?;
    let text = format!("the study `{id}` is {text}");
    finish(opened, &args.study, id, &records, &text).await
}

/// Close a study permanently.
///
/// No sitting may be open. What was remembered of erased people is removed.
#[derive(Args)]
pub(super) struct CloseArgs {
    #[command(flatten)]
    study: StudyIdArgs,
}

pub(super) async fn close(args: &CloseArgs) -> Result<ExitCode> {
    let (opened, id) = Opened::study(&args.study).await?;
    let command = Command::Setup(SetupCommand::Close);
    let records = opened.service.execute(&id, now(), &command).await?;
    let text = format!("the study `{id}` is closed");
    finish(opened, &args.study, id, &records, &text).await
}

/// Show the state of a study, or list all studies.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study status
  rhae study status lab-1 --json")]
pub(super) struct StatusArgs {
    /// Id of the study; without it, all studies are listed
    study: Option<String>,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(super) async fn status(args: &StatusArgs) -> Result<ExitCode> {
    let id = args.study.as_deref().map(check_study_id).transpose()?;
    let opened = Opened::existing(&args.database).await?;
    let service = &opened.service;
    if let Some(id) = id {
        let status = service.read(&id, study_status).await?;
        opened.close().await;
        if args.database.json {
            output::print_json(&status)?;
        } else {
            output::print(&study_status_text(&status))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut studies = Vec::new();
    for id in service.list().await? {
        studies.push(service.read(&id, study_listing).await?);
    }
    opened.close().await;
    if args.database.json {
        output::print_json(&studies)?;
    } else {
        output::print(&studies_table(&studies))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Show which environments need people, and change the pool of a running study.
///
/// The need is in people: environments with the largest need are assigned first. A withdrawn
/// environment is not assigned any more; plays in progress continue.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study assign lab-1
  rhae study assign lab-1 --add kq19
  rhae study assign lab-1 --withdraw kq19-v1 --reason \"level 3 cannot be won\"")]
pub(super) struct AssignArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    /// Environments to add, separated by commas
    #[arg(long, value_name = "GAMES", conflicts_with = "withdraw")]
    add: Option<String>,
    /// Environment version to withdraw
    #[arg(long, value_name = "ID", requires = "reason")]
    withdraw: Option<String>,
    /// Reason of the withdrawal
    #[arg(long, requires = "withdraw")]
    reason: Option<String>,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) async fn assign(args: &AssignArgs) -> Result<ExitCode> {
    let mut commands = Vec::new();
    if let Some(games) = &args.add {
        let selected = select(&args.hosted.games()?, games)?;
        let arm = MAIN_ARM.into();
        commands.extend(selected.iter().map(|info| add_environment(info, &arm)));
    }
    if let (Some(environment), Some(reason)) = (&args.withdraw, &args.reason) {
        commands.push(SetupCommand::WithdrawEnvironment {
            environment: environment.as_str().into(),
            reason: reason.clone(),
        });
    }
    let (opened, id) = Opened::study(&args.study).await?;
    for command in commands {
        let command = Command::Setup(command);
        if let Err(error) = opened.service.execute(&id, now(), &command).await {
            bail!("{error}");
        }
    }
    let covered = opened.service.read(&id, |study| coverage(study.state()));
    let covered = covered.await?;
    opened.close().await;
    if args.study.database.json {
        output::print_json(&covered)?;
    } else {
        output::print(&coverage_table(&covered))?;
    }
    Ok(ExitCode::SUCCESS)
}

//! `rhae board init`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_board_service::{board_set, check_board_id, freeze_order, task_set, tasks_text};
use rhae_harness::{calibrated, read_baseline_file, read_baselines};
use rhae_protocol::{
    BOARD_RULES, BaselineFile, BoardDefinition, BoardId, BoardKind, BoardSet, SetVisibility,
};
use rhae_scoring::Method;
use rhae_tasks::{Parser, Protocol, Rules};

use super::tiers::order_of_ease;
use super::{BoardIdArgs, Opened, finish, now_ms};
use crate::arc::data::{DataArgs, SelectArgs};
use crate::arc::protocol::protocol_parser;
use crate::hosted_games::HostedGamesArgs;
use crate::interrupt::INTERRUPTED;

/// Create a board.
///
/// The flags describe a community board of public environments, or with --tasks of static tasks. Other
/// boards come from a file: write one with --write-definition, edit it, and pass it with --definition.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board init main --title \"Built-in environments\" --games all
  rhae board init main --games all --tiers
  rhae board init main --games all --baselines baselines.json --tiers
  rhae board init arc2 --title \"ARC-AGI-2\" --tasks data/arc --set arc-agi-2-evaluation
  rhae board init two --games kq19,ny40 --write-definition two.json
  rhae board init closed --definition closed.json --games-dir hidden/")]
pub(super) struct InitArgs {
    #[command(flatten)]
    board: BoardIdArgs,
    /// Definition of the board, instead of the flags
    #[arg(long, value_name = "FILE", conflicts_with_all = ["title", "games", "method", "budget", "baselines", "tiers", "protocol", "attempts", "parser"])]
    definition: Option<PathBuf>,
    /// Title
    #[arg(long, default_value = "Community leaderboard")]
    title: String,
    /// Environments, separated by commas and the easiest first, or `all`
    #[arg(long, default_value = "all")]
    games: String,
    /// Scoring method
    #[arg(long, default_value = Method::DEFAULT.name())]
    method: String,
    /// Budget of a play
    #[arg(long, default_value = "5x")]
    budget: String,
    /// Published baselines of a human study, which replace those of the environments (docs/study.md). With
    /// --tiers, the share of people who completed an environment orders the environments
    #[arg(long, value_name = "FILE")]
    baselines: Option<PathBuf>,
    /// Order the environments by ease and freeze the order, for `rhae run --tiers`. This searches the
    /// first level of every environment
    #[arg(long)]
    tiers: bool,
    /// Data of static tasks with their solutions, instead of environments; NAME=PATH names the set. Can
    /// be repeated
    #[arg(long, value_name = "[NAME=]PATH", conflicts_with_all = ["games", "method", "budget", "baselines", "tiers"])]
    tasks: Vec<String>,
    /// Set to use, if the data contain several
    #[arg(long, value_name = "NAME", requires = "tasks")]
    set: Option<String>,
    #[command(flatten)]
    select: SelectArgs,
    /// Rules by which answers to tasks are scored
    #[arg(long, value_parser = protocol_parser(), default_value = "standard", requires = "tasks")]
    protocol: Protocol,
    /// Number of attempts at each test, instead of the protocol's
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000), requires = "tasks")]
    attempts: Option<u32>,
    /// Parser that finds grids in answers, instead of the protocol's
    #[arg(long, requires = "tasks")]
    parser: Option<Parser>,
    /// Write the definition to a new file and create nothing
    #[arg(long, value_name = "FILE")]
    write_definition: Option<PathBuf>,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) async fn init(args: &InitArgs) -> Result<ExitCode> {
    let id = BoardId::from(check_board_id(&args.board.board)?);
    let mut definition = match &args.definition {
        Some(file) => {
            let name = file.display();
            let text =
                std::fs::read_to_string(file).with_context(|| format!("cannot read `{name}`"))?;
            serde_json::from_str(&text).with_context(|| format!("`{name}` is not a definition"))?
        }
        None => definition(args)?,
    };
    if args.tiers {
        let catalog = args.hosted.games()?;
        let study = study(args)?;
        let Some(order) = order_of_ease(&definition, catalog.as_ref(), study.as_ref())? else {
            return Ok(ExitCode::from(INTERRUPTED));
        };
        freeze_order(&mut definition.set, &order);
    }
    if let Some(file) = &args.write_definition {
        let name = file.display();
        ensure!(
            !file.exists(),
            "`{name}` exists already: choose another name"
        );
        let text = serde_json::to_string_pretty(&definition)?;
        std::fs::write(file, format!("{text}\n"))
            .with_context(|| format!("cannot write `{name}`"))?;
        crate::output::print(&format!(
            "wrote `{name}`; edit it and pass it with --definition"
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let tasks = tasks(args, &definition)?;
    let opened = Opened::create(&args.board.database).await?;
    let created = opened
        .service
        .create_of_tasks(now_ms(), &id, definition, tasks.as_deref());
    let records = created.await?;
    finish(opened, &args.board, &id, &records, None).await
}

fn definition(args: &InitArgs) -> Result<BoardDefinition> {
    let set = set(args)?;
    let method = set.tasks.as_ref().map(|tasks| tasks.method().to_owned());
    let budget = set.tasks.as_ref().map(|_| "none".to_owned());
    Ok(BoardDefinition {
        rules_version: BOARD_RULES,
        kind: BoardKind::Community,
        title: args.title.clone(),
        set,
        method: method.unwrap_or_else(|| args.method.clone()),
        budget: budget.unwrap_or_else(|| args.budget.clone()),
        prompt_sha256: None,
        people: None,
    })
}

fn set(args: &InitArgs) -> Result<BoardSet> {
    if !args.tasks.is_empty() {
        let set = data(args, args.set.clone()).one_set()?;
        let rules = args.protocol.rules();
        let rules = Rules {
            attempts: args
                .attempts
                .map_or(rules.attempts, |attempts| attempts as usize),
            parser: args.parser.unwrap_or(rules.parser),
        };
        let selected = args.select.selection(&set)?;
        let visibility = SetVisibility::Public;
        return Ok(task_set(visibility, &set, &selected, args.protocol, rules)?);
    }
    ensure!(
        args.select.is_all(),
        "tasks are selected, but there is no data of tasks: name it with --tasks"
    );
    let method: Method = args.method.parse()?;
    let people = args.baselines.as_deref().map(read_baselines).transpose()?;
    let catalog = calibrated(args.hosted.games()?, people.as_ref(), method);
    let environments = if args.games == "all" {
        catalog.list()
    } else {
        let names = args.games.split(',').map(str::trim);
        names
            .map(|name| catalog.find(name))
            .collect::<Result<_, _>>()?
    };
    let name = &args.board.board;
    Ok(board_set(name, SetVisibility::Public, &environments))
}

/// Returns the human study whose people order the environments, if there is one.
fn study(args: &InitArgs) -> Result<Option<BaselineFile>> {
    let study = args.baselines.as_deref().map(read_baseline_file);
    Ok(study.transpose()?)
}

fn data(args: &InitArgs, set: Option<String>) -> DataArgs {
    DataArgs::new(args.tasks.clone(), set.into_iter().collect())
}

/// Returns the file of tasks that a board of static tasks stores.
fn tasks(args: &InitArgs, definition: &BoardDefinition) -> Result<Option<String>> {
    match (&definition.set.tasks, args.tasks.is_empty()) {
        (None, true) => Ok(None),
        (None, false) => bail!("the definition has environments, so it takes no --tasks"),
        (Some(_), true) => bail!("the definition has static tasks: name their data with --tasks"),
        (Some(_), false) => {
            let name = definition.set.name.clone();
            let set = args.set.clone().or(Some(name));
            Ok(Some(tasks_text(&data(args, set).one_set()?)))
        }
    }
}

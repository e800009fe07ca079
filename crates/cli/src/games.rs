//! `rhae games`: lists and compares environments, fetches them from a server, and creates the
//! skeleton of a new one.

mod fetch;
mod new;
mod novelty;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use rhae_engine::{ActionKind, Catalog, GameInfo};
use rhae_pyhost::Games;
use serde::Serialize;

use crate::hosted_games::HostedGamesArgs;
use crate::output;

/// List, show and compare environments, fetch them from a server, or create a new one.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae games list
  rhae games info kq19 --json
  rhae games list --games-dir environment_files
  rhae games fetch environment_files --server https://three.arcprize.org
  rhae games novelty --html novelty.html
  rhae games new ab12")]
pub(crate) struct GamesArgs {
    #[command(subcommand)]
    command: GamesCommand,
}

#[derive(Subcommand)]
enum GamesCommand {
    /// List all environments
    List {
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        hosted: HostedGamesArgs,
    },
    /// Show one environment: its actions, tags and baselines
    Info {
        /// Environment id; four characters select the newest version
        id: String,
        /// Print the environment as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        hosted: HostedGamesArgs,
    },
    /// Fetch environments from a server with the official API into a folder for --games-dir
    Fetch(fetch::FetchArgs),
    /// Compare environments pair by pair for similarity (docs/novelty.md)
    Novelty(novelty::NoveltyArgs),
    /// Create the skeleton of a native game in this repository
    New {
        /// Id of the game: a lower-case letter and three lower-case letters or digits
        id: String,
    },
}

#[derive(Serialize)]
struct GameFacts {
    game_id: String,
    title: String,
    levels: usize,
    actions: Vec<u8>,
    tags: Vec<String>,
    baseline_actions: Vec<u32>,
    baseline_source: Vec<&'static str>,
    default_fps: u8,
    seeded: bool,
    /// The folder of a hosted game; `None` for a native game.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
}

impl GameFacts {
    fn of(games: &Games, info: &GameInfo) -> Self {
        let folder = games.folders().find(|folder| folder.metadata.id == info.id);
        Self {
            game_id: info.id.to_string(),
            title: info.title.clone(),
            levels: info.baselines.len(),
            actions: info.actions.iter().map(ActionKind::id).collect(),
            tags: info.tags.clone(),
            baseline_actions: info
                .baselines
                .iter()
                .map(|baseline| baseline.actions)
                .collect(),
            baseline_source: info
                .baselines
                .iter()
                .map(|baseline| baseline.source.name())
                .collect(),
            default_fps: info.frames_per_second,
            seeded: info.seeded,
            folder: folder.map(|folder| folder.path.display().to_string()),
        }
    }
}

pub(crate) fn run(args: &GamesArgs) -> Result<ExitCode> {
    match &args.command {
        GamesCommand::List { json, hosted } => list(&hosted.games()?, *json)?,
        GamesCommand::Info { id, json, hosted } => info(&hosted.games()?, id, *json)?,
        GamesCommand::Fetch(args) => return fetch::run(args),
        GamesCommand::Novelty(args) => novelty::run(args)?,
        GamesCommand::New { id } => new::run(id)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(games: &Games, json: bool) -> Result<()> {
    let games: Vec<GameFacts> = games
        .list()
        .iter()
        .map(|info| GameFacts::of(games, info))
        .collect();
    if json {
        return output::print_json(&games);
    }
    output::print(
        "environment  levels  actions        tags            baselines (* = provisional)",
    )?;
    for game in &games {
        let actions: Vec<String> = game.actions.iter().map(u8::to_string).collect();
        let baselines = game.baseline_actions.iter().zip(&game.baseline_source);
        let baselines: Vec<String> = baselines
            .map(|(count, &source)| {
                format!(
                    "{count}{}",
                    if source.starts_with("solver") {
                        "*"
                    } else {
                        ""
                    }
                )
            })
            .collect();
        output::print(&format!(
            "{:<11}  {:>6}  {:<13}  {:<14}  {}",
            game.game_id,
            game.levels,
            actions.join(" "),
            game.tags.join(","),
            baselines.join(" ")
        ))?;
    }
    Ok(())
}

fn info(games: &Games, id: &str, json: bool) -> Result<()> {
    let game = GameFacts::of(games, &games.find(id)?);
    if json {
        return output::print_json(&game);
    }
    let actions: Vec<&str> = game
        .actions
        .iter()
        .filter_map(|&id| ActionKind::from_id(id))
        .map(ActionKind::name)
        .collect();
    output::print(&format!(
        "{}\nactions: {}\ntags: {}",
        game.game_id,
        actions.join(", "),
        game.tags.join(", ")
    ))?;
    if let Some(folder) = &game.folder {
        let layers = games.layers()?;
        let missing = layers.missing();
        let missing = if missing.is_empty() {
            String::new()
        } else {
            format!("; missing: {}", missing.join(", "))
        };
        output::print(&output::plain(&format!(
            "folder: {folder}\nsandbox: {layers}{missing}"
        )))?;
    }
    if game.seeded {
        output::print("levels depend on the seed; baselines and scores are for seed 0")?;
    }
    output::print("\nlevel  baseline  source")?;
    for (index, (count, source)) in game
        .baseline_actions
        .iter()
        .zip(&game.baseline_source)
        .enumerate()
    {
        output::print(&format!("{:>5}  {count:>8}  {source}", index + 1))?;
    }
    Ok(())
}

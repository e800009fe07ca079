//! `rhae games`: lists, draws and compares environments, fetches them from a server, and creates the
//! skeleton of a new one.

#[cfg(feature = "hosting")]
mod fetch;
mod new;
mod novelty;
mod sheet;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use rhae_engine::{Catalog, GameInfo, HostedGame};
use rhae_protocol::GameFacts;
use rhae_report::{game_text, games_table};

use crate::hosted_games::HostedGamesArgs;
use crate::output;

#[cfg(feature = "hosting")]
const EXAMPLES: &str = "Examples:
  rhae games list
  rhae games info kq19 --json
  rhae games list --games-dir environment_files
  rhae games fetch environment_files --server https://three.arcprize.org
  rhae games novelty --html novelty.html
  rhae games sheet easy --out levels.png
  rhae games new ab12";
#[cfg(not(feature = "hosting"))]
const EXAMPLES: &str = "Examples:
  rhae games list
  rhae games info kq19 --json
  rhae games novelty --html novelty.html
  rhae games sheet easy --out levels.png
  rhae games new ab12";

/// List, show, draw and compare environments, fetch them from a server, or create a new one.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
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
    #[cfg(feature = "hosting")]
    Fetch(fetch::FetchArgs),
    /// Compare environments pair by pair for similarity (docs/novelty.md)
    Novelty(novelty::NoveltyArgs),
    /// Draw the first frame of every level as one PNG
    Sheet(sheet::SheetArgs),
    /// Create the skeleton of a native game in this repository
    New {
        /// Id of the game: a lower-case letter and three lower-case letters or digits
        id: String,
    },
}

fn facts(hosted: &[HostedGame], info: &GameInfo) -> GameFacts {
    let hosted = hosted.iter().find(|game| game.id == info.id);
    GameFacts::new(info, hosted.map(|game| game.folder.display().to_string()))
}

pub(crate) fn run(args: &GamesArgs) -> Result<ExitCode> {
    match &args.command {
        GamesCommand::List { json, hosted } => list(&hosted.games()?, *json)?,
        GamesCommand::Info { id, json, hosted } => info(&hosted.games()?, id, *json)?,
        #[cfg(feature = "hosting")]
        GamesCommand::Fetch(args) => return fetch::run(args),
        GamesCommand::Novelty(args) => novelty::run(args)?,
        GamesCommand::Sheet(args) => sheet::run(args)?,
        GamesCommand::New { id } => new::run(id)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(games: &dyn Catalog, json: bool) -> Result<()> {
    let hosted = games.hosted_games();
    let games: Vec<GameFacts> = games
        .list()
        .iter()
        .map(|info| facts(&hosted, info))
        .collect();
    if json {
        return output::print_json(&games);
    }
    output::print(&games_table(&games))
}

fn info(games: &dyn Catalog, id: &str, json: bool) -> Result<()> {
    let mut found = games.find(id)?;
    let hosted = games.hosted_games();
    if found.level_count() == 0 && hosted.iter().any(|game| game.id == found.id) {
        // A game without baselines states its number of levels when a play is opened.
        match games.open(found.id.as_str(), 0) {
            Ok(play) => found = play.info().clone(),
            Err(error) => eprintln!("warning: {}", output::plain(&error.to_string())),
        }
    }
    let game = facts(&hosted, &found);
    if json {
        return output::print_json(&game);
    }
    let sandbox = if game.folder.is_some() {
        games.sandbox()?
    } else {
        None
    };
    output::print(&game_text(&game, sandbox.as_deref()))
}

//! `rhae games fetch`: downloads environments from a server with the official API into a folder.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail, ensure};
use clap::Args;
use rhae_datasets::{FetchedGame, GameServer, WriteOutcome};
use rhae_report::counted;

use crate::output;

#[derive(Args)]
pub(crate) struct FetchArgs {
    /// Folder to fetch into; created if it does not exist
    dir: PathBuf,
    /// Address of the server, such as `https://three.arcprize.org`
    #[arg(long, value_name = "URL")]
    server: String,
    /// API key [default: the environment variable ARC_API_KEY, otherwise an anonymous key]
    #[arg(long)]
    key: Option<String>,
    /// Comma-separated environment ids, or `all`
    #[arg(long, default_value = "all")]
    games: String,
}

pub(crate) fn run(args: &FetchArgs) -> Result<ExitCode> {
    let key = args
        .key
        .clone()
        .or_else(|| std::env::var("ARC_API_KEY").ok())
        .filter(|key| !key.is_empty());
    let server = GameServer::connect(&args.server, key)?;
    let listed = server.games()?;
    let wanted: Option<Vec<&str>> =
        (args.games != "all").then(|| args.games.split(',').map(str::trim).collect());
    let (mut fetched, mut kept, mut failed, mut matched) = (0, 0, 0, Vec::new());
    for entry in &listed {
        let id = entry["game_id"].as_str().unwrap_or_default();
        if let Some(wanted) = &wanted {
            let Some(&name) = wanted
                .iter()
                .find(|&&name| id == name || id.split('-').next() == Some(name))
            else {
                continue;
            };
            matched.push(name);
        }
        match server.fetch(&args.dir, entry) {
            Ok(FetchedGame::Written(files)) => {
                fetched += 1;
                kept += files
                    .iter()
                    .filter(|(written, _)| *written == WriteOutcome::Kept)
                    .count();
                for (written, file) in files {
                    output::print(&output::plain(&format!(
                        "{}  {}",
                        label(written),
                        file.display()
                    )))?;
                }
            }
            Ok(FetchedGame::NoSource) => {
                output::print(&output::plain(&format!("no source  {id}")))?;
            }
            Err(error) => {
                failed += 1;
                output::print_error(&anyhow::Error::new(error).context(format!("`{id}`")));
            }
        }
    }
    if let Some(missing) = wanted.iter().flatten().find(|name| !matched.contains(name)) {
        bail!("the server has no environment `{missing}`");
    }
    let fetched = counted(fetched, "environment");
    output::print(&format!("{fetched} in {}", args.dir.display()))?;
    if kept > 0 {
        eprintln!(
            "note: files changed locally and not overwritten: {kept}; remove or rename them to fetch the server's versions"
        );
    }
    let missing = counted(failed, "environment");
    ensure!(failed == 0, "{missing} could not be fetched");
    Ok(ExitCode::SUCCESS)
}

const fn label(written: WriteOutcome) -> &'static str {
    match written {
        WriteOutcome::Created => "new      ",
        WriteOutcome::Updated => "updated  ",
        WriteOutcome::Unchanged => "same     ",
        WriteOutcome::Kept => "kept     ",
    }
}

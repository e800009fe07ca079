//! `rhae games novelty`: compares environments pair by pair for similarity.

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::ProgressBar;
use rhae_engine::Catalog;
use rhae_inspect::{compare_environments, find_each};
use rhae_report::{novelty_page, novelty_table};

use crate::hosted_games::HostedGamesArgs;
use crate::output;

#[derive(Args)]
pub(super) struct NoveltyArgs {
    /// Environment ids [default: all]
    ids: Vec<String>,
    /// Write heat maps of all pairs as an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the similarities as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) fn run(args: &NoveltyArgs) -> Result<()> {
    let games = args.hosted.games()?;
    let chosen = match &args.ids[..] {
        [] => games.list(),
        ids => find_each(&games, ids)?,
    };
    ensure!(
        chosen.len() > 1,
        "a comparison needs at least two environments; name another one, or none to compare all"
    );
    args.html
        .as_deref()
        .map_or(Ok(()), output::ensure_writable)?;
    let bar = if args.json || !std::io::stderr().is_terminal() {
        ProgressBar::hidden()
    } else {
        ProgressBar::new(chosen.len() as u64)
    };
    let report = compare_environments(&games, &chosen, &mut || bar.inc(1))?;
    bar.finish_and_clear();
    if let Some(file) = &args.html {
        let names: Vec<String> = chosen.iter().map(|info| info.id.to_string()).collect();
        std::fs::write(file, novelty_page(&report, &names))
            .with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    if args.json {
        return output::print_json(&report);
    }
    output::print(&novelty_table(&report))?;
    if let Some(file) = &args.html {
        output::print(&format!("wrote {}", file.display()))?;
    }
    Ok(())
}

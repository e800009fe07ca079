//! `rhae board tiers`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use rhae_board_service::{frozen_order, order_by_people};
use rhae_engine::Catalog;
use rhae_explore::{Limits, SearchOptions};
use rhae_harness::{Budget, read_baseline_file};
use rhae_inspect::{ExploreOptions, first_level_luck};
use rhae_protocol::{BaselineFile, BoardDefinition, TierEnvironment, TierFile};
use rhae_report::tiers_text;

use super::{BoardIdArgs, Opened};
use crate::hosted_games::HostedGamesArgs;
use crate::interrupt::{INTERRUPTED, interrupt_flag};
use crate::output;

/// The limits of the search of a level.
const MAX_STATES: usize = 1_000_000;
const MAX_BYTES: usize = 1 << 30;
const MAX_SECONDS: u64 = 60;

/// Order the environments of a board by ease, for `rhae run --tiers`.
///
/// An environment is the easier, the more of the people in a human study completed it (--baselines).
/// Without a study, it is the easier, the likelier random play completes its first level within the budget
/// of the board. The probability is a proved upper bound; 1 if the level is too large to prove one. A board
/// that was created with --tiers has frozen this order, so that nothing is searched.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board tiers main
  rhae board tiers main --out tiers.json
  rhae run --agent explorer --tiers tiers.json")]
pub(super) struct TiersArgs {
    #[command(flatten)]
    board: BoardIdArgs,
    /// File to write, for `rhae run --tiers`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Published baselines of a human study, whose share of completions orders the environments. A frozen
    /// order stays as it is
    #[arg(long, value_name = "FILE")]
    baselines: Option<PathBuf>,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) async fn tiers(args: &TiersArgs) -> Result<ExitCode> {
    if let Some(file) = &args.out {
        output::ensure_writable(file)?;
    }
    let (opened, id) = Opened::board(&args.board).await?;
    let board = opened.service.load(&id).await?;
    opened.close().await;
    let definition = &board.state().definition;
    let file = match frozen_order(definition) {
        Some(file) => file,
        None => {
            let catalog = args.hosted.games()?;
            let study = args.baselines.as_deref().map(read_baseline_file);
            match order_of_ease(definition, catalog.as_ref(), study.transpose()?.as_ref())? {
                Some(file) => file,
                None => return Ok(ExitCode::from(INTERRUPTED)),
            }
        }
    };
    if let Some(path) = &args.out {
        let text = serde_json::to_string_pretty(&file)?;
        std::fs::write(path, format!("{text}\n"))
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    if args.board.database.json {
        output::print_json(&file)?;
    } else {
        output::print(&tiers_text(&file))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the environments of a board by ease, which the people of a study decide, or else the chances of
/// random play. Returns `None` if the user interrupted the searches.
pub(super) fn order_of_ease(
    definition: &BoardDefinition,
    catalog: &dyn Catalog,
    study: Option<&BaselineFile>,
) -> Result<Option<TierFile>> {
    let Ok(Budget::PerLevel(times)) = definition.budget.parse() else {
        let found = &definition.budget;
        bail!("tiers need a budget such as `5x`, and the board has `{found}`");
    };
    let interrupt = interrupt_flag()?;
    let mut environments = Vec::new();
    for environment in &definition.set.environments {
        let baseline = environment.levels.first().map_or(0, |level| level.baseline);
        let options = ExploreOptions {
            search: SearchOptions {
                limits: Limits {
                    nodes: MAX_STATES,
                    bytes: MAX_BYTES,
                    ..Limits::default()
                },
                all_clicks: true,
                threads: 1,
            },
            within: Some(baseline.saturating_mul(times)),
            time_limit: Duration::from_secs(MAX_SECONDS),
            ..ExploreOptions::default()
        };
        let name = environment.id.as_str();
        let chance = first_level_luck(catalog, name, options, Arc::clone(&interrupt));
        if interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        environments.push(TierEnvironment {
            id: name.to_owned(),
            chance: chance?,
            people: None,
        });
    }
    environments.sort_by(|one, other| other.chance.total_cmp(&one.chance));
    let mut order = TierFile {
        version: 1,
        budget: definition.budget.clone(),
        environments,
    };
    if let Some(study) = study {
        order_by_people(&mut order, study)?;
    }
    Ok(Some(order))
}

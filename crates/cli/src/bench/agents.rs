//! `rhae bench agents`: levels completed by the built-in agents over several seeds.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use rhae_agents::{AgentSpec, BUILT_IN};
use rhae_engine::{Catalog, Rng};
use rhae_games::Builtin;
use rhae_harness::{Budget, RunFolder, RunSpec, new_run_id, run as run_all};
use rhae_protocol::{RUN_VERSION, RunConfig, SOFTWARE, Scorecard};
use rhae_scoring::Method;
use serde::Serialize;

use super::median;
use crate::output;

/// Compare the built-in agents: levels completed in each environment over several seeds.
#[derive(Args)]
pub(crate) struct AgentsArgs {
    /// Number of seeds, starting at 0
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: u32,
    /// Action limit, as for `rhae run`
    #[arg(long, default_value = "5x")]
    budget: Budget,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct AgentBench {
    agent: String,
    /// Levels completed, summed over seeds and environments.
    levels: u32,
    /// The mean score of the cards, in percent.
    score: f64,
    /// The median, over seeds, of the number of environments whose first level was completed.
    first_levels_in_median_seed: f64,
    environments: Vec<EnvironmentBench>,
}

#[derive(Serialize)]
struct EnvironmentBench {
    game_id: String,
    /// Levels completed with each seed.
    levels_by_seed: Vec<u32>,
}

pub(crate) fn run(args: &AgentsArgs) -> Result<ExitCode> {
    let benches: Vec<AgentBench> = BUILT_IN
        .iter()
        .map(|(name, _)| bench(name, args))
        .collect::<Result<_>>()?;
    if args.json {
        output::print_json(&benches)?;
        return Ok(ExitCode::SUCCESS);
    }
    output::print(&format!(
        "levels completed by seed (0 to {}), budget {}\n",
        args.seeds - 1,
        args.budget
    ))?;
    for bench in &benches {
        output::print(&bench.agent)?;
        for one in &bench.environments {
            let by_seed: Vec<String> = one.levels_by_seed.iter().map(u32::to_string).collect();
            output::print(&format!("  {:<10} {}", one.game_id, by_seed.join(" ")))?;
        }
        output::print(&format!(
            "  {} levels in total, mean score {:.2} %, median number of first levels: {}\n",
            bench.levels, bench.score, bench.first_levels_in_median_seed
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn bench(agent: &str, args: &AgentsArgs) -> Result<AgentBench> {
    let parent = std::env::temp_dir().join(format!("rhae-bench-{}-{agent}", new_run_id()?));
    let config = RunConfig {
        version: RUN_VERSION,
        software: SOFTWARE.to_owned(),
        run_id: new_run_id()?,
        agent: Some(agent.to_owned()),
        agent_cmd: None,
        seed: 0,
        env_seed: 0,
        games: Builtin
            .list()
            .iter()
            .map(|info| info.id.to_string())
            .collect(),
        repeat: args.seeds,
        budget: args.budget.to_string(),
        method: Method::DEFAULT.name().to_owned(),
        step_timeout_ms: 60_000,
        generator: Rng::NAME.to_owned(),
        server: None,
        competition: false,
        games_dirs: Vec::new(),
        model: None,
    };
    let folder = RunFolder::create(&parent, &config)?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let spec = RunSpec {
        agent: AgentSpec::built_in(agent)?,
        config,
        folder,
        jobs,
        resumed: false,
    };
    let results = run_all(&spec, &Builtin, &false.into(), &mut |_| {})?;
    std::fs::remove_dir_all(&parent)
        .with_context(|| format!("cannot remove `{}`", parent.display()))?;
    Ok(summarize(agent, &results.cards, results.summary.score))
}

fn summarize(agent: &str, cards: &[Scorecard], score: f64) -> AgentBench {
    let first_levels = |card: &Scorecard| {
        card.environments
            .iter()
            .filter(|environment| environment.levels_completed > 0)
            .count() as f64
    };
    let environments = (0..cards.first().map_or(0, |card| card.environments.len())).map(|index| {
        EnvironmentBench {
            game_id: cards[0].environments[index].id.clone(),
            levels_by_seed: cards
                .iter()
                .map(|card| card.environments[index].levels_completed)
                .collect(),
        }
    });
    AgentBench {
        agent: agent.to_owned(),
        levels: cards.iter().map(|card| card.total_levels_completed).sum(),
        score,
        first_levels_in_median_seed: median(cards.iter().map(first_levels)),
        environments: environments.collect(),
    }
}

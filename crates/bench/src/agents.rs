//! Levels completed by the built-in agents over several seeds.

use std::fmt;

use rhae_agents::{AGENTS, AgentSpec};
use rhae_engine::{Catalog, Rng};
use rhae_games::Builtin;
use rhae_harness::{Budget, RunFolder, RunSpec, new_run_id, run as run_all};
use rhae_protocol::{RUN_VERSION, RunConfig, RunIdentity, SOFTWARE, Scorecard};
use rhae_scoring::Method;
use serde::Serialize;

use crate::{BenchError, median};

/// The strength of the built-in agents.
pub struct AgentsBench {
    pub seeds: u32,
    pub budget: Budget,
    /// One result for each agent.
    pub agents: Vec<AgentBench>,
}

/// The strength of one agent.
#[derive(Serialize)]
pub struct AgentBench {
    pub agent: String,
    /// Levels completed, summed over seeds and environments.
    pub levels: u32,
    /// The mean score of the cards, in percent.
    pub score: f64,
    /// The median, over seeds, of the number of environments whose first level was completed.
    pub first_levels_in_median_seed: f64,
    pub environments: Vec<LevelsBench>,
}

/// The levels that one agent completed in one environment.
#[derive(Serialize)]
pub struct LevelsBench {
    pub game_id: String,
    /// Levels completed with each seed.
    pub levels_by_seed: Vec<u32>,
}

impl AgentsBench {
    /// Lets every built-in agent play every built-in environment with the seeds from 0 to
    /// `seeds - 1`, on all cores.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary run folder cannot be written or removed.
    pub fn measure(seeds: u32, budget: Budget) -> Result<Self, BenchError> {
        let agents = AGENTS
            .iter()
            .filter(|entry| entry.needs_only_a_seed())
            .map(|entry| bench(entry.name, seeds, budget))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            seeds,
            budget,
            agents,
        })
    }
}

impl fmt::Display for AgentsBench {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "levels completed by seed (0 to {}), budget {}\n",
            self.seeds - 1,
            self.budget
        )?;
        for bench in &self.agents {
            writeln!(out, "{}", bench.agent)?;
            for one in &bench.environments {
                let by_seed: Vec<String> = one.levels_by_seed.iter().map(u32::to_string).collect();
                writeln!(out, "  {:<10} {}", one.game_id, by_seed.join(" "))?;
            }
            writeln!(
                out,
                "  {} levels in total, mean score {:.2} %, median number of first levels: {}\n",
                bench.levels, bench.score, bench.first_levels_in_median_seed
            )?;
        }
        Ok(())
    }
}

fn bench(agent: &str, seeds: u32, budget: Budget) -> Result<AgentBench, BenchError> {
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
        repeat: seeds,
        budget: budget.to_string(),
        method: Method::DEFAULT.name().to_owned(),
        step_timeout_ms: 60_000,
        task_timeout_ms: None,
        run_timeout_ms: None,
        generator: Rng::NAME.to_owned(),
        server: None,
        competition: false,
        games_dirs: Vec::new(),
        model: None,
        identity: RunIdentity::default(),
    };
    let folder = RunFolder::create(&parent, &config)?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let spec = RunSpec {
        agent: AgentSpec::built_in(agent).expect("the agent is in the list of built-in agents"),
        config,
        folder,
        jobs,
        resumed: false,
    };
    let results = run_all(&spec, &Builtin, &false.into(), &mut |_| {})?;
    std::fs::remove_dir_all(&parent).map_err(BenchError::io(format!(
        "cannot remove `{}`",
        parent.display()
    )))?;
    Ok(summarize(agent, &results.cards, results.summary.score))
}

fn summarize(agent: &str, cards: &[Scorecard], score: f64) -> AgentBench {
    let first_levels = |card: &Scorecard| {
        card.environments
            .iter()
            .filter(|environment| environment.levels_completed > 0)
            .count() as f64
    };
    let environments =
        (0..cards.first().map_or(0, |card| card.environments.len())).map(|index| LevelsBench {
            game_id: cards[0].environments[index].id.clone(),
            levels_by_seed: cards
                .iter()
                .map(|card| card.environments[index].levels_completed)
                .collect(),
        });
    AgentBench {
        agent: agent.to_owned(),
        levels: cards.iter().map(|card| card.total_levels_completed).sum(),
        score,
        first_levels_in_median_seed: median(cards.iter().map(first_levels)),
        environments: environments.collect(),
    }
}

//! The strength and speed of the built-in agents over several seeds.
//!
//! Strength comes from ordinary runs, speed from one play per environment in which only the time
//! inside the agent counts.

use std::fmt;
use std::time::{Duration, Instant};

use rhae_agents::{AGENTS, AgentSpec, PlayContext, View};
use rhae_engine::{Catalog, PlayState, Rng};
use rhae_games::Builtin;
use rhae_harness::{Budget, RunFolder, RunSpec, new_run_id, run as run_all};
use rhae_protocol::{RUN_VERSION, RunConfig, RunIdentity, SOFTWARE, Scorecard};
use rhae_scoring::Method;
use rhae_stats::{bootstrap_difference_95, bootstrap_repeats_95, sign_flip_test};
use serde::Serialize;

use crate::{BenchError, median};

/// The agents with which every other agent is compared.
const REFERENCES: [&str; 2] = ["random", "explorer"];
/// The number of decisions per environment whose time is measured.
const TIMED_DECISIONS: u32 = 2000;

/// The strength of the built-in agents.
#[derive(Serialize)]
pub struct AgentsBench {
    pub software: &'static str,
    pub method: &'static str,
    pub seeds: u32,
    /// The action limit, as `rhae run` accepts it.
    pub budget: String,
    /// The number of levels of all environments.
    pub level_count: u32,
    /// One result for each agent.
    pub agents: Vec<AgentBench>,
}

/// The strength of one agent.
#[derive(Serialize)]
pub struct AgentBench {
    pub name: String,
    /// Levels completed, summed over seeds and environments.
    pub levels: u32,
    /// The mean score of the cards, in percent.
    pub rhae_mean: f64,
    /// The 95 % bootstrap interval of the mean over environments and seeds, in percent.
    pub rhae_interval: [f64; 2],
    pub rhae_interval_method: &'static str,
    /// Actions, summed over seeds and environments.
    pub actions: u64,
    /// Decisions per second of one thread, without the time of the environments.
    pub decisions_per_s: f64,
    /// The median, over seeds, of the number of environments whose first level was completed.
    pub first_levels_in_median_seed: f64,
    /// Paired comparisons with the reference agents.
    pub comparisons: Vec<ReferenceComparison>,
    pub environments: Vec<LevelsBench>,
}

/// The comparison of an agent with a reference agent, paired by environment.
#[derive(Serialize)]
pub struct ReferenceComparison {
    /// The reference agent.
    pub with: &'static str,
    /// The score of the agent minus that of the reference agent, in percentage points.
    pub difference: f64,
    /// The exact sign-flip test over environments.
    pub p: f64,
    /// The 95 % bootstrap interval of the difference.
    pub interval: [f64; 2],
    pub interval_method: &'static str,
    /// Levels completed by the agent minus those of the reference agent.
    pub levels: i64,
}

/// The levels that one agent completed in one environment.
#[derive(Serialize)]
pub struct LevelsBench {
    pub game_id: String,
    /// Levels completed with each seed.
    pub levels_by_seed: Vec<u32>,
    /// The score with each seed, in percent.
    pub scores: Vec<f64>,
}

impl AgentsBench {
    /// Lets every built-in agent play every built-in environment with the seeds from 0 to
    /// `seeds - 1`, on all cores, and then measures the time of its decisions on one core.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary run folder cannot be written or removed, or if an
    /// environment cannot be opened.
    pub fn measure(seeds: u32, budget: Budget) -> Result<Self, BenchError> {
        let names = AGENTS.iter().filter(|entry| entry.needs_only_a_seed());
        let mut agents = names
            .map(|entry| bench(entry.name, seeds, budget))
            .collect::<Result<Vec<_>, _>>()?;
        compare(&mut agents);
        let level_count = Builtin
            .list()
            .iter()
            .map(|info| info.level_count() as u32)
            .sum();
        Ok(Self {
            software: SOFTWARE,
            method: Method::DEFAULT.name(),
            seeds,
            budget: budget.to_string(),
            level_count,
            agents,
        })
    }
}

impl fmt::Display for AgentsBench {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "levels completed by seed (0 to {}), budget {}, {} levels per seed\n",
            self.seeds - 1,
            self.budget,
            self.level_count
        )?;
        for bench in &self.agents {
            writeln!(out, "{}", bench.name)?;
            for one in &bench.environments {
                let by_seed: Vec<String> = one.levels_by_seed.iter().map(u32::to_string).collect();
                writeln!(out, "  {:<10} {}", one.game_id, by_seed.join(" "))?;
            }
            writeln!(
                out,
                "  {} levels in total with {} actions, mean score {:.2} % [{:.2}, {:.2}]\n  \
                 median number of first levels: {}\n  {:.0} decisions per second",
                bench.levels,
                bench.actions,
                bench.rhae_mean,
                bench.rhae_interval[0],
                bench.rhae_interval[1],
                bench.first_levels_in_median_seed,
                bench.decisions_per_s
            )?;
            for one in &bench.comparisons {
                writeln!(
                    out,
                    "  against {}: {:+.2} points [{:.2}, {:.2}], p = {:.3}, {:+} levels",
                    one.with, one.difference, one.interval[0], one.interval[1], one.p, one.levels
                )?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// Compares every agent with the reference agents.
fn compare(agents: &mut [AgentBench]) {
    let references: Vec<(&str, u32, Vec<Vec<f64>>)> = REFERENCES
        .into_iter()
        .filter_map(|name| {
            let found = agents.iter().find(|bench| bench.name == name)?;
            Some((name, found.levels, found.scores()))
        })
        .collect();
    for agent in agents {
        let scores = agent.scores();
        for (with, levels, reference) in &references {
            if *with != agent.name {
                let levels = i64::from(agent.levels) - i64::from(*levels);
                agent
                    .comparisons
                    .extend(comparison(with, levels, &scores, reference));
            }
        }
    }
}

fn comparison(
    with: &'static str,
    levels: i64,
    scores: &[Vec<f64>],
    reference: &[Vec<f64>],
) -> Option<ReferenceComparison> {
    let pairs: Vec<(Vec<f64>, Vec<f64>)> = scores
        .iter()
        .cloned()
        .zip(reference.iter().cloned())
        .collect();
    let interval = bootstrap_difference_95(&pairs)?;
    let differences: Vec<f64> = pairs
        .iter()
        .map(|(ours, theirs)| mean(ours) - mean(theirs))
        .collect();
    Some(ReferenceComparison {
        with,
        difference: mean(&differences),
        p: sign_flip_test(&differences).p,
        interval: [interval.low, interval.high],
        interval_method: interval.method(),
        levels,
    })
}

impl AgentBench {
    /// Returns the scores by environment and seed.
    fn scores(&self) -> Vec<Vec<f64>> {
        self.environments
            .iter()
            .map(|environment| environment.scores.clone())
            .collect()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the number of decisions per second of one thread.
fn decisions_per_s(agent: &str) -> Result<f64, BenchError> {
    let mut decisions = 0_u32;
    let mut spent = Duration::ZERO;
    for info in Builtin.list() {
        let mut environment = Builtin.open(&info.id.to_string(), 0)?;
        let mut player = AgentSpec::built_in(agent)
            .expect("the agent is in the list of built-in agents")
            .build(&PlayContext::default())
            .expect("a built-in agent needs no process and no file");
        for _ in 0..TIMED_DECISIONS {
            let observation = environment.observation();
            if observation.state == PlayState::Win {
                break;
            }
            let view = View {
                frames: observation.frames.frames(),
                state: observation.state,
                levels_completed: observation.levels_completed,
                win_levels: observation.win_levels,
                available: observation.available,
                full_reset: observation.full_reset,
            };
            let started = Instant::now();
            let decision = player.act(&view);
            spent += started.elapsed();
            let Ok(decision) = decision else { break };
            decisions += 1;
            environment.act(decision.action)?;
        }
    }
    Ok(f64::from(decisions) / spent.as_secs_f64().max(f64::EPSILON))
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
    let speed = decisions_per_s(agent)?;
    Ok(summarize(agent, &results.cards, speed))
}

fn summarize(agent: &str, cards: &[Scorecard], decisions_per_s: f64) -> AgentBench {
    let first_levels = |card: &Scorecard| {
        card.environments
            .iter()
            .filter(|environment| environment.levels_completed > 0)
            .count() as f64
    };
    let environments: Vec<LevelsBench> =
        (0..cards.first().map_or(0, |card| card.environments.len()))
            .map(|index| {
                let by_seed = || cards.iter().map(|card| &card.environments[index]);
                LevelsBench {
                    game_id: cards[0].environments[index].id.clone(),
                    levels_by_seed: by_seed().map(|one| one.levels_completed).collect(),
                    scores: by_seed().map(|one| one.score).collect(),
                }
            })
            .collect();
    let scores: Vec<Vec<f64>> = environments.iter().map(|one| one.scores.clone()).collect();
    let interval = bootstrap_repeats_95(&scores).expect("every environment has a score per seed");
    AgentBench {
        name: agent.to_owned(),
        levels: cards.iter().map(|card| card.total_levels_completed).sum(),
        rhae_mean: mean(&cards.iter().map(|card| card.score).collect::<Vec<_>>()),
        rhae_interval: [interval.low, interval.high],
        rhae_interval_method: interval.method(),
        actions: cards.iter().map(|card| card.total_actions).sum(),
        decisions_per_s,
        first_levels_in_median_seed: median(cards.iter().map(first_levels)),
        comparisons: Vec::new(),
        environments,
    }
}

//! The strength and speed of the built-in agents, and of external ones, over several seeds.
//!
//! Strength comes from ordinary runs, speed from one play per environment in which only the time
//! inside the agent counts.

use std::fmt;
use std::path::Path;
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
/// The maximum number of decisions per environment whose time is measured.
const MAX_TIMED_DECISIONS: u64 = 2000;
/// The same for an external agent, whose decisions may take seconds.
const MAX_TIMED_COMMAND_DECISIONS: u64 = 200;

/// The strength of the built-in agents and of external ones.
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
    /// The number of plays in which the agent failed. They count with the levels completed before.
    pub failed_plays: u32,
    /// Decisions per second of one thread, without the time of the environments. The time of an
    /// external agent includes the exchange of messages. `None` if the agent failed in a play.
    pub decisions_per_s: Option<f64>,
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
    /// Lets every built-in agent, and the external agents that these commands start, play every
    /// built-in environment with the seeds from 0 to `seeds - 1`, on all cores, and then measures the
    /// time of their decisions on one core.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary run folder cannot be written or removed, or if an
    /// environment cannot be opened.
    pub fn measure(seeds: u32, budget: Budget, commands: &[String]) -> Result<Self, BenchError> {
        let built_in = AGENTS.iter().filter(|entry| entry.needs_only_a_seed());
        let built_in = built_in.map(|entry| {
            AgentSpec::built_in(entry.name).expect("the agent is in the list of built-in agents")
        });
        let commands = commands.iter().cloned().map(AgentSpec::Command);
        let mut agents = built_in
            .chain(commands)
            .map(|agent| bench(&agent, seeds, budget))
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
                 median number of first levels: {}",
                bench.levels,
                bench.actions,
                bench.rhae_mean,
                bench.rhae_interval[0],
                bench.rhae_interval[1],
                bench.first_levels_in_median_seed
            )?;
            if let Some(decisions) = bench.decisions_per_s {
                writeln!(out, "  {decisions:.0} decisions per second")?;
            }
            if bench.failed_plays > 0 {
                writeln!(out, "  the agent failed in {} plays", bench.failed_plays)?;
            }
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

/// Returns the number of decisions per second of one thread, from at most as many decisions as the
/// budget of a play allows. An external agent stores its files in `folder`.
fn decisions_per_s(agent: &AgentSpec, budget: Budget, folder: &Path) -> Result<f64, BenchError> {
    let context = PlayContext {
        play_id: "bench".to_owned(),
        output_dir: folder.to_owned(),
        stderr_path: folder.join("bench-stderr.txt"),
        ..PlayContext::default()
    };
    let max = match agent {
        AgentSpec::Command(_) => MAX_TIMED_COMMAND_DECISIONS,
        _ => MAX_TIMED_DECISIONS,
    };
    let limit = match budget {
        Budget::PerPlay(actions) => actions.min(max),
        Budget::PerLevel(_) | Budget::None => max,
    };
    let mut decisions = 0_u32;
    let mut spent = Duration::ZERO;
    for info in Builtin.list() {
        let mut environment = Builtin.open(&info.id.to_string(), 0)?;
        let mut player = agent
            .build(&context)
            .map_err(|error| BenchError::Process(error.to_string()))?;
        for _ in 0..limit {
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

fn bench(agent: &AgentSpec, seeds: u32, budget: Budget) -> Result<AgentBench, BenchError> {
    let name = agent.name();
    let is_command = matches!(agent, AgentSpec::Command(_));
    let parent = std::env::temp_dir().join(format!("rhae-bench-{}", new_run_id()?));
    let config = RunConfig {
        version: RUN_VERSION,
        software: SOFTWARE.to_owned(),
        run_id: new_run_id()?,
        agent: (!is_command).then(|| name.clone()),
        agent_cmd: is_command.then(|| name.clone()),
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
        baselines: None,
        tiers: None,
        model: None,
        identity: RunIdentity::default(),
    };
    let folder = RunFolder::create(&parent, &config)?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let spec = RunSpec {
        agent: agent.clone(),
        config,
        folder,
        jobs,
        resumed: false,
    };
    let results = run_all(&spec, &Builtin, &false.into(), &mut |_| {})?;
    let failed_plays = results.summary.failed_plays;
    // An agent that did not answer in time would block the measurement, which has no time limit.
    let speed = (failed_plays == 0).then(|| decisions_per_s(agent, budget, &parent));
    std::fs::remove_dir_all(&parent).map_err(BenchError::io(format!(
        "cannot remove `{}`",
        parent.display()
    )))?;
    let mut bench = summarize(name, &results.cards);
    bench.failed_plays = failed_plays;
    bench.decisions_per_s = speed.transpose()?;
    Ok(bench)
}

fn summarize(name: String, cards: &[Scorecard]) -> AgentBench {
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
        name,
        levels: cards.iter().map(|card| card.total_levels_completed).sum(),
        rhae_mean: mean(&cards.iter().map(|card| card.score).collect::<Vec<_>>()),
        rhae_interval: [interval.low, interval.high],
        rhae_interval_method: interval.method(),
        actions: cards.iter().map(|card| card.total_actions).sum(),
        failed_plays: 0,
        decisions_per_s: None,
        first_levels_in_median_seed: median(cards.iter().map(first_levels)),
        comparisons: Vec::new(),
        environments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An external agent that answers every observation with the same key.
    const COMMAND: &str = "while read -r line; do case \"$line\" in *observation*) echo '{\"action\":\"ACTION1\"}';; esac; done";

    #[test]
    fn every_agent_is_measured_and_compared_with_the_references() {
        let commands = [COMMAND.to_owned(), "exit 3".to_owned()];
        let bench = AgentsBench::measure(2, Budget::PerPlay(3), &commands).unwrap();
        let environments = Builtin.list().len();
        let names: Vec<&str> = bench.agents.iter().map(|one| one.name.as_str()).collect();
        let built_in = AGENTS.iter().filter(|entry| entry.needs_only_a_seed());
        let mut expected: Vec<&str> = built_in.map(|entry| entry.name).collect();
        expected.extend([COMMAND, "exit 3"]);
        assert_eq!(names, expected);
        for one in &bench.agents {
            let references: Vec<&str> = one.comparisons.iter().map(|each| each.with).collect();
            let others: Vec<&str> = REFERENCES
                .into_iter()
                .filter(|&name| name != one.name)
                .collect();
            assert_eq!(references, others, "{}", one.name);
            assert_eq!(one.environments.len(), environments);
            let fails = one.name == "exit 3";
            assert_eq!(one.decisions_per_s.is_none(), fails, "{}", one.name);
            let failed = if fails { 2 * environments } else { 0 };
            assert_eq!(one.failed_plays as usize, failed, "{}", one.name);
            let actions = if fails { 0 } else { 3 * 2 * environments };
            assert!(one.actions as usize <= actions, "{}", one.name);
        }
    }

    #[test]
    fn comparison_is_paired_by_environment() {
        let scores = [vec![4.0, 8.0], vec![1.0, 1.0], vec![0.0, 2.0]];
        let reference = [vec![2.0, 2.0], vec![1.0, 1.0], vec![4.0, 0.0]];
        let found = comparison("random", 3, &scores, &reference).unwrap();
        assert_eq!(found.difference, 1.0);
        assert_eq!(found.p, sign_flip_test(&[4.0, 0.0, -1.0]).p);
        assert!(found.interval[0] <= found.difference && found.difference <= found.interval[1]);
        assert_eq!((found.with, found.levels), ("random", 3));
    }
}

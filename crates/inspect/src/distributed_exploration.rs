//! The levels of an exploration as units that other processes explore.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rhae_engine::{Catalog, LevelIndex};
use rhae_explore::{Identity, Limits, SearchOptions};
use rhae_protocol::{
    Digest, ExplorationTask, ExplorationUnitReport, ExplorationWork, ExploredLevel, Recording,
    UnitKey, WorkKind, WorkLevel,
};
use rhae_work::text_digest;
use rhae_work_service::{DistributeError, Executor, NamedUnit, UnitContext, UnitEnd, Workload};

use crate::{ExploreOptions, Explorer, GraphFormat, InspectError, LevelOutputs, LevelResult};

/// The levels of an environment that workers explore.
pub struct DistributedExploration {
    games: Arc<dyn Catalog>,
    work: ExplorationWork,
    levels: Vec<LevelIndex>,
    named: Vec<NamedUnit>,
    source_digests: BTreeMap<String, String>,
    done: Mutex<BTreeMap<UnitKey, Result<WorkLevel, String>>>,
}

impl DistributedExploration {
    /// Creates the units of an exploration: one for each level. `games_dirs` are the absolute paths
    /// of the folders of hosted games.
    pub fn new(
        games: Arc<dyn Catalog>,
        game_id: &str,
        levels: &[LevelIndex],
        options: &ExploreOptions,
        outputs: &LevelOutputs,
        games_dirs: Vec<String>,
    ) -> Self {
        let work = exploration_work(game_id, options, outputs, games_dirs);
        let source_digests: BTreeMap<String, String> = games
            .hosted_games()
            .into_iter()
            .map(|game| (game.id.to_string(), game.source_digest))
            .collect();
        let settings = ExplorationWork {
            games_dirs: Vec::new(),
            threads: 0,
            ..work.clone()
        };
        let digest = source_digests.get(game_id);
        let named = levels.iter().map(|level| NamedUnit {
            key: UnitKey(text_digest(&format!("{settings:?}\n{digest:?}\n{level}\n")).0),
            name: format!("level {level} of {game_id}"),
        });
        Self {
            named: named.collect(),
            games,
            work,
            levels: levels.to_vec(),
            source_digests,
            done: Mutex::default(),
        }
    }

    fn done(&self) -> MutexGuard<'_, BTreeMap<UnitKey, Result<WorkLevel, String>>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of levels with a result.
    pub fn explored(&self) -> usize {
        self.done().len()
    }

    /// Returns the results in the order of the levels. A level without a result is interrupted, unless
    /// it ended its workers.
    pub fn take_results(&self, given_up: &[UnitKey]) -> Vec<Result<LevelResult, InspectError>> {
        let mut done = std::mem::take(&mut *self.done());
        let result = |unit: &NamedUnit| match done.remove(&unit.key) {
            Some(Ok(level)) => level_result(level),
            Some(Err(reason)) => Err(InspectError::Worker(reason)),
            None if given_up.contains(&unit.key) => Err(InspectError::Worker(format!(
                "{} ended several worker processes",
                unit.name
            ))),
            None => Err(InspectError::Interrupted),
        };
        self.named.iter().map(result).collect()
    }
}

impl Workload for DistributedExploration {
    type Task = ExplorationTask;
    type Report = ExplorationUnitReport;
    type Verified = Result<WorkLevel, String>;

    fn kind(&self) -> WorkKind {
        WorkKind::Exploration(Box::new(self.work.clone()))
    }

    fn source_digests(&self) -> &BTreeMap<String, String> {
        &self.source_digests
    }

    fn units(&self) -> &[NamedUnit] {
        &self.named
    }

    fn is_stored(&self, unit: &UnitKey) -> bool {
        self.done().contains_key(unit)
    }

    fn task(&self, key: &UnitKey) -> Result<ExplorationTask, rhae_runs::RunsError> {
        let mut units = self.levels.iter().zip(&self.named);
        let level = units.find(|(_, unit)| unit.key == *key);
        Ok(ExplorationTask {
            level: level.map_or(0, |(level, _)| level.0 + 1),
        })
    }

    /// A recording of a win is replayed. The rest is compared if two workers explore the level.
    fn verify(
        &self,
        key: &UnitKey,
        report: ExplorationUnitReport,
    ) -> Result<(Digest, Result<WorkLevel, String>), String> {
        let task = self.task(key).map_err(|error| error.to_string())?;
        if let Ok(level) = &report.level {
            let own = &level.report;
            if own.level != task.level || own.game_id != self.work.game_id {
                return Err("it is of another level".to_owned());
            }
            if let Some(Ok(recording)) = &level.recording {
                let text = decoded(recording)?;
                let text = String::from_utf8(text).map_err(|error| error.to_string())?;
                let recording = Recording::parse(&text).map_err(|error| error.to_string())?;
                rhae_session::verify(self.games.as_ref(), &recording)
                    .map_err(|error| error.to_string())?;
            }
        }
        let stable = report.level.as_ref().map(|level| {
            // The rest depends on the machine.
            let report = ExploredLevel {
                seconds: 0.0,
                states_per_s: 0.0,
                peak_bytes: 0,
                ..level.report.clone()
            };
            format!("{report:?} {:?}", level.graph)
        });
        Ok((text_digest(&format!("{stable:?}")), report.level))
    }

    fn store(
        &self,
        key: &UnitKey,
        level: Result<WorkLevel, String>,
    ) -> Result<(), rhae_runs::RunsError> {
        self.done().insert(key.clone(), level);
        Ok(())
    }
}

/// Explores levels in a worker.
pub struct LevelExecutor {
    games: Arc<dyn Catalog>,
    work: ExplorationWork,
}

impl LevelExecutor {
    /// Creates an executor.
    pub fn new(games: Arc<dyn Catalog>, work: ExplorationWork) -> Self {
        Self { games, work }
    }

    fn explore(&self, level: u8, context: &UnitContext<'_>) -> Result<LevelResult, InspectError> {
        let (options, outputs) = options_of(&self.work)?;
        let games = self.games.as_ref();
        let stop = Arc::clone(&context.stop);
        let explorer = Explorer::open(games, &self.work.game_id, options, stop)?;
        explorer.explore(LevelIndex(level.saturating_sub(1)), &outputs, &mut |_| {})
    }
}

impl Executor for LevelExecutor {
    type Task = ExplorationTask;
    type Report = ExplorationUnitReport;

    fn source_digests(&self) -> BTreeMap<String, String> {
        let hosted = self.games.hosted_games().into_iter();
        hosted
            .map(|game| (game.id.to_string(), game.source_digest))
            .collect()
    }

    fn execute(
        &self,
        task: ExplorationTask,
        context: &UnitContext<'_>,
    ) -> Result<UnitEnd<ExplorationUnitReport>, DistributeError> {
        let explored = self.explore(task.level, context);
        if context.is_stopped() {
            return Ok(UnitEnd::Stopped { stop: None });
        }
        let level = explored.map(work_level).map_err(|error| error.to_string());
        Ok(UnitEnd::Finished {
            report: ExplorationUnitReport { level },
            stop: None,
        })
    }
}

fn exploration_work(
    game_id: &str,
    options: &ExploreOptions,
    outputs: &LevelOutputs,
    games_dirs: Vec<String>,
) -> ExplorationWork {
    let limits = options.search.limits;
    let graph = outputs.graph.map(|format| match format {
        GraphFormat::Json => "json",
        GraphFormat::GraphMl => "graphml",
        GraphFormat::Dot => "dot",
    });
    ExplorationWork {
        game_id: game_id.to_owned(),
        seed: options.seed,
        nodes: limits.nodes,
        edges: limits.edges,
        depth: limits.depth,
        bytes: limits.bytes,
        all_clicks: options.search.all_clicks,
        threads: options.search.threads,
        within: options.within,
        time_limit_s: options.time_limit.as_secs_f64(),
        checks: options.checks,
        deep: options.identity == Identity::Deep,
        step_by_step: options.step_by_step,
        graph: graph.map(str::to_owned),
        picture: outputs.picture,
        recording: outputs.recording,
        games_dirs,
    }
}

fn options_of(work: &ExplorationWork) -> Result<(ExploreOptions, LevelOutputs), InspectError> {
    let invalid = |text: String| InspectError::Worker(text);
    let time_limit = Duration::try_from_secs_f64(work.time_limit_s);
    let graph = match work.graph.as_deref() {
        None => None,
        Some("json") => Some(GraphFormat::Json),
        Some("graphml") => Some(GraphFormat::GraphMl),
        Some("dot") => Some(GraphFormat::Dot),
        Some(other) => return Err(invalid(format!("`{other}` is not a format of graphs"))),
    };
    let options = ExploreOptions {
        search: SearchOptions {
            limits: Limits {
                nodes: work.nodes,
                edges: work.edges,
                depth: work.depth,
                bytes: work.bytes,
            },
            all_clicks: work.all_clicks,
            threads: work.threads,
        },
        seed: work.seed,
        within: work.within,
        time_limit: time_limit.map_err(|error| invalid(error.to_string()))?,
        checks: work.checks,
        identity: if work.deep {
            Identity::Deep
        } else {
            Identity::FrameAndHidden
        },
        step_by_step: work.step_by_step,
    };
    let outputs = LevelOutputs {
        graph,
        picture: work.picture,
        recording: work.recording,
    };
    Ok((options, outputs))
}

fn work_level(result: LevelResult) -> WorkLevel {
    let text = |error: InspectError| error.to_string();
    WorkLevel {
        report: result.report,
        picture: result.picture,
        graph: result.graph.map(|graph| graph.map_err(text)),
        recording: result.recording.map(|bytes| {
            bytes
                .map(|bytes| BASE64_STANDARD.encode(bytes))
                .map_err(text)
        }),
    }
}

fn level_result(level: WorkLevel) -> Result<LevelResult, InspectError> {
    let recording = match level.recording {
        Some(Ok(text)) => Some(Ok(decoded(&text).map_err(InspectError::Worker)?)),
        Some(Err(reason)) => Some(Err(InspectError::Worker(reason))),
        None => None,
    };
    Ok(LevelResult {
        report: level.report,
        picture: level.picture,
        graph: level.graph.map(|graph| graph.map_err(InspectError::Worker)),
        recording,
    })
}

fn decoded(text: &str) -> Result<Vec<u8>, String> {
    BASE64_STANDARD
        .decode(text)
        .map_err(|error| error.to_string())
}

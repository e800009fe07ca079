//! Exploration of the levels of an environment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rhae_engine::{Action, Catalog, Frame, Game, GameInfo, LevelIndex, StateOf};
use rhae_explore::{
    AnalysisMonitor, AnalysisOptions, EnvironmentLevel, Explorable, Graph, Identity, NativeLevel,
    Progress, SearchOptions,
};
use rhae_games::Visitor;
use rhae_validate::{
    ATTEMPT_FACTOR, DEFAULT_BASELINE, EnvironmentSubject, GraphLimits, NativeSubject, Subject,
};

use crate::level_outputs::{LevelContext, LevelOutputs, LevelResult, level_result};
use crate::stored_recordings::StoredRecordings;
use crate::subjects::hosted_subject;
use crate::{InspectError, is_hosted};

/// The number of random actions that check a graph of a native game, if none is given.
const NATIVE_CHECKS: u32 = 2_000;
/// The same for hosted games, which are slower.
const HOSTED_CHECKS: u32 = 200;

/// Options of an exploration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExploreOptions {
    pub search: SearchOptions,
    /// The seed of the environment.
    pub seed: u64,
    /// The number of actions for the probability of a win within a number of actions; five times
    /// the level's baseline if `None`.
    pub within: Option<u32>,
    /// The time limit for each of three phases of a level: reaching it, searching it, and analysing
    /// its graph.
    pub time_limit: Duration,
    /// The number of random actions that check the graph; 2,000 if `None`, or 200 for hosted games.
    pub checks: Option<u32>,
    /// How states of hosted games are identified.
    pub identity: Identity,
    /// Whether states of hosted games are expanded one action at a time instead of in bulk. This is
    /// slower and gives the same graph.
    pub step_by_step: bool,
}

impl Default for ExploreOptions {
    fn default() -> Self {
        Self {
            search: SearchOptions::default(),
            seed: 0,
            within: None,
            time_limit: Duration::from_mins(1),
            checks: None,
            identity: Identity::FrameAndHidden,
            step_by_step: false,
        }
    }
}

/// The progress of the exploration of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExploreProgress {
    /// Wins of the earlier levels of a hosted game are searched for.
    Entering,
    /// States are searched.
    Searching(Progress),
    /// The graph with this number of states is analysed.
    Analysing { nodes: usize },
}

/// An opened environment whose levels can be explored.
pub struct Explorer<'a> {
    games: &'a dyn Catalog,
    info: GameInfo,
    options: ExploreOptions,
    interrupt: Arc<AtomicBool>,
    entry_deadline: Arc<Deadline>,
    /// The environment as a subject, if it is a hosted game.
    hosted: Option<EnvironmentSubject<'a>>,
}

/// The deadline for reaching the explored level, which may need a search for wins of the earlier
/// levels. There is no deadline until the first call of `restart`.
#[derive(Default)]
struct Deadline(Mutex<Option<Instant>>);

impl Deadline {
    fn restart(&self, time: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + time);
    }

    fn has_time(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none_or(|end| Instant::now() < end)
    }
}

impl<'a> Explorer<'a> {
    /// Opens an environment. The exploration stops as soon as `interrupt` is set.
    ///
    /// # Errors
    ///
    /// Fails if the environment is unknown or a hosted game cannot be opened.
    pub fn open(
        games: &'a dyn Catalog,
        name: &str,
        options: ExploreOptions,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self, InspectError> {
        let info = games.find(name)?;
        let entry_deadline = Arc::new(Deadline::default());
        let hosted = if is_hosted(games, &info) {
            // A level can be entered only by winning the earlier levels. If no solutions are stored
            // for them, wins are searched for within these limits.
            let limits = GraphLimits {
                nodes: options.search.limits.nodes,
                bytes: options.search.limits.bytes,
                checks: 0,
                threads: options.search.threads,
                ..GraphLimits::default()
            };
            let stored = StoredRecordings::read(games, &[])?;
            let (seed, identity) = (options.seed, options.identity);
            let subject = hosted_subject(games, &info, seed, limits, identity, &stored)?;
            let (deadline, interrupt) = (Arc::clone(&entry_deadline), Arc::clone(&interrupt));
            Some(subject.with_should_continue(move || {
                deadline.has_time() && !interrupt.load(Ordering::Relaxed)
            }))
        } else {
            None
        };
        Ok(Self {
            games,
            info,
            options,
            interrupt,
            entry_deadline,
            hosted,
        })
    }

    /// Returns the metadata of the environment.
    pub const fn info(&self) -> &GameInfo {
        &self.info
    }

    /// Returns the number of levels of the environment.
    pub fn level_count(&self) -> usize {
        self.hosted
            .as_ref()
            .map_or(self.info.baselines.len(), |subject| {
                usize::from(subject.levels())
            })
    }

    /// Explores one level and produces the outputs that are asked for.
    ///
    /// If the interrupt flag is set during the search, the result covers the states that were found
    /// until then.
    ///
    /// # Errors
    ///
    /// Fails if the environment has no such level, if the level cannot be reached, if the
    /// environment fails, or if the exploration is interrupted before the search begins.
    pub fn explore(
        &self,
        index: LevelIndex,
        outputs: &LevelOutputs,
        progress: &mut dyn FnMut(ExploreProgress),
    ) -> Result<LevelResult, InspectError> {
        if index.get() >= self.level_count() {
            return Err(InspectError::NoSuchLevel {
                id: self.info.id.to_string(),
                count: self.level_count(),
                level: index.0 + 1,
            });
        }
        self.entry_deadline.restart(self.options.time_limit);
        let result = match &self.hosted {
            Some(subject) => self.explore_hosted(subject, index, outputs, progress),
            None => rhae_games::visit(
                self.info.id.as_str(),
                ExploreNative {
                    explorer: self,
                    index,
                    outputs,
                    progress,
                },
            )
            .ok_or_else(|| InspectError::NotNative(self.info.id.to_string()))?,
        };
        // Whatever failed after an interruption may have failed because of it.
        result.map_err(|error| {
            if self.interrupt.load(Ordering::Relaxed) {
                InspectError::Interrupted
            } else {
                error
            }
        })
    }

    fn explore_hosted(
        &self,
        subject: &dyn Subject,
        index: LevelIndex,
        outputs: &LevelOutputs,
        progress: &mut dyn FnMut(ExploreProgress),
    ) -> Result<LevelResult, InspectError> {
        let enter = || {
            let play = subject.enter(self.options.seed, index.0)?;
            play.ok_or(InspectError::Unreachable {
                level: index,
                seconds: self.options.time_limit.as_secs_f64(),
                nodes: self.options.search.limits.nodes,
            })
        };
        progress(ExploreProgress::Entering);
        let mut level = EnvironmentLevel::new(enter()?, self.options.identity)?;
        if self.options.step_by_step {
            level = level.step_by_step();
        }
        if !level.lists_clicks() && !self.options.search.all_clicks {
            return Err(InspectError::UnlistedClicks(self.info.id.to_string()));
        }
        let frames = |actions: &[Action]| {
            let mut play = enter()?;
            let mut frames = vec![play.observation().settled().clone()];
            for &action in actions {
                frames.push(play.act(action)?.settled().clone());
            }
            Ok(frames)
        };
        self.explore_level(
            &level,
            &LevelContext {
                games: self.games,
                seed: self.options.seed,
                index,
                subject,
                identity: level.identity_name(),
                frames: &frames,
            },
            outputs,
            progress,
        )
    }

    fn explore_level<E: Explorable<Error: Into<InspectError>>>(
        &self,
        level: &E,
        context: &LevelContext<'_>,
        outputs: &LevelOutputs,
        progress: &mut dyn FnMut(ExploreProgress),
    ) -> Result<LevelResult, InspectError> {
        let baseline = self
            .info
            .baselines
            .get(context.index.get())
            .map_or(DEFAULT_BASELINE, |baseline| baseline.actions);
        let default_checks = if self.hosted.is_some() {
            HOSTED_CHECKS
        } else {
            NATIVE_CHECKS
        };
        let options = AnalysisOptions {
            search: self.options.search,
            within: self.options.within.unwrap_or(ATTEMPT_FACTOR * baseline),
            checks: self.options.checks.unwrap_or(default_checks),
            check_rng: (self.options.seed, u64::from(context.index.0)),
        };
        let mut clock = Clock {
            time_limit: self.options.time_limit,
            interrupt: &self.interrupt,
            phase_started: Instant::now(),
            search_time: Duration::ZERO,
            progress,
        };
        let analysis = rhae_explore::analyze(level, &options, &mut clock).map_err(Into::into)?;
        level_result(
            level,
            context,
            &options,
            &analysis,
            clock.search_time,
            outputs,
        )
    }
}

/// The monitor of an analysis: time limits, interruption and progress.
struct Clock<'a> {
    time_limit: Duration,
    interrupt: &'a AtomicBool,
    phase_started: Instant,
    search_time: Duration,
    progress: &'a mut dyn FnMut(ExploreProgress),
}

impl AnalysisMonitor for Clock<'_> {
    fn searching(&mut self, progress: Progress) -> bool {
        (self.progress)(ExploreProgress::Searching(progress));
        self.has_time() && !self.is_interrupted()
    }

    fn searched(&mut self, graph: &Graph) {
        self.search_time = self.phase_started.elapsed();
        self.phase_started = Instant::now();
        (self.progress)(ExploreProgress::Analysing {
            nodes: graph.nodes(),
        });
    }

    fn has_time(&self) -> bool {
        self.phase_started.elapsed() < self.time_limit
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

/// Explores one level of a native game when [`rhae_games::visit`] calls it with the game's type.
struct ExploreNative<'e, 'a> {
    explorer: &'e Explorer<'a>,
    index: LevelIndex,
    outputs: &'e LevelOutputs,
    progress: &'e mut dyn FnMut(ExploreProgress),
}

impl Visitor for ExploreNative<'_, '_> {
    type Output = Result<LevelResult, InspectError>;

    fn visit<G: Game>(self) -> Self::Output {
        let seed = self.explorer.options.seed;
        let level = NativeLevel::<G>::new(seed, self.index);
        let subject = NativeSubject::<G>::new(seed, Vec::new());
        self.explorer.explore_level(
            &level,
            &LevelContext {
                games: self.explorer.games,
                seed,
                index: self.index,
                subject: &subject,
                identity: "hash-126",
                frames: &|actions| Ok(frames::<G>(&level, actions)),
            },
            self.outputs,
            self.progress,
        )
    }
}

/// Returns the settled frame of the start and those after each action.
fn frames<G: Game>(level: &NativeLevel<G>, actions: &[Action]) -> Vec<Frame> {
    let mut state: StateOf<G> = level.start();
    let mut frames = vec![level.render(&state)];
    for &action in actions {
        let Ok(_) = level.step(&mut state, action);
        frames.push(level.render(&state));
    }
    frames
}

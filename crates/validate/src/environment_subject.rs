//! A subject for any environment that can be opened, such as a hosted game or a test double.
//!
//! To reach a level, the subject plays wins of all earlier levels, which are stored or found by a
//! search. All evidence can therefore be replayed from the opening. If no win of a level is known,
//! the later levels are not checked, and the findings say so.

use std::sync::OnceLock;

use rhae_engine::{Action, Environment, EnvironmentError, GameInfo, Rng};
use rhae_explore::{EnvironmentLevel, Identity, Progress};

use crate::luck::{first_win, wins_from_start};
use crate::rule::Context;
use crate::{
    GraphError, GraphLimits, LevelGraph, Monitor, Options, StoredRecording, Subject, level_graph,
};

type Open<'a> = Box<dyn Fn(u64) -> Result<Box<dyn Environment>, EnvironmentError> + Sync + 'a>;

/// A [`Subject`] that opens its plays with a function supplied by the caller. See [`Subject`] for
/// an example.
pub struct EnvironmentSubject<'a> {
    info: GameInfo,
    levels: u8,
    seed: u64,
    hosted: bool,
    identity: Identity,
    open: Open<'a>,
    /// The stored solution of each level; `None` if no solution is stored.
    solutions: Vec<Option<Vec<Action>>>,
    found_solutions: Vec<OnceLock<Option<Vec<Action>>>>,
    recordings: Vec<StoredRecording>,
    search: GraphLimits,
    /// The seed and the number of steps of the random play that is used to find wins of levels for
    /// which the search finds none.
    random_search: Option<(u64, u64)>,
    random_wins: OnceLock<Vec<Vec<Action>>>,
    /// Returns whether the search for wins should continue.
    should_continue: ShouldContinue<'a>,
}

type ShouldContinue<'a> = Box<dyn Fn() -> bool + Send + Sync + 'a>;

/// A [`Monitor`] that can only cancel: it measures nothing and ignores progress.
struct ContinueMonitor<'s, 'a>(&'s ShouldContinue<'a>);

impl Monitor for ContinueMonitor<'_, '_> {
    fn should_continue(&self) -> bool {
        self.0()
    }
}

impl<'a> EnvironmentSubject<'a> {
    /// Creates a subject that opens the environment under `seed`. `search` limits the search for
    /// wins that are not stored.
    ///
    /// # Errors
    ///
    /// Fails if the environment cannot be opened.
    pub fn new(
        open: impl Fn(u64) -> Result<Box<dyn Environment>, EnvironmentError> + Sync + 'a,
        seed: u64,
        search: GraphLimits,
    ) -> Result<Self, EnvironmentError> {
        let first = open(seed)?;
        let levels = first.observation().win_levels;
        Ok(Self {
            info: first.info().clone(),
            levels,
            seed,
            hosted: true,
            identity: Identity::FrameAndHidden,
            open: Box::new(open),
            solutions: vec![None; usize::from(levels)],
            found_solutions: (0..levels).map(|_| OnceLock::new()).collect(),
            recordings: Vec::new(),
            search,
            random_search: None,
            random_wins: OnceLock::new(),
            should_continue: Box::new(|| true),
        })
    }

    /// Sets the stored solutions, one per level, in the order of the levels. `None` or an empty
    /// list means that no solution is known.
    #[must_use]
    pub fn with_solutions(
        mut self,
        solutions: impl IntoIterator<Item = Option<Vec<Action>>>,
    ) -> Self {
        for (own, given) in self.solutions.iter_mut().zip(solutions) {
            *own = given.filter(|line| !line.is_empty());
        }
        self
    }

    /// Adds recordings that are stored with the environment.
    #[must_use]
    pub fn with_recordings(self, recordings: Vec<StoredRecording>) -> Self {
        Self { recordings, ..self }
    }

    /// Enables up to `steps` steps of random play on a level for which no win is stored and the
    /// search finds none.
    #[must_use]
    pub fn with_random_search(self, seed: u64, steps: u64) -> Self {
        Self {
            random_search: Some((seed, steps)),
            ..self
        }
    }

    /// Sets a callback that cancels the search for wins by returning false.
    #[must_use]
    pub fn with_should_continue(
        self,
        should_continue: impl Fn() -> bool + Send + Sync + 'a,
    ) -> Self {
        Self {
            should_continue: Box::new(should_continue),
            ..self
        }
    }

    /// Sets which parts of the environment identify a state.
    #[must_use]
    pub fn with_identity(self, identity: Identity) -> Self {
        Self { identity, ..self }
    }

    /// Applies the rules for native games instead of the looser rules for hosted games.
    #[must_use]
    pub fn with_native_rules(self) -> Self {
        Self {
            hosted: false,
            ..self
        }
    }

    fn level_at(&self, seed: u64, level: u8) -> Result<EnvironmentLevel, GraphError> {
        let unsearchable = |reason: &str| GraphError::Unsearchable(reason.to_owned());
        let play = self
            .enter(seed, level)
            .map_err(|error| GraphError::Failed(error.to_string()))?;
        let play = play.ok_or_else(|| unsearchable("no path to the level is known"))?;
        let level = EnvironmentLevel::new(play, self.identity)
            .map_err(|error| unsearchable(&error.to_string()))?;
        if level.lists_clicks() {
            Ok(level)
        } else {
            Err(unsearchable("the environment does not list its clicks"))
        }
    }
}

impl Subject for EnvironmentSubject<'_> {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn levels(&self) -> u8 {
        self.levels
    }

    fn is_hosted(&self) -> bool {
        self.hosted
    }

    fn identity(&self) -> Option<Identity> {
        self.hosted.then_some(self.identity)
    }

    fn open(&self, seed: u64) -> Result<Box<dyn Environment>, EnvironmentError> {
        (self.open)(seed)
    }

    fn enter(
        &self,
        seed: u64,
        level: u8,
    ) -> Result<Option<Box<dyn Environment>>, EnvironmentError> {
        let Some(prefix) = self.prefix(level) else {
            return Ok(None);
        };
        let mut play = self.open(seed)?;
        for action in prefix {
            play.act(action)?;
        }
        Ok((play.observation().levels_completed == level).then_some(play))
    }

    fn prefix(&self, level: u8) -> Option<Vec<Action>> {
        let solutions: Option<Vec<_>> = (0..level).map(|earlier| self.solution(earlier)).collect();
        solutions.map(|solutions| solutions.concat())
    }

    fn solution(&self, level: u8) -> Option<Vec<Action>> {
        let index = usize::from(level);
        if let Some(stored) = self.solutions.get(index)? {
            return Some(stored.clone());
        }
        let search = || {
            let level = self.level_at(self.seed, level).ok()?;
            let limits = GraphLimits {
                checks: 0,
                blind_nodes: 0,
                ..self.search
            };
            level_graph(&level, "", 0, &limits, &mut Rng::new(0, 0), &mut |_| {
                (self.should_continue)()
            })
            .ok()?
            .win
        };
        let random = || {
            let (seed, steps) = self.random_search?;
            let options = Options {
                seed,
                env_seed: self.seed,
                steps,
                ..Options::default()
            };
            let monitor = ContinueMonitor(&self.should_continue);
            let context = Context {
                subject: self,
                options: &options,
                monitor: &monitor,
            };
            let from_start = || {
                self.random_wins
                    .get_or_init(|| wins_from_start(context))
                    .get(index)
                    .cloned()
            };
            first_win(context, level).or_else(from_start)
        };
        self.found_solutions[index]
            .get_or_init(|| search().or_else(random))
            .clone()
    }

    fn has_stored_solution(&self, level: u8) -> bool {
        self.solutions
            .get(usize::from(level))
            .is_some_and(Option::is_some)
    }

    fn recordings(&self) -> Vec<StoredRecording> {
        self.recordings.clone()
    }

    fn graph(
        &self,
        seed: u64,
        level: u8,
        within: u32,
        limits: &GraphLimits,
        should_continue: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<LevelGraph, GraphError> {
        let at = self.level_at(seed, level)?;
        let limits = GraphLimits {
            nodes: limits.nodes.min(self.search.nodes),
            checks: limits.checks.min(self.search.checks),
            blind_nodes: 0,
            ..*limits
        };
        let mut rng = Rng::new(0, u64::from(level));
        level_graph(
            &at,
            at.identity_name(),
            within,
            &limits,
            &mut rng,
            should_continue,
        )
        .map_err(|error| GraphError::Failed(error.to_string()))
    }
}

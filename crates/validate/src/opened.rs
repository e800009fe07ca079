//! Any environment that can be opened, as a subject: one hosted in another process, or one that a test has made.
//!
//! Levels are come to by playing the earlier ones with wins that are stored or found. So all evidence can be replayed by
//! anybody, and a level behind one that nobody can win is not checked, which is said.

use std::sync::OnceLock;

use rhae_engine::{Action, Environment, EnvironmentError, GameInfo, Rng};
use rhae_explore::{EnvironmentLevel, Identity, Progress};

use crate::luck::{first_win, wins_from_start};
use crate::{GraphLimits, LevelGraph, NoGraph, Options, Stored, Subject, Watch, level_graph};

type Open<'a> = Box<dyn Fn(u64) -> Result<Box<dyn Environment>, EnvironmentError> + Sync + 'a>;

/// An environment behind a function that opens it.
pub struct OpenedSubject<'a> {
    info: GameInfo,
    levels: u8,
    seed: u64,
    hosted: bool,
    identity: Identity,
    open: Open<'a>,
    /// The stored solutions, one for each level as far as they go.
    solutions: Vec<Option<Vec<Action>>>,
    found: Vec<OnceLock<Option<Vec<Action>>>>,
    stored: Vec<Stored>,
    search: GraphLimits,
    /// The random play that looks for wins where search finds none: its seed and steps.
    luck: Option<(u64, u64)>,
    by_luck: OnceLock<Vec<Vec<Action>>>,
    /// Whether to go on looking for wins.
    goes_on: GoesOn<'a>,
}

type GoesOn<'a> = Box<dyn Fn() -> bool + Send + Sync + 'a>;

/// Watches random play that looks for a win.
struct Limited<'s, 'a>(&'s GoesOn<'a>);

impl Watch for Limited<'_, '_> {
    fn goes_on(&self) -> bool {
        self.0()
    }
}

impl<'a> OpenedSubject<'a> {
    /// An environment under a seed. `search` limits the search for wins that are not stored.
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
            found: (0..levels).map(|_| OnceLock::new()).collect(),
            stored: Vec::new(),
            search,
            luck: None,
            by_luck: OnceLock::new(),
            goes_on: Box::new(|| true),
        })
    }

    /// With a line that wins each level, in order, as far as they are known.
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

    /// With recordings that come along.
    #[must_use]
    pub fn with_stored(self, stored: Vec<Stored>) -> Self {
        Self { stored, ..self }
    }

    /// With so many steps of random play on a level whose win is not stored and not found by search.
    #[must_use]
    pub fn with_luck(self, seed: u64, steps: u64) -> Self {
        Self {
            luck: Some((seed, steps)),
            ..self
        }
    }

    /// With somebody who says when it was looked for wins for long enough.
    #[must_use]
    pub fn as_long_as(self, goes_on: impl Fn() -> bool + Send + Sync + 'a) -> Self {
        Self {
            goes_on: Box::new(goes_on),
            ..self
        }
    }

    /// What tells its states apart.
    #[must_use]
    pub fn told_apart_by(self, identity: Identity) -> Self {
        Self { identity, ..self }
    }

    /// Held to what native games promise.
    #[must_use]
    pub fn held_as_native(self) -> Self {
        Self {
            hosted: false,
            ..self
        }
    }

    fn level_at(&self, seed: u64, level: u8) -> Result<EnvironmentLevel, NoGraph> {
        let unsearchable = |reason: &str| NoGraph::Unsearchable(reason.to_owned());
        let play = self
            .enter(seed, level)
            .map_err(|error| NoGraph::Failed(error.to_string()))?;
        let play = play.ok_or_else(|| unsearchable("no way to the level is known"))?;
        let level = EnvironmentLevel::new(play, self.identity)
            .map_err(|error| unsearchable(&error.to_string()))?;
        if level.lists_clicks() {
            Ok(level)
        } else {
            Err(unsearchable(
                "the environment does not list which clicks may matter",
            ))
        }
    }
}

impl Subject for OpenedSubject<'_> {
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
                (self.goes_on)()
            })
            .ok()?
            .win
        };
        let luck = || {
            let (seed, steps) = self.luck?;
            let options = Options {
                seed,
                env_seed: self.seed,
                steps,
                ..Options::default()
            };
            let watch = Limited(&self.goes_on);
            let from_start = || {
                self.by_luck
                    .get_or_init(|| wins_from_start(self, &options, &watch))
                    .get(index)
                    .cloned()
            };
            first_win(self, &options, level, &watch).or_else(from_start)
        };
        self.found[index]
            .get_or_init(|| search().or_else(luck))
            .clone()
    }

    fn has_stored_solution(&self, level: u8) -> bool {
        self.solutions
            .get(usize::from(level))
            .is_some_and(Option::is_some)
    }

    fn stored(&self) -> Vec<Stored> {
        self.stored.clone()
    }

    fn graph(
        &self,
        seed: u64,
        level: u8,
        within: u32,
        limits: &GraphLimits,
        go_on: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<LevelGraph, NoGraph> {
        let at = self.level_at(seed, level)?;
        let limits = GraphLimits {
            nodes: limits.nodes.min(self.search.nodes),
            checks: limits.checks.min(self.search.checks),
            blind_nodes: 0,
            ..*limits
        };
        let mut rng = Rng::new(0, u64::from(level));
        level_graph(&at, at.identity_name(), within, &limits, &mut rng, go_on)
            .map_err(|error| NoGraph::Failed(error.to_string()))
    }
}

//! Levels of arbitrary environments: native games behind the [`Environment`] interface, and games
//! that are hosted in another process.
//!
//! A state is identified by its settled frame and, depending on the chosen [`Identity`], by the
//! hidden state that the environment reports. A search cannot distinguish states that differ only
//! in what is neither drawn nor reported. [`check_graph`](crate::check_graph) looks for evidence of
//! them.

use std::sync::{Arc, Mutex, PoisonError};

use rhae_engine::{
    Action, ActionKind, ActionSet, BulkOptions, ClickRule, Environment, EnvironmentError, Identity,
    Observation, Outcome, PlayState, StateKey, observation_key,
};

use crate::bulk_build::explore_in_bulk;
use crate::{Explorable, Graph, Progress, SearchOptions};

/// The error message for a play that can no longer be forked although it could be forked before.
const NOT_FORKABLE: &str = "the play can no longer be forked: replaying its actions gave a different \
                            result, so the environment is probably not deterministic";

/// A level of an environment, starting at the current position of a play.
///
/// The environment must support forks or snapshots. If it can be forked, every state holds its own
/// fork. Otherwise every state holds a snapshot; before each action, one shared play is restored to
/// the snapshot of the state. If the environment supports
/// [bulk searches](rhae_engine::BulkSearch), [`explore`](crate::explore) uses them; forks and
/// snapshots then only serve to inspect single states.
///
/// # Examples
///
/// ```
/// use rhae_explore::{EnvironmentLevel, Identity, SearchOptions, StopReason, explore};
///
/// let play = rhae_games::find("kq19")?.open(0);
/// let level = EnvironmentLevel::new(play, Identity::FrameAndHidden)?;
/// assert!(level.lists_clicks());
/// let mut options = SearchOptions::default();
/// options.limits.nodes = 100;
/// let graph = explore(&level, &options, |_| true)?;
/// assert!(graph.nodes() <= 100);
/// assert_eq!(graph.stop(), Some(StopReason::Nodes));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EnvironmentLevel {
    start: Position,
    level: u8,
    identity: Identity,
    reports_hidden: bool,
    click_rule: ClickRule,
    /// Whether states may be expanded in bulk.
    bulk: bool,
    /// The play that is restored to a snapshot before each action, used where plays cannot be
    /// forked.
    walker: Mutex<Box<dyn Environment>>,
}

/// A state of an [`EnvironmentLevel`].
#[derive(Clone)]
pub struct Position {
    play: Handle,
    key: StateKey,
    offered: ActionSet,
    /// The cells to click; `None` if the environment neither lists nor computes them.
    clicks: Option<Arc<[(u8, u8)]>>,
    /// Whether `clicks` are representative cells instead of listed ones.
    representative: bool,
}

#[derive(Clone)]
enum Handle {
    Fork(Arc<Mutex<Box<dyn Environment>>>),
    Snapshot(Arc<[u8]>),
}

impl EnvironmentLevel {
    /// Creates the level that `environment` is currently playing. The current position becomes the
    /// start.
    ///
    /// # Errors
    ///
    /// Fails if the environment supports neither forks nor snapshots.
    pub fn new(
        environment: Box<dyn Environment>,
        identity: Identity,
    ) -> Result<Self, EnvironmentError> {
        let level = environment.observation().levels_completed;
        let lists_clicks = environment
            .observation()
            .available
            .contains(ActionKind::Action6)
            && environment.clicks().is_some();
        let click_rule = if lists_clicks {
            ClickRule::Listed
        } else {
            ClickRule::Representative
        };
        let play = handle_of(&*environment)?;
        let start = position(&*environment, play, identity, click_rule);
        let reports_hidden = environment.hidden_key().is_some();
        Ok(Self {
            start,
            level,
            identity,
            reports_hidden,
            click_rule,
            bulk: true,
            walker: Mutex::new(environment),
        })
    }

    /// Returns the level with bulk searches disabled, so that every action is applied to a fork of
    /// its own. The graph is the same.
    #[must_use]
    pub fn step_by_step(self) -> Self {
        Self {
            bulk: false,
            ..self
        }
    }

    /// Returns the name of the identity that the level actually uses, as it is written to reports.
    /// If the environment reports no hidden state, [`Identity::FrameAndHidden`] is reported as
    /// `frame`.
    pub const fn identity_name(&self) -> &'static str {
        match self.identity {
            Identity::Frame => "frame",
            Identity::FrameAndHidden if !self.reports_hidden => "frame",
            Identity::FrameAndHidden => "frame-and-hidden",
            Identity::Deep => "deep",
        }
    }

    /// Returns whether the start offers no clicks, or the environment lists the cells that may have
    /// an effect or computes representative ones. Otherwise a search tries clicks only with
    /// [`SearchOptions::all_clicks`](crate::SearchOptions::all_clicks).
    pub fn lists_clicks(&self) -> bool {
        self.start.clicks.is_some() || !self.start.offered.contains(ActionKind::Action6)
    }

    fn outcome(&self, seen: &Observation) -> Outcome {
        if seen.levels_completed > self.level {
            Outcome::LevelWon
        } else if seen.state == PlayState::GameOver {
            Outcome::GameOver
        } else {
            Outcome::Continue
        }
    }

    fn move_to(
        &self,
        state: &mut Position,
        environment: &dyn Environment,
        play: Handle,
    ) -> Outcome {
        *state = position(environment, play, self.identity, self.click_rule);
        self.outcome(environment.observation())
    }
}

fn position(
    environment: &dyn Environment,
    play: Handle,
    identity: Identity,
    click_rule: ClickRule,
) -> Position {
    let offered = environment.observation().available;
    let has_clicks = offered.contains(ActionKind::Action6);
    let listed = has_clicks.then(|| environment.clicks()).flatten();
    let representative = has_clicks && listed.is_none() && click_rule == ClickRule::Representative;
    let clicks = if representative {
        environment.representative_clicks()
    } else {
        listed
    };
    Position {
        play,
        key: key_by(environment, identity),
        offered,
        clicks: clicks.map(Into::into),
        representative,
    }
}

fn handle_of(environment: &dyn Environment) -> Result<Handle, EnvironmentError> {
    if let Some(fork) = environment.fork() {
        return Ok(Handle::Fork(Arc::new(Mutex::new(fork))));
    }
    match environment.snapshot()? {
        Some(snapshot) => Ok(Handle::Snapshot(snapshot.into())),
        None => {
            let id = &environment.info().id;
            Err(EnvironmentError::Failed(format!(
                "`{id}` supports neither forks nor snapshots, so it cannot be explored"
            )))
        }
    }
}

/// Returns the key of the current state of a play under the given identity.
pub fn key_by(environment: &dyn Environment, identity: Identity) -> StateKey {
    let seen = environment.observation();
    let hidden = match identity {
        Identity::Frame => None,
        Identity::FrameAndHidden => environment.hidden_key(),
        Identity::Deep => environment.deep_key(),
    };
    observation_key(
        seen.settled().cells(),
        seen.levels_completed,
        seen.state,
        hidden,
    )
}

impl Explorable for EnvironmentLevel {
    type State = Position;
    type Error = EnvironmentError;

    fn start(&self) -> Position {
        self.start.clone()
    }

    fn offered(&self, state: &Position) -> ActionSet {
        state.offered
    }

    /// Appends nothing if the environment neither lists nor computes cells to click. Such a level
    /// needs a search that tries all cells.
    fn clicks(&self, state: &Position, actions: &mut Vec<Action>) {
        actions.extend(
            state
                .clicks
                .iter()
                .flat_map(|cells| cells.iter())
                .filter_map(|&(x, y)| Action::click(x, y)),
        );
    }

    fn has_representative_clicks(&self, state: &Position) -> bool {
        state.representative
    }

    fn step(&self, state: &mut Position, action: Action) -> Result<Outcome, EnvironmentError> {
        match &state.play {
            Handle::Fork(play) => {
                let fork = play.lock().unwrap_or_else(PoisonError::into_inner).fork();
                let mut fork =
                    fork.ok_or_else(|| EnvironmentError::Failed(NOT_FORKABLE.to_owned()))?;
                fork.act(action)?;
                let play = Arc::new(Mutex::new(fork));
                let environment = play.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(self.move_to(state, &**environment, Handle::Fork(Arc::clone(&play))))
            }
            Handle::Snapshot(snapshot) => {
                let mut walker = self.walker.lock().unwrap_or_else(PoisonError::into_inner);
                walker.restore(snapshot)?;
                walker.act(action)?;
                let play = handle_of(&**walker)?;
                Ok(self.move_to(state, &**walker, play))
            }
        }
    }

    fn key(&self, state: &Position) -> StateKey {
        state.key
    }

    fn check_interval(&self) -> usize {
        1
    }

    fn heap_bytes(&self, state: &Position) -> usize {
        match &state.play {
            // An estimate, because a fork holds its last frames and further data of unknown size.
            Handle::Fork(_) => 1 << 15,
            Handle::Snapshot(snapshot) => snapshot.len(),
        }
    }

    fn explore_in_bulk(
        &self,
        search: &SearchOptions,
        should_continue: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Option<Graph>, EnvironmentError> {
        // A play that cannot be forked was used to restore snapshots, so it may have left the start.
        if !self.bulk || !matches!(self.start.play, Handle::Fork(_)) {
            return Ok(None);
        }
        let options = BulkOptions {
            identity: self.identity,
            clicks: if search.all_clicks {
                ClickRule::All
            } else {
                self.click_rule
            },
            workers: search.threads.max(1),
        };
        let bulk = {
            let walker = self.walker.lock().unwrap_or_else(PoisonError::into_inner);
            walker.bulk_search(&options)?
        };
        match bulk {
            Some(bulk) => explore_in_bulk(&*bulk, self.start.key, search, should_continue),
            None => Ok(None),
        }
    }
}

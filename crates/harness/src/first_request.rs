//! Checks, before anything is sent, whether a model can afford its next request.
//!
//! A run that could send no request at all is refused, with the smallest limit that allows one. The
//! next request of a new play follows from the first observation. A resumed play takes its answers
//! from its model log, so its agent and its environment are replayed up to the first request without an
//! answer. If the log ends before the output of code that an agent with tools executes, the replay
//! executes it in the sandbox and logs the output, which the resumed play then uses.
//!
//! No play is opened on a server for this. An environment of a server that also exists locally is
//! opened there; for any other, the bounds of the first observation are used.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use rhae_agents::{
    Agent, AgentError, AgentSpec, ModelAgent, ModelPlayer, PlayContext, View, log_path,
};
use rhae_engine::{ActionKind, ActionSet, Catalog, Frame, PlayState};
use rhae_llm::{Attempt, CostBound, Request, SpendGuard, SpendRefusal};
use rhae_protocol::{ResetRule, RunConfig};
use rhae_session::Play;

use crate::observation_buffer::ObservationBuffer;
use crate::stuck_play::{UncountedCommands, dead_end};
use crate::{Budget, HarnessError, RunSpec};

/// Checks a new run that starts `jobs` plays at once. `local` opens environments in this process.
///
/// # Errors
///
/// Returns [`HarnessError::SpendLimit`] if no play can send its first request.
pub(crate) fn check_new(
    agent: &AgentSpec,
    config: &RunConfig,
    local: &dyn Catalog,
    jobs: usize,
) -> Result<(), HarnessError> {
    let (player, first_request): (_, FirstRequest<'_>) = match agent {
        AgentSpec::Model(player) => (player, &|seed, view| player.first_request(seed, view)),
        AgentSpec::External(agent) => (agent.player(), &|seed, view| {
            agent.first_request(seed, view)
        }),
        _ => return Ok(()),
    };
    let plays = (1..=config.repeat)
        .flat_map(|repeat| config.games.iter().map(move |id| (repeat, id.as_str())));
    check(player, config, plays.take(jobs.max(1)), |repeat, id| {
        let Some(play) = open(local, id, config.env_seed) else {
            return Some(NextRequest::of_unknown_play(player, first_request));
        };
        let first = ObservationBuffer::of(&play.current());
        let request = first_request(config.agent_seed(repeat), &first.view());
        Some(NextRequest::exact(player.model.cost_bound(&request)))
    })
}

/// Returns the tokens of the first request of a play, estimated from its text. Returns `None` if the
/// agent has no model. An environment that cannot be opened here counts with the longest frame.
pub(crate) fn first_request_tokens(
    agent: &AgentSpec,
    local: &dyn Catalog,
    id: &str,
    config: &RunConfig,
) -> Option<u64> {
    let request = |view: &View<'_>| match agent {
        AgentSpec::Model(player) => Some(player.first_request(config.seed, view)),
        AgentSpec::External(agent) => Some(agent.first_request(config.seed, view)),
        _ => None,
    };
    let request = match open(local, id, config.env_seed) {
        Some(play) => request(&ObservationBuffer::of(&play.current()).view()),
        None => request(&unknown_view(
            &[Frame::filled(15)],
            ActionSet::of(&ActionKind::ALL[1..]),
        )),
    };
    Some(request?.estimated_tokens())
}

/// Returns a first view of an environment that cannot be opened here.
fn unknown_view(frames: &[Frame], available: ActionSet) -> View<'_> {
    View {
        frames,
        state: PlayState::NotFinished,
        levels_completed: 0,
        win_levels: 1,
        available,
        full_reset: true,
    }
}

/// Checks a resumed run whose `waiting` plays have not ended. The caller must have locked the run,
/// because the model logs are opened.
///
/// # Errors
///
/// Returns [`HarnessError::SpendLimit`] if none of the plays that start at once can send its next
/// request, and none can end without one.
pub(crate) fn check_resumed(
    spec: &RunSpec,
    local: &dyn Catalog,
    waiting: &VecDeque<(u32, String)>,
) -> Result<(), HarnessError> {
    let config = &spec.config;
    let (player, first_request): (_, FirstRequest<'_>) = match &spec.agent {
        AgentSpec::Model(player) => (player, &|seed, view| player.first_request(seed, view)),
        AgentSpec::External(agent) => (agent.player(), &|seed, view| {
            agent.first_request(seed, view)
        }),
        _ => return Ok(()),
    };
    let Ok(budget) = config.budget.parse::<Budget>() else {
        return Ok(());
    };
    let plays = waiting.iter().map(|(repeat, id)| (*repeat, id.as_str()));
    check(
        player,
        config,
        plays.take(spec.jobs.max(1)),
        |repeat, id| {
            let Some(mut play) = open(local, id, config.env_seed) else {
                return Some(NextRequest::of_unknown_play(player, first_request));
            };
            let recording = spec.folder.file(&recording_name(repeat, id));
            let context = PlayContext {
                seed: config.agent_seed(repeat),
                model_log: log_path(&recording),
                ..PlayContext::default()
            };
            let worst = replay(&spec.agent, player, &context, &mut play, budget)?;
            Some(NextRequest::exact(worst))
        },
    )
}

/// Returns the path of a play's recording, relative to the run folder.
pub(crate) fn recording_name(repeat: u32, id: &str) -> String {
    format!("recordings/{repeat}-{id}.jsonl")
}

/// Returns the first request of a play with this seed and first view.
type FirstRequest<'a> = &'a dyn Fn(u64, &View<'_>) -> Request;

/// The worst case of the next request of a play.
struct NextRequest {
    /// The worst case is at least this.
    min: CostBound,
    /// The worst case under which the request can be sent.
    max: CostBound,
}

impl NextRequest {
    fn exact(worst: CostBound) -> Self {
        Self {
            min: worst.clone(),
            max: worst,
        }
    }

    /// Returns the bounds for a play whose environment cannot be opened here: for one frame with the
    /// shortest and with the longest text.
    fn of_unknown_play(player: &ModelPlayer, first_request: FirstRequest<'_>) -> Self {
        let worst = |color: u8, available: ActionSet| {
            let frames = [Frame::filled(color)];
            let view = unknown_view(&frames, available);
            player.model.cost_bound(&first_request(0, &view))
        };
        Self {
            min: worst(0, ActionSet::default()),
            max: worst(15, ActionSet::of(&ActionKind::ALL[1..])),
        }
    }
}

/// Checks plays in order until one can continue. `next` returns the next request of a play, or `None`
/// if the play needs none or is not affected by limits.
fn check<'a>(
    player: &ModelPlayer,
    config: &RunConfig,
    plays: impl Iterator<Item = (u32, &'a str)>,
    next: impl Fn(u32, &str) -> Option<NextRequest>,
) -> Result<(), HarnessError> {
    let is_limited = |model: &rhae_protocol::ModelRun| model.max_cost_usd.is_some();
    if !config.model.as_ref().is_some_and(is_limited) {
        return Ok(());
    }
    // The refusal of the cheapest request names the smallest limit.
    let mut cheapest: Option<(f64, String)> = None;
    for (repeat, id) in plays {
        let Some(request) = next(repeat, id) else {
            return Ok(());
        };
        let Err(refusal) = player.spend_guard.check_first(&request.min) else {
            return Ok(());
        };
        let refusal = player
            .spend_guard
            .check_first(&request.max)
            .err()
            .unwrap_or(refusal);
        let usd = request.max.usd().unwrap_or(0.0);
        if cheapest.as_ref().is_none_or(|(least, _)| usd < *least) {
            cheapest = Some((usd, refusal));
        }
    }
    cheapest.map_or(Ok(()), |(_, refusal)| {
        Err(HarnessError::SpendLimit(refusal))
    })
}

/// Opens a play, or returns `None` if the catalogue cannot. The run itself reports why.
fn open(catalog: &dyn Catalog, id: &str, seed: u64) -> Option<Play> {
    let environment = catalog.open(id, seed).ok()?;
    Some(Play::new(environment, ResetRule::LevelsOnly))
}

/// Replays a play with the answers in its log. Returns the worst case of the first request that has
/// no answer, the cheapest of several that are sent at the same time, or `None` if the play ends before
/// it.
fn replay(
    spec: &AgentSpec,
    player: &ModelPlayer,
    context: &PlayContext,
    play: &mut Play,
    budget: Budget,
) -> Option<CostBound> {
    let guard = Arc::new(RefuseAll::default());
    let mut agent = replaying(spec, player, &guard, context).ok()?;
    let mut observation = ObservationBuffer::of(&play.current());
    let mut uncounted = UncountedCommands::default();
    if dead_end(play).is_some() {
        return None;
    }
    loop {
        let Ok(decision) = agent.act(&observation.view()) else {
            return guard.refused();
        };
        let should_count = observation.should_count(decision.action);
        let step = play.command(decision.action).ok()?;
        let outcome = step.outcome;
        observation = ObservationBuffer::of(&step);
        if outcome.state == PlayState::Win
            || uncounted.add(outcome.counted, should_count).is_some()
            || dead_end(play).is_some()
            || budget.is_used_up(play.tally(), &play.info().baselines)
        {
            return None;
        }
    }
}

/// Creates an agent that cannot send anything.
fn replaying(
    spec: &AgentSpec,
    player: &ModelPlayer,
    guard: &Arc<RefuseAll>,
    context: &PlayContext,
) -> Result<Box<dyn Agent>, AgentError> {
    let player = Arc::new(player.with_spend_guard(Arc::clone(guard) as _));
    match spec {
        AgentSpec::External(agent) => agent.build_for(&player, context),
        _ => Ok(Box::new(ModelAgent::start(
            &player,
            context.seed,
            &context.model_log,
        )?)),
    }
}

/// A spend guard that refuses every transmission and keeps the smallest of their worst cases.
#[derive(Default)]
struct RefuseAll(Mutex<Option<CostBound>>);

impl RefuseAll {
    fn refused(&self) -> Option<CostBound> {
        let mut worst = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        worst.take()
    }
}

impl SpendGuard for RefuseAll {
    fn reserve(&self, worst: &CostBound, _: &dyn Fn() -> bool) -> Result<(), SpendRefusal> {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let usd = |worst: &CostBound| worst.usd().unwrap_or(0.0);
        if refused.as_ref().is_none_or(|least| usd(worst) < usd(least)) {
            *refused = Some(worst.clone());
        }
        Err(SpendRefusal::Limit("nothing is sent".to_owned()))
    }

    fn settle(&self, _: &CostBound, _: Option<&Attempt>) {}
}

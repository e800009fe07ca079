//! The choice of an agent by name.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rhae_llm::Request;
use rhae_protocol::Recording;

use crate::registry::{AGENTS, AgentEntry, Constructor};
use crate::{
    Agent, AgentError, ModelAgent, ModelPlayer, ProcessAgent, ReplayAgent, RequestProfiles,
    StderrLog, View,
};

/// A description of an agent, from which [`build`](Self::build) creates one instance for each play.
#[derive(Clone, Debug)]
pub enum AgentSpec {
    /// An agent of [`AGENTS`] that needs only a seed, with its name and constructor.
    BuiltIn(BuiltInAgent),
    /// A [`ReplayAgent`] of this recording.
    Replay(Arc<Recording>),
    /// A [`ProcessAgent`] that runs this shell command.
    Command(String),
    /// A [`ModelAgent`] with the settings and limits that all its plays share.
    Model(Arc<ModelPlayer>),
    /// An agent with a model that another crate implements.
    External(Arc<dyn AgentFactory>),
}

/// Creates the agents of one kind that another crate implements. All of them use a language model.
pub trait AgentFactory: fmt::Debug + Send + Sync {
    /// Returns the name under which results list the agent.
    fn name(&self) -> String;

    /// Creates an agent for one play.
    ///
    /// # Errors
    ///
    /// Returns an error if the agent cannot start.
    fn build(&self, context: &PlayContext) -> Result<Box<dyn Agent>, AgentError> {
        self.build_for(self.player(), context)
    }

    /// Creates an agent for one play whose requests have the settings and limits of `player`.
    ///
    /// # Errors
    ///
    /// Returns an error if the agent cannot start.
    fn build_for(
        &self,
        player: &Arc<ModelPlayer>,
        context: &PlayContext,
    ) -> Result<Box<dyn Agent>, AgentError>;

    /// Returns the first request of a play that starts with `view`. Its worst case decides whether a
    /// spend limit is large enough to start.
    fn first_request(&self, seed: u64, view: &View<'_>) -> Request;

    /// Returns the model and the limits that all plays share.
    fn player(&self) -> &Arc<ModelPlayer>;

    /// Returns what the agent assumes about its requests, for estimates.
    fn profiles(&self) -> RequestProfiles;
}

/// What an agent gets for one play besides observations. The default suits an agent that uses only a
/// seed.
#[derive(Clone, Debug, Default)]
pub struct PlayContext {
    pub seed: u64,
    /// The file in which a [`Model`](AgentSpec::Model) stores its calls.
    pub model_log: PathBuf,
    /// The id of the play, for a [`Command`](AgentSpec::Command).
    pub play_id: String,
    /// The folder for files of a [`Command`](AgentSpec::Command). The caller creates it.
    pub output_dir: PathBuf,
    /// The file for the standard error of a [`Command`](AgentSpec::Command).
    pub stderr_path: PathBuf,
    /// Receives the standard error of a [`Command`](AgentSpec::Command).
    pub stderr: StderrLog,
}

/// An agent that needs only a seed.
#[derive(Clone, Copy, Debug)]
pub struct BuiltInAgent {
    entry: &'static AgentEntry,
    new: fn(u64) -> Box<dyn Agent>,
}

/// The error for a name that no agent of [`AGENTS`] has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no agent `{0}`: expected {expected}; to run your own program, use `--agent-cmd \"python3 my_agent.py\"`",
    expected = expected(.1)
)]
pub struct UnknownAgent(String, Vec<&'static str>);

impl UnknownAgent {
    /// Returns the same error with the agents of another crate among the expected ones.
    #[must_use]
    pub fn with_agents(self, others: &[AgentEntry]) -> Self {
        Self(self.0, others.iter().map(|entry| entry.form).collect())
    }
}

/// Returns how users write the names of agents: `a`, `b` or `c:FILE`.
fn expected(others: &[&'static str]) -> String {
    let named = AGENTS.iter().map(|entry| entry.form);
    let forms: Vec<String> = named
        .chain(others.iter().copied())
        .map(|form| format!("`{form}`"))
        .collect();
    match forms.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => forms.concat(),
    }
}

impl AgentSpec {
    /// Returns the agent that [`AGENTS`] lists under `name`.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownAgent`] for any other name, and for agents that need an argument.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_agents::{AGENTS, AgentSpec};
    ///
    /// for entry in AGENTS.iter().filter(|entry| entry.needs_only_a_seed()) {
    ///     assert_eq!(AgentSpec::built_in(entry.name)?.name(), entry.name);
    /// }
    /// assert!(AgentSpec::built_in("oracle").is_err());
    /// # Ok::<(), rhae_agents::UnknownAgent>(())
    /// ```
    pub fn built_in(name: &str) -> Result<Self, UnknownAgent> {
        let found = AGENTS.iter().find(|entry| entry.name == name);
        match found.map(|entry| (entry, entry.constructor)) {
            Some((entry, Constructor::FromSeed(new))) => {
                Ok(Self::BuiltIn(BuiltInAgent { entry, new }))
            }
            _ => Err(UnknownAgent(name.to_owned(), Vec::new())),
        }
    }

    /// Returns the name under which results list the agent.
    pub fn name(&self) -> String {
        match self {
            Self::BuiltIn(agent) => agent.entry.name.to_owned(),
            Self::Replay(_) => "replay".to_owned(),
            Self::Command(command) => command.clone(),
            Self::Model(player) => format!("model:{}", player.model.name()),
            Self::External(factory) => factory.name(),
        }
    }

    /// Creates an agent for one play.
    ///
    /// # Errors
    ///
    /// Returns an error if the process cannot be started or the log cannot be opened.
    pub fn build(&self, context: &PlayContext) -> Result<Box<dyn Agent>, AgentError> {
        Ok(match self {
            Self::BuiltIn(agent) => (agent.new)(context.seed),
            Self::Replay(recording) => Box::new(ReplayAgent::new(recording)),
            Self::Command(command) => Box::new(ProcessAgent::start(command, context)?),
            Self::Model(player) => {
                Box::new(ModelAgent::start(player, context.seed, &context.model_log)?)
            }
            Self::External(factory) => factory.build(context)?,
        })
    }
}

//! The choice of an agent by name.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use rhae_protocol::Recording;

use crate::{
    Agent, AgentError, Explorer, ModelAgent, ModelPlayer, ProcessAgent, RandomAgent, ReplayAgent,
};

/// The names of the agents that need no argument, each with a one-line description.
pub const BUILT_IN: [(&str, &str); 2] = [
    (
        "explorer",
        "builds the state graph of each level and moves to untried actions that may change the frame",
    ),
    (
        "random",
        "chooses uniformly among the offered actions and, for a click, among all cells",
    ),
];

/// A description of an agent, from which [`build`](Self::build) creates one instance for each play.
#[derive(Clone, Debug)]
pub enum AgentSpec {
    /// A [`RandomAgent`].
    Random,
    /// An [`Explorer`].
    Explorer,
    /// A [`ReplayAgent`] of this recording.
    Replay(Arc<Recording>),
    /// A [`ProcessAgent`] that runs this shell command.
    Command(String),
    /// A [`ModelAgent`] with the settings and limits that all its plays share.
    Model(Arc<ModelPlayer>),
}

/// The error for a name that no built-in agent has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no agent `{0}`: expected `explorer`, `random`, `model:NAME` or `replay:FILE`; to run your own program, use `--agent-cmd \"python3 my_agent.py\"`"
)]
pub struct UnknownAgent(String);

impl AgentSpec {
    /// Returns the agent that [`BUILT_IN`] lists under `name`.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownAgent`] for any other name.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_agents::{AgentSpec, BUILT_IN};
    ///
    /// for (name, _) in BUILT_IN {
    ///     assert_eq!(AgentSpec::built_in(name)?.name(), name);
    /// }
    /// assert!(AgentSpec::built_in("oracle").is_err());
    /// # Ok::<(), rhae_agents::UnknownAgent>(())
    /// ```
    pub fn built_in(name: &str) -> Result<Self, UnknownAgent> {
        match name {
            "random" => Ok(Self::Random),
            "explorer" => Ok(Self::Explorer),
            _ => Err(UnknownAgent(name.to_owned())),
        }
    }

    /// Returns the name under which results list the agent.
    pub fn name(&self) -> String {
        match self {
            Self::Random => "random".to_owned(),
            Self::Explorer => "explorer".to_owned(),
            Self::Replay(_) => "replay".to_owned(),
            Self::Command(command) => command.clone(),
            Self::Model(player) => format!("model:{}", player.model.name()),
        }
    }

    /// Creates an agent for one play.
    ///
    /// `stderr` receives the standard error of a [`Command`](Self::Command). `log` is the file in
    /// which a [`Model`](Self::Model) stores its calls. Other agents use neither.
    ///
    /// # Errors
    ///
    /// Returns an error if the process cannot be started or the log cannot be opened.
    pub fn build(
        &self,
        seed: u64,
        stderr: Stdio,
        log: &Path,
    ) -> Result<Box<dyn Agent>, AgentError> {
        Ok(match self {
            Self::Random => Box::new(RandomAgent::new(seed)),
            Self::Explorer => Box::new(Explorer::new(seed)),
            Self::Replay(recording) => Box::new(ReplayAgent::new(recording)),
            Self::Command(command) => Box::new(ProcessAgent::start(command, seed, stderr)?),
            Self::Model(player) => Box::new(ModelAgent::start(player, seed, log)?),
        })
    }
}

//! Agents by name.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use rhae_protocol::Recording;

use crate::{
    Agent, AgentError, Explorer, ModelAgent, ModelPlayer, ProcessAgent, RandomAgent, ReplayAgent,
};

/// The built-in agents' names with a line about each.
pub const BUILT_IN: [(&str, &str); 2] = [
    (
        "explorer",
        "tries what changes the picture, remembers the state graph, goes where something is untried",
    ),
    (
        "random",
        "uniform over the offered actions, uniform click cell",
    ),
];

/// Which agent is to play.
#[derive(Clone, Debug)]
pub enum AgentSpec {
    /// [`RandomAgent`].
    Random,
    /// [`Explorer`].
    Explorer,
    /// [`ReplayAgent`] with its recording.
    Replay(Arc<Recording>),
    /// [`ProcessAgent`] with its command.
    Command(String),
    /// [`ModelAgent`] with what its plays share.
    Model(Arc<ModelPlayer>),
}

/// No built-in agent has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no agent `{0}`: expected `explorer`, `random`, `model:NAME` or `replay:FILE`; a program of your own goes into `--agent-cmd \"python3 my_agent.py\"`"
)]
pub struct UnknownAgent(String);

impl AgentSpec {
    /// The built-in agent with this name.
    pub fn built_in(name: &str) -> Result<Self, UnknownAgent> {
        match name {
            "random" => Ok(Self::Random),
            "explorer" => Ok(Self::Explorer),
            _ => Err(UnknownAgent(name.to_owned())),
        }
    }

    /// The name in results.
    pub fn name(&self) -> String {
        match self {
            Self::Random => "random".to_owned(),
            Self::Explorer => "explorer".to_owned(),
            Self::Replay(_) => "replay".to_owned(),
            Self::Command(command) => command.clone(),
            Self::Model(player) => format!("model:{}", player.model.name()),
        }
    }

    /// A fresh agent for one play. What a process writes to its standard error goes to `errors`, what a model answers to `log`.
    pub fn build(
        &self,
        seed: u64,
        errors: Stdio,
        log: &Path,
    ) -> Result<Box<dyn Agent>, AgentError> {
        Ok(match self {
            Self::Random => Box::new(RandomAgent::new(seed)),
            Self::Explorer => Box::new(Explorer::new(seed)),
            Self::Replay(recording) => Box::new(ReplayAgent::new(recording)),
            Self::Command(command) => Box::new(ProcessAgent::start(command, seed, errors)?),
            Self::Model(player) => Box::new(ModelAgent::start(player, seed, log)?),
        })
    }
}

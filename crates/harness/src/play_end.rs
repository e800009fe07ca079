//! How a play ended, and what was responsible: the agent or the environment.

use std::any::Any;

use rhae_agents::AgentError;
use rhae_engine::{CatalogError, EnvironmentError};
use rhae_protocol::Ending;

/// How a play ended, with the error or the limit that ended it.
pub(crate) struct PlayEnd {
    pub(crate) ending: Ending,
    pub(crate) message: Option<String>,
}

impl PlayEnd {
    /// The agent failed for this reason.
    pub(crate) const fn failed(reason: String) -> Self {
        Self {
            ending: Ending::Failed,
            message: Some(reason),
        }
    }

    /// The environment failed for this reason.
    pub(crate) const fn environment_failed(reason: String) -> Self {
        Self {
            ending: Ending::EnvironmentFailed,
            message: Some(reason),
        }
    }

    pub(crate) fn agent_panicked(panic: &(dyn Any + Send)) -> Self {
        Self::failed(format!("the agent panicked: {}", text_of(panic)))
    }

    pub(crate) fn environment_panicked(panic: &(dyn Any + Send)) -> Self {
        Self::environment_failed(format!("the environment panicked: {}", text_of(panic)))
    }
}

impl From<Ending> for PlayEnd {
    fn from(ending: Ending) -> Self {
        Self {
            ending,
            message: None,
        }
    }
}

impl From<AgentError> for PlayEnd {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Stopped => Ending::Stopped.into(),
            AgentError::Stuck(reason) => Self {
                ending: Ending::Stopped,
                message: Some(reason),
            },
            AgentError::Failed(reason) | AgentError::Interrupted { reason, .. } => {
                Self::failed(reason)
            }
        }
    }
}

impl From<EnvironmentError> for PlayEnd {
    fn from(error: EnvironmentError) -> Self {
        // The ending already says that the environment failed.
        Self::environment_failed(match error {
            EnvironmentError::Failed(reason) => reason,
            other => other.to_string(),
        })
    }
}

impl From<CatalogError> for PlayEnd {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::Environment(error) => error.into(),
            other => Self::environment_failed(other.to_string()),
        }
    }
}

/// Returns the message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

//! The agent trait and the built-in agents.
//!
//! An agent sees what any outside client sees, a [`View`], and answers with a [`Decision`].
//!
//! **Boundary:** this crate does not depend on `rhae-games`, so no agent can look behind the frames.

mod agent;
mod explorer;
mod model;
mod process;
mod random;
mod replay;
mod spec;

pub use agent::{Agent, AgentError, Decision, Stopper, View};
pub use explorer::Explorer;
pub use model::{
    CONTEXT_TOKENS, LOG_ENDING, ModelAgent, ModelPlayer, Purse, SYSTEM_PROMPT, log_path, spent_in,
};
pub use process::ProcessAgent;
pub use random::RandomAgent;
pub use replay::ReplayAgent;
pub use spec::{AgentSpec, BUILT_IN, UnknownAgent};

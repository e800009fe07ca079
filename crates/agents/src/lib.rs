//! The [`Agent`] trait and the built-in agents.
//!
//! An agent plays an environment: it receives a [`View`] of the play, answers with a [`Decision`],
//! receives the next view, and so on until the play ends. A view contains nothing that a client of
//! the official API does not see: frames, play state, completed levels and offered actions.
//!
//! # The built-in agents
//!
//! | agent | description |
//! | --- | --- |
//! | [`RandomAgent`] | chooses uniformly at random; a reference point for comparisons |
//! | [`Explorer`] | searches a graph of the frames of each level, without a model or training |
//! | [`JustExplore`] | explores the states of each level without status bars; a published agent |
//! | [`BlindSquirrel`] | avoids dead ends and learns from finished levels; a published agent |
//! | [`ReplayAgent`] | repeats a recording |
//! | [`ModelAgent`] | asks a language model, under the rules of the official leaderboard |
//! | [`ProcessAgent`] | runs a program in any language, which exchanges JSON lines with Rhae |
//!
//! [`AGENTS`] lists those that have a name. [`AgentSpec`] names one of them and builds a fresh instance for each play. The crate
//! `rhae-harness` runs an [`AgentSpec`] on many environments.
//!
//! # Writing an agent
//!
//! Implement [`Agent::act`]. The other methods have defaults. See [`Agent`] for a complete agent
//! that plays a built-in game.
//!
//! # Invariants
//!
//! * **Agents see only views.** This crate does not depend on `rhae-games`, so no built-in agent
//!   can inspect the internal state or the rules of a game.
//! * **One instance plays one play.** Agents share no memory between plays, except for the model
//!   and the limits in [`ModelPlayer`].
//!
//! # Examples
//!
//! ```
//! use rhae_agents::{AgentSpec, PlayContext, View};
//! use rhae_engine::{ActionSet, Frame, PlayState};
//!
//! let spec = AgentSpec::built_in("random")?;
//! let mut agent = spec.build(&PlayContext { seed: 7, ..PlayContext::default() })?;
//! let view = View {
//!     frames: &[Frame::filled(0)],
//!     state: PlayState::NotFinished,
//!     levels_completed: 0,
//!     win_levels: 3,
//!     available: ActionSet::ARROWS,
//!     full_reset: false,
//! };
//! let decision = agent.act(&view)?;
//! assert!(view.available.contains(decision.action.kind()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agent;
mod blind_squirrel;
mod explorer;
mod just_explore;
mod model;
mod process;
mod random;
mod registry;
mod replay;
mod request_profile;
mod spec;
mod stderr_log;
#[cfg(test)]
mod test_plays;

pub use agent::{AbortHandle, Agent, AgentError, Decision, View};
pub use blind_squirrel::{ActionFeatures, BlindSquirrel, StateInput, ValueModel, ValueSample};
pub use explorer::Explorer;
pub use just_explore::JustExplore;
pub use model::{
    CONTEXT_TOKENS, CallLog, DIFFERENT_REQUEST, LOG_SUFFIX, LoggedCall, LoggedCalls, ModelAgent,
    ModelPlayer, SYSTEM_PROMPT, branch_of, branch_prefix, error_of_failure, is_context_overflow,
    log_path, spent_in_log, usage_details,
};
pub use process::{OUTPUT_DIR_VARIABLE, PLAY_ID_VARIABLE, ProcessAgent};
pub use random::RandomAgent;
pub use registry::{AGENTS, AgentEntry};
pub use replay::ReplayAgent;
pub use request_profile::{RequestProfile, RequestProfiles};
pub use spec::{AgentFactory, AgentSpec, BuiltInAgent, PlayContext, UnknownAgent};
pub use stderr_log::{MAX_STDERR_BYTES, StderrLog};

//! Agents that combine a language model with tools.
//!
//! | item | role |
//! | --- | --- |
//! | [`HarnessAgent`] | an agent of [`AGENTS`] with the settings that all its plays share |
//! | [`Engine`] | sends requests, executes tool calls, journals both, and applies [`Limits`] |
//! | [`Conversation`] | the turns of a conversation, limited to a context by a [`TrimPolicy`] |
//! | [`Toolbox`] | the tools of an agent |
//! | [`Interpreter`] | code of the model, in Python or JavaScript, in the sandbox |
//! | [`Rlm`] | a model that works on its prompt with code and calls itself recursively |
//! | [`TaskSolver`] | a model that solves static tasks with programs |
//! | [`PromptSet`] | the prompts of an agent, which files can replace |
//!
//! An agent is one module with a `KIND`. It implements a [`Player`], a function over a [`Game`], and
//! writes no code for journals, retries, limits or resumption: the [`Engine`] has it.
//!
//! # Invariants
//!
//! * **Journaled before acted on.** Every request, answer and output of a tool is in the model log
//!   of the play before the agent uses it. A resumed play requests no logged answer again.
//! * **Cache-friendly.** A request extends the previous one. Older turns are removed from the front,
//!   rarely and many at once.
//! * **Contained.** Code of a model runs only in the sandbox. The crate has no other way to execute
//!   it.
//!
//! The crate knows no games: agents see what a client of the official API sees.

mod action_text;
mod board;
mod code;
mod conversation;
mod duck;
mod engine;
mod fenced;
mod harness_agent;
mod javascript;
mod limits;
mod orchestrator;
mod perception;
mod picture;
mod prompts;
mod python;
mod rgb;
mod rlm;
mod task_solver;
mod threaded;
mod timeline;
mod trace;
mod world_model;

pub use code::{CodeRuntime, Executed, HostFunctions, Interpreter, NoFunctions};
pub use conversation::{Conversation, TrimPolicy};
pub use engine::{Chat, ChatSettings, Engine, ToolMode, ToolOutput, Toolbox, TurnEnd};
pub use harness_agent::{
    AGENTS, HarnessAgent, HarnessAgentError, prompt_texts, prompts_digest, role_models, split_name,
};
#[cfg(feature = "hosting")]
pub use javascript::javascript_engine;
pub use javascript::{JAVASCRIPT, JavaScriptLimits, JavaScriptSettings};
pub use limits::{LimitReached, Limits};
pub use prompts::{PromptError, PromptSet};
pub use python::{PythonLimits, PythonSettings};
pub use rlm::{Rlm, RlmEnd, RlmOutcome};
pub use task_solver::{TaskOutcome, TaskSolver};
pub use threaded::{Game, Observation, Player};

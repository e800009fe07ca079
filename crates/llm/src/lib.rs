//! Calls to language models: providers, retries, limits, tokens and cost.
//!
//! # Overview
//!
//! | type | role |
//! | --- | --- |
//! | [`Models`] | a configuration file that names models, in TOML |
//! | [`Model`] | an opened model, shared by all threads that call it |
//! | [`Request`] | a conversation of texts, images and tool calls, the same for every provider |
//! | [`Tool`] | a tool that the model may call |
//! | [`CallOutcome`] | the [`Reply`] or a typed [`Failure`], and every [`Attempt`] with its cost |
//! | [`CostBound`] | the worst case of one attempt, for spend limits that are never exceeded |
//! | [`CallObserver`] | a hook before and after each attempt, for journals and spend limits |
//! | [`CancelToken`] | cancels calls from another thread |
//!
//! [`Model::ask`] makes one call: it sends the request, retries failures that may be temporary, and
//! reports the usage of every attempt, including failed ones. An attempt is one transmission of the
//! request; journals and reports call it a transmission, because an attempt at a task is something
//! else.
//!
//! # Examples
//!
//! The provider `mock` returns replies from a list and needs no network:
//!
//! ```
//! use rhae_llm::{CancelToken, Model, Models, Request};
//!
//! let models = Models::parse(
//!     r#"
//!     [models.words]
//!     provider = "mock"
//!     replies = ["yes"]
//!     prices = { date = "2026-11-01", input = 1, output = 5 }
//!     "#,
//! )?;
//! let model = Model::open(&models, "words")?;
//! let outcome = model.ask(&Request::text("Is it?"), &CancelToken::default(), None, &mut ());
//! assert_eq!(outcome.attempts.len(), 1);
//! assert!(outcome.cost_usd() > 0.0);
//! assert_eq!(outcome.reply.map(|reply| reply.text).as_deref(), Ok("yes"));
//! # Ok::<(), rhae_llm::LlmError>(())
//! ```
//!
//! # Limits
//!
//! All calls of one `Model` share its limits: concurrent requests, requests per minute, the pause
//! that a server requests with `Retry-After`, and the circuit breaker. Open a model once and share
//! it.
//!
//! # Journals
//!
//! A caller that keeps a journal implements [`CallObserver`]. A journal entry from
//! [`before`](CallObserver::before) without one from [`after`](CallObserver::after) marks a request
//! that was in flight when the process died. [`AttemptStart::id`] is sent to the server as
//! `X-Client-Request-Id`, so that a journal can be compared with the provider's records.
//!
//! This crate knows nothing about games, tasks, prompts or journal formats.

mod admission;
mod cancel;
mod circuit_breaker;
mod config;
mod cost_bound;
mod environment;
mod error;
mod failure;
mod http;
mod mock;
mod model;
mod observer;
mod provider;
mod recorded;
mod reply;
mod request;
mod secret;
mod spend_guard;
mod sse;
mod tokens;
mod tool;
mod usage;
mod wire;

pub use cancel::CancelToken;
pub use config::{
    BreakerConfig, Limits, MODELS_FILE, MODELS_VARIABLE, ModelConfig, Models, RetryPolicy,
    Timeouts, ToolCallStyle, default_models_file,
};
pub use cost_bound::{CostBound, TokenBound, UnboundedReason};
pub use error::LlmError;
pub use failure::{Failure, FailureKind};
pub use model::Model;
pub use observer::{Attempt, AttemptStart, CallObserver, CallOutcome, Halt};
pub use provider::{PROVIDERS, Provider, ProviderEntry};
pub use reply::{Finish, Reply};
pub use request::{Part, Request, Role, Turn};
pub use spend_guard::{SpendGuard, SpendRefusal};
pub use tokens::estimate_tokens;
pub use tool::{Parameter, Tool, ToolCall, ToolResult};
pub use usage::{Prices, Usage};

pub use rhae_throttle::{Rate, RateError};

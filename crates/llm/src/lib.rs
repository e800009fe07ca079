//! Language models: who answers, in which form, at what price, and what to do when it goes wrong.
//!
//! A file of models ([`Models::parse`]) names them; [`Model::open`] makes one that can be asked from many threads at once;
//! [`Model::ask`] sends a [`Request`] as often as need be and gives an [`Outcome`]: the [`Reply`] or a typed [`Failure`], and every
//! [`Attempt`] with what it consumed and cost, failed ones too. A [`Cancel`] ends calls from another thread at once.
//!
//! ```
//! use rhae_llm::{Cancel, Model, Models, Request};
//!
//! let models = Models::parse("[models.words]\nprovider = \"mock\"\nreplies = [\"yes\"]")?;
//! let model = Model::open(&models, "words")?;
//! let outcome = model.ask(&Request::text("Is it?"), &Cancel::default(), None, &mut ());
//! assert_eq!(outcome.reply.map(|reply| reply.text).as_deref(), Ok("yes"));
//! # Ok::<(), rhae_llm::LlmError>(())
//! ```
//!
//! **For callers with a journal:** implement [`Watch`]. Its `before` is called before each request is sent, retries included, and may
//! refuse it (a limit on spending, a full disk); its `after` is called when the request has come to an end, with the answer. A
//! request that a journal has a `before` of and no `after` was in flight when the process died. [`Sending::id`] goes to the server
//! as `X-Client-Request-Id`, so that both sides' books can be compared.
//!
//! **Limits** are shared by all calls of one `Model`: requests at once, requests a minute, the pause that a server asked for by
//! `Retry-After`, and the circuit breaker. So open a model once and share it.
//!
//! What this crate deliberately does not know: games, tasks, prompts, journals.

mod breaker;
mod cancel;
mod config;
mod error;
mod failure;
mod gate;
mod http;
mod mock;
mod model;
mod pace;
mod recorded;
mod reply;
mod request;
mod secret;
mod sse;
mod tokens;
mod usage;
mod watch;
mod wire;

pub use cancel::Cancel;
pub use config::{BreakerConfig, Limits, ModelConfig, Models, Provider, Retries, Timeouts};
pub use error::LlmError;
pub use failure::{Failure, FailureKind};
pub use model::Model;
pub use reply::{Finish, Reply};
pub use request::{Part, Request, Role, Turn};
pub use tokens::estimate_tokens;
pub use usage::{Prices, Usage};
pub use watch::{Attempt, Halt, Outcome, Sending, Watch};

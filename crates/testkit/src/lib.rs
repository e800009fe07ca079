//! The suite that every native game passes by being registered, and fixtures for other crates' tests.

mod conformance;
mod model_server;
mod playthrough;
#[cfg(unix)]
mod postgres;

pub use conformance::conforms;
pub use model_server::{Answer, Asked, Fault, Faults, Form, ModelServer, Served};
pub use playthrough::playthrough;
#[cfg(unix)]
pub use postgres::Postgres;

//! The suite that every native game passes by being registered, and fixtures for other crates' tests.

mod conformance;
mod playthrough;
#[cfg(unix)]
mod postgres;

pub use conformance::conforms;
pub use playthrough::playthrough;
#[cfg(unix)]
pub use postgres::Postgres;

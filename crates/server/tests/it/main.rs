//! The API over real sockets and a real database file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bad_input;
mod client;
mod clock;
mod competition;
mod contract;
mod long_plays;
mod once;
mod running;
mod sharing;
mod trouble;
mod watching;

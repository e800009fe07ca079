//! Tests of whole studies through commands and events.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod arrivals;
mod books;
mod erasure;
mod export;
mod growth;
mod lab;
mod laws;
mod limits;
mod publication;
mod results;
mod review;
mod setup;
mod sitting;
mod tampering;

//! The API over real sockets and a real database file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod any_body;
mod bad_input;
mod client;
mod clock;
mod competition;
mod contract;
mod counting;
mod limits;
mod long_plays;
mod once;
mod openapi;
mod operation;
mod pictures;
mod rest;
mod running;
mod sharing;
mod slow;
mod tls;
mod trouble;
mod visitors;
mod watching;

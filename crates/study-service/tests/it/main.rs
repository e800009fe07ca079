//! Integration tests of studies in real databases: SQLite files and PostgreSQL servers.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod arrivals;
mod clicks;
mod counting;
mod durability;
mod fixture;
mod retention;

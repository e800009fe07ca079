//! Tests of the API over real sockets and a real database file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod arbitrary_bodies;
mod bad_input;
mod board_official;
mod board_scale;
mod card_expiry;
mod client;
mod competition;
mod contract;
mod counting_catalog;
mod fixture_catalog;
mod idempotency;
mod limits;
mod long_plays;
mod observability;
mod openapi;
mod perception;
mod play_endpoints;
mod publishing;
mod recovery;
mod rest;
mod shared_database;
mod sharing;
mod simulation;
mod storage;
mod studies;
mod study_client;
mod study_roles;
mod test_server;
mod thumbnails;
mod timeouts;
mod tls;
mod visitors;

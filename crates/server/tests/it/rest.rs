//! Snapshots of every response of the server: status, headers and body.
//!
//! A test sends requests to a real server and compares each response with a file in
//! `rest/snapshots`. Values that differ between runs are replaced by placeholders, see
//! [`exchange`]. [`coverage`] fails if a route of the OpenAPI document, one of its documented
//! statuses or an error code has no snapshot.
//!
//! To accept changed responses, run the tests with `INSTA_UPDATE=always` and review the difference.

mod board_creation;
mod boards;
mod cards;
mod commands;
mod coverage;
mod error_bodies;
mod error_types;
mod exchange;
mod faults;
mod games;
mod holders;
mod key_errors;
mod layout;
mod operations;
mod pages;
mod plays;
mod refusal_pages;
mod shares;
mod studies;
mod visitor_pages;

//! Serialised forms, compared with snapshots.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod scorecard;

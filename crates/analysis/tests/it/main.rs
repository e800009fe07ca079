//! Comparisons of real runs against computations of their own, and the structure of tables.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod latex;
mod runs;

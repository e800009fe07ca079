//! The rules of leaderboards: results that others can check.
//!
//! Results replay, so a board can prove what it shows, if it says what a replay does not prove. This
//! crate contains the rules as a pure state machine: a [`Command`] is validated against the
//! [`BoardState`] and yields events, the events form a hash-chained log, and rows, ranks and releases
//! follow from the log alone.
//!
//! | question | item |
//! | --- | --- |
//! | What does a board fix? | [`check_definition`] |
//! | What happens now? | [`Board`], [`Command`] |
//! | Why was that refused? | [`Rejection`], [`Rule`], [`check_environment`], [`check_kind`] |
//! | What are the ranks? | [`board_rows`], [`compare_rows`] |
//! | What was announced and released? | [`registration_rows`], [`release_rows`] |
//! | Is all of it true? | [`verify_board`] |
//!
//! # Invariants
//!
//! * The crate does no I/O, reads no clock and creates no random ids; callers pass them in.
//! * Replaying a log gives the same rows, and any change to a log is detected.
//! * Scores follow from the counts of replayed plays; numbers that a submission claims are never
//!   ranked.
//! * Denominators come from the board and from the registration: a missing play counts as 0.
//! * Flags never change a score, and nothing is deleted except the names of people.
//!
//! **Boundary:** the crate knows no recordings, databases or pages. `rhae-board-service` replays
//! recordings and passes in their counts.

mod board;
mod chain;
mod command;
mod comparison;
mod decide;
mod definition_check;
#[cfg(test)]
mod fixtures;
mod fold;
mod names;
mod rejection;
mod rows;
mod rule;
mod scores;
mod state;
mod suspicion;
mod system_check;
mod task_scores;
#[cfg(test)]
mod tests;
mod tiers;
mod verification;

pub use board::{Board, ReplayError};
pub use chain::ChainError;
pub use command::{Command, ORGANISER, VerifiedRow};
pub use comparison::compare_rows;
pub use decide::{check_environment, check_kind};
pub use definition_check::check_definition;
pub use fold::FoldError;
pub use names::{ERASED, erased_records};
pub use rejection::Rejection;
pub use rows::{Audience, board_rows, registration_rows, release_rows};
pub use rule::Rule;
pub use state::{
    BoardState, Correction, Entry, REGISTRATION_MS, Registration, Release, Retraction,
};
pub use system_check::fold as folded_name;
pub use verification::{Finding, verify_board};

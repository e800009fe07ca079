//! Plays and scorecards as a state machine over a catalogue of environments.
//!
//! A [`Play`] wraps an environment, applies the rules about RESET, and keeps the [`Tally`] from which everything else
//! follows. [`scorecard`] turns tallies into a card in the official shape. [`replay()`] plays a recording again and compares.
//!
//! **Invariant:** there is no I/O, clock or id here; they are passed in. The same commands give the same card.

mod card;
mod catalog;
mod play;
mod replay;
mod replica;
mod snapshot;
mod tally;

pub use card::{CardFacts, EnvironmentRuns, scorecard};
pub use catalog::{Builtin, Catalog, CatalogError};
pub use play::{Answer, Play};
pub use replay::{Mismatch, ReplayError, Replayed, first_disagreement, replay, replay_with};
pub use replica::{Departure, Origin, Replica};
pub use rhae_protocol::{ResetRule, Seen};
pub use tally::Tally;

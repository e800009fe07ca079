//! Searching environments: shortest wins, and what blind play achieves.
//!
//! Everything is generic over [`Explorable`], so that the same search runs on native games at full speed and on any
//! environment that can be copied. Results are reproducible: seeds are explicit and nothing depends on a clock.
//!
//! States are told apart by 128-bit keys; among n states two different ones are confused with a probability of about n²/2¹²⁹.

mod bounds;
mod explorable;
mod random;
mod search;

pub use bounds::{lower_bound_95, upper_bound_95};
pub use explorable::{Explorable, NativeLevel};
pub use random::{RandomPlay, random_action, random_play};
pub use search::{Search, shortest_win};

//! Searching environments: state graphs, shortest wins, and what blind play achieves.
//!
//! Everything is generic over [`Explorable`], so that the same search runs on native games at full speed and on any
//! environment that can be copied. Results are reproducible: seeds are explicit, nothing depends on a clock, and threads
//! only share the work.
//!
//! A state that packs into 126 bits is its own key. Others are told apart by 126 bits of a hash; among n of them two different
//! ones are confused with a probability of about n²/2¹²⁷.

mod batch;
mod bounds;
mod build;
mod chance;
mod check;
mod components;
mod environment;
mod expand;
mod explorable;
mod fraction;
mod graph;
mod index;
mod pages;
mod paths;
mod random;
mod search;
mod system;
mod threads;
mod within;

pub use bounds::{lower_bound_95, upper_bound_95};
pub use build::{Limits, Progress, Search, explore};
pub use chance::{Chance, Chances, ONE};
pub use check::{Check, Doubt, check};
pub use components::Components;
pub use environment::{EnvironmentLevel, Identity, key_by};
pub use explorable::{Explorable, NativeLevel};
pub use fraction::fraction;
pub use graph::{CLICKS, Graph, Policy, Stop};
pub use paths::{
    actions_along, count_shortest, edge_actions, first_win, knows_all_shortest, way_to,
};
pub use random::{RandomPlay, random_action, random_play};
pub use search::{FirstWin, shortest_win};
pub use within::win_within;

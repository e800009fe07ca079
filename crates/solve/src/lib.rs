//! A solver for the static tasks of ARC-AGI-1 and ARC-AGI-2 that needs no model: it searches for programs.
//!
//! What this crate deliberately does not know: files, clocks, threads, the names of tasks. There is no stored answer in it and no table
//! keyed by a task's content.

mod arena;
mod candidate;
mod cells;
mod features;
mod graph;
mod image;
mod language;
mod layers;
mod meter;
mod objects;
mod op;
mod quality;
mod roles;
mod rules;
mod size;
mod solver;
mod stack;
mod tree;

pub use candidate::{Candidate, LayerPicture, Method};
pub use solver::{Budget, Solution, solve_test};

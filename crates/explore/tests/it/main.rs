//! Graphs and chances, checked on chains whose answers are known and on the games that ship.

mod alike;
mod chains;
mod failing;
mod known;
mod memory;
mod random_chains;

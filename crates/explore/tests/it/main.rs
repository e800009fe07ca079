//! Tests of graphs and winning probabilities, on chains with known answers and on the shipped
//! games.

mod chains;
mod failing;
mod known_answers;
mod memory;
mod random_chains;
mod same_graph;

//! Simulated people who play a whole human study through the REST API.
//!
//! [`simulate`] starts server processes on loopback addresses with a simulated clock, sets up a study
//! under the preset of the ARC-AGI-3 paper, and lets people take part: they consent, ask for
//! environments, play stored solutions with detours and errors, pause, reload, click twice, lose
//! their connection, leave and withdraw. Servers are killed at random (`kill -9`) and started again. The result
//! compares what the servers acknowledged with what their database contains. It is the rehearsal that
//! a researcher makes before people are paid.
//!
//! `person` is the model of people, `plan` turns their intents into actions, `player` is a person at
//! the pages of the study, `kills` says when servers are killed, and `simulation` moves the clock.
//! [`SimulatedServer`] is what runs in a server process; its parent controls it over its standard input.
//!
//! # Invariants
//!
//! * Equal options give equal results, apart from ids and the time that it takes.
//! * A player learns about the study only through the REST API.
//! * Commands that change the study are sent one after the other in the order of simulated time;
//!   only actions of plays are sent in parallel.
//!
//! **Boundary:** the crate knows nothing about command-line flags.

mod alias;
mod audit;
mod chance;
mod clock;
mod error;
mod host;
mod http;
mod kills;
mod person;
mod plan;
mod player;
mod research;
mod server_process;
mod simulated_server;
mod simulation;
mod workers;

pub use alias::AliasCatalog;
pub use error::SimulationError;
pub use person::MODEL;
pub use simulated_server::SimulatedServer;
pub use simulation::{SimulationOptions, simulate};

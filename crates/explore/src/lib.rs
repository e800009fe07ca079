//! State-space search for environments: state graphs, shortest wins, and the chance of random play.
//!
//! The crate answers three questions about one level of a game:
//!
//! * **What are its states?** [`explore`] builds the [`Graph`] of all states that are reachable
//!   from the start, breadth-first and within [`Limits`].
//! * **How fast can it be won?** [`first_win`] and [`path_to`] read a shortest win off a graph;
//!   [`shortest_win`] finds one without building a graph.
//! * **How likely is a random win?** [`Chances`] bounds the probability of winning from every
//!   state, [`win_within`](win_within()) bounds the probability of winning within a number of
//!   actions, and [`exact_chance`](exact_chance()) computes it as an exact fraction if the graph is
//!   small enough. [`random_play`] estimates it by sampling.
//!
//! [`analyze`] answers all three and returns a [`LevelReport`].
//!
//! The search functions are generic over [`Explorable`]. [`NativeLevel`] implements it for native games
//! without the overhead of the environment interface. [`EnvironmentLevel`] implements it for any
//! environment that can be forked or that supports snapshots, such as a hosted game.
//!
//! # Invariants
//!
//! * Results are reproducible. Seeds are explicit, no function reads a clock, and the number of
//!   threads does not change a result. The exceptions are a search that the caller stops through
//!   `should_continue`, for example after some time, and a search that stops at the memory limit:
//!   their results may differ between runs.
//! * The probability bounds of [`Chances`] and [`win_within`](win_within()) are proved: they are
//!   computed in integer arithmetic and rounded outwards.
//! * If all states of a level pack into 126 bits, each state is its own key, so a search never
//!   confuses two states. Otherwise states are identified by a 126-bit hash, and the probability
//!   that any two of n states collide is about n²/2¹²⁷.
//!
//! The crate does no I/O and knows nothing about agents, scores or files.
//!
//! # Examples
//!
//! A gambler holds 3 of 10 coins, wins or loses one coin per action, and stops with all or none:
//!
//! ```
//! use std::convert::Infallible;
//!
//! use rhae_engine::{Action, ActionKind, ActionSet, Outcome, StateKey, key_of};
//! use rhae_explore::{
//!     Chances, Components, Explorable, Policy, SearchOptions, actions_along, exact_chance,
//!     explore, first_win, path_to,
//! };
//!
//! struct Ruin;
//!
//! impl Explorable for Ruin {
//!     type State = u8;
//!     type Error = Infallible;
//!
//!     fn start(&self) -> u8 {
//!         3
//!     }
//!
//!     fn offered(&self, _coins: &u8) -> ActionSet {
//!         ActionSet::of(&[ActionKind::Action1, ActionKind::Action2])
//!     }
//!
//!     fn step(&self, coins: &mut u8, action: Action) -> Result<Outcome, Infallible> {
//!         if action == Action::Action1 {
//!             *coins += 1;
//!         } else {
//!             *coins -= 1;
//!         }
//!         Ok(match *coins {
//!             10 => Outcome::LevelWon,
//!             0 => Outcome::GameOver,
//!             _ => Outcome::Continue,
//!         })
//!     }
//!
//!     fn key(&self, coins: &u8) -> StateKey {
//!         key_of(coins)
//!     }
//! }
//!
//! let Ok(graph) = explore(&Ruin, &SearchOptions::default(), |_| true);
//! assert!(graph.is_complete());
//! assert_eq!((graph.nodes(), graph.edges()), (11, 18));
//!
//! // The shortest win takes one action for each missing coin.
//! let win = first_win(&graph).expect("the game can be won");
//! let Ok(actions) = actions_along(&Ruin, &graph, &path_to(&graph, win));
//! assert_eq!(actions, [Action::Action1; 7]);
//!
//! // Random play wins with probability 3/10.
//! let components = Components::of(&graph);
//! let chance = Chances::of(&graph, &components, Policy::Valid, 1 << 20).at(0);
//! assert!(chance.lower() <= 0.3 && 0.3 <= chance.upper() && chance.width() < 1e-12);
//! let fraction = exact_chance(&graph, &components, Policy::Valid);
//! assert_eq!(fraction, Some(("3".to_owned(), "10".to_owned())));
//! ```

mod analysis;
mod batch;
mod bounds;
mod build;
mod bulk_build;
mod chance;
mod check;
mod components;
mod environment;
mod exact_chance;
mod expand;
mod explorable;
mod graph;
mod index;
mod level_report;
mod pages;
mod parallel;
mod paths;
mod random;
mod search;
mod spin_condvar;
mod system;
mod win_within;

pub use analysis::{Analysis, AnalysisMonitor, AnalysisOptions, analyze};
pub use bounds::{lower_bound_95, upper_bound_95};
pub use build::{Limits, Progress, SearchOptions, explore};
pub use chance::{Chance, Chances, ONE};
pub use check::{GraphCheck, GraphWarning, check_graph};
pub use components::Components;
pub use environment::{EnvironmentLevel, key_by};
pub use exact_chance::exact_chance;
pub use explorable::{Explorable, NativeLevel};
pub use graph::{CLICKS, Graph, Policy, StopReason};
pub use level_report::{
    Clicks, ComponentSummary, GraphSummary, LevelReport, ShortestWin, WinChance,
};
pub use paths::{
    actions_along, count_shortest_wins, edge_actions, first_win, has_all_shortest_wins, path_to,
};
pub use random::{RandomPlay, random_action, random_play};
pub use rhae_engine::Identity;
pub use search::{WinSearch, shortest_win};
pub use win_within::win_within;

//! Is an environment fit to measure anything? Named rules, each with a verdict, evidence and a sentence for its author.
//!
//! The rules are those of the ARC-AGI-3 paper's qualification (section 3.5), made exact where a level's states can be searched.
//! Anything that can be played can be checked: a [`Subject`] opens plays behind the [`Environment`](rhae_engine::Environment)
//! interface, and [`NativeSubject`] adds what native games know of themselves.
//!
//! The work is cut into [`Part`]s that do not depend on each other, so that a caller may run them on several threads;
//! [`reports`] puts their findings together. **Invariant:** what a part finds depends on the subject and the [`Options`] alone, but for
//! speed and memory, which a caller measures through [`Watch`].
//!
//! **Boundary:** no files, no clock, no threads: evidence is a list of actions, and whoever calls makes recordings of it.

mod design;
mod finding;
mod fuzz;
mod graph;
mod laws;
mod levels;
mod luck;
mod memory;
mod native;
mod novelty;
mod opened;
mod part;
mod rule;
mod solvable;
mod structure;
mod subject;
mod tokens;
mod walk;

pub use finding::{Evidence, Finding, RuleReport, Verdict, reports};
pub use graph::{GraphLimits, LevelGraph, NoGraph, level_graph};
pub use native::NativeSubject;
pub use novelty::{Alike, TOO_MUCH_IN_COMMON, Traits, graph_shape};
pub use opened::OpenedSubject;
pub use part::{Part, Weight, check, parts};
pub use rule::{Group, Rule};
pub use subject::{LevelUndo, Stored, Subject};
pub use tokens::{Language, tokens};
pub use walk::Watch;

/// How an environment is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Seed of everything that is drawn at random here.
    pub seed: u64,
    /// Seed of the environment.
    pub env_seed: u64,
    /// Steps of each regime of random play; the first is never longer than 50,000.
    pub steps: u64,
    /// Whether a single win by luck fails, as the paper reads it.
    pub strict: bool,
    /// How far state graphs are searched.
    pub limits: GraphLimits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            env_seed: 0,
            steps: 1_000_000,
            strict: false,
            limits: GraphLimits::default(),
        }
    }
}

/// Attempts at a level are this many times its baseline long, and so is the time in which chance may win it.
pub const ATTEMPT: u32 = 5;
/// The baseline where none is known.
pub const UNKNOWN_BASELINE: u32 = 40;
/// A level is accepted if random play wins it no more often than this.
pub const LUCK_LIMIT: f64 = 1e-4;

//! Validation of environments: named rules, each with a verdict, evidence, and advice for the
//! author.
//!
//! The rules follow the qualification procedure of the ARC-AGI-3 paper (section 3.5). If the state
//! graph of a level can be built completely, the rules about random wins, dead ends and shortest
//! wins are decided exactly instead of by sampling.
//!
//! # How a validation works
//!
//! A [`Subject`] is an environment that can be opened as often as necessary. [`NativeSubject`]
//! wraps a native game, and [`EnvironmentSubject`] wraps any function that opens an
//! [`Environment`](rhae_engine::Environment), such as a hosted game.
//!
//! [`validate`] runs all checks of some [`Candidate`]s on threads. [`parts`] splits the validation
//! of a subject into independent [`Part`]s, [`check`] runs one part and returns its [`Finding`]s,
//! and [`reports`] combines the findings of all parts into one [`RuleReport`] for each [`Rule`]. A
//! [`Monitor`] receives progress, can cancel a part, and supplies what this crate cannot provide: a
//! clock, the memory of the process, and replays in a new process.
//!
//! # Invariants
//!
//! * The findings of a part depend only on the subject and the [`Options`]. The exceptions are
//!   findings that use the [`Monitor`]: speed, memory, replays in a new process, and parts that the
//!   caller cancels.
//! * The crate does no I/O and reads no clock. [`validate`] starts threads and joins them before it
//!   returns. Evidence is a list of actions; the caller turns it into recordings.
//!
//! # Examples
//!
//! Validates the structure of a shipped game:
//!
//! ```
//! use rhae_engine::Game;
//! use rhae_validate::{NativeSubject, Options, Part, Rule, Verdict, check, reports};
//!
//! struct Structure;
//!
//! impl rhae_games::Visitor for Structure {
//!     type Output = Vec<rhae_validate::RuleReport>;
//!
//!     fn visit<G: Game>(self) -> Self::Output {
//!         let subject = NativeSubject::<G>::new(0, Vec::new());
//!         // `()` is a monitor that measures nothing and never cancels.
//!         reports(&check(&subject, Part::Structure, &Options::default(), &()))
//!     }
//! }
//!
//! let reports = rhae_games::visit("kq19-v1", Structure).expect("the game is registered");
//! let verdict = |rule: Rule| reports.iter().find(|report| report.rule == rule).map(|r| r.verdict);
//! assert_eq!(verdict(Rule::Loads), Some(Verdict::Pass));
//! assert_eq!(verdict(Rule::Solutions), Some(Verdict::Pass));
//! // Rules that belong to other parts are open.
//! assert_eq!(verdict(Rule::Memory), Some(Verdict::Open));
//! ```

mod design;
mod environment_subject;
mod environment_verdict;
mod finding;
mod fuzz;
mod graph;
mod laws;
mod levels;
mod luck;
mod native_subject;
mod novelty;
mod part;
mod rule;
mod rule_set;
mod rules;
mod schedule;
mod solvable;
mod structure;
mod subject;
mod tokens;
mod walk;

pub use environment_subject::EnvironmentSubject;
pub use environment_verdict::EnvironmentVerdict;
pub use finding::{Evidence, Finding, RuleReport, Verdict, reports};
pub use graph::{GraphError, GraphLimits, LevelGraph, level_graph};
pub use native_subject::NativeSubject;
pub use novelty::{SIMILARITY_LIMIT, Similarity, Traits, graph_shape};
pub use part::{Part, Weight, check, parts};
pub use rule::Group;
pub use rule_set::RuleSet;
pub use rules::{Rule, UnknownRule};
pub use schedule::{Candidate, ValidateError, Validated, validate};
pub use subject::{StoredRecording, Subject, UndoCheck};
pub use tokens::{Language, tokens};
pub use walk::Monitor;

/// Options of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The seed of all random play in the validation.
    pub seed: u64,
    /// The seed of the environment.
    pub env_seed: u64,
    /// The number of steps of each regime of random play. The first regime is limited to 50,000
    /// steps.
    pub steps: u64,
    /// Whether a single win by random play is enough to fail a rule, as in the paper.
    pub strict: bool,
    /// The limits of the state graphs.
    pub limits: GraphLimits,
    /// The rules to check. Failures to load and other failures of the environment are reported
    /// whether selected or not.
    pub rules: RuleSet,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            env_seed: 0,
            steps: 1_000_000,
            strict: false,
            limits: GraphLimits::default(),
            rules: RuleSet::ALL,
        }
    }
}

/// The length of a random attempt at a level, as a multiple of the level's baseline. The
/// probability of a random win is computed for the same number of actions.
pub const ATTEMPT_FACTOR: u32 = 5;
/// The baseline, in actions, of a level without a known baseline.
pub const DEFAULT_BASELINE: u32 = 40;
/// The maximum probability with which a random attempt may win a level.
pub const LUCK_LIMIT: f64 = 1e-4;

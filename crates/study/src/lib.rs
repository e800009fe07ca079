//! The rules of human studies: from invitation to published baseline.
//!
//! A benchmark compares machines with people, so people have to be measured. This crate contains the
//! rules of such a study as a pure state machine: a [`Command`] is validated against the
//! [`StudyState`] and yields events, the events form a hash-chained log, and the state is the fold of
//! the log. A server stores the log; a command line reads it.
//!
//! | question | item |
//! | --- | --- |
//! | What are the rules of this study? | [`Preset`], [`check_protocol`] |
//! | What happens now? | [`Study`], [`Command`], [`obligations()`] |
//! | How much time is left? | [`Study::clock`] |
//! | Which environment is next? | [`candidates`], [`next_environment`] |
//! | What does a play count as? | [`standing_of`], [`judge_effort`] |
//! | Is an environment accepted? | [`verdicts`], [`environment_counts`] |
//! | What are the results? | [`environment_baselines`], [`own_scores()`], [`environment_report()`], [`study_report()`], [`duration_bins`], [`difficulty_report`] |
//! | What is owed? | [`Ledger`], [`sitting_fee_minor`], [`books_balance`] |
//! | How long is contact data kept? | [`contact_has_expired`] |
//! | What leaves the house? | [`private_tables`], [`public_tables`], [`publishable_baselines`] |
//! | Is all of it true? | [`verify_study`] |
//!
//! # Invariants
//!
//! * The crate does no I/O, reads no clock and creates no random ids; callers pass them in.
//! * Replaying a log gives the same state, and any change to a log is detected.
//! * A person sees an environment family at most once, from the first frame on.
//! * Test and pilot rows never count.
//! * Exclusions can be undone, and never change pay.
//!
//! **Boundary:** the crate knows no plays, frames, databases, pages or identities. Counts come from
//! the replayed log of a play, and contact data is stored elsewhere.

mod assignment;
mod attempt_rule;
mod baselines;
mod canonical;
mod chain;
mod clock;
mod command;
mod completion;
mod decide;
mod durations;
mod environment_report;
mod export;
#[cfg(test)]
mod fixtures;
mod fold;
mod ledger;
mod low_effort;
mod obligations;
mod own_scores;
mod pay;
mod planner;
mod preset;
mod protocol_check;
mod rejection;
mod retention;
mod roles;
mod rows;
mod state;
mod study;
mod study_report;
mod verdict;
mod verification;

pub use assignment::{
    Candidate, EnvironmentLoad, candidates, environment_loads, fixed_block, need_tenths,
    next_environment,
};
pub use attempt_rule::{Standing, standing_of};
pub use baselines::{environment_baselines, publishable_baselines};
pub use canonical::{canonical_json, digest, text_digest};
pub use chain::ChainError;
pub use clock::{ClockReading, Limit, Moment, PlayClock, read_clock};
pub use command::{
    Command, EndRequest, MoneyCommand, PersonCommand, ReviewCommand, SetupCommand, SittingCommand,
};
pub use completion::{Completion, completion};
pub use durations::duration_bins;
pub use environment_report::{
    EnvironmentReport, LEFT, LevelReport, SOLVED, StoppedPlay, environment_report, stopped_plays,
};
pub use export::{ExportColumn, ExportTable, private_tables, public_tables};
pub use fold::FoldError;
pub use ledger::{Ledger, LedgerEntry, LedgerTotals, PaymentStatus};
pub use low_effort::{
    EffortFinding, EffortVerdict, LOW_EFFORT, is_quick_quit, judge_effort, sitting_effort,
};
pub use obligations::{Obligation, obligations};
pub use own_scores::{OwnScore, own_level_scores, own_scores};
pub use pay::{books_balance, sitting_fee_minor};
pub use planner::{PlanAssumptions, StudyPlan, plan_study};
pub use preset::{ANALYSIS_VERSION, NO_ANSWER, Preset, UnknownPreset};
pub use protocol_check::{ProtocolViolation, check_protocol};
pub use rejection::Rejection;
pub use retention::{RETENTION_MS, contact_has_expired};
pub use roles::{Permission, Role, allows};
pub use rows::{AttemptRow, Selection, exclusion_set, live_attempts};
pub use state::{
    Arm, Assignment, AssignmentState, Consent, EndedAttempt, ErasedPerson, Exclusion,
    FrozenProtocol, INITIAL_SHARE_TENTHS, Member, OpenAttempt, Participant, PooledEnvironment,
    Publication, Recruiter, Session, Site, Sitting, SittingEnding, StudyPhase, StudyState,
    Withdrawal,
};
pub use study::{ReplayError, Study};
pub use study_report::{
    DifficultyReport, MIN_PEOPLE_FOR_DIFFICULTY, demographic_counts, difficulty_report,
    study_report,
};
pub use verdict::{EnvironmentCounts, SolveRate, Verdict, environment_counts, verdicts};
pub use verification::{Finding, verify_study};

//! Human studies in a database.
//!
//! `rhae-study` contains the rules of a study as a pure state machine, and `rhae-store` keeps its
//! log. This crate joins them: [`StudyService`] loads the state of a study from its log, decides on
//! a command, and appends the records that the command causes.
//!
//! | question | item |
//! | --- | --- |
//! | How is a command executed? | [`StudyService`] |
//! | What did a participant do in a play? | [`count_play`], [`PlayCounter`] |
//! | Where did people click? | [`click_map`] |
//! | Where is contact data? | [`IdentityKey`] |
//! | How is a study set up? | [`create_study`], [`check_study`] |
//! | What is its state, and what are its results? | [`study_status`], [`study_results`] |
//! | Which sittings are open, and which have ended? | [`live_sittings`], [`sitting_rows`] |
//! | How are people paid? | [`open_payments`], [`send_batch`], [`confirm_batch`] |
//! | What leaves the house? | [`export_study`], [`publish_baselines`], [`author_report()`] |
//! | Is all of it true? | [`verify_stored_study`] |
//!
//! # Invariants
//!
//! * A command is decided on the newest log. Of two servers that decide at the same time, one
//!   appends, and the other decides again.
//! * The records of a command are stored completely or not at all, together with the removal of
//!   the records of an erased person and with a published file.
//! * Counts of a play come from a replay that agrees with every entry of its log.
//! * Contact data leaves this crate only encrypted, and every decryption is recorded.
//!
//! **Boundary:** the crate reads no clock; callers pass in times.

mod author_report;
mod clicks;
mod counts;
mod error;
mod export;
mod identity;
mod payments;
mod publication;
mod results;
mod review;
mod service;
mod setup;
mod sittings;
mod status;
mod verification;

pub use author_report::{AuthorReportError, author_report, author_reports, returned_environments};
pub use clicks::{click_map, plays_of};
pub use counts::{CountError, PlayCounter, count_play};
pub use error::StudyError;
pub use export::{ExportError, export_study};
pub use identity::{Contact, IdentityError, IdentityKey};
pub use payments::{
    EXTERNAL_ID, OpenPayment, confirm_batch, open_payments, payment_csv, prolific_lines, send_batch,
};
pub use publication::{newest_publication, next_baselines, publish_baselines};
pub use results::{add_optima, study_results};
pub use review::{
    erase_person, event_kinds, exclusion_target, read_contact, remove_expired_contacts,
    write_new_file,
};
pub use service::{StudyService, check_study_id};
pub use setup::{
    Expectation, MAIN_ARM, NewSite, NewStudy, add_environment, check_study, create_study,
};
pub use sittings::{live_sittings, sitting_of_play, sitting_rows};
pub use status::{coverage, study_listing, study_payments, study_status};
pub use verification::verify_stored_study;

//! Leaderboards in a database.
//!
//! `rhae-board` contains the rules of a board as a pure state machine, and `rhae-store` keeps its
//! log. This crate joins them, and replays the recordings of runs, so that every score on a board
//! comes from a replay by the board.
//!
//! | question | item |
//! | --- | --- |
//! | How is a command executed? | [`BoardService`] |
//! | What is in a run folder? | [`RunFiles`] |
//! | Is a run what it claims to be? | [`verify_run`] |
//! | Were the plays on this server? | [`BoardService::witness`] |
//! | What is the set of a board? | [`board_set`], [`task_set()`] |
//! | What does a board show? | [`board_view`], [`board_listing`], [`entry_view()`] |
//! | How do others check it? | [`export_board`], [`check_export`] |
//! | How are submissions exchanged? | [`parse_submission`], [`submission_yaml`] |
//!
//! # Invariants
//!
//! * A command is decided on the newest log. Of two servers that decide at the same time, one
//!   appends, and the other decides again.
//! * A run enters a row only after every recording was replayed without a difference and within the
//!   budget. The counts in its journal are not used.
//! * Answers to static tasks are scored with the solutions that the board stores.
//! * The files of a run are stored in the transaction of its record, so that an export can be
//!   checked from nothing but its own files.
//!
//! **Boundary:** the crate reads no clock; callers pass in times. It opens no network connections.

mod answer_check;
mod ease;
mod entry_view;
mod environment_set;
mod erasure;
mod error;
mod export;
mod export_check;
mod run_check;
mod run_files;
mod service;
mod submission;
mod task_set;
mod verifier;
mod view;
mod witness;

pub use ease::{freeze_order, frozen_order, order_by_people};
pub use entry_view::{entry_play, entry_view};
pub use environment_set::board_set;
pub use error::BoardError;
pub use export::{export_board, rows_csv};
pub use export_check::check_export;
pub use run_check::{RunError, verify_run};
pub use run_files::RunFiles;
pub use service::{BoardService, Submission, check_board_id};
pub use submission::{
    SubmittedVersion, parse_submission, submission_benchmark, submission_yaml, submitted_version,
};
pub use task_set::{task_set, tasks_text};
pub use view::{board_change, board_listing, board_view};

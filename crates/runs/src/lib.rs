//! The parts that every long run shares, whether agents play environments (`rhae-harness`) or
//! solvers answer tasks (`rhae-eval`).
//!
//! | item | role |
//! | --- | --- |
//! | [`RunFolder`] | the folder of a run: its effective configuration, and atomic writes of its files |
//! | [`Journal`] | the durable record of a run: JSON lines, appended and synced |
//! | [`SpendLimit`] | the limit of money and tokens that all requests of a run share |
//! | [`interrupt_flag`] | the flag that the first SIGINT or SIGTERM sets |
//! | [`new_run_id`] | random ids of runs |
//! | [`list_runs`] | the runs in a folder, with their status and identity |
//! | [`changeable_by_others`] | whether other users can change the configuration of a run |
//!
//! # Invariants
//!
//! * **One process at a time.** The open [`Journal`] holds the lock of its run.
//! * **A crash loses no line.** When [`Journal::append`] returns, the line is synced to disk. A line
//!   that a crash or a full disk truncated never makes the others unreadable.
//! * **A limit is never exceeded** by requests whose cost or tokens have a bound: the worst case of
//!   each transmission is reserved before it is sent.
//! * **A file is complete or absent.** [`RunFolder::write`] replaces a file atomically.
//!
//! This crate knows nothing about agents, environments, tasks or solvers.
//!
//! # Examples
//!
//! ```
//! use rhae_protocol::JournalLine;
//! use rhae_runs::{Journal, RunFolder, load_lines};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let temp = tempfile::tempdir()?;
//! let folder = RunFolder::create(&temp.path().join("run"), &serde_json::json!({"seed": 7}))?;
//! let (journal, lines) = Journal::<JournalLine>::open(&folder)?;
//! assert!(lines.is_empty());
//! journal.append(&JournalLine::Started { at_ms: 5, resumed: false })?;
//!
//! // While the journal is open, no other process can open it, but any process can read it.
//! assert!(Journal::<JournalLine>::open(&folder).is_err());
//! assert_eq!(load_lines::<JournalLine>(folder.path())?.len(), 1);
//! # Ok(())
//! # }
//! ```

mod config;
mod error;
mod folder;
mod git;
mod identity;
mod ids;
mod interrupt;
mod journal;
mod listing;
mod spend_limit;
mod time;
mod trust;

pub use config::{StoredConfig, load_config, resume};
pub use error::RunsError;
pub use folder::{CONFIG, RunFolder, unused_folder};
pub use git::git_commit;
pub use identity::new_identity;
pub use ids::{format_uuid, new_run_id};
pub use interrupt::{INTERRUPTED, interrupt_flag, interrupt_on_usr1};
pub use journal::{JOURNAL, Journal, load_lines};
pub use listing::{describe_run, find_run, list_runs, remove_run};
pub use spend_limit::{SpendLimit, SpendLimits, Spent, nano_usd_up};
pub use time::now_ms;
pub use trust::changeable_by_others;

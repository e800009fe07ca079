//! Work that many processes share: units, leases and money, as a pure state machine over an event
//! log.
//!
//! A [`Unit`] is one play of a run; its key is a hash of everything that determines its result. A
//! [`Job`] is the state of all units. A coordinator asks the job for a decision, appends the returned
//! [`WorkEvent`]s to its log, and only then applies them and answers. A coordinator that restarts
//! applies its log and continues. An [`EventLog`] is a file, a database or memory.
//!
//! # Invariants
//!
//! * **A unit has one result.** A lease has an epoch, and each further lease of the same unit has the
//!   next one. A result of an earlier epoch is refused, however late it arrives.
//! * **The state follows from the log.** Applying the events of a log to a new job gives the job that
//!   wrote them.
//! * **The spend limit holds over all workers.** The worst case of a transmission is reserved before
//!   it is sent. A reservation whose worker disappeared counts until it is settled.
//! * **Nothing is lost silently.** A unit whose workers end by themselves too often is given up and
//!   listed. A lost machine is not the fault of its unit.
//!
//! The crate does no I/O and reads no clock; callers pass in the time. It knows nothing about agents
//! or environments.
//!
//! # Examples
//!
//! A worker freezes, another takes its unit, and the result of the first comes too late:
//!
//! ```
//! use rhae_protocol::{Digest, UnitKey};
//! use rhae_work::{Job, LeasePolicy, Rejection, WorkLimit};
//!
//! let unit = UnitKey("play".to_owned());
//! let mut job = Job::new(LeasePolicy::default(), [unit.clone()], WorkLimit::default());
//! let lease = job.lease("slow", 0).expect("a unit is open");
//! job.apply(&lease)?;
//!
//! // Its lease ends after 60 seconds.
//! for event in job.expire(60_000) {
//!     job.apply(&event)?;
//! }
//! let lease = job.lease("fast", 61_000).expect("the unit is open again");
//! job.apply(&lease)?;
//! let commit = job.commit(&unit, 2, &Digest("aa".to_owned()))?;
//! job.apply(&commit.expect("it is the first result"))?;
//!
//! let late = job.commit(&unit, 1, &Digest("aa".to_owned()));
//! assert!(matches!(late, Err(Rejection::StaleLease { epoch: 1, current: 2 })));
//! assert!(job.is_finished());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod event_log;
mod job;
mod rejection;
mod settings;
mod spending;
#[cfg(test)]
mod tests;
mod unit;

pub use event_log::{AppendError, EventLog};
pub use job::{Job, LeasePolicy, Phase, UnitState};
pub use rejection::{LogError, Rejection};
pub use rhae_protocol::WorkEvent;
pub use settings::{first_difference, settings_digest, text_digest};
pub use spending::WorkLimit;
pub use unit::{Unit, units};

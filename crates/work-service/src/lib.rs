//! Coordinators and workers: units of work are distributed over processes and machines.
//!
//! # Overview
//!
//! | type | role |
//! | --- | --- |
//! | [`Workload`] | one kind of work: its units, and how results are verified and stored |
//! | [`Coordinator`] | leases units to workers, and answers their requests |
//! | [`Executor`] | executes the units of one kind in a worker |
//! | [`work()`] | a worker: leases, executes and reports units |
//! | [`LeaseLink`] | the spend limit of all workers, and a log that survives the worker |
//! | [`run_local_workers`], [`run_ray_workers`], [`run_slurm_workers`] | start workers |
//!
//! The crates `harness`, `eval` and `inspect` define what plays, tasks, environments and levels are as
//! units. A [`Coordinator`] answers bodies of requests; who listens for them is the caller's choice.
//!
//! # Invariants
//!
//! * **One result for each unit.** It is stored after it was verified, under the current lease.
//! * **Money is reserved before it is spent**, from one limit for all workers.
//! * **What was paid is not paid again.** A log that a worker adds to is stored by the coordinator
//!   before the worker continues, and the next worker of the unit gets it.
//!
//! This crate knows nothing about agents, environments, tasks or solvers.

mod client;
mod coordinator;
mod error;
mod event_log;
mod lease_link;
mod local_workers;
mod ray_workers;
pub mod slurm;
mod slurm_workers;
mod software;
#[cfg(test)]
mod tests;
mod worker;
mod workload;

pub use client::WorkClient;
pub use coordinator::{Clock, Coordinator, CoordinatorOptions, WorkAnswer};
pub use error::DistributeError;
pub use event_log::{FolderLog, MemoryLog};
pub use lease_link::LeaseLink;
pub use local_workers::{WorkerCommand, run_local_workers};
pub use ray_workers::{RayRequest, address_towards, run_ray_workers};
pub use rhae_work::{AppendError, EventLog, LeasePolicy, WorkLimit};
pub use slurm_workers::{SlurmWorkers, run_slurm_workers};
pub use worker::{Executor, UnitContext, UnitEnd, work};
pub use workload::{NamedUnit, Workload};

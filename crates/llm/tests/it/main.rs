//! Models behind a server that misbehaves.

mod faults;
mod limits;
mod recorded;
mod setup;

//! Interruption by signals: long work stops early, reports partial results and marks them as such.

pub(crate) use rhae_runs::{INTERRUPTED, interrupt_flag};

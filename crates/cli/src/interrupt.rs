//! Interruption by signals: long work stops early, reports partial results and marks them as such.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit code of interrupted work.
pub(crate) const INTERRUPTED: u8 = 130;

/// Returns a flag that the first SIGINT or SIGTERM sets. A second signal ends the process
/// immediately.
pub(crate) fn interrupt_flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order of registration matters: the first signal finds the flag unset and sets it; the
        // second finds it set and ends the process.
        flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&flag))
            .context("cannot listen for signals")?;
        flag::register(signal, Arc::clone(&flag)).context("cannot listen for signals")?;
    }
    Ok(flag)
}

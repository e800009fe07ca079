//! Interruption by signals: long work stops early, reports partial results and marks them as such.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;

use crate::RunsError;

/// The exit code of interrupted work.
pub const INTERRUPTED: u8 = 130;

/// Returns a flag that the first SIGINT or SIGTERM sets. A second signal ends the process
/// immediately with the exit code [`INTERRUPTED`].
///
/// # Errors
///
/// Returns [`RunsError::Signals`] if the signals cannot be handled.
pub fn interrupt_flag() -> Result<Arc<AtomicBool>, RunsError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order of registration matters: the first signal finds the flag unset and sets it; the
        // second finds it set and ends the process.
        flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&interrupted))
            .map_err(RunsError::Signals)?;
        flag::register(signal, Arc::clone(&interrupted)).map_err(RunsError::Signals)?;
    }
    Ok(interrupted)
}

/// Sets a flag when SIGUSR1 arrives, which schedulers send before a time limit.
///
/// # Errors
///
/// Returns [`RunsError::Signals`] if the signal cannot be handled.
pub fn interrupt_on_usr1(interrupted: &Arc<AtomicBool>) -> Result<(), RunsError> {
    flag::register(SIGUSR1, Arc::clone(interrupted)).map_err(RunsError::Signals)?;
    Ok(())
}

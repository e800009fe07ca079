//! Being interrupted: long work ends early, tells what it has, and says that it is not all.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit code of work that was interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

/// A flag that Ctrl-C or a request to end raises; a second one ends the process at once.
pub(crate) fn interrupt_flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the first signal finds the flag down and raises it, the second finds it up.
        flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&flag))
            .context("cannot listen for signals")?;
        flag::register(signal, Arc::clone(&flag)).context("cannot listen for signals")?;
    }
    Ok(flag)
}

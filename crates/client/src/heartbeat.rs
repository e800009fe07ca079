//! Keeps cards open while agents think, on servers with a heartbeat endpoint.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::retry_policy::sleep;
use crate::{Card, ClientError};

/// A thread that periodically sends a heartbeat for each open card, until the value is dropped.
pub struct Heartbeat {
    stop: Arc<AtomicBool>,
    last_error: Arc<Mutex<Option<ClientError>>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts the thread, which calls `cards` before each round to learn which cards are open. The
    /// thread ends after the first heartbeat if the server has no heartbeat endpoint.
    pub fn start(interval: Duration, cards: impl Fn() -> Vec<Arc<Card>> + Send + 'static) -> Self {
        let (stop, last_error) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None)));
        let (stopped, report) = (Arc::clone(&stop), Arc::clone(&last_error));
        let thread = std::thread::spawn(move || {
            while sleep(interval, &stopped) {
                for card in cards() {
                    match card.heartbeat() {
                        Ok(true) => {}
                        Ok(false) => return,
                        // The next heartbeat may succeed. If the card is closed, its plays fail
                        // with errors of their own.
                        Err(error) => {
                            *report.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                        }
                    }
                    if stopped.load(Ordering::Relaxed) {
                        return;
                    }
                }
            }
        });
        Self {
            stop,
            last_error,
            thread: Some(thread),
        }
    }

    /// Returns the error of the last failed heartbeat.
    pub fn last_error(&self) -> Option<ClientError> {
        self.last_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A thread that still waits for a response is detached; a late heartbeat does no harm.
        if let Some(thread) = self.thread.take().filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
    }
}

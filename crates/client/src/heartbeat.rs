//! Keeps cards open while agents think, on servers that know how.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::patience::sleep;
use crate::{Card, ClientError};

/// A thread that sends a heartbeat for each open card now and then, until it is dropped.
pub struct Heartbeat {
    stop: Arc<AtomicBool>,
    problem: Arc<Mutex<Option<ClientError>>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts it. `cards` is asked each time which cards are open. A server without heartbeats is asked once.
    pub fn start(interval: Duration, cards: impl Fn() -> Vec<Arc<Card>> + Send + 'static) -> Self {
        let (stop, problem) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None)));
        let (stopped, report) = (Arc::clone(&stop), Arc::clone(&problem));
        let thread = std::thread::spawn(move || {
            while sleep(interval, &stopped) {
                for card in cards() {
                    match card.heartbeat() {
                        Ok(true) => {}
                        Ok(false) => return,
                        // The next heartbeat may succeed; a card that was closed is found out by its plays.
                        Err(error) => {
                            *report.lock().unwrap_or_else(PoisonError::into_inner) = Some(error)
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
            problem,
            thread: Some(thread),
        }
    }

    /// What went wrong last, if anything did.
    pub fn problem(&self) -> Option<ClientError> {
        self.problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // One that waits for an answer is left behind; it changes nothing.
        if let Some(thread) = self.thread.take().filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
    }
}

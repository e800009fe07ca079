//! Wakes the clients that follow a play when the play advances.
//!
//! One task receives the store's announcements and wakes only the listeners of the announced play,
//! so a server with many plays and few listeners does little work. A wake-up carries no data: the
//! listener reads the log itself, at its own speed.
//!
//! **Invariant:** the number of listeners is bounded, and a play never waits for a listener.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rhae_store::{PlayId, Store};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use crate::ApiError;

/// The listeners of a server, at most `max`.
pub(crate) struct Listeners {
    store: Arc<dyn Store>,
    keep_alive: Duration,
    shared: Arc<Shared>,
}

/// The part that subscriptions and the forwarding task share. It does not hold the store, so that
/// an idle forwarding task does not keep the store open after a shutdown.
struct Shared {
    max: usize,
    table: Mutex<Table>,
    ending: watch::Sender<bool>,
}

#[derive(Default)]
struct Table {
    plays: HashMap<PlayId, watch::Sender<()>>,
    count: usize,
    /// Whether the task that forwards announcements is running.
    forwarding: bool,
}

/// A listener's registration, which ends when it is dropped.
pub(crate) struct Subscription {
    listeners: Arc<Shared>,
    play: PlayId,
    updates: watch::Receiver<()>,
    ending: watch::Receiver<bool>,
}

impl Listeners {
    pub(crate) fn new(store: Arc<dyn Store>, max: usize, keep_alive: Duration) -> Self {
        let shared = Arc::new(Shared {
            max,
            table: Mutex::default(),
            ending: watch::Sender::new(false),
        });
        Self {
            store,
            keep_alive,
            shared,
        }
    }

    /// How long an event stream may be silent before the server sends a keep-alive comment.
    pub(crate) const fn keep_alive(&self) -> Duration {
        self.keep_alive
    }

    /// Registers a listener for a play, unless the limit is reached.
    pub(crate) fn subscribe(&self, play: PlayId) -> Result<Subscription, ApiError> {
        let shared = &self.shared;
        let mut table = shared.table();
        if table.count >= shared.max {
            return Err(ApiError::TooManyListeners);
        }
        table.count += 1;
        let updates = table.plays.entry(play).or_default().subscribe();
        if !table.forwarding {
            table.forwarding = true;
            tokio::spawn(Arc::clone(shared).forward(self.store.subscribe()));
        }
        Ok(Subscription {
            listeners: Arc::clone(shared),
            play,
            updates,
            ending: shared.ending.subscribe(),
        })
    }

    /// Ends all event streams, because the server shuts down.
    pub(crate) fn end(&self) {
        self.shared.ending.send_replace(true);
    }
}

impl Shared {
    /// Forwards announcements until the last listener is gone.
    async fn forward(self: Arc<Self>, mut advanced: broadcast::Receiver<PlayId>) {
        loop {
            let announcement = advanced.recv().await;
            let mut table = self.table();
            if table.plays.is_empty() || announcement == Err(RecvError::Closed) {
                table.forwarding = false;
                return;
            }
            let affected = match announcement {
                Ok(play) => table.plays.get(&play).into_iter().collect(),
                // Announcements were lost, so every listener is woken and reads its log.
                Err(_) => table.plays.values().collect::<Vec<_>>(),
            };
            affected
                .into_iter()
                .for_each(|updates| updates.send_replace(()));
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // No code that holds the lock panics between two related changes, so a poisoned table is
        // consistent.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// Waits until the play may have advanced. Returns `false` when the server shuts down.
    pub(crate) async fn changed(&mut self) -> bool {
        tokio::select! {
            _ = self.ending.wait_for(|ending| *ending) => false,
            updates = self.updates.changed() => updates.is_ok(),
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut table = self.listeners.table();
        table.count -= 1;
        if table
            .plays
            .get(&self.play)
            .is_some_and(|updates| updates.receiver_count() == 1)
        {
            table.plays.remove(&self.play);
        }
    }
}

//! Wakes the clients that follow a play when the play advances.
//!
//! One task receives the store's announcements and wakes only the listeners of the announced play,
//! so a server with many plays and few listeners does little work. A wake-up carries no data: the
//! listener reads the log itself, at its own speed.
//!
//! **Invariant:** the number of listeners is bounded, and a play never waits for a listener.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rhae_store::{PlayId, Store};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

/// The listeners of a server, at most `max`.
pub(crate) struct Listeners {
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
    listeners: Arc<Listeners>,
    play: PlayId,
    updates: watch::Receiver<()>,
    ending: watch::Receiver<bool>,
}

impl Listeners {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            table: Mutex::default(),
            ending: watch::Sender::new(false),
        }
    }

    /// Registers a listener for a play. Returns `None` if the limit is reached.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        store: &dyn Store,
        play: PlayId,
    ) -> Option<Subscription> {
        let mut table = self.table();
        if table.count >= self.max {
            return None;
        }
        table.count += 1;
        let updates = table.plays.entry(play).or_default().subscribe();
        if !table.forwarding {
            table.forwarding = true;
            tokio::spawn(Arc::clone(self).forward(store.subscribe()));
        }
        Some(Subscription {
            listeners: Arc::clone(self),
            play,
            updates,
            ending: self.ending.subscribe(),
        })
    }

    /// Ends all event streams, because the server shuts down.
    pub(crate) fn end(&self) {
        self.ending.send_replace(true);
    }

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

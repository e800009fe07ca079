//! Wakes the clients that follow a play when the play advances.
//!
//! One task receives the store's announcements and wakes only the listeners of the announced play,
//! so a server with many plays and few listeners does little work. A wake-up carries no data: the
//! listener reads the log itself, at its own speed.
//!
//! Clients share the listeners fairly: if all are taken, a client whose address has fewer than
//! others takes the place of the newest listener of the address that has the most.
//!
//! **Invariant:** the number of listeners is bounded, and a play never waits for a listener.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use rhae_store::{Owner, PlayId, Store};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc::Sender;
use tokio::sync::{Notify, broadcast, watch};

use crate::fair_pool::{FairPool, Refusal};
use crate::network::ClientAddress;
use crate::{ApiError, Config};

/// The listeners of a server, at most [`Config::listeners`].
pub(crate) struct Listeners {
    store: Arc<dyn Store>,
    keep_alive: Duration,
    shared: Arc<Shared>,
}

/// The part that subscriptions and the forwarding task share. It does not hold the store, so that
/// an idle forwarding task does not keep the store open after a shutdown.
struct Shared {
    max_per_key: Option<usize>,
    max_per_address: Option<usize>,
    table: Mutex<Table>,
    ending: watch::Sender<bool>,
}

struct Table {
    plays: HashMap<PlayId, watch::Sender<()>>,
    /// The listeners by address, each with the signal that ends it.
    slots: FairPool<ClientAddress, Arc<Notify>>,
    /// The number of listeners of each key.
    keys: HashMap<Owner, usize>,
    /// Whether the task that forwards announcements is running.
    forwarding: bool,
}

/// A listener's registration, which ends when it is dropped.
pub(crate) struct Subscription {
    listeners: Arc<Shared>,
    play: PlayId,
    owner: Owner,
    address: ClientAddress,
    slot: u64,
    eviction: Arc<Notify>,
    updates: watch::Receiver<()>,
    ending: watch::Receiver<bool>,
}

impl Listeners {
    pub(crate) fn new(store: Arc<dyn Store>, config: &Config) -> Self {
        let shared = Arc::new(Shared {
            max_per_key: config.limits.streams_per_key,
            max_per_address: config.limits.streams_per_address,
            table: Mutex::new(Table {
                plays: HashMap::new(),
                slots: FairPool::new(config.listeners),
                keys: HashMap::new(),
                forwarding: false,
            }),
            ending: watch::Sender::new(false),
        });
        Self {
            store,
            keep_alive: Duration::from_millis(config.keep_alive_ms),
            shared,
        }
    }

    /// How long an event stream may be silent before the server sends a keep-alive comment.
    pub(crate) const fn keep_alive(&self) -> Duration {
        self.keep_alive
    }

    /// Registers a listener for a play, unless a limit is reached.
    pub(crate) fn subscribe(
        &self,
        play: PlayId,
        owner: Owner,
        address: ClientAddress,
    ) -> Result<Subscription, ApiError> {
        let shared = &self.shared;
        let mut table = shared.table();
        let of_key = table.keys.get(&owner).copied().unwrap_or(0);
        if let Some(max) = shared.max_per_key.filter(|&max| of_key >= max) {
            let holder = "key";
            return Err(ApiError::TooManyStreams { max, holder });
        }
        let eviction = Arc::new(Notify::new());
        let admitted = table
            .slots
            .admit(&address, shared.max_per_address, &eviction, |_| true)
            .map_err(|refusal| match refusal {
                Refusal::HolderLimit(max) => ApiError::TooManyStreams {
                    max,
                    holder: "address",
                },
                Refusal::Full => ApiError::TooManyListeners,
            })?;
        if let Some(evicted) = admitted.evicted {
            evicted.notify_one();
        }
        *table.keys.entry(owner).or_default() += 1;
        let updates = table.plays.entry(play).or_default().subscribe();
        if !table.forwarding {
            table.forwarding = true;
            tokio::spawn(Arc::clone(shared).forward(self.store.subscribe()));
        }
        Ok(Subscription {
            listeners: Arc::clone(shared),
            play,
            owner,
            address,
            slot: admitted.id,
            eviction,
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
    /// Returns the signal that ends the listener in favour of another client.
    pub(crate) fn eviction(&self) -> Arc<Notify> {
        Arc::clone(&self.eviction)
    }

    /// Runs the work of a download until it ends or another client needs its place. In the latter
    /// case the response is aborted through `abort`, so that the client cannot mistake the part that
    /// it received for the whole.
    pub(crate) async fn run_download(
        self,
        work: impl Future<Output = ()>,
        abort: Sender<io::Result<Bytes>>,
    ) {
        tokio::select! {
            () = self.eviction.notified() => {}
            () = work => return,
        }
        // Waits until the client has read the rest of the buffer or is disconnected.
        drop(self);
        let reason = io::Error::other("another client needs the place of this download");
        let _ = abort.send(Err(reason)).await;
    }

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
        table.slots.release(&self.address, self.slot);
        if let Some(count) = table.keys.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                table.keys.remove(&self.owner);
            }
        }
        if table
            .plays
            .get(&self.play)
            .is_some_and(|updates| updates.receiver_count() == 1)
        {
            table.plays.remove(&self.play);
        }
    }
}

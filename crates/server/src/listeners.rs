//! Who listens to which play, and how they are told that it went on.
//!
//! One task takes the store's announcements and wakes those whom they concern, so that a server with many plays and few listeners wakes few.
//! A listener is told no more than "look again"; what there is to see it reads itself, at its own speed.
//!
//! **Invariant:** at most so many listeners at a time. A play never waits for one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rhae_store::{PlayId, Store};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

/// All listeners of a server.
pub(crate) struct Listeners {
    most: usize,
    table: Mutex<Table>,
    ending: watch::Sender<bool>,
}

#[derive(Default)]
struct Table {
    plays: HashMap<PlayId, watch::Sender<()>>,
    count: usize,
    /// Whether the task is there that takes the announcements.
    told: bool,
}

/// A listener's place, which it gives back when it is dropped.
pub(crate) struct Listening {
    listeners: Arc<Listeners>,
    play: PlayId,
    news: watch::Receiver<()>,
    ending: watch::Receiver<bool>,
}

impl Listeners {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            table: Mutex::default(),
            ending: watch::Sender::new(false),
        }
    }

    /// A place for somebody who listens to a play; `None` if all are taken.
    pub(crate) fn listen(self: &Arc<Self>, store: &dyn Store, play: PlayId) -> Option<Listening> {
        let mut table = self.table();
        if table.count >= self.most {
            return None;
        }
        table.count += 1;
        let news = table.plays.entry(play).or_default().subscribe();
        if !table.told {
            table.told = true;
            tokio::spawn(Arc::clone(self).tell(store.advanced()));
        }
        Some(Listening {
            listeners: Arc::clone(self),
            play,
            news,
            ending: self.ending.subscribe(),
        })
    }

    /// Lets everybody go, because the server ends.
    pub(crate) fn end(&self) {
        self.ending.send_replace(true);
    }

    /// Wakes listeners until there are none.
    async fn tell(self: Arc<Self>, mut advanced: broadcast::Receiver<PlayId>) {
        loop {
            let announced = advanced.recv().await;
            let mut table = self.table();
            if table.plays.is_empty() || announced == Err(RecvError::Closed) {
                table.told = false;
                return;
            }
            let concerned = match announced {
                Ok(play) => table.plays.get(&play).into_iter().collect(),
                // Some were missed, and nobody knows whose.
                Err(_) => table.plays.values().collect::<Vec<_>>(),
            };
            concerned.into_iter().for_each(|news| news.send_replace(()));
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing above panics between two changes that belong together.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listening {
    /// Waits until the play may have gone on; `false` when the server ends.
    pub(crate) async fn news(&mut self) -> bool {
        tokio::select! {
            _ = self.ending.wait_for(|ending| *ending) => false,
            news = self.news.changed() => news.is_ok(),
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut table = self.listeners.table();
        table.count -= 1;
        if table
            .plays
            .get(&self.play)
            .is_some_and(|news| news.receiver_count() == 1)
        {
            table.plays.remove(&self.play);
        }
    }
}

//! The pool of game processes, which assigns plays to processes.
//!
//! Plays of one game share processes, because an interpreter takes tens of megabytes. A game
//! normally has at most as many processes as the machine has cores. A few processes without plays
//! are kept, because an interpreter takes long to start.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::game::{Game, HostConfig};
use crate::host::{Host, lock};

/// The maximum number of processes kept without plays.
const MAX_IDLE: usize = 4;

pub(crate) struct Pool {
    pub(crate) config: HostConfig,
    max_per_game: usize,
    hosts: Mutex<Vec<(Arc<Game>, Arc<Host>)>>,
    /// The number of processes that are reserved for searches.
    search_processes: AtomicUsize,
}

impl Pool {
    pub(crate) fn new(config: HostConfig) -> Self {
        let max_per_game = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            config,
            max_per_game,
            hosts: Mutex::default(),
            search_processes: AtomicUsize::new(0),
        }
    }

    /// Reserves a slot in a process of a game, and starts a process if necessary.
    pub(crate) fn acquire(self: &Arc<Self>, game: &Arc<Game>) -> Result<Slot, String> {
        let take = |host: &Arc<Host>| {
            host.plays.fetch_add(1, Ordering::Relaxed);
            Slot {
                pool: Arc::clone(self),
                play: host.next_play_id(),
                host: Arc::clone(host),
            }
        };
        {
            let mut hosts = lock(&self.hosts);
            hosts.retain(|(_, host)| !host.is_dead());
            let of_game = hosts
                .iter()
                .filter(|(other, _)| Arc::ptr_eq(other, game))
                .map(|(_, host)| host);
            let plays = |host: &&Arc<Host>| host.plays.load(Ordering::Relaxed);
            let least_loaded = of_game.clone().min_by_key(plays);
            if let Some(host) = least_loaded
                && (plays(&host) == 0 || of_game.count() >= self.max_per_game)
            {
                return Ok(take(host));
            }
        }
        // The lock is released while a process starts, so that other games are not blocked.
        // Concurrent calls may therefore start more processes than the limit.
        let host = Arc::new(self.start(game)?);
        let slot = take(&host);
        lock(&self.hosts).push((Arc::clone(game), host));
        Ok(slot)
    }

    /// Starts a process that no other play shares. It ends when its last slot is dropped.
    pub(crate) fn dedicated(self: &Arc<Self>, game: &Arc<Game>) -> Result<Slot, String> {
        let host = Arc::new(self.start(game)?);
        host.plays.fetch_add(1, Ordering::Relaxed);
        Ok(Slot {
            pool: Arc::clone(self),
            play: host.next_play_id(),
            host,
        })
    }

    fn start(&self, game: &Game) -> Result<Host, String> {
        let command = self
            .config
            .command(game)
            .map_err(|error| error.to_string())?;
        Host::start(command, game.folder.code(), self.config.limits.action)
    }

    /// Reserves up to `wanted` processes for a search, at least one. Concurrent searches together
    /// get about as many as the machine has cores, or as one of them asked for.
    pub(crate) fn reserve_search(self: &Arc<Self>, wanted: usize) -> SearchPermit {
        let limit = self.max_per_game.max(wanted);
        let mut count = 1;
        let reserve = |used: usize| {
            count = wanted.min(limit.saturating_sub(used)).max(1);
            Some(used + count)
        };
        // The closure always returns a value, so the update cannot fail.
        let _ = self
            .search_processes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, reserve);
        SearchPermit {
            pool: Arc::clone(self),
            count,
        }
    }

    /// Ends the processes of all plays, including those that hang. Does not end the processes of
    /// searches.
    pub(crate) fn end_processes(&self) {
        let hosts = std::mem::take(&mut *lock(&self.hosts));
        hosts.iter().for_each(|(_, host)| host.end());
    }

    /// Ends the oldest processes without plays until at most [`MAX_IDLE`] remain.
    fn trim(&self) {
        let mut hosts = lock(&self.hosts);
        hosts.retain(|(_, host)| !host.is_dead());
        let idle = |(_, host): &(Arc<Game>, Arc<Host>)| host.plays.load(Ordering::Relaxed) == 0;
        let mut surplus = hosts
            .iter()
            .filter(|entry| idle(entry))
            .count()
            .saturating_sub(MAX_IDLE);
        let mut surplus_hosts = Vec::new();
        hosts.retain(|entry| {
            let remove = surplus > 0 && idle(entry);
            if remove {
                surplus -= 1;
                surplus_hosts.push(Arc::clone(&entry.1));
            }
            !remove
        });
        drop(hosts);
        // Ending processes takes time, so it happens after the lock is released.
        drop(surplus_hosts);
    }
}

/// The number of processes that a search may start. Dropping it frees them for other searches.
pub(crate) struct SearchPermit {
    pool: Arc<Pool>,
    pub(crate) count: usize,
}

impl Drop for SearchPermit {
    fn drop(&mut self) {
        self.pool
            .search_processes
            .fetch_sub(self.count, Ordering::Relaxed);
    }
}

/// A play's slot in a process. Dropping it closes the play there.
pub(crate) struct Slot {
    pool: Arc<Pool>,
    pub(crate) host: Arc<Host>,
    /// The id of the play in the process.
    pub(crate) play: u32,
}

impl Slot {
    /// Reserves another slot in the same process.
    pub(crate) fn another(&self) -> Self {
        self.host.plays.fetch_add(1, Ordering::Relaxed);
        Self {
            pool: Arc::clone(&self.pool),
            host: Arc::clone(&self.host),
            play: self.host.next_play_id(),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.host.close(self.play);
        self.host.plays.fetch_sub(1, Ordering::Relaxed);
        self.pool.trim();
    }
}

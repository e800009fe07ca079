//! The processes of all games: which play goes into which.
//!
//! Plays of one game share processes, because an interpreter takes tens of megabytes; there are as many processes of a game as
//! the machine has cores. A process without plays is kept for a while, because an interpreter takes long to start.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use crate::game::{Game, Setup};
use crate::host::{Host, lock};

/// How many processes without plays are kept.
const MOST_IDLE: usize = 4;

/// All processes.
pub(crate) struct Pool {
    pub(crate) setup: Setup,
    most_per_game: usize,
    hosts: Mutex<Vec<(Arc<Game>, Arc<Host>)>>,
}

impl Pool {
    pub(crate) fn new(setup: Setup) -> Self {
        let most_per_game = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            setup,
            most_per_game,
            hosts: Mutex::default(),
        }
    }

    /// A seat in a process of a game, which is started if need be.
    pub(crate) fn seat(self: &Arc<Self>, game: &Arc<Game>) -> Result<Seat, String> {
        let take = |host: &Arc<Host>| {
            host.plays.fetch_add(1, Ordering::Relaxed);
            Seat {
                pool: Arc::clone(self),
                number: host.number(),
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
            let emptiest = of_game.clone().min_by_key(plays);
            if let Some(host) = emptiest
                && (plays(&host) == 0 || of_game.count() >= self.most_per_game)
            {
                return Ok(take(host));
            }
        }
        // Starting takes a while, during which other games are served; two at once may make one process too many.
        let command = self
            .setup
            .command(game)
            .map_err(|error| error.to_string())?;
        let host = Arc::new(Host::start(command, self.setup.limits.action)?);
        let seat = take(&host);
        lock(&self.hosts).push((Arc::clone(game), host));
        Ok(seat)
    }

    /// Ends processes that nobody has used for the longest time, as far as there are too many of them.
    fn trim(&self) {
        let mut hosts = lock(&self.hosts);
        hosts.retain(|(_, host)| !host.is_dead());
        let idle = |(_, host): &(Arc<Game>, Arc<Host>)| host.plays.load(Ordering::Relaxed) == 0;
        let mut surplus = hosts
            .iter()
            .filter(|entry| idle(entry))
            .count()
            .saturating_sub(MOST_IDLE);
        let mut leaving = Vec::new();
        hosts.retain(|entry| {
            let leaves = surplus > 0 && idle(entry);
            if leaves {
                surplus -= 1;
                leaving.push(Arc::clone(&entry.1));
            }
            !leaves
        });
        drop(hosts);
        // The processes end here, when nobody waits for the lock.
        drop(leaving);
    }
}

/// A play's place in a process.
pub(crate) struct Seat {
    pool: Arc<Pool>,
    pub(crate) host: Arc<Host>,
    pub(crate) number: u32,
}

impl Seat {
    /// Another place in the same process.
    pub(crate) fn beside(&self) -> Self {
        self.host.plays.fetch_add(1, Ordering::Relaxed);
        Self {
            pool: Arc::clone(&self.pool),
            host: Arc::clone(&self.host),
            number: self.host.number(),
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.host.close(self.number);
        self.host.plays.fetch_sub(1, Ordering::Relaxed);
        self.pool.trim();
    }
}

//! The threads on which players take their actions at the same time.
//!
//! Requests wait for the server most of the time, and a tick has only a few of them. The idle threads
//! of a pool for computations look for work all the time: with rayon they used 40 % of the CPU time
//! of a simulation. These threads sleep until they get players.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use crate::SimulationError;
use crate::http::Http;
use crate::player::{Player, Surroundings};

/// The number of threads, and so of requests that are sent at the same time.
pub(crate) const WORKERS: usize = 32;

/// Threads that let players take their actions.
pub(crate) struct Workers(Vec<Worker>);

struct Worker {
    turns: Sender<Turns>,
    results: Receiver<Result<(), SimulationError>>,
}

/// The players of one thread in a tick.
struct Turns {
    now_ms: u64,
    players: Vec<usize>,
}

/// The number of threads that have players in this tick.
#[must_use]
pub(crate) struct Started(usize);

impl Workers {
    /// Starts threads that end together with the workers.
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        http: &'scope Http,
        players: &'scope [Mutex<Player>],
    ) -> Self {
        let start = |_| {
            let (turns, all_turns) = channel::<Turns>();
            let (result, results) = channel();
            scope.spawn(move || {
                for Turns {
                    now_ms,
                    players: due,
                } in all_turns
                {
                    let around = Surroundings { http, now_ms };
                    let mut played = due.into_iter().map(|one| lock(&players[one]).play(around));
                    // The simulation has failed if there is no receiver.
                    let _ = result.send(played.try_for_each(|done| done));
                }
            });
            Worker { turns, results }
        };
        Self((0..WORKERS).map(start).collect())
    }

    /// Lets players take their actions, and waits until all have.
    pub(crate) fn play(&self, now_ms: u64, players: &[usize]) -> Result<(), SimulationError> {
        let started = self.begin(now_ms, players);
        self.finish(&started)
    }

    /// Lets players begin to take their actions.
    pub(crate) fn begin(&self, now_ms: u64, players: &[usize]) -> Started {
        let used = self.0.len().min(players.len());
        for (number, worker) in self.0.iter().enumerate().take(used) {
            let share = players.iter().skip(number).step_by(used);
            let players = share.copied().collect();
            // A thread that has panicked gives no result either.
            let _ = worker.turns.send(Turns { now_ms, players });
        }
        Started(used)
    }

    /// Waits until the players have taken their actions.
    pub(crate) fn finish(&self, started: &Started) -> Result<(), SimulationError> {
        let mut all = Ok(());
        for worker in self.0.iter().take(started.0) {
            let result = worker.results.recv();
            all = all.and(result.unwrap_or_else(|_| {
                Err(SimulationError::Unexpected {
                    path: "a player".to_owned(),
                    reason: "the thread has panicked".to_owned(),
                })
            }));
        }
        all
    }
}

/// Returns a player. Only one thread at a time uses a player, so this never waits.
pub(crate) fn lock(player: &Mutex<Player>) -> MutexGuard<'_, Player> {
    player.lock().unwrap_or_else(PoisonError::into_inner)
}

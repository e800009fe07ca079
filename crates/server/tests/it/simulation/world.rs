//! The simulated world: randomness, time, servers that crash, and a trace of events.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use rhae_engine::{Catalog, Rng};
use rhae_games::Builtin;
use rhae_server::{Clock, Config, Server, router};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::disk::Disk;
use super::store::SimStore;

/// The number of servers on the same disk.
pub(super) const SERVERS: usize = 2;
/// The time at which a simulation starts, in milliseconds since 1970.
const START_MS: u64 = 1_800_000_000_000;

/// A deliberate defect of the store, to test the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// Idempotency keys are not recorded.
    ForgetsKeys,
    /// An entry is appended whatever its index is.
    IgnoresIndex,
    /// Some commits are acknowledged but not written.
    LosesCommits,
}

pub(super) struct World {
    rng: Mutex<Rng>,
    pub(super) disk: Mutex<Disk>,
    servers: Mutex<Vec<Incarnation>>,
    started: Mutex<Option<Instant>>,
    trace: Mutex<Vec<String>>,
    pub(super) flaw: Option<Flaw>,
}

/// A server between two crashes.
#[derive(Clone)]
pub(super) struct Incarnation {
    pub(super) router: Router,
    pub(super) crash: Arc<Crash>,
}

/// The crash of a server, which happens at most once. All tasks that wait for it are woken in the
/// order in which they began to wait, so that the simulation stays deterministic.
#[derive(Default)]
pub(super) struct Crash {
    happened: AtomicBool,
    waiting: Notify,
}

impl Crash {
    pub(super) fn happen(&self) {
        self.happened.store(true, Ordering::Relaxed);
        self.waiting.notify_waiters();
    }

    pub(super) fn has_happened(&self) -> bool {
        self.happened.load(Ordering::Relaxed)
    }

    /// Waits until the server has crashed.
    pub(super) async fn wait(&self) {
        let notified = self.waiting.notified();
        if !self.has_happened() {
            notified.await;
        }
    }
}

impl World {
    pub(super) fn new(seed: u64, flaw: Option<Flaw>) -> Arc<Self> {
        let world = Arc::new(Self {
            rng: Mutex::new(Rng::new(seed, 0)),
            disk: Mutex::default(),
            servers: Mutex::default(),
            started: Mutex::default(),
            trace: Mutex::default(),
            flaw,
        });
        let servers = (0..SERVERS).map(|_| world.boot()).collect();
        *lock(&world.servers) = servers;
        world
    }

    /// Starts a server with empty memory.
    fn boot(self: &Arc<Self>) -> Incarnation {
        let crash = Arc::new(Crash::default());
        let store = SimStore::new(Arc::clone(self), Arc::clone(&crash));
        let config = Config {
            plays_in_memory: 1,
            snapshot_every: 4,
            single_threaded: true,
            ..Config::default()
        };
        let server = Server::new(
            Arc::new(Builtin),
            Builtin.list(),
            Arc::new(store),
            Arc::new(SimClock(Arc::clone(self))),
            config,
        );
        Incarnation {
            router: router(Arc::new(server)),
            crash,
        }
    }

    /// Returns the server with this number as it is now.
    pub(super) fn server(&self, number: usize) -> Incarnation {
        lock(&self.servers)[number].clone()
    }

    /// Crashes servers at random times and starts them again, forever.
    pub(super) async fn crash_servers(self: Arc<Self>) {
        loop {
            self.pause(400).await;
            let number = self.below(SERVERS as u32) as usize;
            self.note(&format!("crash of server {number}"));
            self.server(number).crash.happen();
            self.pause(100).await;
            self.restart_crashed();
        }
    }

    /// Starts every server that has crashed.
    pub(super) fn restart_crashed(self: &Arc<Self>) {
        for number in 0..SERVERS {
            if self.server(number).crash.has_happened() {
                let incarnation = self.boot();
                lock(&self.servers)[number] = incarnation;
            }
        }
    }

    /// Waits up to `max_ms` of simulated time. Other tasks run in the meantime, so the random
    /// duration also decides the order of events.
    pub(super) async fn pause(&self, max_ms: u32) {
        let micros = self.below(max_ms * 1000);
        sleep(Duration::from_micros(micros.into())).await;
    }

    pub(super) fn below(&self, bound: u32) -> u32 {
        lock(&self.rng).below(bound)
    }

    /// Returns true with this probability in thousandths.
    pub(super) fn chance(&self, per_mille: u32) -> bool {
        self.below(1000) < per_mille
    }

    /// The simulated time since the first call, in microseconds.
    fn now_micros(&self) -> u64 {
        let started = *lock(&self.started).get_or_insert_with(Instant::now);
        u64::try_from(started.elapsed().as_micros()).unwrap()
    }

    /// Adds an event to the trace. Events must not contain ids, which are random.
    pub(super) fn note(&self, event: &str) {
        let line = format!("{:>9} {event}", self.now_micros());
        lock(&self.trace).push(line);
    }

    pub(super) fn trace(&self) -> Vec<String> {
        lock(&self.trace).clone()
    }
}

/// The simulated time, as the servers see it.
struct SimClock(Arc<World>);

impl Clock for SimClock {
    fn now_ms(&self) -> u64 {
        START_MS + self.0.now_micros() / 1000
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

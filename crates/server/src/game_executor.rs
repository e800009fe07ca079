//! Calls to hosted games, on threads that nothing else uses.
//!
//! A call to a hosted game waits for another process, which may be slow or hang until its deadline.
//! On the threads of the store's readers such calls would delay every request. [`GameExecutor`]
//! therefore has its own threads, and bounds the calls of each game: so many run at a time, so many
//! more wait, and a call beyond that, or one that has waited too long, is refused. Commands to a play
//! that is busy wait before they make a call, so they are bounded separately ([`GameExecutor::admit`]).
//!
//! **Invariants:** a refused call has no effect. A slow game delays only its own plays. Dropping the
//! executor does not wait for calls in progress.
//!
//! **Boundary:** the executor does not know what a call does. Native environments are not bounded,
//! because they never block.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rhae_engine::{Catalog, GameId};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::blocking::blocking;
use crate::{ApiError, Config};

/// Calls of one game that run at the same time, per processor. A game has one process per processor,
/// and each process executes one call at a time. The factor keeps a process busy while the play of
/// another call is being opened.
const RUNNING_PER_PROCESSOR: usize = 2;
/// The maximum number of threads.
const MAX_THREADS: usize = 512;

/// Runs the calls to hosted games.
pub(crate) struct GameExecutor {
    /// The hosted games. An environment that is not listed is native.
    games: HashMap<GameId, GameCalls>,
    threads: Threads,
    /// Runs every call where it is made, so that a simulation is deterministic.
    single_threaded: bool,
    max_pending: usize,
    max_wait: Duration,
}

/// The calls of one game.
struct GameCalls {
    /// One permit for each call that may run.
    permits: Arc<Semaphore>,
    /// The number of calls that run or wait.
    pending: AtomicUsize,
    /// The number of commands in progress, including those that wait for their play.
    commands: AtomicUsize,
}

impl GameExecutor {
    pub(crate) fn new(catalog: &dyn Catalog, config: &Config) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let running = RUNNING_PER_PROCESSOR * processors;
        let calls = || GameCalls {
            permits: Arc::new(Semaphore::new(running)),
            pending: AtomicUsize::new(0),
            commands: AtomicUsize::new(0),
        };
        let hosted = catalog.hosted_games().into_iter();
        let games: HashMap<_, _> = hosted.map(|game| (game.id, calls())).collect();
        Self {
            threads: Threads::new((games.len() * running).clamp(1, MAX_THREADS)),
            games,
            single_threaded: config.single_threaded,
            max_pending: config.limits.hosted_calls,
            max_wait: config.limits.hosted_wait,
        }
    }

    /// Admits a command to a play of a hosted game, or refuses it because too many are in progress.
    /// Returns `None` for a native environment, whose commands are not bounded.
    pub(crate) fn admit(&self, game: &GameId) -> Result<Option<Admission<'_>>, ApiError> {
        let Some(calls) = self.games.get(game).filter(|_| !self.single_threaded) else {
            return Ok(None);
        };
        let counted = Pending::enter(&calls.commands, self.max_pending);
        let _counted = counted.ok_or_else(|| ApiError::GameBusy(game.to_string()))?;
        Ok(Some(Admission {
            _counted,
            game: game.clone(),
            max_wait: self.max_wait,
        }))
    }

    /// Runs a call to an environment: on the executor's threads if the environment is hosted,
    /// otherwise on any blocking thread.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        game: &GameId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        if self.single_threaded {
            tokio::task::yield_now().await;
            return Ok(work());
        }
        let Some(calls) = self.games.get(game) else {
            return blocking(work).await;
        };
        let busy = || ApiError::GameBusy(game.to_string());
        let _pending = Pending::enter(&calls.pending, self.max_pending).ok_or_else(busy)?;
        let permit = Arc::clone(&calls.permits).acquire_owned();
        // The outer error is the end of the wait, the inner one the end of the server.
        let permit = tokio::time::timeout(self.max_wait, permit)
            .await
            .map_err(|_| busy())?
            .map_err(|_| busy())?;
        self.threads
            .run(move || {
                let _permit = permit;
                work()
            })
            .await
    }

    /// Refuses all calls that have not started, because the server is stopping.
    pub(crate) fn close(&self) {
        self.games.values().for_each(|calls| calls.permits.close());
    }
}

/// The permission to execute a command. Dropping it makes room for another command.
pub(crate) struct Admission<'a> {
    _counted: Pending<'a>,
    game: GameId,
    max_wait: Duration,
}

impl Admission<'_> {
    /// Waits for the play's lock, as long as a call may wait until it runs.
    pub(crate) async fn wait<T>(&self, lock: impl Future<Output = T>) -> Result<T, ApiError> {
        tokio::time::timeout(self.max_wait, lock)
            .await
            .map_err(|_| ApiError::GameBusy(self.game.to_string()))
    }
}

/// A call that runs or waits. Dropping it makes room for another one.
struct Pending<'a>(&'a AtomicUsize);

impl<'a> Pending<'a> {
    /// Counts a call, unless `max` are counted already.
    fn enter(pending: &'a AtomicUsize, max: usize) -> Option<Self> {
        let increment = |count| (count < max).then_some(count + 1);
        let entered = pending.fetch_update(Ordering::Relaxed, Ordering::Relaxed, increment);
        entered.is_ok().then_some(Self(pending))
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A pool of threads: the blocking pool of a runtime that runs no tasks.
struct Threads(Option<Runtime>);

impl Threads {
    fn new(max: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(max)
            .thread_name("hosted-game")
            .build();
        Self(runtime.ok())
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let failed = |reason: String| ApiError::Failed(reason);
        let no_threads = || failed("the threads for hosted games cannot be started".to_owned());
        let runtime = self.0.as_ref().ok_or_else(no_threads)?;
        let running = runtime.spawn_blocking(work);
        running.await.map_err(|error| failed(error.to_string()))
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use rhae_engine::{CatalogError, Environment, GameInfo, HostedGame, UnknownGame};

    use super::*;
    use crate::Limits;

    /// A catalogue that lists hosted games and opens none.
    struct Hosted(Vec<GameId>);

    impl Catalog for Hosted {
        fn list(&self) -> Vec<GameInfo> {
            Vec::new()
        }

        fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
            let name = name.to_owned();
            let unknown = UnknownGame {
                name,
                nearest: None,
                hint: "",
            };
            Err(unknown.into())
        }

        fn open(&self, name: &str, _seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
            Err(self.find(name).map(|_| ()).unwrap_err())
        }

        fn hosted_games(&self) -> Vec<HostedGame> {
            let game = |id: &GameId| HostedGame {
                id: id.clone(),
                folder: Default::default(),
                source_digest: String::new(),
                changes: Vec::new(),
            };
            self.0.iter().map(game).collect()
        }
    }

    fn id(text: &str) -> GameId {
        text.parse().unwrap()
    }

    fn executor(hosted_calls: usize, hosted_wait: Duration) -> Arc<GameExecutor> {
        let config = Config {
            limits: Limits {
                hosted_calls,
                hosted_wait,
                ..Limits::default()
            },
            ..Config::default()
        };
        let catalog = Hosted(vec![id("aa01-v1"), id("bb01-v1")]);
        Arc::new(GameExecutor::new(&catalog, &config))
    }

    /// Starts calls of `aa01-v1` that end when the returned sender is dropped, and waits until as
    /// many as may run at the same time are running.
    async fn block(executor: &Arc<GameExecutor>, calls: usize) -> Sender<()> {
        let (end, blocked) = channel::<()>();
        let blocked = Arc::new(std::sync::Mutex::new(blocked));
        let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
        for _ in 0..calls {
            let (executor, blocked) = (Arc::clone(executor), Arc::clone(&blocked));
            let started = started.clone();
            tokio::spawn(async move {
                let wait = move || {
                    let _ = started.send(());
                    let blocked: &Receiver<()> = &blocked.lock().unwrap();
                    let _ = blocked.recv();
                };
                executor.run(&id("aa01-v1"), wait).await
            });
        }
        let running = executor.games[&id("aa01-v1")].permits.available_permits();
        for _ in 0..running.min(calls) {
            starts.recv().await.unwrap();
        }
        // All calls are counted as soon as their tasks have been polled.
        while executor.games[&id("aa01-v1")]
            .pending
            .load(Ordering::Relaxed)
            < calls
        {
            tokio::task::yield_now().await;
        }
        end
    }

    #[tokio::test]
    async fn blocked_game_refuses_further_calls_and_delays_no_other_work() {
        let executor = executor(1000, Duration::from_secs(3600));
        let end = block(&executor, 1000).await;
        let refused = executor.run(&id("aa01-v1"), || 1).await;
        assert_eq!(refused, Err(ApiError::GameBusy("aa01-v1".to_owned())));
        // Another hosted game, a native one, and blocking work still run.
        assert_eq!(executor.run(&id("bb01-v1"), || 2).await, Ok(2));
        assert_eq!(executor.run(&id("kq19-v1"), || 3).await, Ok(3));
        assert_eq!(blocking(|| 4).await, Ok(4));
        drop(end);
        while executor.run(&id("aa01-v1"), || 5).await != Ok(5) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn call_that_waits_too_long_is_refused_and_makes_room() {
        let executor = executor(100, Duration::from_millis(1));
        let running = executor.games[&id("aa01-v1")].permits.available_permits();
        let _end = block(&executor, running).await;
        let refused = executor.run(&id("aa01-v1"), || 1).await;
        assert_eq!(refused, Err(ApiError::GameBusy("aa01-v1".to_owned())));
        let pending = executor.games[&id("aa01-v1")]
            .pending
            .load(Ordering::Relaxed);
        assert_eq!(pending, running);
    }

    #[tokio::test]
    async fn closed_executor_refuses_waiting_calls_and_can_be_dropped_while_calls_run() {
        let executor = executor(1000, Duration::from_secs(3600));
        let running = executor.games[&id("aa01-v1")].permits.available_permits();
        let end = block(&executor, running).await;
        let waiting = {
            let executor = Arc::clone(&executor);
            tokio::spawn(async move { executor.run(&id("aa01-v1"), || 1).await })
        };
        executor.close();
        let refused = waiting.await.unwrap();
        assert_eq!(refused, Err(ApiError::GameBusy("aa01-v1".to_owned())));
        drop(executor);
        drop(end);
    }
}

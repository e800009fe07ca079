//! Building the state graph of a level whose states are expanded in bulk, where the game runs.
//!
//! One thread coordinates: it splits the queue of nodes into windows in the order of their ids and
//! gives each worker of the [`BulkSearch`] its share of a window. A state is expanded by the worker
//! that discovered it, because that worker has a copy of it. Only if a worker has far more states
//! of a window than the others, it passes some on; the receiving worker rebuilds them. The
//! coordinator merges finished windows in order. Further workers are started when there is enough
//! work; until they are ready, the others continue.
//!
//! **Invariant:** the graph does not depend on the number of workers, because windows are merged in
//! the order of their nodes and an expansion does not depend on its worker.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rhae_engine::{
    Action, ActionSet, BulkError, BulkExpansion, BulkSearch, BulkState, EnvironmentError, Outcome,
    StateKey, TriedClicks,
};

use crate::batch::Batch;
use crate::build::{Builder, Progress, SearchOptions};
use crate::graph::{outcome_of, with_outcome};
use crate::index::Index;
use crate::{Explorable, Graph};

/// The maximum number of states per worker in a window.
const MAX_SHARE: usize = 32;
/// The minimum number of states per worker in a window while other windows are in flight.
const MIN_SHARE: usize = 4;
/// The maximum number of windows in flight.
const MAX_WINDOWS: usize = 3;
/// The number of states without a window from which on another worker is started.
const STATES_PER_WORKER: usize = 8;
/// How long the coordinator waits for a result before it calls `should_continue` again.
const WAIT: Duration = Duration::from_millis(100);
/// An estimate of the memory of a queued state outside the queue, in bytes.
const STATE_BYTES: usize = 256;

/// Builds the graph of a level. Returns `None` if the environment turns out not to support bulk
/// expansion.
pub(crate) fn explore_in_bulk(
    bulk: &dyn BulkSearch,
    root_key: StateKey,
    search: &SearchOptions,
    mut should_continue: &mut dyn FnMut(Progress) -> bool,
) -> Result<Option<Graph>, EnvironmentError> {
    let level = BulkLevel {
        root: bulk.root(),
        root_key,
    };
    let mut builder = Builder::<BulkLevel, false>::new(&level, search);
    let closed = AtomicBool::new(false);
    let (results, received) = channel();
    let supported = thread::scope(|scope| {
        let _close = CloseOnDrop(&closed);
        let mut workers = Vec::new();
        for worker in 0..bulk.workers() {
            let (tasks, waiting) = channel::<Task>();
            let (results, closed) = (results.clone(), &closed);
            let work = move || execute_tasks(bulk, worker, &waiting, &results, closed);
            // If a thread cannot be started, the other workers expand all states.
            match thread::Builder::new().spawn_scoped(scope, work) {
                Ok(_) => workers.push(tasks),
                Err(_) => break,
            }
        }
        drop(results);
        if workers.is_empty() {
            return Ok(false);
        }
        let mut coordinator = Coordinator {
            ready: vec![0],
            started: 1,
            workers,
            received,
            windows: VecDeque::new(),
            first_window: 0,
            end: 0,
        };
        coordinator.run(&mut builder, &mut should_continue)
    })?;
    Ok(supported.then(|| builder.finish()))
}

/// Sets a flag when dropped, so that the workers stop when the search ends or panics.
struct CloseOnDrop<'a>(&'a AtomicBool);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The level as the [`Builder`] sees it: only its start. The workers of the search expand states.
struct BulkLevel {
    root: BulkState,
    root_key: StateKey,
}

impl Explorable for BulkLevel {
    /// `None` for an edge to a state that its worker returned before.
    type State = Option<BulkState>;
    type Error = Infallible;

    fn start(&self) -> Self::State {
        Some(self.root.clone())
    }

    fn offered(&self, _state: &Self::State) -> ActionSet {
        ActionSet::EMPTY
    }

    fn step(&self, _state: &mut Self::State, _action: Action) -> Result<Outcome, Infallible> {
        unreachable!("the workers of a bulk search expand all states")
    }

    fn key(&self, _state: &Self::State) -> StateKey {
        self.root_key
    }

    fn heap_bytes(&self, _state: &Self::State) -> usize {
        STATE_BYTES
    }
}

/// What a worker is asked to do.
enum Task {
    Prepare,
    Expand(Job),
}

/// What a worker has done.
enum Report {
    Prepared(usize),
    Expanded(JobResult),
}

/// The share of a window that one worker expands.
struct Job {
    window: usize,
    /// The positions of the states in the window, in ascending order.
    positions: Vec<usize>,
    states: Vec<BulkState>,
}

/// The result of a [`Job`].
struct JobResult {
    window: usize,
    positions: Vec<usize>,
    expansions: Vec<BulkExpansion>,
    error: Option<BulkError>,
}

fn execute_tasks(
    bulk: &dyn BulkSearch,
    worker: usize,
    tasks: &Receiver<Task>,
    reports: &Sender<Report>,
    closed: &AtomicBool,
) {
    for task in tasks {
        let report = match task {
            Task::Prepare => {
                if !closed.load(Ordering::Acquire) {
                    bulk.prepare(worker);
                }
                Report::Prepared(worker)
            }
            Task::Expand(Job {
                window,
                positions,
                states,
            }) => {
                let expanded = bulk.expand(worker, &states, &|| !closed.load(Ordering::Acquire));
                Report::Expanded(JobResult {
                    window,
                    positions,
                    expansions: expanded.expansions,
                    error: expanded.error,
                })
            }
        };
        if reports.send(report).is_err() {
            return;
        }
    }
}

/// A range of nodes whose states are being expanded.
struct Window {
    keys: Vec<u128>,
    /// The expansion of each node; `None` for terminal nodes and until it is known.
    expansions: Vec<Option<BulkExpansion>>,
    /// The number of jobs without a result.
    pending: usize,
    /// The first position that failed, and why.
    error: Option<(usize, BulkError)>,
}

impl Window {
    fn add(&mut self, result: JobResult) {
        self.pending -= 1;
        let done = result.expansions.len();
        if let Some(&position) = result.positions.get(done)
            && self
                .error
                .as_ref()
                .is_none_or(|(first, _)| position < *first)
        {
            let stopped = || EnvironmentError::Failed("the search was stopped".to_owned());
            let error = result.error.unwrap_or_else(|| BulkError::Failed(stopped()));
            self.error = Some((position, error));
        }
        for (position, expansion) in result.positions.into_iter().zip(result.expansions) {
            self.expansions[position] = Some(expansion);
        }
    }
}

struct Coordinator {
    workers: Vec<Sender<Task>>,
    /// The number of workers that were asked to get ready. The first is asked by its first job.
    started: usize,
    /// The workers that get jobs.
    ready: Vec<usize>,
    received: Receiver<Report>,
    /// The windows in flight, in the order of their nodes.
    windows: VecDeque<Window>,
    /// The number of windows that were merged before the first of `windows`.
    first_window: usize,
    /// All nodes with an id below this are merged or in a window.
    end: usize,
}

type BulkBuilder<'a> = Builder<'a, BulkLevel, false>;

impl Coordinator {
    /// Expands and merges all states. Returns false if the environment does not support that.
    fn run(
        &mut self,
        builder: &mut BulkBuilder<'_>,
        should_continue: &mut impl FnMut(Progress) -> bool,
    ) -> Result<bool, EnvironmentError> {
        let mut index = Index::new(&builder.graph.keys);
        let mut batch = Batch::new(MAX_SHARE);
        while builder.has_work() {
            if !builder.report_progress(should_continue) {
                break;
            }
            self.publish(builder)?;
            if self
                .windows
                .front()
                .is_some_and(|window| window.pending > 0)
            {
                match self.received.recv_timeout(WAIT) {
                    Ok(Report::Prepared(worker)) => self.ready.push(worker),
                    Ok(Report::Expanded(result)) => {
                        let window = result.window - self.first_window;
                        self.windows[window].add(result);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    // A worker panicked. The scope of the threads passes the panic on.
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                continue;
            }
            let Some(window) = self.windows.pop_front() else {
                break;
            };
            self.first_window += 1;
            let error = fill(&mut batch, window, builder.search.all_clicks);
            let bytes = batch.bytes();
            if let Err(stop) = builder.assign_ids(&batch, &mut index, bytes) {
                builder.graph.stop = Some(stop);
                break;
            }
            match error {
                // The search ends before it reaches the state that failed.
                Some(_) if !builder.has_work() => break,
                Some(BulkError::Failed(error)) => return Err(error),
                Some(BulkError::Unsupported(_)) => return Ok(false),
                None => {}
            }
        }
        Ok(true)
    }

    /// Publishes windows of the nodes that are not in a window yet.
    fn publish(&mut self, builder: &mut BulkBuilder<'_>) -> Result<(), EnvironmentError> {
        let waiting = builder.graph.nodes() - self.end;
        let wanted = (waiting / STATES_PER_WORKER).min(self.workers.len());
        for worker in self.started..wanted {
            // Sending fails only if the worker panicked; then it never gets ready.
            let _ = self.workers[worker].send(Task::Prepare);
        }
        self.started = self.started.max(wanted);
        while self.windows.len() < MAX_WINDOWS {
            let workers = self.ready.len();
            let remaining = builder.graph.nodes() - self.end;
            let min = MIN_SHARE * workers;
            if remaining == 0 || remaining < min && !self.windows.is_empty() {
                break;
            }
            let count = remaining
                .div_ceil(2)
                .clamp(min, MAX_SHARE * workers)
                .min(remaining);
            let mut keys = Vec::with_capacity(count);
            builder.graph.keys.copy_to(self.end, count, &mut keys);
            let positions: Vec<usize> = (0..count)
                .filter(|&at| outcome_of(keys[at]) == Outcome::Continue)
                .collect();
            let mut queued = Vec::with_capacity(positions.len());
            builder.drain_queued(positions.len(), &mut queued);
            let states: Option<Vec<BulkState>> = queued.into_iter().collect();
            let states = states.ok_or_else(|| {
                EnvironmentError::Failed(
                    "the process of the game referred to a state that it did not report".to_owned(),
                )
            })?;
            let pending = self.send(positions, states);
            self.end += count;
            self.windows.push_back(Window {
                expansions: vec![None; keys.len()],
                keys,
                pending,
                error: None,
            });
        }
        Ok(())
    }

    /// Sends the states of the next window to the workers. Returns the number of jobs.
    fn send(&mut self, positions: Vec<usize>, states: Vec<BulkState>) -> usize {
        let workers = self.workers.len();
        let window = self.first_window + self.windows.len();
        let owners: Vec<usize> = states
            .iter()
            .map(|state| state.worker.min(workers - 1))
            .collect();
        let mut jobs: Vec<Job> = (0..workers)
            .map(|_| Job {
                window,
                positions: Vec::new(),
                states: Vec::new(),
            })
            .collect();
        let chosen = balanced(&owners, workers, &self.ready);
        for ((position, state), worker) in positions.into_iter().zip(states).zip(chosen) {
            jobs[worker].positions.push(position);
            jobs[worker].states.push(state);
        }
        let mut sent = 0;
        for (worker, job) in jobs.into_iter().enumerate() {
            // Sending fails only if the worker panicked; then no result arrives either.
            if !job.states.is_empty() && self.workers[worker].send(Task::Expand(job)).is_ok() {
                sent += 1;
            }
        }
        sent
    }
}

/// Chooses a worker for each state: its owner, unless the owner has more than a fair share. The
/// surplus is passed to the ready worker with the fewest states.
fn balanced(owners: &[usize], workers: usize, ready: &[usize]) -> Vec<usize> {
    let mut load = vec![0_usize; workers];
    for &owner in owners {
        load[owner] += 1;
    }
    let fair = owners.len().div_ceil(ready.len().max(1));
    let tolerated = fair + fair / 16 + 1;
    let mut chosen = owners.to_vec();
    for worker in chosen.iter_mut().rev() {
        if load[*worker] <= tolerated {
            continue;
        }
        let Some(&least) = ready.iter().min_by_key(|&&other| load[other]) else {
            break;
        };
        if load[least] < fair {
            load[*worker] -= 1;
            load[least] += 1;
            *worker = least;
        }
    }
    chosen
}

/// Fills a batch with the edges of a window, up to the first state that failed. Returns the failure.
fn fill(
    batch: &mut Batch<Option<BulkState>>,
    window: Window,
    all_clicks: bool,
) -> Option<BulkError> {
    batch.clear();
    let end = window
        .error
        .as_ref()
        .map_or(window.keys.len(), |&(at, _)| at);
    for (from, expansion) in window.keys.into_iter().zip(window.expansions).take(end) {
        let first = batch.edges;
        if let Some(expansion) = expansion {
            batch.has_clicks |= expansion.clicks != TriedClicks::NotOffered;
            batch.representative_clicks |= expansion.clicks == TriedClicks::Representative;
            for edge in expansion.edges {
                let key = with_outcome(edge.key, edge.outcome);
                batch.add::<false>(from, (key, edge.state), &|_| ());
                if all_clicks {
                    batch.weights.push(edge.cells);
                }
            }
        }
        batch.counts.push((batch.edges - first) as u32);
    }
    window.error.map(|(_, error)| error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_surplus_of_a_worker_is_passed_on() {
        assert_eq!(balanced(&[0; 4], 2, &[0]), [0; 4]);
        let chosen = balanced(&[0; 16], 2, &[0, 1]);
        assert_eq!(chosen.iter().filter(|&&worker| worker == 1).count(), 7);
        let nearly_even = [0, 1, 0, 1, 0, 1, 0, 0];
        assert_eq!(balanced(&nearly_even, 2, &[0, 1]), nearly_even);
        // The third worker was ready before the second.
        assert!(!balanced(&[0; 16], 3, &[0, 2]).contains(&1));
        assert!(balanced(&[], 3, &[0]).is_empty());
    }
}

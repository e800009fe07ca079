//! Building the state graph with several threads.
//!
//! One thread coordinates: it splits the queue of nodes into chunks in the order of their ids and
//! publishes them in a ring of slots. Every thread claims the next published chunk and expands its
//! states. The coordinator merges finished chunks in order, which assigns the same ids that a
//! single thread would assign, and publishes chunks of the new nodes. While the coordinator waits
//! for a chunk, it expands other chunks itself.
//!
//! **Invariant:** the graph does not depend on the number of threads. Because a single thread
//! merges all chunks, the cost of merging limits the speed-up.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use rhae_engine::Outcome;

use crate::Explorable;
use crate::batch::Batch;
use crate::build::{Builder, Progress};
use crate::expand::Expander;
use crate::graph::outcome_of;
use crate::index::Index;
use crate::spin_condvar::SpinCondvar;

/// The maximum number of states in a chunk, small enough that its transitions stay in the cache
/// until they are merged.
const MAX_CHUNK_LEN: usize = 1 << 6;
/// The minimum number of states in a chunk while other chunks are in flight, large enough to make
/// the cost of passing it to another thread negligible.
const MIN_CHUNK_LEN: usize = 1 << 5;
/// The number of chunks per thread that may be published and not yet merged.
const CHUNKS_PER_THREAD: usize = 3;

pub(crate) fn run<E: Explorable, const PACKED: bool>(
    builder: &mut Builder<'_, E, PACKED>,
    should_continue: &mut impl FnMut(Progress) -> bool,
) -> Result<(), E::Error> {
    let threads = builder.search.threads;
    let pipeline = Pipeline::<E, PACKED>::new(builder.level, builder.search.all_clicks, threads);
    thread::scope(|scope| {
        // If a thread cannot be started, the others do its work.
        let workers: Vec<_> = (1..threads)
            .filter_map(|_| {
                let worker = || pipeline.work_until_closed();
                thread::Builder::new().spawn_scoped(scope, worker).ok()
            })
            .collect();
        let close = CloseOnDrop(&pipeline);
        let outcome = pipeline.coordinate(builder, should_continue);
        drop(close);
        for worker in workers {
            if let Err(panic) = worker.join() {
                resume_unwind(panic);
            }
        }
        outcome
    })
}

/// The shared state of all threads: a ring of chunks in the order of their node ids.
struct Pipeline<'a, E: Explorable, const PACKED: bool> {
    level: &'a E,
    all_clicks: bool,
    threads: usize,
    slots: Vec<Slot<E>>,
    /// The number of chunks published so far (`published`), and how many of them threads have
    /// claimed (`claimed`).
    published: CacheAligned<AtomicUsize>,
    claimed: CacheAligned<AtomicUsize>,
    /// Whether no more chunks will be published (`closed`), and whether a thread panicked, so that
    /// some chunk may never be done (`panicked`).
    closed: AtomicBool,
    panicked: AtomicBool,
    /// Signals that chunks were published.
    work: SpinCondvar,
    /// Signals that a chunk is done.
    chunk_done: SpinCondvar,
}

/// Aligns a value to its own cache lines, so that writes to it do not slow down readers of
/// neighbouring values (false sharing).
#[repr(align(128))]
#[derive(Default)]
struct CacheAligned<T>(T);

/// A slot of the ring.
struct Slot<E: Explorable> {
    chunk: CacheAligned<Mutex<Chunk<E>>>,
    /// One more than the id of the last chunk that was finished in this slot.
    done: CacheAligned<AtomicUsize>,
}

/// A range of nodes and the transitions found by expanding them.
struct Chunk<E: Explorable> {
    /// The keys of the states to expand.
    keys: Vec<u128>,
    /// The states of those nodes that are not terminal, in the same order. Empty if states are
    /// packed.
    queued: Vec<E::State>,
    batch: Batch<E::State>,
    error: Option<E::Error>,
}

impl<'a, E: Explorable, const PACKED: bool> Pipeline<'a, E, PACKED> {
    fn new(level: &'a E, all_clicks: bool, threads: usize) -> Self {
        let chunk = || Chunk {
            keys: Vec::with_capacity(MAX_CHUNK_LEN),
            queued: Vec::new(),
            batch: Batch::new(MAX_CHUNK_LEN),
            error: None,
        };
        let slot = |_| Slot {
            chunk: CacheAligned(Mutex::new(chunk())),
            done: CacheAligned::default(),
        };
        Self {
            level,
            all_clicks,
            threads,
            slots: (0..threads * CHUNKS_PER_THREAD).map(slot).collect(),
            published: CacheAligned::default(),
            claimed: CacheAligned::default(),
            closed: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
            work: SpinCondvar::for_threads(threads),
            chunk_done: SpinCondvar::for_threads(threads),
        }
    }

    /// Expands chunks until the pipeline is closed.
    fn work_until_closed(&self) {
        let _close = CloseOnDrop(self);
        let mut expander = self.expander();
        while !self.closed.load(Ordering::Acquire) {
            match self.claim() {
                Some(id) => self.expand(id, &mut expander),
                None => self
                    .work
                    .wait_until(|| self.has_unclaimed() || self.closed.load(Ordering::Acquire)),
            }
        }
    }

    fn has_unclaimed(&self) -> bool {
        self.claimed.0.load(Ordering::Acquire) < self.published.0.load(Ordering::Acquire)
    }

    /// Claims the next published chunk.
    fn claim(&self) -> Option<usize> {
        let next = |claimed: usize| {
            (claimed < self.published.0.load(Ordering::Acquire)).then_some(claimed + 1)
        };
        self.claimed
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next)
            .ok()
    }

    fn slot(&self, id: usize) -> &Slot<E> {
        &self.slots[id % self.slots.len()]
    }

    fn is_done(&self, id: usize) -> bool {
        self.slot(id).done.0.load(Ordering::Acquire) > id
    }

    fn expander(&self) -> Expander<'a, E, PACKED> {
        Expander::new(self.level, self.all_clicks)
    }

    fn expand(&self, id: usize, expander: &mut Expander<'a, E, PACKED>) {
        self.slot(id).lock().expand(expander);
        self.slot(id).done.0.store(id + 1, Ordering::Release);
        self.chunk_done.notify_all();
    }

    /// Publishes chunks and merges them in order.
    fn coordinate(
        &self,
        builder: &mut Builder<'_, E, PACKED>,
        should_continue: &mut impl FnMut(Progress) -> bool,
    ) -> Result<(), E::Error> {
        let mut index = Index::new(&builder.graph.keys);
        let mut expander = self.expander();
        // All nodes with an id below `end` are in published chunks. All chunks with an id below
        // `merged` are merged.
        let (mut end, mut merged, mut max_chunk_bytes) = (0, 0, 0);
        let mut last_report = 0;
        while builder.has_work() {
            if builder.graph.expanded() >= last_report + self.level.check_interval() {
                if !builder.report_progress(should_continue) {
                    return Ok(());
                }
                last_report = builder.graph.expanded();
            }
            end = self.publish(builder, end, merged);
            if !self.wait_for_chunk(merged, &mut expander) {
                return Ok(());
            }
            let mut chunk = self.slot(merged).lock();
            if let Some(error) = chunk.error.take() {
                return Err(error);
            }
            if chunk.batch.unpackable {
                builder.unpackable = true;
                return Ok(());
            }
            max_chunk_bytes = max_chunk_bytes.max(chunk.bytes());
            chunk.batch.prefetch(&index);
            if let Err(stop) =
                builder.assign_ids(&chunk.batch, &mut index, max_chunk_bytes * self.slots.len())
            {
                builder.graph.stop = Some(stop);
                return Ok(());
            }
            merged += 1;
        }
        Ok(())
    }

    /// Publishes chunks of the nodes from `end` on, as long as slots are free. Returns the new
    /// value of `end`.
    fn publish(
        &self,
        builder: &mut Builder<'_, E, PACKED>,
        mut end: usize,
        merged: usize,
    ) -> usize {
        let (min_len, max_len) = (
            MIN_CHUNK_LEN.min(self.level.check_interval()),
            MAX_CHUNK_LEN.min(self.level.check_interval()),
        );
        let first = self.published.0.load(Ordering::Relaxed);
        let mut published = first;
        while published < merged + self.slots.len() {
            let remaining = builder.graph.nodes() - end;
            if remaining == 0 || remaining < min_len && published > merged {
                break;
            }
            // Small layers are split so that every thread gets a chunk.
            let count = (remaining / (2 * self.threads))
                .clamp(min_len, max_len)
                .min(remaining);
            self.slot(published).lock().fill(builder, end, count);
            end += count;
            published += 1;
            self.published.0.store(published, Ordering::Release);
        }
        if published > first {
            self.work.notify_all();
        }
        end
    }

    /// Waits until a chunk is done and expands other chunks in the meantime. Returns false if a
    /// thread panicked.
    fn wait_for_chunk(&self, id: usize, expander: &mut Expander<'a, E, PACKED>) -> bool {
        while !self.is_done(id) {
            if let Some(other) = self.claim() {
                self.expand(other, expander);
                continue;
            }
            self.chunk_done
                .wait_until(|| self.is_done(id) || self.panicked.load(Ordering::Acquire));
            if self.panicked.load(Ordering::Acquire) {
                return false;
            }
        }
        true
    }
}

/// Closes the pipeline when dropped. This happens when the search is over or when a thread panics.
struct CloseOnDrop<'a, 'b, E: Explorable, const PACKED: bool>(&'a Pipeline<'b, E, PACKED>);

impl<E: Explorable, const PACKED: bool> Drop for CloseOnDrop<'_, '_, E, PACKED> {
    fn drop(&mut self) {
        let Self(pipeline) = self;
        if thread::panicking() {
            pipeline.panicked.store(true, Ordering::Release);
        }
        pipeline.closed.store(true, Ordering::Release);
        pipeline.work.notify_all();
        pipeline.chunk_done.notify_all();
    }
}

impl<E: Explorable> Slot<E> {
    fn lock(&self) -> MutexGuard<'_, Chunk<E>> {
        self.chunk.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Explorable> Chunk<E> {
    /// Fills the chunk with `count` nodes from `from` on.
    fn fill<const PACKED: bool>(
        &mut self,
        builder: &mut Builder<'_, E, PACKED>,
        from: usize,
        count: usize,
    ) {
        self.keys.clear();
        builder.graph.keys.copy_to(from, count, &mut self.keys);
        if !PACKED {
            let active = self
                .keys
                .iter()
                .filter(|&&key| outcome_of(key) == Outcome::Continue)
                .count();
            self.queued.clear();
            builder.drain_queued(active, &mut self.queued);
        }
    }

    fn expand<const PACKED: bool>(&mut self, expander: &mut Expander<'_, E, PACKED>) {
        let Self {
            keys,
            queued,
            batch,
            error,
        } = self;
        batch.clear();
        let mut queued = queued.drain(..);
        *error = keys
            .iter()
            .try_for_each(|&key| {
                let next = || {
                    queued
                        .next()
                        .expect("every unpacked state that is not terminal is queued")
                };
                expander.expand(key, next, batch, |_| {})
            })
            .err();
    }

    fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<u128>()
            + self.queued.capacity() * size_of::<E::State>()
            + self.batch.bytes()
    }
}

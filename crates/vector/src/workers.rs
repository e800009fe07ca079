//! The threads that step the plays of one vector.

use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::VectorError;

/// The calling thread, and a pool with the other threads. There is no pool if the calling thread does
/// all the work.
///
/// The caller works, too, instead of waiting for the pool: threads of the pool that sleep need tens of
/// microseconds to wake up, which is a good part of a step.
pub(crate) struct Workers {
    pool: Option<ThreadPool>,
}

impl Workers {
    /// Starts the threads, of which the calling thread is one.
    pub(crate) fn new(threads: usize) -> Result<Self, VectorError> {
        let pool = (threads > 1)
            .then(|| ThreadPoolBuilder::new().num_threads(threads - 1).build())
            .transpose()
            .map_err(|error| VectorError::Threads {
                threads,
                reason: error.to_string(),
            })?;
        Ok(Self { pool })
    }

    /// Returns the number of threads that work on the plays.
    pub(crate) fn threads(&self) -> usize {
        1 + self
            .pool
            .as_ref()
            .map_or(0, ThreadPool::current_num_threads)
    }

    /// Calls `work` with every item, in parallel. With one item the calling thread does the work.
    pub(crate) fn for_each<T: Send>(
        &self,
        items: impl ExactSizeIterator<Item = T> + Send,
        work: impl Fn(T) + Sync,
    ) {
        let Some(pool) = self.pool.as_ref().filter(|_| items.len() > 1) else {
            return items.for_each(work);
        };
        let helpers = pool.current_num_threads().min(items.len() - 1);
        let items = Mutex::new(items);
        let work_until_done = || {
            loop {
                let item = items.lock().unwrap_or_else(PoisonError::into_inner).next();
                match item {
                    Some(item) => work(item),
                    None => break,
                }
            }
        };
        pool.in_place_scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|_| work_until_done());
            }
            work_until_done();
        });
    }
}

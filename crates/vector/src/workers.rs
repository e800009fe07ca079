//! The threads that step the plays of one vector.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::VectorError;

/// A thread pool, or none if the calling thread does all the work.
pub(crate) struct Workers {
    pool: Option<ThreadPool>,
}

impl Workers {
    /// Starts the threads. With `threads` of 1 the calling thread does all the work.
    pub(crate) fn new(threads: usize) -> Result<Self, VectorError> {
        let pool = (threads > 1)
            .then(|| ThreadPoolBuilder::new().num_threads(threads).build())
            .transpose()
            .map_err(|error| VectorError::Threads {
                threads,
                reason: error.to_string(),
            })?;
        Ok(Self { pool })
    }

    pub(crate) const fn pool(&self) -> Option<&ThreadPool> {
        self.pool.as_ref()
    }

    /// Returns the number of threads that work on the plays.
    pub(crate) fn threads(&self) -> usize {
        self.pool
            .as_ref()
            .map_or(1, ThreadPool::current_num_threads)
    }
}

//! Deadlines of the client's side. A database that stops answering without closing its connections
//! (a paused machine, a full network buffer) fails an access after a few seconds.
//!
//! **Invariant:** an access that exceeds its deadline before a commit was sent has no effect. If the
//! commit may have been sent, the error is [`StoreError::CommitUnknown`].
//!
//! After a missed deadline, further accesses fail at once for a short time. A request that needs
//! several accesses, or waits for one that needs them, therefore still gets its response in time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::StoreError;

/// The deadline of an access that a client waits for. The official client gives up after 10 s, and a
/// refused request makes a second access, which looks up its idempotency key.
pub(crate) const DEADLINE: Duration = Duration::from_secs(3);
/// The deadline of maintenance and of reads whose result has no size limit.
const LONG_DEADLINE: Duration = Duration::from_secs(60);
/// How long accesses fail at once after a missed deadline.
const SILENCE: Duration = Duration::from_secs(2);

/// The deadlines of one store.
#[derive(Default)]
pub(crate) struct Deadlines {
    /// Until when accesses fail at once.
    silent_until: Mutex<Option<Instant>>,
}

impl Deadlines {
    /// Bounds an access that changes nothing.
    pub(crate) async fn read<T>(
        &self,
        access: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.bound(DEADLINE, StoreError::Unavailable, access).await
    }

    /// Bounds an access that ends with a commit.
    pub(crate) async fn write<T>(
        &self,
        access: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.bound(DEADLINE, StoreError::CommitUnknown, access)
            .await
    }

    /// Bounds maintenance and reads of unlimited size, for which no client waits.
    pub(crate) async fn long<T>(
        &self,
        access: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.bound(LONG_DEADLINE, StoreError::CommitUnknown, access)
            .await
    }

    /// Returns whether accesses fail at once, because the database has just missed a deadline.
    pub(crate) fn is_silent(&self) -> bool {
        let until = self.silent_until.lock();
        let until = *until.unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    async fn bound<T>(
        &self,
        deadline: Duration,
        late: fn(String) -> StoreError,
        access: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if self.is_silent() {
            return Err(StoreError::Unavailable("it does not answer".to_owned()));
        }
        match timeout(deadline, access).await {
            Ok(done) => done,
            Err(_) => {
                let until = self.silent_until.lock();
                *until.unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + SILENCE);
                Err(late(format!("no answer within {} s", deadline.as_secs())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn missed_deadline_fails_later_accesses_at_once_for_a_while() {
        let deadlines = Deadlines::default();
        assert_eq!(deadlines.read(ready(Ok(1))).await, Ok(1));
        let late = deadlines.write(pending::<Result<(), _>>()).await;
        assert!(
            matches!(late, Err(StoreError::CommitUnknown(_))),
            "{late:?}"
        );
        let before = Instant::now();
        let refused = deadlines.write(pending::<Result<(), _>>()).await;
        assert!(
            matches!(refused, Err(StoreError::Unavailable(_))),
            "{refused:?}"
        );
        assert_eq!(before, Instant::now());
        tokio::time::advance(SILENCE).await;
        assert_eq!(deadlines.read(ready(Ok(2))).await, Ok(2));
    }
}

//! Making a play from what the store has of it: a snapshot and the log after it, or the whole log.
//!
//! **Invariant:** a snapshot can only save time. One that does not fit, disagrees with the log, or makes the environment fail is dropped, and
//! the whole log decides. A log is read in parts, so that memory does not grow with its length. **Invariant:** an environment that fails
//! says nothing about a log: the request fails, and the next tries again.

use std::sync::Arc;

use rhae_engine::EnvironmentError;
use rhae_session::{CatalogError, Departure, Origin, ReplayError, Replica};
use rhae_store::{Play as StoredPlay, Snapshot, Timed};

use crate::{ApiError, Server};

/// Entries that are read and replayed at once.
pub(crate) const PART: u32 = 1024;

/// What came of an attempt, the reason in words if the log or the snapshot cannot be trusted.
pub(crate) type Attempt<T> = Result<T, String>;

impl Server {
    /// A replica at the end of a play's log, or why its log cannot be trusted.
    pub(crate) async fn rebuild(&self, stored: &StoredPlay) -> Result<Attempt<Replica>, ApiError> {
        self.replica(stored, u32::MAX).await
    }

    /// A replica that has followed a play's log as far as possible, but not past entry `before`.
    pub(crate) async fn replica(
        &self,
        stored: &StoredPlay,
        before: u32,
    ) -> Result<Attempt<Replica>, ApiError> {
        let mut dropped = false;
        for snapshot in self.store.snapshots(stored.key).await? {
            if snapshot.entries > before {
                continue;
            }
            match self.after_snapshot(stored, snapshot, before).await? {
                Ok(replica) => return Ok(Ok(replica)),
                Err(reason) => {
                    tracing::warn!(guid = %stored.id, reason, "a snapshot is not used");
                    dropped = true;
                }
            }
        }
        let replica = self.whole(stored, before).await?;
        if dropped && replica.is_ok() {
            // If they cannot be dropped now, the next who finds them tries again.
            let _ = self.store.drop_snapshots(stored.key).await;
        }
        Ok(replica)
    }

    /// A replica at entry `end` of a play's log, if so few entries are to be followed from a snapshot or the beginning; what cannot be
    /// trusted is no replica either.
    pub(crate) async fn replica_nearby(
        &self,
        stored: &StoredPlay,
        end: u32,
        most: u32,
    ) -> Result<Option<Replica>, ApiError> {
        for snapshot in self.store.snapshots(stored.key).await? {
            if snapshot.entries <= end
                && end - snapshot.entries <= most
                && let Ok(replica) = self.after_snapshot(stored, snapshot, end).await?
            {
                return Ok(Some(replica));
            }
        }
        if end <= most {
            Ok(self.whole(stored, end).await?.ok())
        } else {
            Ok(None)
        }
    }

    /// A replica at the beginning of a play's log.
    pub(crate) async fn beginning(
        &self,
        stored: &StoredPlay,
    ) -> Result<Attempt<Replica>, ApiError> {
        let (catalog, origin) = (Arc::clone(&self.catalog), stored.clone());
        judged(blocking(move || Replica::open(catalog.as_ref(), origin_of(&origin))).await?)
    }

    async fn whole(&self, stored: &StoredPlay, before: u32) -> Result<Attempt<Replica>, ApiError> {
        match self.beginning(stored).await? {
            Ok(replica) => self.catch_up(stored, replica, before).await,
            Err(reason) => Ok(Err(reason)),
        }
    }

    async fn after_snapshot(
        &self,
        stored: &StoredPlay,
        snapshot: Snapshot,
        before: u32,
    ) -> Result<Attempt<Replica>, ApiError> {
        let Some(last) = snapshot.entries.checked_sub(1) else {
            return Ok(Err("nothing led to it".to_owned()));
        };
        let last: Vec<Timed> = self.store.log_from(stored.key, last, 1).await?;
        let Some(last) = last
            .into_iter()
            .next()
            .filter(|last| last.index == snapshot.entries - 1)
        else {
            return Ok(Err("the log does not reach it".to_owned()));
        };
        let (catalog, origin) = (Arc::clone(&self.catalog), stored.clone());
        let restored = blocking(move || {
            let Snapshot { entries, bytes } = &snapshot;
            let restored = Replica::restore(
                catalog.as_ref(),
                origin_of(&origin),
                bytes,
                *entries,
                &last.entry,
            );
            restored.map_err(|departure| departure.to_string())
        });
        // An environment that takes the bytes and fails on them has no better reason to give.
        let replica = match restored.await {
            Ok(Ok(replica)) => replica,
            Ok(Err(reason)) => return Ok(Err(reason)),
            Err(failed) => return Ok(Err(failed.to_string())),
        };
        match self.catch_up(stored, replica, before).await {
            Err(ApiError::Failed(reason)) => Ok(Err(reason)),
            other => other,
        }
    }

    /// Lets a replica follow the rest of the log.
    async fn catch_up(
        &self,
        stored: &StoredPlay,
        mut replica: Replica,
        before: u32,
    ) -> Result<Attempt<Replica>, ApiError> {
        loop {
            let most = PART.min(before.saturating_sub(replica.next()));
            let part = self
                .store
                .log_from(stored.key, replica.next(), most)
                .await?;
            if part.is_empty() {
                return Ok(Ok(replica));
            }
            match judged(blocking(move || follow_all(replica, &part)).await?)? {
                Ok(further) => replica = further,
                Err(reason) => return Ok(Err(reason)),
            }
        }
    }
}

fn follow_all(mut replica: Replica, part: &[Timed]) -> Result<Replica, Departure> {
    for timed in part {
        replica.follow(&timed.entry)?;
    }
    Ok(replica)
}

/// What a departure means: that the log cannot be trusted, or only that the environment failed.
fn judged<T>(outcome: Result<T, Departure>) -> Result<Attempt<T>, ApiError> {
    match outcome {
        Ok(value) => Ok(Ok(value)),
        Err(Departure::Replay(
            ReplayError::Environment(EnvironmentError::Failed(reason))
            | ReplayError::Catalog(CatalogError::Environment(EnvironmentError::Failed(reason))),
        )) => Err(ApiError::Failed(reason)),
        Err(departure) => Ok(Err(departure.to_string())),
    }
}

/// What a stored play is a log of.
pub(crate) fn origin_of(stored: &StoredPlay) -> Origin<'_> {
    Origin {
        game_id: &stored.game_id,
        seed: stored.seed,
        rule: stored.rule,
        win_levels: stored.win_levels,
    }
}

/// Replaying takes a while, during which other plays go on.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| ApiError::Failed(error.to_string()))
}

//! Rebuilding a play from the store: from a snapshot and the log after it, or from the whole log.
//!
//! **Invariants:**
//!
//! * A snapshot only saves time. A snapshot that does not fit the log, or on which the environment
//!   fails, is ignored: an older snapshot is tried, and finally the whole log is replayed.
//! * A log is read in parts, so memory use does not grow with its length.
//! * A failure of the environment says nothing about the log: the request fails, and the next one
//!   tries again.

use std::sync::Arc;

use rhae_engine::{CatalogError, EnvironmentError};
use rhae_session::{Origin, ReplayError, Replica, ReplicaError};
use rhae_store::{LogEntry, Snapshot, Store, StoredPlay};

use crate::ApiError;
use crate::games::Games;

/// Log entries read and replayed at a time.
pub(crate) const ENTRIES_PER_READ: u32 = 1024;

/// The result of a rebuild; the error says why the log or the snapshot cannot be trusted.
pub(crate) type Attempt<T> = Result<T, String>;

/// Rebuilds plays from the store.
pub(crate) struct Rebuilder {
    store: Arc<dyn Store>,
    games: Arc<Games>,
}

impl Rebuilder {
    pub(crate) fn new(store: Arc<dyn Store>, games: Arc<Games>) -> Self {
        Self { store, games }
    }

    /// Rebuilds a play to the end of its log.
    pub(crate) async fn rebuild(&self, stored: &StoredPlay) -> Result<Attempt<Replica>, ApiError> {
        self.replica(stored, u32::MAX).await
    }

    /// Rebuilds a play up to, but not including, entry `before`, or to the end of its log if that
    /// comes first.
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
                    tracing::warn!(guid = %stored.id, reason, "ignored a snapshot that does not fit the log");
                    dropped = true;
                }
            }
        }
        let replica = self.rebuild_from_log(stored, before).await?;
        if dropped && replica.is_ok() {
            // If dropping fails, the next rebuild tries again.
            let _ = self.store.drop_snapshots(stored.key).await;
        }
        Ok(replica)
    }

    /// Rebuilds a play up to, but not including, entry `end`, if at most `max` entries must be
    /// replayed after a snapshot or from the start. Returns `None` if more entries would have to be
    /// replayed, or if the log cannot be trusted.
    pub(crate) async fn replica_nearby(
        &self,
        stored: &StoredPlay,
        end: u32,
        max: u32,
    ) -> Result<Option<Replica>, ApiError> {
        for snapshot in self.store.snapshots(stored.key).await? {
            if snapshot.entries <= end
                && end - snapshot.entries <= max
                && let Ok(replica) = self.after_snapshot(stored, snapshot, end).await?
            {
                return Ok(Some(replica));
            }
        }
        if end <= max {
            Ok(self.rebuild_from_log(stored, end).await?.ok())
        } else {
            Ok(None)
        }
    }

    /// Opens a replica at the start of a play's log.
    pub(crate) async fn opening_replica(
        &self,
        stored: &StoredPlay,
    ) -> Result<Attempt<Replica>, ApiError> {
        let (catalog, origin) = (Arc::clone(self.games.catalog()), stored.clone());
        let open = move || Replica::open(catalog.as_ref(), origin_of(&origin));
        classify(self.games.run(&stored.game_id, open).await?)
    }

    async fn rebuild_from_log(
        &self,
        stored: &StoredPlay,
        before: u32,
    ) -> Result<Attempt<Replica>, ApiError> {
        match self.opening_replica(stored).await? {
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
            return Ok(Err("the snapshot precedes the first log entry".to_owned()));
        };
        let last: Vec<LogEntry> = self.store.log_from(stored.key, last, 1).await?;
        let Some(last) = last
            .into_iter()
            .next()
            .filter(|last| last.index == snapshot.entries - 1)
        else {
            return Ok(Err("the log ends before the snapshot".to_owned()));
        };
        let (catalog, origin) = (Arc::clone(self.games.catalog()), stored.clone());
        let restored = self.games.run(&stored.game_id, move || {
            let Snapshot { entries, bytes } = &snapshot;
            let restored = Replica::restore(
                catalog.as_ref(),
                origin_of(&origin),
                bytes,
                *entries,
                &last.entry,
            );
            restored.map_err(|error| error.to_string())
        });
        // A failure while restoring a snapshot is a reason to reject the snapshot, not to fail the
        // request.
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

    /// Replays the log from the replica's position up to entry `before`.
    async fn catch_up(
        &self,
        stored: &StoredPlay,
        mut replica: Replica,
        before: u32,
    ) -> Result<Attempt<Replica>, ApiError> {
        loop {
            let max = ENTRIES_PER_READ.min(before.saturating_sub(replica.next()));
            let part = self.store.log_from(stored.key, replica.next(), max).await?;
            if part.is_empty() {
                return Ok(Ok(replica));
            }
            let follow = move || follow_all(replica, &part);
            match classify(self.games.run(&stored.game_id, follow).await?)? {
                Ok(advanced) => replica = advanced,
                Err(reason) => return Ok(Err(reason)),
            }
        }
    }
}

fn follow_all(mut replica: Replica, part: &[LogEntry]) -> Result<Replica, ReplicaError> {
    for log_entry in part {
        replica.follow(&log_entry.entry)?;
    }
    Ok(replica)
}

/// Distinguishes a log that cannot be trusted (inner error) from a failed environment (outer
/// error).
fn classify<T>(outcome: Result<T, ReplicaError>) -> Result<Attempt<T>, ApiError> {
    match outcome {
        Ok(value) => Ok(Ok(value)),
        Err(ReplicaError::Replay(
            ReplayError::Environment(EnvironmentError::Failed(reason))
            | ReplayError::Catalog(CatalogError::Environment(EnvironmentError::Failed(reason))),
        )) => Err(ApiError::Failed(reason)),
        Err(error) => Ok(Err(error.to_string())),
    }
}

/// The environment, seed and rules with which a stored play was opened.
fn origin_of(stored: &StoredPlay) -> Origin<'_> {
    Origin {
        game_id: &stored.game_id,
        seed: stored.seed,
        rule: stored.rule,
        win_levels: stored.win_levels,
        source_digest: stored.source_digest.as_deref(),
    }
}

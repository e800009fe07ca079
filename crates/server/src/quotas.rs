//! Limits how much each owner may store.
//!
//! The store counts the bytes of an owner in its transactions. This module reads the sum when it
//! first needs it, adds what the server stores since, and reads it again after a minute, which also
//! includes what other servers have stored.
//!
//! **Invariant:** on one server, an owner exceeds its limit at most by the requests in flight.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rhae_store::{Owner, Store};

use crate::access::Caller;
use crate::{ApiError, Limits};

/// How long a sum from the store is used.
const REFRESH_INTERVAL: Duration = Duration::from_secs(60);
const MAX_CACHED_OWNERS: usize = 4096;

/// The bytes that the owners on this server have stored.
pub(crate) struct Quotas {
    store: Arc<dyn Store>,
    limits: Limits,
    usage: Mutex<HashMap<Owner, Usage>>,
}

struct Usage {
    bytes: u64,
    read: Instant,
}

impl Quotas {
    pub(crate) fn new(store: Arc<dyn Store>, limits: Limits) -> Self {
        Self {
            store,
            limits,
            usage: Mutex::default(),
        }
    }

    /// Counts `bytes` that the caller is about to store, or refuses them. `bytes` is called only if
    /// the caller has a limit.
    pub(crate) async fn reserve(
        &self,
        caller: &Caller,
        bytes: impl Fn() -> u64 + Send,
    ) -> Result<(), ApiError> {
        let Some(max) = self.limits.max_stored_bytes(caller) else {
            return Ok(());
        };
        let added = bytes();
        if let Some(reserved) = self.reserve_known(caller.owner, added, max) {
            return reserved;
        }
        let stored = self.store.stored_bytes(caller.owner).await?;
        let now = Instant::now();
        let mut usage = self.usage();
        if usage.len() >= MAX_CACHED_OWNERS {
            usage.retain(|_, known| now.duration_since(known.read) < REFRESH_INTERVAL);
        }
        if usage.len() < MAX_CACHED_OWNERS {
            let known = Usage {
                bytes: stored,
                read: now,
            };
            usage.insert(caller.owner, known);
        }
        drop(usage);
        self.reserve_known(caller.owner, added, max)
            .unwrap_or_else(|| checked(stored, added, max))
    }

    /// Reserves bytes if the owner's sum is known and recent.
    fn reserve_known(&self, owner: Owner, added: u64, max: u64) -> Option<Result<(), ApiError>> {
        let mut usage = self.usage();
        let known = usage
            .get_mut(&owner)
            .filter(|known| known.read.elapsed() < REFRESH_INTERVAL)?;
        let reserved = checked(known.bytes, added, max);
        if reserved.is_ok() {
            known.bytes = known.bytes.saturating_add(added);
        }
        Some(reserved)
    }

    fn usage(&self) -> MutexGuard<'_, HashMap<Owner, Usage>> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn checked(stored: u64, added: u64, max: u64) -> Result<(), ApiError> {
    if stored.saturating_add(added) > max {
        Err(ApiError::StorageFull(max))
    } else {
        Ok(())
    }
}

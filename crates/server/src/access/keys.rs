//! The API keys of a server that requires them, with a short-lived cache and the rate limiter.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rhae_store::{Key, KeyId, KeyStore};
use rhae_throttle::{KeyedRateLimiter, Quota};

use crate::ApiError;

/// How long a key read from the store is cached. A revoked key is refused after at most this time.
const CACHE_TTL: Duration = Duration::from_secs(1);
const MAX_CACHED_KEYS: usize = 4096;

/// The keys in a [`KeyStore`].
pub(crate) struct Keys {
    store: Arc<dyn KeyStore>,
    cache: Mutex<HashMap<KeyId, (Key, Instant)>>,
    /// Each server counts separately, even if several share a store.
    rate_limiter: KeyedRateLimiter<KeyId>,
    started: Instant,
}

impl Keys {
    pub(crate) fn new(store: Arc<dyn KeyStore>) -> Self {
        Self {
            store,
            cache: Mutex::default(),
            rate_limiter: KeyedRateLimiter::default(),
            started: Instant::now(),
        }
    }

    pub(crate) fn store(&self) -> &dyn KeyStore {
        self.store.as_ref()
    }

    /// Returns the stored key with this id. Unknown ids are not cached, so that made-up ids cannot
    /// fill the cache.
    pub(super) async fn find(&self, id: KeyId) -> Result<Option<Key>, ApiError> {
        let now = Instant::now();
        if let Some((key, read)) = self
            .cache
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            && now < *read + CACHE_TTL
        {
            return Ok(Some(key.clone()));
        }
        let key = self.store.key(id).await?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MAX_CACHED_KEYS {
            cache.retain(|_, (_, read)| now < *read + CACHE_TTL);
        }
        match &key {
            Some(key) if cache.len() < MAX_CACHED_KEYS => {
                drop(cache.insert(id, (key.clone(), now)));
            }
            _ => drop(cache.remove(&id)),
        }
        Ok(key)
    }

    /// Counts a request of a key against its limit of `max` requests per minute.
    pub(super) fn count_request(&self, id: KeyId, max: u32) -> Result<(), ApiError> {
        self.rate_limiter
            .try_acquire(id, per_minute(max), self.started.elapsed())
            .map_err(|retry_seconds| ApiError::RateLimit { max, retry_seconds })
    }
}

/// Returns the quota for a limit of requests per minute.
pub(super) fn per_minute(max: u32) -> Quota {
    Quota::window(max, Duration::from_secs(60))
}

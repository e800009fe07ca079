//! Who may do what: a request's caller, found by its key.
//!
//! **Invariant:** a handler gets a [`Caller`] only from a request that passed the gate. What a caller may not see is looked up in the
//! same way as what does not exist, and answered in the same way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use rhae_engine::{GameId, GameInfo};
use rhae_store::{GameSet, GameSets, Key, KeyId, KeyStore, Owner};
use sha2::{Digest, Sha256};

use crate::rate::Rates;
use crate::{ApiError, ApiKey, Server};

/// How long a key that was read from the store is believed: a revoked key is refused after a second at the latest.
const BELIEVED: Duration = Duration::from_secs(1);
/// The most keys that are remembered.
const MOST_KEYS: usize = 4096;

/// Who sends a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// Whose cards and plays are the caller's.
    pub(crate) owner: Owner,
    /// The environments that may be seen.
    sets: GameSets,
    /// Whether sources may be downloaded.
    pub(crate) sources: bool,
    /// Whether everybody's cards may be read.
    admin: bool,
}

impl Caller {
    /// Somebody who uses an open server. Requests without a key have one owner in common.
    fn open(headers: &HeaderMap) -> Self {
        Self { owner: Owner(Sha256::digest(presented(headers)).into()), sets: GameSets::PUBLIC, sources: true, admin: false }
    }

    /// Whether the caller may read cards and plays of this owner.
    pub(crate) fn reads(&self, owner: Owner) -> bool {
        self.admin || owner == self.owner
    }

    fn sees(&self, set: GameSet) -> bool {
        self.admin || self.sets.contains(set)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // A route that was left outside the gate serves nobody.
        parts.extensions.get().copied().flatten().ok_or(ApiError::Unauthorized)
    }
}

/// Paths that are answered without a key.
fn is_for_everybody(path: &str) -> bool {
    matches!(path, "/api/healthcheck" | "/api/openapi.json" | "/api/games/anonkey")
}

/// The keys of a server that asks for them.
pub(crate) struct Keys {
    store: Arc<dyn KeyStore>,
    believed: Mutex<HashMap<KeyId, (Key, Instant)>>,
    rates: Rates,
    begun: Instant,
}

impl Keys {
    pub(crate) fn new(store: Arc<dyn KeyStore>) -> Self {
        Self { store, believed: Mutex::default(), rates: Rates::default(), begun: Instant::now() }
    }

    /// The stored key with this id. What is not there is not remembered, so that made-up ids push nothing out.
    async fn find(&self, id: KeyId) -> Result<Option<Key>, ApiError> {
        let now = Instant::now();
        if let Some((key, read)) = self.believed.lock().unwrap_or_else(PoisonError::into_inner).get(&id)
            && now < *read + BELIEVED
        {
            return Ok(Some(key.clone()));
        }
        let key = self.store.key(id).await?;
        let mut believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
        if believed.len() >= MOST_KEYS {
            believed.retain(|_, (_, read)| now < *read + BELIEVED);
        }
        match &key {
            Some(key) if believed.len() < MOST_KEYS => drop(believed.insert(id, (key.clone(), now))),
            _ => drop(believed.remove(&id)),
        }
        Ok(key)
    }
}

impl Server {
    /// Lets a request in, or says why not. A path that needs no key has no caller.
    pub(crate) async fn admit(&self, path: &str, headers: &HeaderMap) -> Result<Option<Caller>, ApiError> {
        let Some(keys) = &self.keys else {
            return Ok(Some(Caller::open(headers)));
        };
        if is_for_everybody(path) {
            return Ok(None);
        }
        let presented = ApiKey::parse(presented(headers)).ok_or(ApiError::Unauthorized)?;
        let stored = keys.find(presented.id()).await?.ok_or(ApiError::Unauthorized)?;
        let owner = presented.verify(&stored).ok_or(ApiError::Unauthorized)?;
        if let Some(most) = self.config.limits.requests_per_minute {
            let counted = keys.rates.count(stored.id, most, keys.begun.elapsed());
            counted.map_err(|retry_seconds| ApiError::RateLimit { most, retry_seconds })?;
        }
        let scopes = stored.scopes;
        Ok(Some(Caller { owner, sets: scopes.sets, sources: scopes.sources, admin: scopes.admin }))
    }

    /// The environments that a caller may see, older versions of one before newer ones.
    pub(crate) fn games(&self, caller: &Caller) -> impl DoubleEndedIterator<Item = &GameInfo> {
        let caller = *caller;
        self.games.iter().zip(&self.sets).filter(move |(_, set)| caller.sees(**set)).map(|(info, _)| info)
    }

    /// The caller's environment with this id, or the newest version of the one with these four characters.
    pub(crate) fn game(&self, caller: &Caller, name: &str) -> Option<&GameInfo> {
        let exact = self.games(caller).find(|info| info.id.as_str() == name);
        exact.or_else(|| self.games(caller).rev().find(|info| info.id.base() == name))
    }

    /// Whether a caller may see an environment.
    pub(crate) fn shows(&self, caller: &Caller, id: &GameId) -> bool {
        self.games(caller).any(|info| info.id == *id)
    }
}

/// What stands in the header for keys.
fn presented(headers: &HeaderMap) -> &[u8] {
    headers.get("x-api-key").map_or(&[][..], |value| value.as_bytes())
}

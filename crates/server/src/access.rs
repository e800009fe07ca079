//! Who may do what: a request's caller, found by its key.
//!
//! **Invariant:** a handler gets a [`Caller`] only from a request that passed the gate. What a caller may not see is looked up in the
//! same way as what does not exist, and answered in the same way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use rhae_engine::{GameId, GameInfo};
use rhae_store::{GameSet, GameSets, Key, KeyId, KeyStore, Owner, Scopes};
use sha2::{Digest, Sha256};

use crate::rate::Rates;
use crate::web::{COOKIE, is_page};
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
    /// Whether everything may be seen and read.
    admin: bool,
    /// Whether everybody's cards may be read, because the caller looks at a page of a server that is open.
    onlooker: bool,
    /// Whether the key is a visitor's, who is held to stricter limits.
    pub(crate) visitor: bool,
    /// Whether the key comes from a browser's cookie. Its cards are a person's, who may come back tomorrow.
    pub(crate) in_browser: bool,
}

impl Caller {
    /// Somebody who uses an open server. Requests without a key have one owner in common.
    fn open(presented: Presented<'_>, page: bool) -> Self {
        let Presented { key, in_browser } = presented;
        let owner = Owner(Sha256::digest(key).into());
        Self {
            owner,
            sets: GameSets::PUBLIC,
            sources: true,
            admin: false,
            onlooker: page,
            visitor: false,
            in_browser,
        }
    }

    /// Somebody without a key who looks at pages. No key has the hash that is their owner, so nothing is theirs.
    pub(crate) const fn nobody() -> Self {
        let owner = Owner([0; 32]);
        Self {
            owner,
            sets: GameSets::PUBLIC,
            sources: false,
            admin: false,
            onlooker: false,
            visitor: true,
            in_browser: true,
        }
    }

    /// Whether the caller may read cards and plays of this owner.
    pub(crate) fn reads(&self, owner: Owner) -> bool {
        self.reads_all() || owner == self.owner
    }

    /// Whether the caller may read everybody's cards and plays.
    pub(crate) const fn reads_all(&self) -> bool {
        self.admin || self.onlooker
    }

    fn sees(&self, set: GameSet) -> bool {
        self.admin || self.sets.contains(set)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // A route that was left outside the gate serves nobody.
        parts
            .extensions
            .get()
            .copied()
            .flatten()
            .ok_or(ApiError::Unauthorized)
    }
}

/// Paths that are answered without a key.
fn is_for_everybody(path: &str) -> bool {
    matches!(
        path,
        "/api/healthcheck" | "/api/openapi.json" | "/api/games/anonkey"
    ) || path.starts_with("/assets/")
}

/// The key of a request and where it was found.
#[derive(Clone, Copy)]
struct Presented<'a> {
    key: &'a [u8],
    in_browser: bool,
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
        Self {
            store,
            believed: Mutex::default(),
            rates: Rates::default(),
            begun: Instant::now(),
        }
    }

    /// Where they are kept.
    pub(crate) fn store(&self) -> &dyn KeyStore {
        self.store.as_ref()
    }

    /// The stored key with this id. What is not there is not remembered, so that made-up ids push nothing out.
    async fn find(&self, id: KeyId) -> Result<Option<Key>, ApiError> {
        let now = Instant::now();
        if let Some((key, read)) = self
            .believed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
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
            Some(key) if believed.len() < MOST_KEYS => {
                drop(believed.insert(id, (key.clone(), now)))
            }
            _ => drop(believed.remove(&id)),
        }
        Ok(key)
    }
}

impl Server {
    /// Lets a request in, or says why not. A path that needs no key has no caller.
    pub(crate) async fn admit(
        &self,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<Option<Caller>, ApiError> {
        let page = is_page(path);
        let presented = presented(headers, page);
        let Some(keys) = &self.keys else {
            return Ok(Some(Caller::open(presented, page)));
        };
        if is_for_everybody(path) {
            return Ok(None);
        }
        match self.identify(keys, presented).await {
            // A page is shown to those who may look without a key, and leads the others to the door.
            Err(ApiError::Unauthorized) if page => Ok(None),
            found => found.map(Some),
        }
    }

    /// The caller whose key this is.
    async fn identify(&self, keys: &Keys, presented: Presented<'_>) -> Result<Caller, ApiError> {
        let Presented { key, in_browser } = presented;
        let secret = ApiKey::parse(key).ok_or(ApiError::Unauthorized)?;
        let stored = keys
            .find(secret.id())
            .await?
            .ok_or(ApiError::Unauthorized)?;
        let owner = secret
            .verify(&stored)
            .filter(|_| stored.invitation.is_none())
            .ok_or(ApiError::Unauthorized)?;
        let Scopes {
            sets,
            sources,
            admin,
            visitor,
        } = stored.scopes;
        let limits = &self.config.limits;
        if let Some(most) = if visitor {
            limits.visitor_requests_per_minute
        } else {
            limits.requests_per_minute
        } {
            let counted = keys.rates.count(stored.id, most, keys.begun.elapsed());
            counted.map_err(|retry_seconds| ApiError::RateLimit {
                most,
                retry_seconds,
            })?;
        }
        Ok(Caller {
            owner,
            sets,
            sources,
            admin,
            onlooker: false,
            visitor,
            in_browser,
        })
    }

    /// The environments that a caller may see, older versions of one before newer ones.
    pub(crate) fn games(&self, caller: &Caller) -> impl DoubleEndedIterator<Item = &GameInfo> {
        let caller = *caller;
        self.games
            .iter()
            .zip(&self.sets)
            .filter(move |(_, set)| caller.sees(**set))
            .map(|(info, _)| info)
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

/// What stands in the header for keys, or in a visitor's cookie. A command with a cookie that another site makes a browser send has no key.
fn presented(headers: &HeaderMap, page: bool) -> Presented<'_> {
    if let Some(value) = headers.get("x-api-key") {
        return Presented {
            key: value.as_bytes(),
            in_browser: false,
        };
    }
    let cookies = headers
        .get_all(header::COOKIE)
        .iter()
        .filter(|_| page || is_from_here(headers));
    let mut pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(';'));
    let found = pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='));
    found.map_or(
        Presented {
            key: &[],
            in_browser: false,
        },
        |key| Presented {
            key: key.as_bytes(),
            in_browser: true,
        },
    )
}

/// Whether a browser says that one of our own pages sends the request, or says nothing about it.
pub(crate) fn is_from_here(headers: &HeaderMap) -> bool {
    headers
        .get("sec-fetch-site")
        .is_none_or(|site| site == "same-origin" || site == "none")
}

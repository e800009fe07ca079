//! Authentication and authorisation: identifies the caller of a request by its API key and decides
//! what the caller may see.
//!
//! **Invariant:** a handler gets a [`Caller`] only from a request that passed the middleware. For a
//! resource that the caller may not see, the server does the same lookup and sends the same
//! response as for one that does not exist.

mod arrivals;
mod keys;
mod owners;
mod visitor_keys;

use std::sync::Arc;
use std::time::Instant;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use rhae_store::{GameSet, GameSets, KeyId, KeyLimits, KeyStore, Owner, Scopes};
use rhae_web::Viewer;
use sha2::{Digest, Sha256};

use crate::studies::is_participant;
use crate::web::{COOKIE, is_page};
use crate::{ApiError, ApiKey, Clock, Limits, Visitors};
use arrivals::ArrivalLimiter;
use keys::Keys;
use visitor_keys::NewKeyLimiter;

/// The sender of a request and its permissions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// The owner of the cards and plays that the caller may use.
    pub(crate) owner: Owner,
    /// The sets of environments that the caller may see.
    sets: GameSets,
    /// Whether the caller may download sources.
    pub(crate) sources: bool,
    /// Whether the caller may see every environment and read every card and play.
    admin: bool,
    /// Whether the caller may read every card and play, because it requests a page of a server with
    /// open access.
    reads_all_cards: bool,
    /// Whether the key belongs to a visitor, for whom stricter limits apply.
    pub(crate) visitor: bool,
    /// The public id of the stored key that the caller presented.
    pub(crate) key: Option<KeyId>,
    /// The limits of the key, which replace those of the server.
    pub(crate) limits: KeyLimits,
    /// Whether the key comes from a browser cookie. Cards of such a caller do not expire, because a
    /// person may return days later.
    pub(crate) in_browser: bool,
}

impl Caller {
    /// A client of a server with open access. All requests without a key share one owner.
    fn open_access(presented_key: PresentedKey<'_>, page: bool) -> Self {
        let PresentedKey { key, in_browser } = presented_key;
        let owner = Owner(Sha256::digest(key).into());
        Self {
            owner,
            sets: GameSets::PUBLIC,
            sources: true,
            admin: false,
            reads_all_cards: page,
            visitor: false,
            key: None,
            limits: KeyLimits::default(),
            in_browser,
        }
    }

    /// A visitor without a key who views pages. No key has the all-zero hash, so this caller owns
    /// nothing.
    pub(crate) fn anonymous() -> Self {
        let owner = Owner([0; 32]);
        Self {
            owner,
            sets: GameSets::PUBLIC,
            sources: false,
            admin: false,
            reads_all_cards: false,
            visitor: true,
            key: None,
            limits: KeyLimits::default(),
            in_browser: true,
        }
    }

    /// The visitors of a link, who read what its owner published.
    pub(crate) fn of_link(owner: Owner) -> Self {
        Self {
            owner,
            ..Self::anonymous()
        }
    }

    /// A participant of a study, whose plays belong to this owner. Participants play environments of
    /// every set, but only those that the study assigns.
    pub(crate) fn of_participant(owner: Owner) -> Self {
        Self {
            owner,
            sets: GameSets::ALL,
            visitor: false,
            ..Self::anonymous()
        }
    }

    pub(crate) const fn is_admin(&self) -> bool {
        self.admin
    }

    /// Whether the caller uses a server with open access without a key. All such callers share an
    /// owner.
    pub(crate) fn is_without_key(&self) -> bool {
        self.owner == Owner(Sha256::digest([]).into())
    }

    /// Whether the caller may read the cards and plays of this owner. Those of participants of a
    /// study can be read only through the study.
    pub(crate) fn can_read(&self, owner: Owner) -> bool {
        owner == self.owner || (self.can_read_all() && !is_participant(owner))
    }

    /// Whether the caller may read the cards and plays of every owner.
    pub(crate) const fn can_read_all(&self) -> bool {
        self.admin || self.reads_all_cards
    }

    pub(crate) fn can_see_set(&self, set: GameSet) -> bool {
        self.admin || self.sets.contains(set)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // The request is refused if the middleware identified no caller, and also if it did not
        // run.
        parts
            .extensions
            .get()
            .copied()
            .flatten()
            .ok_or(ApiError::Unauthorized)
    }
}

/// Whether a path needs no key. Participants of a study send the token of their link instead.
fn is_public_path(path: &str) -> bool {
    matches!(
        path,
        "/api/healthcheck" | "/api/openapi.json" | "/api/games/anonkey" | "/api/arrivals"
    ) || path == "/api/sitting"
        || path.starts_with("/api/sitting/")
        || path.starts_with("/assets/")
}

/// The key in a request; empty if the request has none. `in_browser` says whether it was found in
/// the cookie.
#[derive(Clone, Copy)]
struct PresentedKey<'a> {
    key: &'a [u8],
    in_browser: bool,
}

/// The clients that may use the server, and how often.
pub(crate) struct Access {
    /// `None` if access is open.
    keys: Option<Keys>,
    visitors: Visitors,
    limits: Limits,
    clock: Arc<dyn Clock>,
    started: Instant,
    new_key_limiter: NewKeyLimiter,
    arrival_limiter: ArrivalLimiter,
}

impl Access {
    /// Access for every client, with any key or none.
    pub(crate) fn open(visitors: Visitors, limits: Limits, clock: Arc<dyn Clock>) -> Self {
        Self {
            keys: None,
            visitors,
            limits,
            clock,
            started: Instant::now(),
            new_key_limiter: NewKeyLimiter::default(),
            arrival_limiter: ArrivalLimiter::default(),
        }
    }

    /// Access only with a key from this store, under the same limits.
    pub(crate) fn with_keys(&self, keys: Arc<dyn KeyStore>) -> Self {
        Self {
            keys: Some(Keys::new(keys)),
            ..Self::open(self.visitors, self.limits, Arc::clone(&self.clock))
        }
    }

    /// Whether every client may use the server.
    pub(crate) const fn is_open(&self) -> bool {
        self.keys.is_none()
    }

    pub(crate) const fn visitors(&self) -> Visitors {
        self.visitors
    }

    /// Who views a page.
    pub(crate) const fn viewer(&self, caller: Option<&Caller>) -> Viewer {
        match caller {
            _ if self.is_open() => Viewer::OpenAccess,
            Some(_) => Viewer::KeyHolder,
            None => Viewer::Anonymous,
        }
    }

    /// Identifies the caller of a request. If the server requires keys, returns `None` for a path
    /// that needs no key, and for a page requested without a valid key: the page's handler then
    /// decides what to show.
    pub(crate) async fn authenticate(
        &self,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<Option<Caller>, ApiError> {
        let page = is_page(path);
        let presented_key = presented_key(headers, page);
        let Some(keys) = &self.keys else {
            return Ok(Some(Caller::open_access(presented_key, page)));
        };
        if is_public_path(path) {
            return Ok(None);
        }
        match self.identify(keys, presented_key).await {
            // Without a valid key, the page's handler shows a public page or redirects to the
            // sign-in page.
            Err(ApiError::Unauthorized) if page => Ok(None),
            found => found.map(Some),
        }
    }

    /// Verifies a key and counts the request against its rate limit.
    async fn identify(
        &self,
        keys: &Keys,
        presented_key: PresentedKey<'_>,
    ) -> Result<Caller, ApiError> {
        let PresentedKey { key, in_browser } = presented_key;
        let secret = ApiKey::parse(key).ok_or(ApiError::Unauthorized)?;
        let stored = keys
            .find(secret.id())
            .await?
            .ok_or(ApiError::Unauthorized)?;
        let owner = secret
            .verify(&stored, self.clock.now_ms())
            .filter(|_| stored.invitation.is_none())
            .ok_or(ApiError::Unauthorized)?;
        let Scopes {
            sets,
            sources,
            admin,
            visitor,
        } = stored.scopes;
        let caller = Caller {
            owner,
            sets,
            sources,
            admin,
            reads_all_cards: false,
            visitor,
            key: Some(stored.id),
            limits: stored.limits,
            in_browser,
        };
        if let Some(max) = self.limits.max_requests(&caller) {
            keys.count_request(stored.id, max)?;
        }
        Ok(caller)
    }
}

/// Returns the key in the `X-API-Key` header or in the cookie. For an API request, the cookie is
/// used only if the request is same-origin.
fn presented_key(headers: &HeaderMap, page: bool) -> PresentedKey<'_> {
    if let Some(value) = headers.get("x-api-key") {
        return PresentedKey {
            key: value.as_bytes(),
            in_browser: false,
        };
    }
    let cookies = headers
        .get_all(header::COOKIE)
        .iter()
        .filter(|_| page || is_same_origin(headers));
    let mut pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(';'));
    let found = pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='));
    found.map_or(
        PresentedKey {
            key: &[],
            in_browser: false,
        },
        |key| PresentedKey {
            key: key.as_bytes(),
            in_browser: true,
        },
    )
}

/// Checks that no page of another site has sent a request that may change something. With keys, such
/// a request lacks the key. With open access, a request without a body would be executed: a browser
/// sends it to any server without asking.
pub(crate) fn check_site(method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
    if method.is_safe() || is_same_origin(headers) {
        Ok(())
    } else {
        Err(ApiError::ForeignSite)
    }
}

/// Whether the request comes from one of this server's own pages or directly from the user. A
/// request without a `Sec-Fetch-Site` header counts as same-origin: it comes from a program, or
/// from a browser that uses plain HTTP and therefore does not send the header.
pub(crate) fn is_same_origin(headers: &HeaderMap) -> bool {
    headers
        .get("sec-fetch-site")
        .is_none_or(|site| site == "same-origin" || site == "none")
}

//! Keys of visitors: created on the first visit, or by accepting an invitation.

use std::time::Duration;

use rhae_store::{GameSets, Key, KeyLimits, Scopes};
use rhae_throttle::KeyedRateLimiter;

use super::keys::{Keys, per_minute};
use super::{Access, Caller};
use crate::network::ClientAddress;
use crate::{ApiError, ApiKey, Visitors};

/// The maximum number of visitor keys that `/visit` creates per minute, over all visitors.
const MAX_NEW_KEYS_PER_MINUTE: u32 = 600;

/// The maximum number of visitor keys that `/visit` creates per minute for one address. Several
/// people may share an address.
const MAX_NEW_KEYS_PER_ADDRESS: u32 = 60;

/// Limits the rate at which `/visit` creates visitor keys.
#[derive(Default)]
pub(super) struct NewKeyLimiter {
    all: KeyedRateLimiter<()>,
    addresses: KeyedRateLimiter<ClientAddress>,
}

impl NewKeyLimiter {
    fn try_acquire(&self, address: ClientAddress, now: Duration) -> Result<(), ApiError> {
        let limited = |max| move |retry_seconds| ApiError::RateLimit { max, retry_seconds };
        let max = MAX_NEW_KEYS_PER_ADDRESS;
        let counted = self.addresses.try_acquire(address, per_minute(max), now);
        counted.map_err(limited(max))?;
        let max = MAX_NEW_KEYS_PER_MINUTE;
        let counted = self.all.try_acquire((), per_minute(max), now);
        counted.map_err(limited(max))
    }
}

impl Access {
    /// Creates a key for the public environments. With open access the key is not stored: it only
    /// distinguishes this visitor from others.
    pub(crate) async fn create_visitor_key(
        &self,
        address: ClientAddress,
    ) -> Result<ApiKey, ApiError> {
        self.new_key_limiter
            .try_acquire(address, self.started.elapsed())?;
        let (secret, key) = self.new_visitor_key("visitor", GameSets::PUBLIC)?;
        if let Some(keys) = &self.keys {
            keys.store().create_key(key).await?;
        }
        Ok(secret)
    }

    /// Returns the key with this text if it is valid and no invitation.
    pub(crate) async fn verified_key(&self, text: &str) -> Result<Option<ApiKey>, ApiError> {
        let (Some(keys), Some(secret)) = (&self.keys, ApiKey::parse(text.as_bytes())) else {
            return Ok(None);
        };
        let stored = keys.store().key(secret.id()).await?;
        let valid = stored.is_some_and(|stored| {
            stored.invitation.is_none() && secret.verify(&stored, self.clock.now_ms()).is_some()
        });
        Ok(valid.then_some(secret))
    }

    /// Returns the invitation with this token, and whether it admits another visitor. A used up or
    /// expired one admits none.
    pub(crate) async fn find_invitation(&self, token: &str) -> Result<(Key, bool), ApiError> {
        let keys = self.invitations().ok_or(ApiError::NoSuchPath)?;
        let secret = ApiKey::parse(token.as_bytes()).ok_or(ApiError::NoSuchPath)?;
        let stored = keys.store().key(secret.id()).await?;
        let stored = stored
            .filter(|stored| secret.verify(stored, self.clock.now_ms()).is_some())
            .ok_or(ApiError::NoSuchPath)?;
        let invitation = stored.invitation.ok_or(ApiError::NoSuchPath)?;
        let is_valid = invitation.left > 0 && invitation.until_ms > self.clock.now_ms();
        Ok((stored, is_valid))
    }

    /// Whether a visitor can do without an invitation, because its key gives access to everything
    /// that the invitation offers. In particular this is so for a key that the invitation created.
    pub(crate) fn has_accepted(caller: &Caller, invitation: &Key) -> bool {
        let mut offered = invitation.scopes.sets.iter();
        caller.visitor && offered.all(|set| caller.sets.contains(set))
    }

    /// Uses up one place of an invitation and creates a visitor key for it.
    pub(crate) async fn accept_invitation(&self, invitation: &Key) -> Result<ApiKey, ApiError> {
        let keys = self.invitations().ok_or(ApiError::NoSuchPath)?;
        let name = format!("visitor by {}", invitation.id);
        let (secret, mut key) = self.new_visitor_key(&name, invitation.scopes.sets)?;
        let lifetime_ms = invitation.invitation.and_then(|one| one.key_lifetime_ms);
        key.expires_ms = lifetime_ms.map(|lifetime_ms| key.created_ms.saturating_add(lifetime_ms));
        key.limits = invitation.limits;
        let accepted = keys
            .store()
            .accept_invitation(invitation.id, key, self.clock.now_ms())
            .await?;
        if accepted {
            Ok(secret)
        } else {
            Err(ApiError::NoSuchPath)
        }
    }

    /// The keys, if the server accepts invitations.
    fn invitations(&self) -> Option<&Keys> {
        self.keys
            .as_ref()
            .filter(|_| self.visitors != Visitors::Off)
    }

    fn new_visitor_key(&self, name: &str, sets: GameSets) -> Result<(ApiKey, Key), ApiError> {
        let secret = ApiKey::generate().map_err(|error| ApiError::Failed(error.to_string()))?;
        let scopes = Scopes {
            sets,
            sources: false,
            admin: false,
            visitor: true,
        };
        let key = Key {
            id: secret.id(),
            hash: secret.hash(),
            name: name.to_owned(),
            scopes,
            created_ms: self.clock.now_ms(),
            revoked_ms: None,
            expires_ms: None,
            limits: KeyLimits::default(),
            invitation: None,
        };
        Ok((secret, key))
    }
}

//! Stored API keys: a public id, the hash of the key, and its permissions.
//!
//! **Invariant:** the key itself is never stored. A reader of the database cannot authenticate with
//! what it contains.
//!
//! This module does not know how a key is generated or what its text looks like.

use std::fmt;
use std::str::FromStr;

use rhae_protocol::{InvitationListing, KeyLimitsListing, KeyListing};

use crate::{Owner, Pending};

/// The public part of an API key, which identifies it in lists and log messages. Its text form is
/// 16 lower-case hexadecimal digits.
///
/// # Examples
///
/// ```
/// use rhae_store::KeyId;
///
/// let id: KeyId = "00000000000000ff".parse()?;
/// assert_eq!(id, KeyId(255));
/// assert_eq!(id.to_string(), "00000000000000ff");
/// // Each id has exactly one text form.
/// assert!("00000000000000FF".parse::<KeyId>().is_err());
/// # Ok::<(), rhae_store::KeyIdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub u64);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The error returned when a text is not a valid [`KeyId`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a key id: expected 16 hexadecimal digits (0-9, a-f)")]
pub struct KeyIdError(String);

impl FromStr for KeyId {
    type Err = KeyIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let id = hex16(text).map(Self);
        id.ok_or_else(|| KeyIdError(text.to_owned()))
    }
}

/// Parses 16 lower-case hexadecimal digits. `from_str_radix` also accepts a sign and upper case,
/// which would give one number several texts.
pub(crate) fn hex16(text: &str) -> Option<u64> {
    let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let plain = text.len() == 16 && text.bytes().all(digit);
    let text = Some(text).filter(|_| plain)?;
    u64::from_str_radix(text, 16).ok()
}

/// The visibility of an environment: which keys may see and play it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GameSet {
    /// Visible to every key.
    Public,
    /// Visible to keys with this set in their scopes.
    SemiPrivate,
    /// Visible to keys with this set in their scopes. Only the keys of the evaluation itself should
    /// have it.
    Private,
}

impl GameSet {
    pub const ALL: [Self; 3] = [Self::Public, Self::SemiPrivate, Self::Private];

    /// Returns the name used in the database and in flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::SemiPrivate => "semi-private",
            Self::Private => "private",
        }
    }

    /// Parses a [name](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }
}

/// A set of [`GameSet`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameSets(u8);

impl GameSets {
    pub const ALL: Self = Self(0b111);
    pub const PUBLIC: Self = Self(1);

    pub const fn contains(self, set: GameSet) -> bool {
        self.0 & (1 << set as u8) != 0
    }

    /// Iterates over the contained sets in the order of [`GameSet::ALL`].
    pub fn iter(self) -> impl Iterator<Item = GameSet> {
        GameSet::ALL
            .into_iter()
            .filter(move |&set| self.contains(set))
    }
}

impl FromIterator<GameSet> for GameSets {
    fn from_iter<I: IntoIterator<Item = GameSet>>(sets: I) -> Self {
        Self(sets.into_iter().fold(0, |bits, set| bits | 1 << set as u8))
    }
}

/// The permissions of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scopes {
    /// The environments that the key may see.
    pub sets: GameSets,
    /// Whether the key may download the sources of environments.
    pub sources: bool,
    /// Whether the key may see every set and read all scorecards.
    pub admin: bool,
    /// Whether the key belongs to a visitor. A visitor's key is stored in a browser's cookie and
    /// has stricter limits.
    pub visitor: bool,
}

/// Marks a key as an invitation, which can only be exchanged for new keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// The number of keys that can still be created with it.
    pub left: u32,
    /// The expiry time, in milliseconds since 1970.
    pub until_ms: u64,
    /// How long a key created with it is valid; `None` if such a key does not expire.
    pub key_lifetime_ms: Option<u64>,
}

/// The limits of a key, which replace those of the server. 0 means no limit, and `None` means that
/// the limit of the server applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    pub requests_per_minute: Option<u32>,
    pub open_cards: Option<u32>,
    pub plays_per_card: Option<u32>,
    /// Bytes in cards, plays and log entries.
    pub stored_bytes: Option<u64>,
}

/// A stored API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub id: KeyId,
    /// SHA-256 of the complete key.
    pub hash: [u8; 32],
    /// A description chosen by the operator, such as the holder's name.
    pub name: String,
    pub scopes: Scopes,
    /// The time of creation, in milliseconds since 1970.
    pub created_ms: u64,
    /// The time of revocation, or `None` if the key is valid.
    pub revoked_ms: Option<u64>,
    /// The expiry time, in milliseconds since 1970, or `None` if the key does not expire. An
    /// invitation has [`Invitation::until_ms`] instead.
    pub expires_ms: Option<u64>,
    /// The limits of the key, or of the keys that an invitation creates.
    pub limits: KeyLimits,
    /// `Some` if the key is an invitation.
    pub invitation: Option<Invitation>,
}

impl Key {
    /// Returns whether the key is neither revoked nor expired.
    pub fn is_valid(&self, now_ms: u64) -> bool {
        let expired = self
            .expires_ms
            .is_some_and(|expires_ms| expires_ms <= now_ms);
        self.revoked_ms.is_none() && !expired
    }
}

impl From<&Key> for KeyListing {
    fn from(key: &Key) -> Self {
        let sets = key.scopes.sets.iter();
        Self {
            id: key.id.to_string(),
            name: key.name.clone(),
            sets: sets.map(|set| set.name().to_owned()).collect(),
            sources: key.scopes.sources,
            admin: key.scopes.admin,
            created_ms: key.created_ms,
            revoked_ms: key.revoked_ms,
            expires_ms: key.expires_ms,
            limits: KeyLimitsListing {
                requests_per_minute: key.limits.requests_per_minute,
                open_cards: key.limits.open_cards,
                plays_per_card: key.limits.plays_per_card,
                stored_bytes: key.limits.stored_bytes,
            },
            visitor: key.scopes.visitor,
            invitation: key.invitation.map(|invitation| InvitationListing {
                left: invitation.left,
                until_ms: invitation.until_ms,
                key_lifetime_ms: invitation.key_lifetime_ms,
            }),
            link: None,
            key: None,
        }
    }
}

/// A database of API keys.
///
/// Changes are visible to all processes that share the database as soon as the call returns.
///
/// # Errors
///
/// Every method can fail with one of the database errors of [`StoreError`](crate::StoreError).
///
/// # Examples
///
/// ```
/// use rhae_store::{GameSets, Key, KeyId, KeyLimits, KeyStore, Scopes, SqliteOptions, SqliteStore};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let folder = tempfile::tempdir()?;
/// let store =
///     SqliteStore::open(&folder.path().join("rhae.db"), SqliteOptions::default()).await?;
///
/// let key = Key {
///     id: KeyId(1),
///     hash: [0; 32], // SHA-256 of the complete key
///     name: "robotics lab".to_owned(),
///     scopes: Scopes { sets: GameSets::PUBLIC, sources: false, admin: false, visitor: false },
///     created_ms: 1_000,
///     revoked_ms: None,
///     expires_ms: None,
///     limits: KeyLimits::default(),
///     invitation: None,
/// };
/// store.create_key(key).await?;
/// assert!(store.revoke_key(KeyId(1), 2_000).await?);
/// assert!(!store.revoke_key(KeyId(1), 3_000).await?, "it is revoked already");
/// let stored = store.key(KeyId(1)).await?.expect("a revoked key stays in the database");
/// assert_eq!(stored.revoked_ms, Some(2_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait KeyStore: Send + Sync {
    /// Stores a new key. Fails if the id is taken.
    fn create_key(&self, key: Key) -> Pending<'_, ()>;

    /// Stores a new key in exchange for one use of the invitation `id`. Returns `false`, without
    /// any change, if the invitation is unknown, revoked, expired at `at_ms` or used up.
    fn accept_invitation(&self, id: KeyId, key: Key, at_ms: u64) -> Pending<'_, bool>;

    /// Returns the key with this id, revoked or not.
    fn key(&self, id: KeyId) -> Pending<'_, Option<Key>>;

    /// Returns the keys, revoked or not, whose holders are these owners of cards. An owner without a
    /// key in the database has no element.
    fn owner_keys(&self, owners: Vec<Owner>) -> Pending<'_, Vec<Key>>;

    /// Returns all keys, the oldest first.
    fn keys(&self) -> Pending<'_, Vec<Key>>;

    /// Revokes a key permanently. Returns `false` if the key does not exist or was revoked already.
    fn revoke_key(&self, id: KeyId, at_ms: u64) -> Pending<'_, bool>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_id_has_exactly_one_text_form() {
        for id in [0, 7, u64::MAX] {
            assert_eq!(KeyId(id).to_string().parse(), Ok(KeyId(id)));
        }
        for text in [
            "",
            "7",
            "+00000000000000f",
            "00000000000000FF",
            "00000000000000ff0",
            "0000000000000ä",
        ] {
            assert!(text.parse::<KeyId>().is_err(), "{text}");
        }
    }

    #[test]
    fn game_sets_contain_the_collected_sets() {
        let some = GameSets::from_iter([GameSet::Private, GameSet::Public]);
        assert_eq!(
            some.iter().collect::<Vec<_>>(),
            [GameSet::Public, GameSet::Private]
        );
        assert_eq!(
            (
                GameSets::from_iter(GameSet::ALL),
                GameSets::from_iter([GameSet::Public])
            ),
            (GameSets::ALL, GameSets::PUBLIC)
        );
        assert_eq!(
            GameSet::ALL.map(|set| GameSet::from_name(set.name())),
            GameSet::ALL.map(Some)
        );
    }
}

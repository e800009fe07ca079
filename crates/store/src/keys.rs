//! API keys as they are stored: a public id, the hash of the whole key, and what the key may do.
//!
//! **Invariant:** a key itself is never stored; who reads the database cannot use what is found there.
//!
//! What this module deliberately does not know: how a key is made, and what its text looks like.

use std::fmt;
use std::str::FromStr;

use crate::Pending;

/// The public part of a key, by which it is found and spoken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub u64);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The text is not the id of a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of a key: expected 16 digits from 0 to 9 and a to f")]
pub struct KeyIdError(String);

impl FromStr for KeyId {
    type Err = KeyIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The number's own parser would take a sign and upper case, and one id would have several texts.
        let plain = text.len() == 16
            && text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let number = if plain {
            u64::from_str_radix(text, 16).ok()
        } else {
            None
        };
        number.map(Self).ok_or_else(|| KeyIdError(text.to_owned()))
    }
}

/// Who may see an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GameSet {
    /// Everybody who may use the server.
    Public,
    /// Keys that were made for it.
    SemiPrivate,
    /// Keys that were made for it; nobody outside the evaluation.
    Private,
}

impl GameSet {
    /// All sets.
    pub const ALL: [Self; 3] = [Self::Public, Self::SemiPrivate, Self::Private];

    /// The name in files and flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::SemiPrivate => "semi-private",
            Self::Private => "private",
        }
    }

    /// The set with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }
}

/// A choice of sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameSets(u8);

impl GameSets {
    /// Every set.
    pub const ALL: Self = Self(0b111);
    /// Only what everybody may see.
    pub const PUBLIC: Self = Self(1);

    /// Whether a set is chosen.
    pub const fn contains(self, set: GameSet) -> bool {
        self.0 & (1 << set as u8) != 0
    }

    /// The chosen sets.
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

/// What a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scopes {
    /// The environments that it may see.
    pub sets: GameSets,
    /// Whether it may download sources of environments.
    pub sources: bool,
    /// Whether it may see every set and read everybody's scorecards.
    pub admin: bool,
    /// Whether it is a visitor's, who has it in a browser and is held to stricter limits.
    pub visitor: bool,
}

/// What makes a key an invitation: with it one gets keys, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// How many keys it still gives.
    pub left: u32,
    /// Until when, in milliseconds since 1970.
    pub until_ms: u64,
}

/// A stored key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its public part.
    pub id: KeyId,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
    /// Whose it is, in the operator's words.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// When it was revoked, if it was.
    pub revoked_ms: Option<u64>,
    /// Present if it is an invitation.
    pub invitation: Option<Invitation>,
}

/// Where keys are kept.
pub trait KeyStore: Send + Sync {
    /// Stores a new key.
    fn create_key(&self, key: Key) -> Pending<'_, ()>;

    /// Stores a new key for which an invitation is used up by one, if that still gives any at this time; otherwise nothing happens and it
    /// is `false`.
    fn accept_invitation(&self, id: KeyId, key: Key, at_ms: u64) -> Pending<'_, bool>;

    /// The key with this id, revoked or not.
    fn key(&self, id: KeyId) -> Pending<'_, Option<Key>>;

    /// All keys, oldest first.
    fn keys(&self) -> Pending<'_, Vec<Key>>;

    /// Revokes a key for good; `false` if there is no such key or it was revoked before.
    fn revoke_key(&self, id: KeyId, at_ms: u64) -> Pending<'_, bool>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_text() {
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
    fn sets_are_what_was_chosen() {
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

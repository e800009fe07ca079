//! API keys: generation, text format and verification.
//!
//! A key consists of `rhae_`, a public id of 16 hexadecimal digits, `_`, and a secret of 64
//! hexadecimal digits. The database stores the id and the SHA-256 of the whole text. A fast hash is
//! sufficient here, unlike for a password: the secret has 256 random bits and cannot be guessed at
//! any speed, while a slow hash would let any client waste the server's time.
//!
//! **Invariant:** the text of a key is never printed by `Debug`, never logged, and compared only by
//! its hash, in constant time.

use std::fmt;

use rhae_store::{Invitation, Key, KeyId, KeyLimits, Owner, Scopes};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const PREFIX: &str = "rhae_";
const SECRET_DIGITS: usize = 64;

/// An API key with its secret, as its owner holds it.
///
/// # Examples
///
/// ```
/// use rhae_server::ApiKey;
///
/// let key = ApiKey::generate()?;
/// assert!(key.reveal().starts_with(&format!("rhae_{}_", key.id())));
/// // The secret does not appear in debug output.
/// assert_eq!(format!("{key:?}"), format!("ApiKey({})", key.id()));
/// # Ok::<(), getrandom::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    id: KeyId,
    text: String,
}

impl ApiKey {
    /// Generates a key from the operating system's random source.
    ///
    /// # Errors
    ///
    /// Fails if the operating system provides no randomness.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut random = [0; 8 + SECRET_DIGITS / 2];
        getrandom::fill(&mut random)?;
        let (id, secret) = random.split_at(8);
        let id = KeyId(u64::from_be_bytes(
            id.try_into().expect("the first eight bytes are eight"),
        ));
        let secret = hex::encode(secret);
        Ok(Self {
            id,
            text: format!("{PREFIX}{id}_{secret}"),
        })
    }

    /// Parses the text of a key. Returns `None` if the text does not have the format of a key.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let plain = secret.len() == SECRET_DIGITS
            && secret
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if plain {
            Some(Self {
                id: id.parse().ok()?,
                text: text.to_owned(),
            })
        } else {
            None
        }
    }

    /// The public id, by which the key is found in the store.
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// The SHA-256 of the key's text. The store holds this hash instead of the key.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.text.as_bytes()).into()
    }

    /// The full text of the key. Show it to its owner once, and never log it.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Returns the owner of cards opened with this key, or `None` if `stored` is a different key, or
    /// one that is revoked or expired.
    pub(crate) fn verify(&self, stored: &Key, now_ms: u64) -> Option<Owner> {
        let hash = self.hash();
        let same: bool = hash.ct_eq(&stored.hash).into();
        if same && stored.is_valid(now_ms) {
            Some(Owner(hash))
        } else {
            None
        }
    }
}

/// The maximum length of a key's name.
const MAX_NAME_BYTES: usize = 200;

/// The reason why a key cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The name is empty, too long or not printable.
    #[error("--name must have 1 to {MAX_NAME_BYTES} bytes and no control characters")]
    Name,
    /// The operating system provides no randomness.
    #[error("cannot get random bytes from the system: {0}")]
    Randomness(getrandom::Error),
}

/// Generates a key and the record to store for it. The key does not expire and has the limits of the
/// server. If `invitation` is given, the key can only be exchanged for new keys.
///
/// # Errors
///
/// Returns an error if the name is invalid or the system provides no randomness.
pub fn new_key(
    name: String,
    scopes: Scopes,
    invitation: Option<Invitation>,
    created_ms: u64,
) -> Result<(ApiKey, Key), KeyError> {
    if !(1..=MAX_NAME_BYTES).contains(&name.len()) || name.chars().any(char::is_control) {
        return Err(KeyError::Name);
    }
    let secret = ApiKey::generate().map_err(KeyError::Randomness)?;
    let key = Key {
        id: secret.id(),
        hash: secret.hash(),
        name,
        scopes,
        created_ms,
        revoked_ms: None,
        expires_ms: None,
        limits: KeyLimits::default(),
        invitation,
    };
    Ok((secret, key))
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use rhae_store::GameSets;

    use super::*;

    #[test]
    fn name_of_a_new_key_is_checked() {
        let scopes = stored(&ApiKey::generate().unwrap()).scopes;
        for name in ["", "a\nb", &"a".repeat(MAX_NAME_BYTES + 1)] {
            let result = new_key(name.to_owned(), scopes, None, 0);
            assert_eq!(result.unwrap_err(), KeyError::Name);
        }
        let (secret, key) = new_key("lab".to_owned(), scopes, None, 7).unwrap();
        assert_eq!(secret.verify(&key, 7), Some(Owner(secret.hash())));
    }

    fn stored(key: &ApiKey) -> Key {
        let scopes = Scopes {
            sets: GameSets::PUBLIC,
            sources: false,
            admin: false,
            visitor: false,
        };
        Key {
            id: key.id(),
            hash: key.hash(),
            name: String::new(),
            scopes,
            created_ms: 0,
            revoked_ms: None,
            expires_ms: Some(9),
            limits: KeyLimits::default(),
            invitation: None,
        }
    }

    #[test]
    fn key_verifies_until_revoked_or_expired() {
        let (key, other) = (ApiKey::generate().unwrap(), ApiKey::generate().unwrap());
        let read = ApiKey::parse(key.reveal().as_bytes()).unwrap();
        assert_eq!(
            (read.id(), read.verify(&stored(&key), 8)),
            (key.id(), Some(Owner(key.hash())))
        );
        assert_eq!(other.verify(&stored(&key), 8), None);
        assert_eq!(key.verify(&stored(&key), 9), None);
        let revoked = Key {
            revoked_ms: Some(1),
            ..stored(&key)
        };
        assert_eq!(key.verify(&revoked, 8), None);
        // The id of one key with the secret of another is not valid.
        let mixed = format!("rhae_{}_{}", key.id(), &other.reveal()[22..]);
        assert_eq!(
            ApiKey::parse(mixed.as_bytes())
                .unwrap()
                .verify(&stored(&key), 8),
            None
        );
        assert!(!format!("{key:?}").contains(&key.reveal()[22..]));
    }

    #[test]
    fn malformed_key_is_rejected() {
        let key = ApiKey::generate().unwrap();
        let text = key.reveal();
        let forms = [
            String::new(),
            text[1..].to_owned(),
            format!("{text}0"),
            text.to_uppercase(),
            text.replace('_', "-"),
        ];
        for form in forms
            .iter()
            .map(String::as_bytes)
            .chain([&b"rhae_\xff"[..]])
        {
            assert_eq!(ApiKey::parse(form), None);
        }
    }
}

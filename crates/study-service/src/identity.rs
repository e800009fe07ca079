//! Contact data of participants, encrypted with a key that is not in the database.
//!
//! The key is in a separate file (`--identity-key`). Three keys are derived from it: one encrypts
//! contact data, one computes person keys, by which one person is recognised in all studies that
//! use the same file, and one computes the secrets of links.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use rhae_protocol::{ParticipantId, PersonKey, StudyId};
use rhae_store::StoreError;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// The contact data of a person by the name of the field: for example
/// `external_id`, `email` or `account`.
pub type Contact = BTreeMap<String, String>;

/// The key of identities. It is never printed.
///
/// # Examples
///
/// ```
/// use rhae_study_service::{Contact, IdentityKey};
///
/// let key = IdentityKey::from_hex(&"1f".repeat(32))?;
/// let contact = Contact::from([("email".to_owned(), "ada@example.org".to_owned())]);
/// let sealed = key.seal(&"lab".into(), &"p1".into(), &contact)?;
/// assert_eq!(key.open(&"lab".into(), &"p1".into(), &sealed)?, contact);
/// assert!(key.open(&"lab".into(), &"p2".into(), &sealed).is_err());
/// # Ok::<(), rhae_study_service::IdentityError>(())
/// ```
pub struct IdentityKey {
    cipher: LessSafeKey,
    person: hmac::Key,
    link: hmac::Key,
}

/// Why an identity key or an identity cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error("cannot read the identity key `{}`: {error}", file.display())]
    Read {
        file: PathBuf,
        error: std::io::Error,
    },
    #[error("cannot create the identity key `{}`: {error}", file.display())]
    Create {
        file: PathBuf,
        error: std::io::Error,
    },
    #[error("the identity key is not valid: expected 64 hexadecimal digits")]
    Key,
    #[error("the identity cannot be decrypted: it was stored with another key, or was changed")]
    Sealed,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the system has no random numbers")]
    Randomness,
}

impl IdentityKey {
    /// Reads a key from its 64 hexadecimal digits.
    ///
    /// # Errors
    ///
    /// Returns [`IdentityError::Key`] for any other text.
    pub fn from_hex(text: &str) -> Result<Self, IdentityError> {
        let mut root = [0; 32];
        hex::decode_to_slice(text.trim(), &mut root).map_err(|_| IdentityError::Key)?;
        let root = hmac::Key::new(hmac::HMAC_SHA256, &root);
        let cipher = hmac::sign(&root, b"rhae identity 1");
        let cipher =
            UnboundKey::new(&CHACHA20_POLY1305, cipher.as_ref()).map_err(|_| IdentityError::Key)?;
        let person = hmac::sign(&root, b"rhae person 1");
        let link = hmac::sign(&root, b"rhae link 1");
        Ok(Self {
            cipher: LessSafeKey::new(cipher),
            person: hmac::Key::new(hmac::HMAC_SHA256, person.as_ref()),
            link: hmac::Key::new(hmac::HMAC_SHA256, link.as_ref()),
        })
    }

    /// Reads a key file.
    ///
    /// # Errors
    ///
    /// Returns [`IdentityError`] if the file cannot be read or contains no key.
    pub fn read(file: &Path) -> Result<Self, IdentityError> {
        let text = std::fs::read_to_string(file).map_err(|error| IdentityError::Read {
            file: file.to_owned(),
            error,
        })?;
        Self::from_hex(&text)
    }

    /// Creates a key file with a random key, which only its owner can read.
    ///
    /// # Errors
    ///
    /// Returns [`IdentityError::Create`] if the file exists or cannot be written.
    pub fn create(file: &Path) -> Result<Self, IdentityError> {
        use std::io::Write;
        let mut root = [0_u8; 32];
        let random = SystemRandom::new();
        random
            .fill(&mut root)
            .map_err(|_| IdentityError::Randomness)?;
        let text = hex::encode(root);
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let written = options.open(file).and_then(|mut created| {
            writeln!(created, "{text}")?;
            created.sync_all()
        });
        written.map_err(|error| IdentityError::Create {
            file: file.to_owned(),
            error,
        })?;
        Self::from_hex(&text)
    }

    /// Returns the key by which a person is recognised. It does not reveal the external id.
    pub fn person_key(&self, source: &str, external_id: &str) -> PersonKey {
        let text = format!("{}:{source}{external_id}", source.len());
        let tag = hmac::sign(&self.person, text.as_bytes());
        PersonKey(hex::encode(tag.as_ref()))
    }

    /// Returns the secret of a link: 128 bits in hexadecimal form that only the holder of the key
    /// can compute. `purpose` names what the link is for.
    pub fn link_secret(&self, study: &StudyId, purpose: &[&str]) -> String {
        let mut text = String::new();
        for part in [study.as_str()].iter().chain(purpose) {
            text.push_str(&format!("{}:{part}", part.len()));
        }
        let tag = hmac::sign(&self.link, text.as_bytes());
        hex::encode(&tag.as_ref()[..16])
    }

    /// Encrypts contact data. The result can be decrypted only for the same participant.
    ///
    /// # Errors
    ///
    /// Returns [`IdentityError::Randomness`] if the system has no random numbers.
    pub fn seal(
        &self,
        study: &StudyId,
        participant: &ParticipantId,
        contact: &Contact,
    ) -> Result<Vec<u8>, IdentityError> {
        let mut nonce = [0; NONCE_LEN];
        let random = SystemRandom::new();
        random
            .fill(&mut nonce)
            .map_err(|_| IdentityError::Randomness)?;
        let mut text = serde_json::to_vec(contact).expect("a map of texts is valid JSON");
        let nonce_value = Nonce::assume_unique_for_key(nonce);
        self.cipher
            .seal_in_place_append_tag(nonce_value, bound_to(study, participant), &mut text)
            .map_err(|_| IdentityError::Sealed)?;
        Ok([&nonce[..], &text].concat())
    }

    /// Decrypts contact data.
    ///
    /// # Errors
    ///
    /// Returns [`IdentityError::Sealed`] if it belongs to another participant, was encrypted with
    /// another key, or was changed.
    pub fn open(
        &self,
        study: &StudyId,
        participant: &ParticipantId,
        sealed: &[u8],
    ) -> Result<Contact, IdentityError> {
        let (nonce, text) = sealed
            .split_at_checked(NONCE_LEN)
            .ok_or(IdentityError::Sealed)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| IdentityError::Sealed)?;
        let mut text = text.to_vec();
        let text = self
            .cipher
            .open_in_place(nonce, bound_to(study, participant), &mut text)
            .map_err(|_| IdentityError::Sealed)?;
        serde_json::from_slice(text).map_err(|_| IdentityError::Sealed)
    }
}

fn bound_to(study: &StudyId, participant: &ParticipantId) -> Aad<String> {
    let study = study.as_str();
    Aad::from(format!("{}:{study}{participant}", study.len()))
}

impl fmt::Debug for IdentityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdentityKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn person_is_recognised_only_with_the_same_key_and_source() {
        let one = IdentityKey::from_hex(&"01".repeat(32)).unwrap();
        let other = IdentityKey::from_hex(&"02".repeat(32)).unwrap();
        let key = one.person_key("prolific", "5f");
        assert_eq!(key, one.person_key("prolific", "5f"));
        assert_ne!(key, other.person_key("prolific", "5f"));
        assert_ne!(key, one.person_key("mturk", "5f"));
        // The border between both parts is part of the text.
        assert_ne!(one.person_key("a", "bc"), one.person_key("ab", "c"));
    }

    #[test]
    fn changed_identity_is_refused() {
        let key = IdentityKey::from_hex(&"01".repeat(32)).unwrap();
        let contact = Contact::from([("email".to_owned(), "ä@example.org".to_owned())]);
        let (study, person) = ("lab".into(), "p1".into());
        let sealed = key.seal(&study, &person, &contact).unwrap();
        assert_ne!(sealed, key.seal(&study, &person, &contact).unwrap());
        for at in [0, NONCE_LEN, sealed.len() - 1] {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(key.open(&study, &person, &changed).is_err());
        }
        assert!(key.open(&study, &person, &sealed[..5]).is_err());
    }

    #[test]
    fn key_file_is_created_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("identity.key");
        let created = IdentityKey::create(&file).unwrap();
        let read = IdentityKey::read(&file).unwrap();
        assert_eq!(created.person_key("a", "b"), read.person_key("a", "b"));
        let again = IdentityKey::create(&file).unwrap_err();
        assert!(again.to_string().contains("identity.key"), "{again}");
        std::fs::write(&file, "not a key").unwrap();
        assert!(matches!(IdentityKey::read(&file), Err(IdentityError::Key)));
    }
}

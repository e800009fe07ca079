//! The secret token of a link that publishes a card or a play.
//!
//! A token consists of 64 hexadecimal digits: the public id of the link and a secret of 192 random
//! bits. The database stores the id and the SHA-256 of the token, as for API keys.
//!
//! **Invariant:** the token is never logged, and compared only by its hash, in constant time.

use rhae_store::{Share, ShareId};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const ID_DIGITS: usize = 16;
const SECRET_BYTES: usize = 24;

/// A token as it appears in a link.
pub(crate) struct ShareToken {
    pub(crate) id: ShareId,
    text: String,
}

impl ShareToken {
    /// Generates a token from the operating system's random source.
    pub(crate) fn generate() -> Result<Self, getrandom::Error> {
        let mut random = [0; ID_DIGITS / 2 + SECRET_BYTES];
        getrandom::fill(&mut random)?;
        let text = hex::encode(random);
        Ok(Self::parse(&text).expect("the bytes are as many as a token has"))
    }

    /// Parses the text of a token. Returns `None` if the text does not have the format of a token.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let plain = text.len() == ID_DIGITS + 2 * SECRET_BYTES && text.bytes().all(digit);
        let text = Some(text).filter(|_| plain)?.to_owned();
        let id = text[..ID_DIGITS].parse().ok()?;
        Some(Self { id, text })
    }

    /// The SHA-256 of the token, which the store holds instead of the token.
    pub(crate) fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.text.as_bytes()).into()
    }

    /// Whether this is the token of a link that works.
    pub(crate) fn opens(&self, share: &Share) -> bool {
        let same: bool = self.hash().ct_eq(&share.hash).into();
        same && share.revoked_ms.is_none()
    }

    /// The path of the published page.
    pub(crate) fn path(&self) -> String {
        format!("/shared/{}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use rhae_store::{CardId, Owner, ShareTarget};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn token_opens_its_link_until_it_is_revoked() {
        let [token, other] = [(); 2].map(|()| ShareToken::generate().unwrap());
        let share = Share {
            id: token.id,
            hash: token.hash(),
            owner: Owner([1; 32]),
            target: ShareTarget::Card(CardId(Uuid::nil())),
            created_ms: 0,
            revoked_ms: None,
        };
        let text = token.path().split_off("/shared/".len());
        let parsed = ShareToken::parse(&text).unwrap();
        assert!(parsed.id == token.id && parsed.opens(&share));
        assert!(!other.opens(&share));
        // The id of one link with the secret of another is not valid.
        let mixed = text[..ID_DIGITS].to_owned() + &other.text[ID_DIGITS..];
        assert!(!ShareToken::parse(&mixed).unwrap().opens(&share));
        let revoked = Share {
            revoked_ms: Some(1),
            ..share
        };
        assert!(!token.opens(&revoked));
        for form in ["", &text[1..], &text.to_uppercase(), &format!("{text}0")] {
            let is_token = ShareToken::parse(form).is_some();
            assert!(!is_token || form == text, "{form}");
        }
    }
}

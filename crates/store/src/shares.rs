//! Links by which owners publish cards and plays.
//!
//! A link contains a secret token. The database stores the SHA-256 of the token. A revoked link
//! stays in the database, so that one can see later what was public and when.

use std::fmt;
use std::str::FromStr;

use crate::keys::hex16;
use crate::{CardId, Owner, Pending, PlayId};

/// The public part of a link, which identifies it in lists and log messages. Its text form is 16
/// lower-case hexadecimal digits.
///
/// # Examples
///
/// ```
/// use rhae_store::ShareId;
///
/// assert_eq!("00000000000000ff".parse(), Ok(ShareId(255)));
/// assert_eq!(ShareId(255).to_string(), "00000000000000ff");
/// assert!("ff".parse::<ShareId>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShareId(pub u64);

impl fmt::Display for ShareId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The error returned when a text is not a valid [`ShareId`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of a link: expected 16 hexadecimal digits (0-9, a-f)")]
pub struct ShareIdError(String);

impl FromStr for ShareId {
    type Err = ShareIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let id = hex16(text).map(Self);
        id.ok_or_else(|| ShareIdError(text.to_owned()))
    }
}

/// What a link publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShareTarget {
    Card(CardId),
    Play(PlayId),
}

/// A stored link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub id: ShareId,
    /// SHA-256 of the token.
    pub hash: [u8; 32],
    /// The owner of the card or play.
    pub owner: Owner,
    pub target: ShareTarget,
    /// The time of creation, in milliseconds since 1970.
    pub created_ms: u64,
    /// The time of revocation, or `None` if the link works.
    pub revoked_ms: Option<u64>,
}

/// A database of links.
///
/// # Errors
///
/// Every method can fail with one of the database errors of [`StoreError`](crate::StoreError).
pub trait ShareStore: Send + Sync {
    /// Stores a new link.
    ///
    /// # Errors
    ///
    /// [`StoreError::TooManyShares`](crate::StoreError::TooManyShares) if the owner has `max` links
    /// that are not revoked.
    fn create_share(&self, share: Share, max: u32) -> Pending<'_, ()>;

    /// Returns the link with this id, revoked or not.
    fn share(&self, id: ShareId) -> Pending<'_, Option<Share>>;

    /// Returns at most `limit` links, revoked or not, of one owner or of all. The newest comes first.
    /// With `after`, the list starts behind the link with this time of creation and id.
    fn shares(
        &self,
        owner: Option<Owner>,
        after: Option<(u64, ShareId)>,
        limit: u32,
    ) -> Pending<'_, Vec<Share>>;

    /// Revokes a link permanently. Returns `false` if it does not exist, belongs to another owner
    /// than `owner`, or was revoked already. `None` stands for any owner.
    fn revoke_share(&self, id: ShareId, owner: Option<Owner>, at_ms: u64) -> Pending<'_, bool>;
}

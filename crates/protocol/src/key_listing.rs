//! API keys as commands list them. The form never contains the hash of a key.

use serde::{Deserialize, Serialize};

/// An API key or an invitation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyListing {
    /// The public id: 16 hexadecimal digits.
    pub id: String,
    pub name: String,
    /// The names of the sets that the key may see.
    pub sets: Vec<String>,
    /// Whether the key may download the sources of environments.
    pub sources: bool,
    /// Whether the key may see every set and read all scorecards.
    pub admin: bool,
    /// The time of creation, in milliseconds since 1970.
    pub created_ms: u64,
    /// The time of revocation, or `None` if the key is valid.
    pub revoked_ms: Option<u64>,
    /// The expiry time, in milliseconds since 1970, or `None` if the key does not expire.
    #[serde(default)]
    pub expires_ms: Option<u64>,
    /// The limits of the key, or of the keys that an invitation creates.
    #[serde(default)]
    pub limits: KeyLimitsListing,
    /// Whether the key belongs to a visitor.
    pub visitor: bool,
    /// `Some` if the key is an invitation.
    pub invitation: Option<InvitationListing>,
    /// The link of an invitation that was just created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The text of a key that was just created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The remaining uses of an invitation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvitationListing {
    /// The number of keys that can still be created with it.
    pub left: u32,
    /// The expiry time, in milliseconds since 1970.
    pub until_ms: u64,
    /// How long a key that the invitation creates is valid, in milliseconds; `None` if it does not
    /// expire.
    #[serde(default)]
    pub key_lifetime_ms: Option<u64>,
}

/// The limits of a key. 0 means no limit, and `None` means that the limit of the server applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyLimitsListing {
    pub requests_per_minute: Option<u32>,
    pub open_cards: Option<u32>,
    pub plays_per_card: Option<u32>,
    pub stored_bytes: Option<u64>,
}

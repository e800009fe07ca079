//! Idempotency keys: which requests were executed, and what they produced.
//!
//! A row records which change the request made, not the response. A response has up to a thousand
//! frames of eight kilobytes each, while the log entry that produced them is stored anyway and
//! reproduces them when it is replayed. A row therefore takes about a hundred bytes however large
//! the response was, and a commit with keys costs little more than one without.
//!
//! **Invariant:** a row is written in the same transaction as the change that it belongs to: either
//! both are stored or neither is.

use crate::{CardId, Owner, PlayId};

/// Identifies a request that must take effect at most once, however often the client sends it.
///
/// Keys are scoped by owner: two owners may use the same `key` independently. The store rejects a
/// second change with the same owner and key with
/// [`StoreError::KeyUsed`](crate::StoreError::KeyUsed);
/// [`Store::completed_request`](crate::Store::completed_request) then returns what the first one
/// produced.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdempotencyKey {
    pub owner: Owner,
    /// The key that the client chose.
    pub key: String,
    /// A hash of the complete request. It distinguishes a retry from a different request with the
    /// same key.
    pub digest: [u8; 32],
}

/// The change that a request made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The request opened this card.
    Card(CardId),
    /// The request appended an entry to a log. Entry 0 opened the play.
    Entry { play: PlayId, entry: u32 },
}

/// The stored record of a request that was executed under an [`IdempotencyKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedRequest {
    /// The [digest](IdempotencyKey::digest) of the request.
    pub digest: [u8; 32],
    pub outcome: RequestOutcome,
}

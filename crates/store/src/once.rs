//! Idempotency keys: which requests were carried out, and what they led to.
//!
//! A row says where the answer comes from, not what it was. An answer has up to a thousand frames of eight kilobytes each, while the
//! entry of a log that gave them is there anyway and gives them again when it is replayed. So a row has a hundred bytes whatever was
//! answered, and a commit with keys costs little more than one without.
//!
//! **Invariant:** a row is written in the transaction of what it belongs to: either both are there or neither is.

use crate::{CardId, Owner, PlayId};

/// A request that is to be carried out once, however often it arrives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Once {
    /// Who sends it; others may use the same key.
    pub owner: Owner,
    /// What the sender calls it.
    pub key: String,
    /// A hash of all that it asks for, by which a repetition is told from another request.
    pub digest: [u8; 32],
}

/// What a request led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A card was opened.
    Card(CardId),
    /// An entry was appended to a log; entry 0 opened the play.
    Entry {
        /// The play.
        play: PlayId,
        /// The index of the entry.
        entry: u32,
    },
}

/// What is kept of a request that was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The hash of all that it asked for.
    pub digest: [u8; 32],
    /// What it led to.
    pub outcome: Outcome,
}

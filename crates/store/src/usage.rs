//! How many bytes cards, plays and log entries take, for quotas.
//!
//! The sizes are approximate: the free text of clients is counted exactly, everything else by a
//! constant per row that includes its indices. A database stores the size of the entries of each
//! run, and adds up the rest when it is asked for the total.

use serde_json::Value;

use crate::NewCard;

/// Bytes of a card besides its free text. The statements of both stores repeat this number.
const CARD_BYTES: u64 = 256;
/// Bytes of a run with its share of the play. The statements of both stores repeat this number.
const RUN_BYTES: u64 = 512;
/// Bytes of a log entry besides its reasoning. The migrations of both stores repeat this number.
const ENTRY_BYTES: u64 = 128;

/// Returns the bytes of a log entry with this reasoning, as stored.
pub(crate) fn entry_bytes(reasoning: Option<&str>) -> i64 {
    (ENTRY_BYTES + length(reasoning.map_or(0, str::len))).cast_signed()
}

/// Returns the approximate bytes of a log entry with this reasoning.
///
/// # Examples
///
/// ```
/// assert_eq!(rhae_store::reasoning_bytes(None), 128);
/// assert_eq!(rhae_store::reasoning_bytes(Some(&"four".into())), 128 + 6);
/// ```
pub fn reasoning_bytes(reasoning: Option<&Value>) -> u64 {
    ENTRY_BYTES + reasoning.map_or(0, |value| length(value.to_string().len()))
}

/// Returns the approximate bytes of a play whose opening RESET has this reasoning.
pub fn opening_bytes(reasoning: Option<&Value>) -> u64 {
    RUN_BYTES + reasoning_bytes(reasoning)
}

/// Returns the approximate bytes of a card.
pub fn card_bytes(card: &NewCard) -> u64 {
    let tags: usize = card.tags.iter().map(|tag| tag.len() + 3).sum();
    let games: usize = card.games.iter().map(|game| game.as_str().len() + 1).sum();
    let opaque = card.opaque.as_ref().map(|value| value.to_string().len());
    let source_url = card.source_url.as_ref().map(String::len);
    CARD_BYTES + length(tags + games + opaque.unwrap_or(0) + source_url.unwrap_or(0))
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

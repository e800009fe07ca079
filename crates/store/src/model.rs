//! The stored records: cards, plays and the entries of their logs.

use std::fmt;
use std::str::FromStr;

use rhae_engine::{GameId, PlayState};
use rhae_protocol::{Entry, ResetRule, RunOutcome};
use serde_json::Value;
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}

id! {
    /// The public id of a card, as the REST API shows it.
    CardId
}
id! {
    /// The public id of a play: the `guid` of the REST API.
    PlayId
}

/// The primary key of a card. It is valid only within one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CardKey(pub i64);

/// The primary key of a play. It is valid only within one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlayKey(pub i64);

/// Identifies who opened a card: the hash of an API key, never the key itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner(pub [u8; 32]);

/// The parameters of a card to be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCard {
    pub id: CardId,
    pub owner: Owner,
    /// Labels that the client chose for its own use.
    pub tags: Vec<String>,
    /// The address of the agent's source code.
    pub source_url: Option<String>,
    /// Arbitrary JSON that the client attached. The store returns it unchanged.
    pub opaque: Option<Value>,
    /// Whether the rules of competitions apply.
    pub competition: bool,
    /// Environments that count on the card even if they are not played, as in competitions.
    pub games: Vec<GameId>,
    /// Rejects the card if the owner has ever opened another one, even if that one is closed.
    pub only_one: bool,
    /// Rejects the card if the owner already has this many open cards. `None` means no limit.
    pub max_open: Option<u32>,
    /// Exempts the card from [`Store::close_stale`](crate::Store::close_stale). The server sets
    /// this for cards opened in a browser, because a person may return days later.
    pub lasting: bool,
    /// The time of opening, in milliseconds since 1970.
    pub opened_ms: u64,
}

/// A stored card.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub key: CardKey,
    pub id: CardId,
    pub owner: Owner,
    /// Labels that the client chose for its own use.
    pub tags: Vec<String>,
    /// The address of the agent's source code.
    pub source_url: Option<String>,
    /// Arbitrary JSON that the client attached.
    pub opaque: Option<Value>,
    /// Whether the rules of competitions apply.
    pub competition: bool,
    /// Environments that count on the card even if they are not played, as in competitions.
    pub games: Vec<GameId>,
    pub opened_ms: u64,
    /// The time of the last use, to the second.
    pub used_ms: u64,
    /// The time of closing, or `None` while the card is open.
    pub closed_ms: Option<u64>,
}

/// Selects the open cards that [`Store::close_stale`](crate::Store::close_stale) closes: those that
/// meet either condition. All times are milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleCutoffs {
    /// Closes cards that were last used before this time.
    pub used_before_ms: u64,
    /// Closes cards that were opened before this time.
    pub opened_before_ms: u64,
    /// The current time, which becomes the closing time of the cards.
    pub now_ms: u64,
}

/// The parameters of a play to be opened, with the entry of its opening RESET.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPlay {
    pub id: PlayId,
    /// The card that the play counts on.
    pub card: CardKey,
    /// The environment with its version.
    pub game_id: GameId,
    /// The seed that the environment was created with.
    pub seed: u64,
    /// What RESET may do in this play.
    pub rule: ResetRule,
    /// The number of levels to complete for a win.
    pub win_levels: u8,
    /// The digest of the source of a hosted game.
    pub source_digest: Option<String>,
    /// Rejects the play if the card has a play of the same environment in any version.
    pub only_one: bool,
    /// Rejects the play if the card already has this many plays. `None` means no limit.
    pub max_plays: Option<u32>,
    /// The opening RESET, which becomes entry 0 of the log.
    pub opening: Entry,
    /// The time of opening, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A stored play without its log.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPlay {
    pub key: PlayKey,
    pub id: PlayId,
    /// The card that the play counts on.
    pub card: CardKey,
    /// The owner of the card.
    pub owner: Owner,
    /// The environment with its version.
    pub game_id: GameId,
    /// The seed that the environment was created with.
    pub seed: u64,
    /// What RESET may do in this play.
    pub rule: ResetRule,
    /// The number of levels to complete for a win.
    pub win_levels: u8,
    /// The digest of the source of a hosted game; `None` for built-in environments and for plays
    /// that were opened before digests were stored.
    pub source_digest: Option<String>,
}

/// A play with all entries of its log.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayLog {
    pub play: StoredPlay,
    /// The entries, starting with the opening RESET.
    pub entries: Vec<Entry>,
}

/// An entry of a log with its index and time.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// The position in the log; 0 is the opening RESET.
    pub index: u32,
    pub entry: Entry,
    /// The time of the append, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A play with the counts of its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayRuns {
    pub play: StoredPlay,
    /// One outcome per run. A full reset starts a new run.
    pub runs: Vec<RunOutcome>,
}

/// A play with a summary of its current state, as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayFacts {
    pub play: StoredPlay,
    /// The public id of the card that the play counts on.
    pub card: CardId,
    /// Whether the rules of competitions apply to the card.
    pub competition: bool,
    /// The time at which the card was closed, or `None` while it is open.
    pub closed_ms: Option<u64>,
    /// The time at which the play was opened.
    pub opened_ms: u64,
    /// The time of the last entry.
    pub last_ms: u64,
    /// The length of the log.
    pub entries: u32,
    /// The state after the last entry.
    pub state: PlayState,
    pub levels_completed: u8,
    /// The number of counted actions over all runs.
    pub actions: u64,
}

/// The state of a play after a number of its log entries. The bytes can be read only by the code
/// that wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The number of log entries that led to this state.
    pub entries: u32,
    pub bytes: Vec<u8>,
}

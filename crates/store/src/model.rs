//! What is stored: cards, plays and the entries of their logs.

use std::fmt;
use std::str::FromStr;

use rhae_engine::{GameId, PlayState};
use rhae_protocol::{Entry, PlayOutcome, ResetRule};
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
    /// A card's public id.
    CardId
}
id! {
    /// A play's public id: the `guid` of the REST API.
    PlayId
}

/// A card's place in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CardKey(pub i64);

/// A play's place in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlayKey(pub i64);

/// Who opened a card: the hash of an API key, never the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner(pub [u8; 32]);

/// A card to be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCard {
    /// Its id.
    pub id: CardId,
    /// Who opens it.
    pub owner: Owner,
    /// What the author filed it under.
    pub tags: Vec<String>,
    /// Where the agent's source is found.
    pub source_url: Option<String>,
    /// Anything the author added.
    pub opaque: Option<Value>,
    /// Whether the rules of competitions apply.
    pub competition: bool,
    /// Environments that count on the card even if they were not played, as in competitions.
    pub games: Vec<GameId>,
    /// Whether it is refused if the owner has ever opened another.
    pub only_one: bool,
    /// It is refused if the owner has so many open cards.
    pub most_open: Option<u32>,
    /// Whether the clock never closes it, as a visitor's, who may come back tomorrow.
    pub lasting: bool,
    /// When it is opened, in milliseconds since 1970.
    pub opened_ms: u64,
}

/// A stored card.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Its place in the database.
    pub key: CardKey,
    /// Its id.
    pub id: CardId,
    /// Who opened it.
    pub owner: Owner,
    /// What the author filed it under.
    pub tags: Vec<String>,
    /// Where the agent's source is found.
    pub source_url: Option<String>,
    /// Anything the author added.
    pub opaque: Option<Value>,
    /// Whether the rules of competitions apply.
    pub competition: bool,
    /// Environments that count on the card even if they were not played, as in competitions.
    pub games: Vec<GameId>,
    /// When it was opened.
    pub opened_ms: u64,
    /// When it was last used, to the second.
    pub used_ms: u64,
    /// When it was closed, if it was.
    pub closed_ms: Option<u64>,
}

/// Which open cards are closed by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// Those that were last used before this time.
    pub used_before_ms: u64,
    /// Those that were opened before this time.
    pub opened_before_ms: u64,
    /// The time at which they are closed.
    pub now_ms: u64,
}

/// A play to be opened, with the entry of its opening RESET.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPlay {
    /// Its id.
    pub id: PlayId,
    /// The card that it counts on.
    pub card: CardKey,
    /// The environment with its version.
    pub game_id: GameId,
    /// The environment's seed.
    pub seed: u64,
    /// What RESET may do.
    pub rule: ResetRule,
    /// How many levels there are.
    pub win_levels: u8,
    /// Whether it is refused if the card has a play of the environment, in whatever version.
    pub only_one: bool,
    /// It is refused if the card has so many plays.
    pub most_plays: Option<u32>,
    /// The opening RESET.
    pub opening: Entry,
    /// When it is opened, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A stored play without its log.
#[derive(Clone, Debug, PartialEq)]
pub struct Play {
    /// Its place in the database.
    pub key: PlayKey,
    /// Its id.
    pub id: PlayId,
    /// The card that it counts on.
    pub card: CardKey,
    /// Who opened the card.
    pub owner: Owner,
    /// The environment with its version.
    pub game_id: GameId,
    /// The environment's seed.
    pub seed: u64,
    /// What RESET may do.
    pub rule: ResetRule,
    /// How many levels there are.
    pub win_levels: u8,
}

/// A play with the entries of its log.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    /// The play.
    pub play: Play,
    /// Its entries from the opening RESET on.
    pub entries: Vec<Entry>,
}

/// An entry of a log with its place and time.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// Which entry of the log it is, from 0.
    pub index: u32,
    /// The entry.
    pub entry: Entry,
    /// When it was appended, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A play with its counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Summed {
    /// The play.
    pub play: Play,
    /// Its runs.
    pub runs: Vec<PlayOutcome>,
}

/// A play and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayFacts {
    /// The play.
    pub play: Play,
    /// The card that it counts on.
    pub card: CardId,
    /// Whether the card is of a competition.
    pub competition: bool,
    /// When the card was closed, if it was.
    pub closed_ms: Option<u64>,
    /// When the play was opened.
    pub opened_ms: u64,
    /// When its last entry was appended.
    pub last_ms: u64,
    /// How many entries its log has.
    pub entries: u32,
    /// Where it stands.
    pub state: PlayState,
    /// Levels completed.
    pub levels_completed: u8,
    /// Actions over all runs.
    pub actions: u64,
}

/// A play in between, as bytes that only those who made them understand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// How many entries of the log led to it.
    pub entries: u32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

//! What a server takes from a client, and for how long it waits.

use std::time::Duration;

/// The limits. They hold for every client; the first and the two about cards and plays only matter where keys tell clients apart.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Requests of a key in a minute.
    pub requests_per_minute: Option<u32>,
    /// Requests of a visitor's key in a minute.
    pub visitor_requests_per_minute: Option<u32>,
    /// Open cards of a key.
    pub open_cards: Option<u32>,
    /// Plays on a card.
    pub plays_per_card: Option<u32>,
    /// Bytes of a body. The default is room for the longest reasoning with every byte escaped.
    pub body_bytes: usize,
    /// Levels of nesting in a body, 128 at most.
    pub json_depth: usize,
    /// Bytes of reasoning, and of what an author adds to a card.
    pub extra_bytes: usize,
    /// Connections at a time; others wait until one of them ends.
    pub connections: usize,
    /// How long the head of a request may take from its first byte on.
    pub header_timeout: Duration,
    /// How long the body of a request may take.
    pub body_timeout: Duration,
    /// How long a client may take to read an answer that does not fit into the buffers between.
    pub answer_timeout: Duration,
    /// How long a connection may be open with nothing asked.
    pub idle_timeout: Duration,
}

impl Limits {
    /// The most levels of nesting that the JSON parser takes.
    pub const MOST_DEPTH: usize = 128;

    /// Open cards of a visitor: one for all plays, and a few for those who open more by other means.
    const VISITOR_CARDS: u32 = 10;
    /// Plays on a visitor's card.
    const VISITOR_PLAYS: u32 = 500;

    /// How many open cards somebody may have.
    pub(crate) fn open_cards_of(&self, visitor: bool) -> Option<u32> {
        if visitor {
            Some(self.open_cards.unwrap_or(u32::MAX).min(Self::VISITOR_CARDS))
        } else {
            self.open_cards
        }
    }

    /// How many plays somebody may have on a card.
    pub(crate) fn plays_per_card_of(&self, visitor: bool) -> Option<u32> {
        if visitor {
            Some(
                self.plays_per_card
                    .unwrap_or(u32::MAX)
                    .min(Self::VISITOR_PLAYS),
            )
        } else {
            self.plays_per_card
        }
    }

    /// The shortest of the times that connections are watched for.
    pub(crate) fn shortest_timeout(&self) -> Duration {
        self.header_timeout
            .min(self.answer_timeout)
            .min(self.idle_timeout)
            .max(Duration::from_millis(4))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_minute: None,
            visitor_requests_per_minute: None,
            open_cards: None,
            plays_per_card: None,
            body_bytes: 256 * 1024,
            json_depth: Self::MOST_DEPTH,
            extra_bytes: 16_384,
            connections: 4096,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(20),
            answer_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(120),
        }
    }
}

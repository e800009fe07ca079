//! Limits on what a client may send, and on how long the server waits for it.

use std::time::Duration;

use crate::access::Caller;

/// Limits on requests, cards, plays and connections. `None` means no limit.
///
/// They apply to every client. The limits per key (requests, open cards, plays per card, streams,
/// stored bytes) are effective only on a server that requires keys, because with open access a
/// client can choose a new key at will.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Requests per minute and key.
    pub requests_per_minute: Option<u32>,
    /// Requests per minute and visitor key.
    pub visitor_requests_per_minute: Option<u32>,
    /// Open cards per key.
    pub open_cards: Option<u32>,
    /// Plays per card.
    pub plays_per_card: Option<u32>,
    /// Bytes of a request body. The default has room for the longest reasoning with every byte
    /// escaped.
    pub body_bytes: usize,
    /// Nesting levels of a JSON body, at most [`Limits::MAX_JSON_DEPTH`].
    pub json_depth: usize,
    /// Bytes of `reasoning` in a command and of `opaque` on a card.
    pub extra_bytes: usize,
    /// Simultaneous connections; further clients wait until one closes, or take over a connection
    /// of an address that has many.
    pub connections: usize,
    /// Simultaneous connections per address. Trusted proxies are exempt.
    pub connections_per_address: Option<usize>,
    /// Simultaneous event streams and downloads per key.
    pub streams_per_key: Option<usize>,
    /// Simultaneous event streams and downloads per address.
    pub streams_per_address: Option<usize>,
    /// Bytes that a key may store in cards, plays and log entries.
    pub stored_bytes_per_key: Option<u64>,
    /// Links to published cards and plays that a key may have and that are not revoked.
    pub links_per_key: u32,
    /// Calls of one hosted game that run or wait; further ones are refused.
    pub hosted_calls: usize,
    /// How long a call of a hosted game may wait until it runs.
    pub hosted_wait: Duration,
    /// How long a request's head may take, from its first byte.
    pub header_timeout: Duration,
    /// How long a request's body may take.
    pub body_timeout: Duration,
    /// How long a client may take to read a response that does not fit into the send buffers.
    pub answer_timeout: Duration,
    /// How long a connection may stay open without a request.
    pub idle_timeout: Duration,
}

impl Limits {
    /// The nesting depth that the JSON parser supports.
    pub const MAX_JSON_DEPTH: usize = 128;

    /// Open cards of a visitor: the web app needs one; the others are for visitors who use the API
    /// directly.
    const VISITOR_CARDS: u32 = 10;
    /// Plays per card of a visitor.
    const VISITOR_PLAYS: u32 = 500;
    /// Bytes that a visitor may store: about a hundred thousand actions without reasoning.
    const VISITOR_STORED_BYTES: u64 = 16 * 1024 * 1024;

    /// Tags per card.
    pub(crate) const MAX_TAGS: usize = 32;
    /// Bytes of a tag.
    pub(crate) const MAX_TAG_BYTES: usize = 128;
    /// Bytes of a card's `source_url`.
    pub(crate) const MAX_URL_BYTES: usize = 2048;

    /// The number of requests per minute of a caller.
    pub(crate) fn max_requests(&self, caller: &Caller) -> Option<u32> {
        let of_server = if caller.visitor {
            self.visitor_requests_per_minute
        } else {
            self.requests_per_minute
        };
        own(caller.limits.requests_per_minute, of_server)
    }

    /// The number of open cards that a caller may have. Visitors have a lower limit.
    pub(crate) fn max_open_cards(&self, caller: &Caller) -> Option<u32> {
        let of_server = at_most(self.open_cards, Self::VISITOR_CARDS, caller.visitor);
        own(caller.limits.open_cards, of_server)
    }

    /// The number of plays that a caller's card may have. Cards of visitors have a lower limit.
    pub(crate) fn max_plays_per_card(&self, caller: &Caller) -> Option<u32> {
        let of_server = at_most(self.plays_per_card, Self::VISITOR_PLAYS, caller.visitor);
        own(caller.limits.plays_per_card, of_server)
    }

    /// The number of bytes that a caller may store. Visitors have a lower limit.
    pub(crate) fn max_stored_bytes(&self, caller: &Caller) -> Option<u64> {
        let of_server = at_most(
            self.stored_bytes_per_key,
            Self::VISITOR_STORED_BYTES,
            caller.visitor,
        );
        own(caller.limits.stored_bytes, of_server)
    }

    /// The shortest timeout of a connection, which determines how often it is checked.
    pub(crate) fn shortest_timeout(&self) -> Duration {
        self.header_timeout
            .min(self.answer_timeout)
            .min(self.idle_timeout)
            .max(Duration::from_millis(4))
    }
}

/// Returns the limit of a key if it has one, where 0 means no limit, otherwise that of the server.
fn own<T: Default + PartialEq>(of_key: Option<T>, of_server: Option<T>) -> Option<T> {
    match of_key {
        Some(limit) => Some(limit).filter(|limit| *limit != T::default()),
        None => of_server,
    }
}

/// Returns the limit, lowered to `max` for a visitor.
fn at_most<T: Ord>(limit: Option<T>, max: T, visitor: bool) -> Option<T> {
    match limit {
        Some(limit) if visitor => Some(limit.min(max)),
        None if visitor => Some(max),
        limit => limit,
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
            json_depth: Self::MAX_JSON_DEPTH,
            extra_bytes: 16_384,
            connections: 4096,
            connections_per_address: None,
            streams_per_key: None,
            streams_per_address: None,
            stored_bytes_per_key: None,
            links_per_key: 1000,
            hosted_calls: 64,
            hosted_wait: Duration::from_secs(4),
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(20),
            answer_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(120),
        }
    }
}

//! All that a server asks of a database.

use std::pin::Pin;

use rhae_protocol::Entry;

use crate::{Card, CardId, CardKey, Logged, NewCard, NewPlay, Play, PlayId, PlayKey, Stale, StoreError};

/// An answer under way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A database. What it has answered with success survives the end of the process and of the machine.
///
/// A call whose future is dropped may have taken effect or not.
pub trait Store: Send + Sync {
    /// Opens a card.
    fn open_card(&self, card: NewCard) -> Pending<'_, ()>;

    /// The card with this id.
    fn card(&self, id: CardId) -> Pending<'_, Option<Card>>;

    /// Notes that an open card is in use.
    fn touch_card(&self, card: CardKey, at_ms: u64) -> Pending<'_, ()>;

    /// Closes an open card for good.
    fn close_card(&self, card: CardKey, at_ms: u64) -> Pending<'_, ()>;

    /// Closes the open cards that the clock says are to be closed, and gives their ids.
    fn close_stale(&self, stale: Stale) -> Pending<'_, Vec<CardId>>;

    /// Lets every open card begin its idle time anew, because nobody could use it while the server was down.
    fn resume(&self, at_ms: u64) -> Pending<'_, ()>;

    /// Opens a play on an open card.
    fn open_play(&self, play: NewPlay) -> Pending<'_, PlayKey>;

    /// The play with this id.
    fn play(&self, id: PlayId) -> Pending<'_, Option<Play>>;

    /// Appends the entry with this index, which must be the next, to a play's log. Its card must be open.
    fn append(&self, play: PlayKey, card: CardKey, index: u32, entry: Entry, at_ms: u64) -> Pending<'_, ()>;

    /// All entries of a play.
    fn log(&self, play: PlayKey) -> Pending<'_, Vec<Entry>>;

    /// All plays of a card in the order of their opening, with their entries but without what players added to them.
    fn card_log(&self, card: CardKey) -> Pending<'_, Vec<Logged>>;

    /// How many transactions were committed since it was opened.
    fn commits(&self) -> u64;
}

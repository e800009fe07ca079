//! All that a server asks of a database.

use std::pin::Pin;

use rhae_protocol::Entry;
use tokio::sync::broadcast;

use crate::{
    Card, CardId, CardKey, Kept, Logged, NewCard, NewPlay, Once, Owner, Play, PlayFacts, PlayId,
    PlayKey, RunCounts, Snapshot, Stale, StoreError, Summed, Timed,
};

/// An answer under way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A database. What it has answered with success survives the end of the process and of the machine.
///
/// A call whose future is dropped may have taken effect or not.
pub trait Store: Send + Sync {
    /// Opens a card.
    fn open_card(&self, card: NewCard) -> Pending<'_, ()> {
        self.open_card_once(card, None)
    }

    /// As [`Store::open_card`], unless a request with the same key was carried out before.
    fn open_card_once(&self, card: NewCard, once: Option<Once>) -> Pending<'_, ()>;

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
    fn open_play(&self, play: NewPlay) -> Pending<'_, PlayKey> {
        self.open_play_once(play, None)
    }

    /// As [`Store::open_play`], unless a request with the same key was carried out before.
    fn open_play_once(&self, play: NewPlay, once: Option<Once>) -> Pending<'_, PlayKey>;

    /// The play with this id.
    fn play(&self, id: PlayId) -> Pending<'_, Option<Play>>;

    /// Appends the entry with this index, which must be the next, to a play's log. Its card must be open.
    fn append(
        &self,
        play: PlayKey,
        card: CardKey,
        index: u32,
        entry: Entry,
        at_ms: u64,
    ) -> Pending<'_, ()> {
        self.append_once(play, card, index, entry, at_ms, None)
    }

    /// As [`Store::append`], unless a request with the same key was carried out before.
    fn append_once(
        &self,
        play: PlayKey,
        card: CardKey,
        index: u32,
        entry: Entry,
        at_ms: u64,
        once: Option<Once>,
    ) -> Pending<'_, ()>;

    /// What is kept of the owner's request with this key.
    fn recall<'a>(&'a self, owner: Owner, key: &'a str) -> Pending<'a, Option<Kept>>;

    /// Forgets the keys of requests that were carried out longer ago than this, and says how many.
    fn forget(&self, age_ms: u64, now_ms: u64) -> Pending<'_, u64>;

    /// How many entries a play has: the index of the next. Other servers may have appended some.
    fn head(&self, play: PlayKey) -> Pending<'_, u32>;

    /// All entries of a play.
    fn log(&self, play: PlayKey) -> Pending<'_, Vec<Entry>>;

    /// All plays of a card in the order of their opening, with their entries but without what players added to them.
    fn card_log(&self, card: CardKey) -> Pending<'_, Vec<Logged>>;

    /// At most so many entries of a play from this one on.
    fn log_from(&self, play: PlayKey, from: u32, most: u32) -> Pending<'_, Vec<Timed>>;

    /// The counts of a play that stand beside its log; none if it was never counted.
    fn runs(&self, play: PlayKey) -> Pending<'_, Vec<RunCounts>>;

    /// All plays of a card in the order of their opening, with their counts.
    fn card_runs(&self, card: CardKey) -> Pending<'_, Vec<Summed>>;

    /// The play with this id, and where it stands.
    fn play_facts(&self, id: PlayId) -> Pending<'_, Option<PlayFacts>>;

    /// An owner's plays, those that were opened last first, at most so many.
    fn owner_plays(&self, owner: Owner, most: u32) -> Pending<'_, Vec<PlayFacts>>;

    /// Plays on open cards, of one owner or of all, to which something was appended not longer ago than this; the last first.
    fn plays_under_way(
        &self,
        owner: Option<Owner>,
        age_ms: u64,
        now_ms: u64,
        most: u32,
    ) -> Pending<'_, Vec<PlayFacts>>;

    /// The cards of one owner or of all, those that were opened last first, from those before a card on.
    fn cards_before(
        &self,
        owner: Option<Owner>,
        before: Option<CardKey>,
        most: u32,
    ) -> Pending<'_, Vec<Card>>;

    /// At most so many plays after this one, in a fixed order.
    fn plays_after(&self, play: Option<PlayKey>, most: u32) -> Pending<'_, Vec<Play>>;

    /// How many plays there are.
    fn play_count(&self) -> Pending<'_, u64>;

    /// Keeps a snapshot of a play, and the one before it. It saves time and proves nothing: whoever reads it must be ready to find that it
    /// does not fit, or that there is none.
    fn keep_snapshot(&self, play: PlayKey, snapshot: Snapshot) -> Pending<'_, ()>;

    /// The snapshots of a play, the newest first.
    fn snapshots(&self, play: PlayKey) -> Pending<'_, Vec<Snapshot>>;

    /// Drops the snapshots of a play.
    fn drop_snapshots(&self, play: PlayKey) -> Pending<'_, ()>;

    /// Announces each play to whose log something was appended, after the commit, whichever server did it, and each play of a card that
    /// was closed. It is a hint to look: under load, or while a database cannot be reached, some announcements are lost.
    fn advanced(&self) -> broadcast::Receiver<PlayId>;

    /// How many transactions of entries this server has committed.
    fn commits(&self) -> u64;
}

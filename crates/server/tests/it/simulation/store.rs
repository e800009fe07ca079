//! A server's connection to the simulated disk, with latencies and faults.

use std::future::pending;
use std::sync::Arc;

use rhae_protocol::Entry;
use rhae_store::{
    Card, CardId, CardKey, CompletedRequest, IdempotencyKey, LogEntry, NewCard, NewPlay, Owner,
    Pending, PlayFacts, PlayId, PlayKey, PlayLog, PlayRuns, RunCounts, Snapshot, StaleCutoffs,
    Store, StoreError, StoredPlay,
};
use tokio::sync::broadcast;

use super::disk::Disk;
use super::world::{Crash, Flaw, World, lock};

/// The probabilities of faults, in thousandths of all accesses.
const REFUSED: u32 = 15;
const FULL: u32 = 10;
const LOST: u32 = 15;
const CRASH: u32 = 8;
/// The longest time that one half of an access takes, in milliseconds.
const LATENCY_MS: u32 = 20;

pub(super) struct SimStore {
    world: Arc<World>,
    crash: Arc<Crash>,
    changes: broadcast::Sender<PlayId>,
}

impl SimStore {
    pub(super) fn new(world: Arc<World>, crash: Arc<Crash>) -> Self {
        let (changes, _) = broadcast::channel(16);
        Self {
            world,
            crash,
            changes,
        }
    }

    /// Waits for a random time. After a crash it never returns, because a crashed server does
    /// nothing more.
    async fn travel(&self) {
        tokio::select! {
            biased;
            () = self.crash.wait() => pending().await,
            () = self.world.pause(LATENCY_MS) => {}
        }
    }

    /// Crashes this server in the middle of an access.
    async fn crash_now(&self, place: &str) {
        self.world.note(&format!("crash of server {place}"));
        self.crash.happen();
        pending::<()>().await;
    }

    /// Reads the disk.
    async fn read<T>(&self, read: impl FnOnce(&Disk) -> T) -> Result<T, StoreError> {
        self.travel().await;
        if self.world.chance(CRASH) {
            self.crash_now("while reading").await;
        }
        if self.world.chance(REFUSED + LOST) {
            self.world.note("connection lost while reading");
            return Err(StoreError::Unavailable("connection lost".to_owned()));
        }
        let read = read(&lock(&self.world.disk));
        self.travel().await;
        Ok(read)
    }

    /// Performs one transaction, unless a fault prevents it or hides its result.
    async fn write<T: Default>(
        &self,
        write: impl FnOnce(&mut Disk, Option<Flaw>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.travel().await;
        let world = &self.world;
        if world.chance(CRASH) {
            self.crash_now("before a commit").await;
        }
        if world.chance(REFUSED) {
            world.note("connection lost before a commit");
            return Err(StoreError::Unavailable("connection lost".to_owned()));
        }
        if world.chance(FULL) {
            world.note("the disk is full");
            return Err(StoreError::Full("no space left".to_owned()));
        }
        let unknown = world.chance(LOST);
        let written = match unknown && world.chance(500) {
            // The commit did not reach the disk, but the server cannot know that.
            true => Ok(T::default()),
            false if world.flaw == Some(Flaw::LosesCommits) && world.chance(50) => Ok(T::default()),
            false => write(&mut lock(&world.disk), world.flaw),
        };
        if world.chance(CRASH) {
            self.crash_now("after a commit").await;
        }
        self.travel().await;
        if unknown {
            world.note("commit unknown");
            return Err(StoreError::CommitUnknown("connection lost".to_owned()));
        }
        written
    }
}

impl Store for SimStore {
    fn open_card_idempotent(&self, card: NewCard, key: Option<IdempotencyKey>) -> Pending<'_, ()> {
        Box::pin(self.write(move |disk, flaw| disk.open_card(card, key.as_ref(), flaw)))
    }

    fn card(&self, id: CardId) -> Pending<'_, Option<Card>> {
        Box::pin(self.read(move |disk| disk.find_card(id)))
    }

    fn touch_card(&self, card: CardKey, _at_ms: u64) -> Pending<'_, ()> {
        Box::pin(self.write(move |disk, _| disk.card(card).map(drop)))
    }

    fn close_card(&self, card: CardKey, at_ms: u64) -> Pending<'_, ()> {
        Box::pin(self.write(move |disk, _| {
            disk.card(card)?;
            disk.cards[usize::try_from(card.0).unwrap()].closed_ms = Some(at_ms);
            Ok(())
        }))
    }

    fn close_stale(&self, _cutoffs: StaleCutoffs) -> Pending<'_, Vec<CardId>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn restart_idle_timers(&self, _at_ms: u64) -> Pending<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn open_play_idempotent(
        &self,
        play: NewPlay,
        key: Option<IdempotencyKey>,
    ) -> Pending<'_, PlayKey> {
        Box::pin(async move {
            let opened =
                self.write(move |disk, flaw| disk.open_play(play, key.as_ref(), flaw).map(Some));
            // A lost commit of a flawed store has no key; the next access would fail anyway.
            Ok(opened.await?.unwrap_or(PlayKey(0)))
        })
    }

    fn play(&self, id: PlayId) -> Pending<'_, Option<StoredPlay>> {
        Box::pin(self.read(move |disk| disk.find_play(id).map(|play| play.stored.clone())))
    }

    fn append_idempotent(
        &self,
        play: PlayKey,
        card: CardKey,
        index: u32,
        entry: Entry,
        at_ms: u64,
        key: Option<IdempotencyKey>,
    ) -> Pending<'_, ()> {
        let logged = LogEntry {
            index,
            entry,
            at_ms,
        };
        Box::pin(
            self.write(move |disk, flaw| disk.append((play, card), logged, key.as_ref(), flaw)),
        )
    }

    fn completed_request<'a>(
        &'a self,
        owner: Owner,
        key: &'a str,
    ) -> Pending<'a, Option<CompletedRequest>> {
        Box::pin(self.read(move |disk| disk.completed(owner, key)))
    }

    fn delete_idempotency_keys(&self, _age_ms: u64, _now_ms: u64) -> Pending<'_, u64> {
        Box::pin(async { Ok(0) })
    }

    fn head(&self, play: PlayKey) -> Pending<'_, u32> {
        Box::pin(self.read(move |disk| u32::try_from(disk.play(play).log.len()).unwrap()))
    }

    fn log(&self, play: PlayKey) -> Pending<'_, Vec<Entry>> {
        Box::pin(self.read(move |disk| disk.play(play).entries()))
    }

    fn card_log(&self, card: CardKey) -> Pending<'_, Vec<PlayLog>> {
        Box::pin(self.read(move |disk| {
            let of_card = disk.plays.iter().filter(|play| play.stored.card == card);
            let log = of_card.map(|play| PlayLog {
                play: play.stored.clone(),
                entries: play.entries(),
            });
            log.collect()
        }))
    }

    fn log_from(&self, play: PlayKey, from: u32, limit: u32) -> Pending<'_, Vec<LogEntry>> {
        Box::pin(self.read(move |disk| {
            let log = disk.play(play).log.iter();
            let part = log.skip(from as usize).take(limit as usize);
            part.cloned().collect()
        }))
    }

    fn runs(&self, play: PlayKey) -> Pending<'_, Vec<RunCounts>> {
        Box::pin(self.read(move |disk| RunCounts::of_log(&disk.play(play).entries())))
    }

    fn card_runs(&self, card: CardKey) -> Pending<'_, Vec<PlayRuns>> {
        Box::pin(self.read(move |disk| {
            let of_card = disk.plays.iter().filter(|play| play.stored.card == card);
            let runs = of_card.map(|play| PlayRuns {
                play: play.stored.clone(),
                runs: RunCounts::outcomes(RunCounts::of_log(&play.entries())),
            });
            runs.collect()
        }))
    }

    fn play_facts(&self, id: PlayId) -> Pending<'_, Option<PlayFacts>> {
        Box::pin(self.read(move |disk| disk.facts(id)))
    }

    fn owner_plays(&self, _owner: Owner, _limit: u32) -> Pending<'_, Vec<PlayFacts>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn active_plays(
        &self,
        _owner: Option<Owner>,
        _age_ms: u64,
        _now_ms: u64,
        _limit: u32,
    ) -> Pending<'_, Vec<PlayFacts>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn cards_before(
        &self,
        _owner: Option<Owner>,
        _before: Option<CardKey>,
        _limit: u32,
    ) -> Pending<'_, Vec<Card>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn plays_after(&self, _play: Option<PlayKey>, _limit: u32) -> Pending<'_, Vec<StoredPlay>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn stored_bytes(&self, _owner: Owner) -> Pending<'_, u64> {
        Box::pin(async { Ok(0) })
    }

    fn play_count(&self) -> Pending<'_, u64> {
        Box::pin(self.read(|disk| disk.plays.len() as u64))
    }

    fn save_snapshot(&self, play: PlayKey, snapshot: Snapshot) -> Pending<'_, ()> {
        Box::pin(self.write(move |disk, _| {
            let snapshots = &mut disk.play_mut(play).snapshots;
            snapshots.insert(0, snapshot);
            snapshots.truncate(2);
            Ok(())
        }))
    }

    fn snapshots(&self, play: PlayKey) -> Pending<'_, Vec<Snapshot>> {
        Box::pin(self.read(move |disk| disk.play(play).snapshots.clone()))
    }

    fn drop_snapshots(&self, play: PlayKey) -> Pending<'_, ()> {
        Box::pin(self.write(move |disk, _| {
            disk.play_mut(play).snapshots.clear();
            Ok(())
        }))
    }

    fn subscribe(&self) -> broadcast::Receiver<PlayId> {
        self.changes.subscribe()
    }

    fn commits(&self) -> u64 {
        lock(&self.world.disk).commits
    }
}

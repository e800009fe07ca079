//! The verifier of a database: it replays every play of a store and compares the result with the
//! stored data.
//!
//! **Invariant:** the verifier writes nothing, and it reads a log in chunks, so that a long log is
//! never in memory as a whole. A server may append entries at the same time, so the stored counts of
//! a play are compared only after its log was read to the end.

use rhae_engine::{Catalog, EnvironmentError};
use rhae_protocol::{DatabaseFinding, DatabaseReport, Entry};
use rhae_session::{Origin, Play, ReplayError, Replica, ReplicaError};
use rhae_store::{LogEntry, RunCounts, Snapshot, Store, StoreError, StoredPlay};

/// The number of plays or log entries per read.
const CHUNK: u32 = 1024;

/// The progress of [`verify`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyProgress {
    /// The plays verified so far.
    pub plays: u64,
    /// All plays in the store when the verification began.
    pub total_plays: u64,
    /// The log entries read so far.
    pub entries: u64,
}

/// Verifies all plays of a store. Differences are findings of the report, not errors.
///
/// # Errors
///
/// Returns a [`StoreError`] if the store cannot be read. An invalid stored value affects only its
/// play and is a finding.
pub async fn verify(
    store: &dyn Store,
    catalog: &dyn Catalog,
    progress: impl Fn(VerifyProgress),
) -> Result<DatabaseReport, StoreError> {
    let mut report = DatabaseReport::default();
    let total_plays = store.play_count().await?;
    let mut last = None;
    loop {
        let plays = store.plays_after(last, CHUNK).await?;
        let Some(play) = plays.last() else {
            return Ok(report);
        };
        last = Some(play.key);
        for play in &plays {
            let verifier = PlayVerifier::new(store, catalog, play, &mut report);
            match verifier.run().await {
                Err(StoreError::Corrupt(what)) => {
                    note(
                        &mut report,
                        play,
                        None,
                        format!("the stored {what} is invalid"),
                    );
                }
                other => other?,
            }
            report.plays += 1;
            progress(VerifyProgress {
                plays: report.plays,
                total_plays,
                entries: report.entries,
            });
        }
    }
}

fn note(report: &mut DatabaseReport, play: &StoredPlay, entry: Option<u32>, what: String) {
    report.findings.push(DatabaseFinding {
        guid: play.id.to_string(),
        entry,
        what,
    });
}

/// The verification of one play.
struct PlayVerifier<'a> {
    store: &'a dyn Store,
    catalog: &'a dyn Catalog,
    play: &'a StoredPlay,
    report: &'a mut DatabaseReport,
    /// The replay; `None` after the first entry that it cannot follow.
    replica: Option<Replica>,
    /// The snapshots that cover more entries than were read so far.
    snapshots: Vec<Snapshot>,
    /// The counts of the log.
    runs: Vec<RunCounts>,
    /// The index of the next log entry.
    next: u32,
}

impl<'a> PlayVerifier<'a> {
    fn new(
        store: &'a dyn Store,
        catalog: &'a dyn Catalog,
        play: &'a StoredPlay,
        report: &'a mut DatabaseReport,
    ) -> Self {
        Self {
            store,
            catalog,
            play,
            report,
            replica: None,
            snapshots: Vec::new(),
            runs: vec![RunCounts::default()],
            next: 0,
        }
    }

    async fn run(mut self) -> Result<(), StoreError> {
        match Replica::open(self.catalog, self.origin()) {
            Ok(replica) => self.replica = Some(replica),
            Err(error) => self.note(None, format!("the play cannot be replayed: {error}")),
        }
        self.snapshots = self.store.snapshots(self.play.key).await?;
        self.report.snapshots += self.snapshots.len() as u64;
        loop {
            let part = self.read().await?;
            for LogEntry { index, entry, .. } in &part {
                if *index != self.next {
                    let what = format!("the entry is missing; the next one in the log is {index}");
                    self.note(Some(self.next), what);
                    return Ok(());
                }
                self.follow(entry);
            }
            if part.is_empty() {
                let stored = self.store.runs(self.play.key).await?;
                // Entries that were appended in the meantime are read first.
                if self.read().await?.is_empty() {
                    self.finish(&stored);
                    return Ok(());
                }
            }
        }
    }

    /// Reads the next log entries.
    async fn read(&self) -> Result<Vec<LogEntry>, StoreError> {
        self.store.log_from(self.play.key, self.next, CHUNK).await
    }

    fn origin(&self) -> Origin<'a> {
        Origin {
            game_id: &self.play.game_id,
            seed: self.play.seed,
            rule: self.play.rule,
            win_levels: self.play.win_levels,
            source_digest: self.play.source_digest.as_deref(),
        }
    }

    fn note(&mut self, entry: Option<u32>, what: String) {
        note(self.report, self.play, entry, what);
    }

    /// Replays the next entry, counts it, and compares the snapshots after it.
    fn follow(&mut self, entry: &Entry) {
        if let Some(replica) = &mut self.replica
            && let Err(error) = replica.follow(entry)
        {
            let what = error.to_string();
            self.note(Some(self.next), what);
            self.replica = None;
        }
        let mut last = self.runs.last().cloned().unwrap_or_default();
        if !last.count(self.next, entry) {
            self.runs.pop();
        }
        self.runs.push(last);
        self.next += 1;
        self.report.entries += 1;
        let next = self.next;
        let reached = self
            .snapshots
            .extract_if(.., |snapshot| snapshot.entries <= next);
        for snapshot in reached.collect::<Vec<_>>() {
            if snapshot.entries == next
                && let Some(replica) = &self.replica
                && let Err(what) =
                    compare_snapshot(self.catalog, self.origin(), &snapshot, replica, entry)
            {
                self.note(Some(next), what);
            }
        }
    }

    /// Compares what concerns the whole log.
    fn finish(&mut self, stored: &[RunCounts]) {
        if self.next == 0 {
            self.note(None, "the play has no log".to_owned());
        } else if !stored.is_empty() && stored != self.runs {
            // Plays from before counts were stored have none. This is not a finding, because the
            // server computes their counts from the log.
            self.note(None, "the stored counts differ from the log".to_owned());
        }
        for snapshot in std::mem::take(&mut self.snapshots) {
            let what = "a snapshot covers more entries than the log has".to_owned();
            self.note(Some(snapshot.entries), what);
        }
    }
}

/// Compares a snapshot with the replay. A snapshot of another software version is ignored, because
/// the server ignores it too.
fn compare_snapshot(
    catalog: &dyn Catalog,
    origin: Origin<'_>,
    snapshot: &Snapshot,
    replica: &Replica,
    last: &Entry,
) -> Result<(), String> {
    if replica
        .play()
        .snapshot()
        .is_ok_and(|bytes| bytes.as_ref() == Some(&snapshot.bytes))
    {
        return Ok(());
    }
    match Replica::restore(catalog, origin, &snapshot.bytes, snapshot.entries, last) {
        // A hosted game may serialise one state in several ways, so only visible results are compared.
        Ok(restored)
            if replica.play().may_block() && same_view(restored.play(), replica.play()) =>
        {
            Ok(())
        }
        Ok(_) => Err("the snapshot before this entry belongs to another play".to_owned()),
        Err(ReplicaError::Replay(ReplayError::Environment(
            EnvironmentError::SnapshotVersion { .. },
        ))) => Ok(()),
        Err(error) => Err(format!(
            "the snapshot before this entry is unusable: {error}"
        )),
    }
}

fn same_view(one: &Play, other: &Play) -> bool {
    let settled = |play: &Play| play.current().observation.settled().clone();
    one.tally() == other.tally() && settled(one) == settled(other)
}

//! Replays every play of a store and compares the result with the stored data.
//!
//! **Invariant:** the check writes no plays, and it reads a log in chunks, so that a long log is
//! never in memory as a whole. A server may append entries during the check, so the stored counts
//! of a play are compared only after its log was read to the end.

use anyhow::Result;
use rhae_engine::Catalog;
use rhae_session::{Origin, Play, Replica};
use rhae_store::{LogEntry, RunCounts, Snapshot, Store, StoreError, StoredPlay};
use serde::Serialize;

/// Number of plays or log entries per read.
const CHUNK: u32 = 1024;

#[derive(Default, Serialize)]
pub(super) struct Report {
    pub(super) plays: u64,
    pub(super) entries: u64,
    pub(super) snapshots: u64,
    pub(super) findings: Vec<Finding>,
}

/// A difference between the stored data and the replay.
#[derive(Serialize)]
pub(super) struct Finding {
    pub(super) guid: String,
    /// Index of the log entry, if the finding concerns one.
    pub(super) entry: Option<u32>,
    pub(super) what: String,
}

/// Checks all plays. `progress` receives three numbers: the plays checked so far, all plays, and
/// the log entries read so far.
pub(super) async fn check(
    store: &dyn Store,
    catalog: &dyn Catalog,
    progress: impl Fn(u64, u64, u64),
) -> Result<Report> {
    let mut report = Report::default();
    let total = store.play_count().await?;
    let mut last = None;
    loop {
        let plays = store.plays_after(last, CHUNK).await?;
        let Some(play) = plays.last() else {
            return Ok(report);
        };
        last = Some(play.key);
        for play in &plays {
            match check_play(store, catalog, play, &mut report).await {
                // An invalid stored value affects only this play, so the check continues with the
                // next one.
                Err(StoreError::Corrupt(what)) => {
                    report.note(play, None, format!("the stored {what} is invalid"));
                }
                other => other?,
            }
            report.plays += 1;
            progress(report.plays, total, report.entries);
        }
    }
}

impl Report {
    fn note(&mut self, play: &StoredPlay, entry: Option<u32>, what: String) {
        self.findings.push(Finding {
            guid: play.id.to_string(),
            entry,
            what,
        });
    }
}

async fn check_play(
    store: &dyn Store,
    catalog: &dyn Catalog,
    play: &StoredPlay,
    report: &mut Report,
) -> Result<(), StoreError> {
    let origin = Origin {
        game_id: &play.game_id,
        seed: play.seed,
        rule: play.rule,
        win_levels: play.win_levels,
    };
    let mut replica = match Replica::open(catalog, origin) {
        Ok(replica) => Some(replica),
        Err(departure) => {
            report.note(
                play,
                None,
                format!("the play cannot be replayed: {departure}"),
            );
            None
        }
    };
    let mut snapshots = store.snapshots(play.key).await?;
    report.snapshots += snapshots.len() as u64;
    let mut runs = vec![RunCounts::default()];
    let mut next = 0;
    loop {
        let part = store.log_from(play.key, next, CHUNK).await?;
        for LogEntry { index, entry, .. } in &part {
            if *index != next {
                report.note(
                    play,
                    Some(next),
                    format!("the entry is missing; the next one in the log is {index}"),
                );
                return Ok(());
            }
            if let Some(following) = &mut replica
                && let Err(departure) = following.follow(entry)
            {
                report.note(play, Some(next), departure.to_string());
                replica = None;
            }
            let mut last = runs.last().cloned().unwrap_or_default();
            if !last.count(next, entry) {
                runs.pop();
            }
            runs.push(last);
            next += 1;
            report.entries += 1;
            snapshots.retain(|snapshot| {
                if snapshot.entries == next
                    && let Some(replica) = &replica
                    && let Err(what) = check_snapshot(catalog, origin, snapshot, replica, entry)
                {
                    report.note(play, Some(index.saturating_add(1)), what);
                }
                snapshot.entries > next
            });
        }
        if !part.is_empty() {
            continue;
        }
        let stored = store.runs(play.key).await?;
        if !store.log_from(play.key, next, 1).await?.is_empty() {
            continue;
        }
        if next == 0 {
            report.note(play, None, "the play has no log".to_owned());
        } else if !stored.is_empty() && stored != runs {
            // Plays from before counts were stored have none. This is not a finding, because the
            // server computes their counts from the log.
            report.note(
                play,
                None,
                "the stored counts differ from the log".to_owned(),
            );
        }
        for snapshot in &snapshots {
            report.note(
                play,
                Some(snapshot.entries),
                "a snapshot covers more entries than the log has".to_owned(),
            );
        }
        return Ok(());
    }
}

/// Checks a snapshot against the replay. A snapshot of another software version is ignored, because
/// the server ignores it too.
fn check_snapshot(
    catalog: &dyn Catalog,
    origin: Origin<'_>,
    snapshot: &Snapshot,
    replica: &Replica,
    last: &rhae_protocol::Entry,
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
        Err(departure) if departure.to_string().contains("it was made by version") => Ok(()),
        Err(departure) => Err(format!(
            "the snapshot before this entry is unusable: {departure}"
        )),
    }
}

fn same_view(one: &Play, other: &Play) -> bool {
    let settled = |play: &Play| play.current().observation.settled().clone();
    one.tally() == other.tally() && settled(one) == settled(other)
}

//! Playing every play of a store again and comparing what it says with what that gives.
//!
//! **Invariant:** reads only, and in parts, so that a long play takes no more memory than a short one. A server may append meanwhile: the counts are
//! compared at a moment at which the whole log had been read.

use anyhow::Result;
use rhae_session::{Catalog, Origin, Play as Replayed, Replica};
use rhae_store::{Play, RunCounts, Snapshot, Store, StoreError, Timed};
use serde::Serialize;

/// Plays that are listed at once, and entries that are read at once.
const PART: u32 = 1024;

/// What a check found.
#[derive(Default, Serialize)]
pub(super) struct Report {
    pub(super) plays: u64,
    pub(super) entries: u64,
    pub(super) snapshots: u64,
    pub(super) findings: Vec<Finding>,
}

/// Something that is wrong.
#[derive(Serialize)]
pub(super) struct Finding {
    pub(super) guid: String,
    /// The entry of the log that it is about.
    pub(super) entry: Option<u32>,
    pub(super) what: String,
}

/// Checks all plays; `progress` is told how many are done, how many there are, and how many entries were replayed.
pub(super) async fn check(
    store: &dyn Store,
    catalog: &dyn Catalog,
    progress: impl Fn(u64, u64, u64),
) -> Result<Report> {
    let mut report = Report::default();
    let total = store.play_count().await?;
    let mut last = None;
    loop {
        let plays = store.plays_after(last, PART).await?;
        let Some(play) = plays.last() else {
            return Ok(report);
        };
        last = Some(play.key);
        for play in &plays {
            match check_play(store, catalog, play, &mut report).await {
                // A value that was never written concerns this play alone.
                Err(StoreError::Corrupt(what)) => report.note(
                    play,
                    None,
                    format!("the database holds {what} in an unknown form"),
                ),
                other => other?,
            }
            report.plays += 1;
            progress(report.plays, total, report.entries);
        }
    }
}

impl Report {
    fn note(&mut self, play: &Play, entry: Option<u32>, what: String) {
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
    play: &Play,
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
            report.note(play, None, format!("it cannot be replayed: {departure}"));
            None
        }
    };
    let mut snapshots = store.snapshots(play.key).await?;
    report.snapshots += snapshots.len() as u64;
    let mut runs = vec![RunCounts::default()];
    let mut next = 0;
    loop {
        let part = store.log_from(play.key, next, PART).await?;
        for Timed { index, entry, .. } in &part {
            if *index != next {
                report.note(
                    play,
                    Some(next),
                    format!("it is missing: the next in the log is {index}"),
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
                    && let Err(what) = fits(catalog, origin, snapshot, replica, entry)
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
            report.note(play, None, "it has no log".to_owned());
        } else if !stored.is_empty() && stored != runs {
            // A play that was never counted is counted from its log, as in files of the first version.
            report.note(play, None, "its counts are not those of its log".to_owned());
        }
        for snapshot in &snapshots {
            report.note(
                play,
                Some(snapshot.entries),
                "there is a snapshot after more entries than the log has".to_owned(),
            );
        }
        return Ok(());
    }
}

/// Whether a snapshot is the one that the replay would make here. One of another version of the software is passed over when its play is used, which
/// is no fault.
fn fits(
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
        // A hosted game writes the same state in more than one way, so that only what can be seen of it is compared.
        Ok(restored) if replica.play().waits() && looks_alike(restored.play(), replica.play()) => {
            Ok(())
        }
        Ok(_) => Err("the snapshot before it is of another play".to_owned()),
        Err(departure) if departure.to_string().contains("it was made by version") => Ok(()),
        Err(departure) => Err(format!("the snapshot before it is not used: {departure}")),
    }
}

fn looks_alike(one: &Replayed, other: &Replayed) -> bool {
    let settled = |play: &Replayed| play.opening().observation.settled().clone();
    one.tally() == other.tally() && settled(one) == settled(other)
}

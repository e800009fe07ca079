//! The hash chain of the event log.
//!
//! *Invariant:* numbers run from 1 without gaps, times do not decrease, and each record contains the
//! hash of the record before it. A changed, inserted, removed or moved record breaks the chain.

use rhae_protocol::{BoardEvent, BoardRecord, Digest};
use rhae_study::digest;
use serde::Serialize;

use crate::names;

/// The end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) seq: u64,
    pub(crate) at_ms: u64,
    pub(crate) hash: Digest,
}

impl Default for Head {
    fn default() -> Self {
        Self {
            seq: 0,
            at_ms: 0,
            hash: Digest("0".repeat(64)),
        }
    }
}

/// A record that does not continue the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    #[error("record {found} follows record {last}: expected the number {}", last + 1)]
    Number { last: u64, found: u64 },
    #[error("record {0}: its time is before that of the record before it")]
    Time(u64),
    #[error("record {0}: it does not contain the hash of the record before it")]
    Previous(u64),
    #[error("record {0}: its content does not have its hash")]
    Content(u64),
    #[error("record {0}: a name does not have its hash")]
    Name(u64),
}

impl Head {
    /// Creates the record after this one.
    pub(crate) fn next(&self, now_ms: u64, actor: &str, event: BoardEvent) -> BoardRecord {
        let mut record = BoardRecord {
            seq: self.seq + 1,
            at_ms: now_ms.max(self.at_ms),
            actor: actor.to_owned(),
            event,
            previous: self.hash.clone(),
            hash: Digest::from(""),
            names: Default::default(),
        };
        record.hash = record_hash(&record);
        record
    }

    /// Checks that a record continues the log, and advances.
    pub(crate) fn accept(&mut self, record: &BoardRecord) -> Result<(), ChainError> {
        if record.seq != self.seq + 1 {
            return Err(ChainError::Number {
                last: self.seq,
                found: record.seq,
            });
        }
        if record.at_ms < self.at_ms {
            return Err(ChainError::Time(record.seq));
        }
        if record.previous != self.hash {
            return Err(ChainError::Previous(record.seq));
        }
        if record.hash != record_hash(record) {
            return Err(ChainError::Content(record.seq));
        }
        if !names::are_valid(record) {
            return Err(ChainError::Name(record.seq));
        }
        *self = Self {
            seq: record.seq,
            at_ms: record.at_ms,
            hash: record.hash.clone(),
        };
        Ok(())
    }
}

/// Returns the hash of all fields except the hash itself and the names.
fn record_hash(record: &BoardRecord) -> Digest {
    #[derive(Serialize)]
    struct Hashed<'a> {
        seq: u64,
        at_ms: u64,
        actor: &'a str,
        event: &'a BoardEvent,
        previous: &'a Digest,
    }
    digest(&Hashed {
        seq: record.seq,
        at_ms: record.at_ms,
        actor: &record.actor,
        event: &record.event,
        previous: &record.previous,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Vec<BoardRecord> {
        let mut head = Head::default();
        let close = |reason: &str| BoardEvent::Closed {
            reason: reason.to_owned(),
        };
        ["a", "b", "c"]
            .map(|reason| {
                let record = head.next(5, "organiser", close(reason));
                head.accept(&record).unwrap();
                record
            })
            .to_vec()
    }

    fn check(records: &[BoardRecord]) -> Result<(), ChainError> {
        let mut head = Head::default();
        records.iter().try_for_each(|record| head.accept(record))
    }

    #[test]
    fn every_kind_of_change_is_detected() {
        assert_eq!(check(&log()), Ok(()));
        let mut changed = log();
        changed[1].actor = "author".to_owned();
        assert_eq!(check(&changed), Err(ChainError::Content(2)));
        changed[1].hash = record_hash(&changed[1]);
        assert_eq!(check(&changed), Err(ChainError::Previous(3)));
        let mut removed = log();
        removed.remove(1);
        assert_eq!(
            check(&removed),
            Err(ChainError::Number { last: 1, found: 3 })
        );
        let mut earlier = log();
        earlier[2].at_ms = 1;
        assert_eq!(check(&earlier), Err(ChainError::Time(3)));
    }
}

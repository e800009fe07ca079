//! The hash chains of the event log.
//!
//! *Invariant:* in a chain, positions run from 1 without gaps and each record contains the hash of
//! the record before it. A changed, inserted, removed or moved record therefore breaks its chain. The
//! end of a chain is protected by its head in the chain of the study.

use std::collections::BTreeMap;

use rhae_protocol::{Digest, StudyChain, StudyEvent, StudyRecord};
use serde::Serialize;

use crate::canonical::digest;

/// The ends of all chains of a study, and the end of its log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChainHeads {
    heads: BTreeMap<StudyChain, Head>,
    /// The number of the last record in the log.
    pub(crate) last_seq: u64,
    /// The time of the last record.
    pub(crate) last_ms: u64,
}

/// The end of one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) position: u64,
    pub(crate) hash: Digest,
}

/// A record that does not continue its chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    #[error("record {seq}: the content does not have the hash `{hash}`")]
    Content { seq: u64, hash: Digest },
    #[error("record {seq}: expected position {expected} of its chain, found {found}")]
    Position { seq: u64, expected: u64, found: u64 },
    #[error(
        "record {seq}: the previous record of the chain has the hash `{expected}`, not `{found}`"
    )]
    Previous {
        seq: u64,
        expected: Digest,
        found: Digest,
    },
    #[error("record {seq}: the number follows {last}, but numbers must increase")]
    Order { seq: u64, last: u64 },
    #[error("record {seq}: its time {at_ms} is before the time {last_ms} of an earlier record")]
    Time { seq: u64, at_ms: u64, last_ms: u64 },
    #[error("record {seq}: the recorded head of the chain {chain:?} is not its record {position}")]
    Anchor {
        seq: u64,
        chain: StudyChain,
        position: u64,
    },
}

/// Records that are prepared but not yet part of the log.
pub(crate) struct ChainDraft<'a> {
    base: &'a ChainHeads,
    heads: BTreeMap<StudyChain, Head>,
    last_seq: u64,
    at_ms: u64,
    pub(crate) records: Vec<StudyRecord>,
}

impl<'a> ChainDraft<'a> {
    /// Starts a draft at a time. If the server's clock runs backwards, the time of the last record
    /// is used.
    pub(crate) fn new(base: &'a ChainHeads, now_ms: u64) -> Self {
        Self {
            base,
            heads: BTreeMap::new(),
            last_seq: base.last_seq,
            at_ms: now_ms.max(base.last_ms),
            records: Vec::new(),
        }
    }

    /// Adds the next record of a chain.
    pub(crate) fn append(&mut self, chain: StudyChain, event: StudyEvent) {
        let (position, previous) = match self.head(&chain) {
            Some(head) => (head.position + 1, head.hash.clone()),
            None => (1, first_previous()),
        };
        self.last_seq += 1;
        let mut record = StudyRecord {
            seq: self.last_seq,
            chain,
            position,
            at_ms: self.at_ms,
            event,
            previous,
            hash: Digest::from(""),
        };
        record.hash = record_hash(&record);
        let head = Head {
            position,
            hash: record.hash.clone(),
        };
        self.heads.insert(record.chain.clone(), head);
        self.records.push(record);
    }

    pub(crate) fn head(&self, chain: &StudyChain) -> Option<&Head> {
        self.heads.get(chain).or_else(|| self.base.head(chain))
    }
}

/// The previous hash of the first record of a chain.
fn first_previous() -> Digest {
    Digest("0".repeat(64))
}

impl ChainHeads {
    /// Checks that a record continues its chain, and advances the chain.
    pub(crate) fn accept(&mut self, record: &StudyRecord) -> Result<(), ChainError> {
        let seq = record.seq;
        if seq <= self.last_seq {
            return Err(ChainError::Order {
                seq,
                last: self.last_seq,
            });
        }
        if record.at_ms < self.last_ms {
            return Err(ChainError::Time {
                seq,
                at_ms: record.at_ms,
                last_ms: self.last_ms,
            });
        }
        let (expected, previous) = self.next(&record.chain);
        if record.position != expected {
            return Err(ChainError::Position {
                seq,
                expected,
                found: record.position,
            });
        }
        if record.previous != previous {
            return Err(ChainError::Previous {
                seq,
                expected: previous,
                found: record.previous.clone(),
            });
        }
        if record.hash != record_hash(record) {
            return Err(ChainError::Content {
                seq,
                hash: record.hash.clone(),
            });
        }
        self.advance(record);
        Ok(())
    }

    pub(crate) fn head(&self, chain: &StudyChain) -> Option<&Head> {
        self.heads.get(chain)
    }

    pub(crate) fn remove(&mut self, chain: &StudyChain) {
        self.heads.remove(chain);
    }

    fn next(&self, chain: &StudyChain) -> (u64, Digest) {
        match self.heads.get(chain) {
            Some(head) => (head.position + 1, head.hash.clone()),
            None => (1, first_previous()),
        }
    }

    pub(crate) fn advance(&mut self, record: &StudyRecord) {
        self.last_seq = record.seq;
        self.last_ms = record.at_ms;
        self.heads.insert(
            record.chain.clone(),
            Head {
                position: record.position,
                hash: record.hash.clone(),
            },
        );
    }
}

/// Returns the hash of all fields except the hash itself.
fn record_hash(record: &StudyRecord) -> Digest {
    #[derive(Serialize)]
    struct Hashed<'a> {
        seq: u64,
        chain: &'a StudyChain,
        position: u64,
        at_ms: u64,
        event: &'a StudyEvent,
        previous: &'a Digest,
    }
    digest(&Hashed {
        seq: record.seq,
        chain: &record.chain,
        position: record.position,
        at_ms: record.at_ms,
        event: &record.event,
        previous: &record.previous,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Vec<StudyRecord> {
        let heads = ChainHeads::default();
        let mut draft = ChainDraft::new(&heads, 5);
        let sitting = || StudyChain::Sitting("s1".into());
        draft.append(StudyChain::Study, StudyEvent::Opened);
        draft.append(sitting(), StudyEvent::Heartbeat);
        draft.append(sitting(), StudyEvent::PauseStarted);
        draft.append(StudyChain::Study, StudyEvent::Closed);
        draft.records
    }

    fn check(records: &[StudyRecord]) -> Result<(), ChainError> {
        let mut heads = ChainHeads::default();
        records.iter().try_for_each(|record| heads.accept(record))
    }

    #[test]
    fn appended_records_are_accepted() {
        assert_eq!(check(&log()), Ok(()));
    }

    #[test]
    fn every_kind_of_change_is_detected() {
        let mut changed = log();
        changed[1].event = StudyEvent::PauseEnded;
        assert!(matches!(
            check(&changed),
            Err(ChainError::Content { seq: 2, .. })
        ));
        let mut moved = log();
        moved[2].at_ms = 8;
        assert!(matches!(
            check(&moved),
            Err(ChainError::Content { seq: 3, .. })
        ));
        let mut removed = log();
        removed.remove(1);
        assert!(matches!(
            check(&removed),
            Err(ChainError::Position { seq: 3, .. })
        ));
        let mut swapped = log();
        swapped.swap(1, 2);
        assert!(check(&swapped).is_err());
        let mut rehashed = log();
        rehashed[1].event = StudyEvent::PauseEnded;
        rehashed[1].hash = record_hash(&rehashed[1]);
        assert!(matches!(
            check(&rehashed),
            Err(ChainError::Previous { seq: 3, .. })
        ));
        let mut earlier = log();
        earlier[3].at_ms = 1;
        assert!(matches!(
            check(&earlier),
            Err(ChainError::Time { seq: 4, .. })
        ));
    }
}

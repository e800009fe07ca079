//! A study: its log, checked and folded into its state.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{ParticipantId, SittingId, StudyChain, StudyEvent, StudyId, StudyRecord};

use crate::chain::{ChainDraft, ChainError, ChainHeads, Head};
use crate::clock::{ClockReading, Moment, read_clock};
use crate::command::Command;
use crate::decide::{Events, decide};
use crate::fold::{FoldError, apply, fold};
use crate::rejection::Rejection;
use crate::state::StudyState;

/// A study as a state machine over its event log.
///
/// A caller that stores the log prepares the records of a command, stores them, and then commits
/// them:
///
/// 1. [`Study::prepare`] validates a command and returns its records. Nothing changes.
/// 2. The caller writes the records in one transaction. The number of a record is unique, so a
///    concurrent writer fails and starts again with the newer log.
/// 3. [`Study::commit_prepared`] applies the records. [`Study::extended`] verifies and applies
///    records that another server has appended.
///
/// [`Study::execute`] prepares and commits in memory.
///
/// # Examples
///
/// ```
/// use rhae_study::{Command, Moment, Preset, SetupCommand, Study};
///
/// let (mut study, mut log) = Study::create(Moment::at(1_000), "s".into(), "Pilot", 7);
/// let protocol = Box::new(Preset::Rhae1.protocol());
/// let command = Command::Setup(SetupCommand::SetProtocol(protocol));
/// log.extend(study.execute(Moment::at(2_000), &command)?);
///
/// // The consent text is missing, so the protocol cannot be frozen.
/// let freeze = Command::Setup(SetupCommand::Freeze);
/// assert!(study.execute(Moment::at(3_000), &freeze).is_err());
///
/// assert_eq!(Study::replay(&log).unwrap(), study);
/// # Ok::<(), rhae_study::Rejection>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Study {
    state: StudyState,
    heads: ChainHeads,
}

/// Why a log cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("the log is empty")]
    Empty,
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error(transparent)]
    Fold(#[from] FoldError),
    #[error("{missing} records are missing, but {erased} were erased")]
    Missing { missing: u64, erased: u64 },
}

impl Study {
    /// Creates a study and the first record of its log.
    pub fn create(moment: Moment, id: StudyId, title: &str, seed: u64) -> (Self, Vec<StudyRecord>) {
        let event = StudyEvent::Created {
            study: id,
            title: title.to_owned(),
            seed,
        };
        let heads = ChainHeads::default();
        let mut draft = ChainDraft::new(&heads, moment.now_ms);
        draft.append(StudyChain::Study, event);
        let records = draft.records;
        let study = Self::replay(&records).expect("a new log is valid");
        (study, records)
    }

    /// Rebuilds a study from its log and verifies every record.
    ///
    /// # Errors
    ///
    /// Returns [`ReplayError`] at the first record that was changed, moved or removed. Records that
    /// were erased together with a person may be missing.
    pub fn replay(records: &[StudyRecord]) -> Result<Self, ReplayError> {
        let erased = erased_chains(records);
        let mut heads = ChainHeads::default();
        let mut state = None;
        let mut hashes: BTreeMap<(&StudyChain, u64), _> = BTreeMap::new();
        for record in records {
            heads.accept(record)?;
            hashes.insert((&record.chain, record.position), &record.hash);
            if let StudyEvent::HeadRecorded {
                chain,
                position,
                head,
            } = &record.event
                && !erased.contains(chain)
                && hashes.get(&(chain, *position)) != Some(&head)
            {
                return Err(ReplayError::Chain(ChainError::Anchor {
                    seq: record.seq,
                    chain: chain.clone(),
                    position: *position,
                }));
            }
            fold(&mut state, record)?;
        }
        let state = state.ok_or(ReplayError::Empty)?;
        check_missing(records, &erased, &state, heads.last_seq)?;
        erased.iter().for_each(|chain| heads.remove(chain));
        Ok(Self { state, heads })
    }

    /// Returns the state after the first records of a log that was replayed before.
    pub(crate) fn state_of_prefix(records: &[StudyRecord]) -> Option<StudyState> {
        let mut state = None;
        for record in records {
            fold(&mut state, record).ok()?;
        }
        state
    }

    pub const fn state(&self) -> &StudyState {
        &self.state
    }

    /// Returns the number of the last record.
    pub const fn last_seq(&self) -> u64 {
        self.heads.last_seq
    }

    /// Validates a command and returns the records it causes. A command that was executed before may
    /// cause none.
    ///
    /// # Errors
    ///
    /// Returns the reason if the command is not accepted.
    pub fn prepare(
        &self,
        moment: Moment,
        command: &Command,
    ) -> Result<Vec<StudyRecord>, Rejection> {
        let moment = Moment {
            now_ms: moment.now_ms.max(self.heads.last_ms),
            ..moment
        };
        let events = decide(&self.state, moment, command)?;
        Ok(self.records(moment.now_ms, events))
    }

    /// Verifies and applies records that another server has appended to the log.
    ///
    /// A study that cannot be extended is lost, because copying it first would take longer than
    /// everything else. The caller replays the whole log.
    ///
    /// # Errors
    ///
    /// Returns [`ReplayError`] if the records do not continue the log.
    pub fn extended(mut self, records: &[StudyRecord]) -> Result<Self, ReplayError> {
        for record in records {
            self.heads.accept(record)?;
            apply(&mut self.state, record)?;
        }
        for chain in erased_chains(records) {
            self.heads.remove(&chain);
        }
        Ok(self)
    }

    /// Prepares and commits a command.
    ///
    /// # Errors
    ///
    /// Returns the reason if the command is not accepted.
    pub fn execute(
        &mut self,
        moment: Moment,
        command: &Command,
    ) -> Result<Vec<StudyRecord>, Rejection> {
        let records = self.prepare(moment, command)?;
        self.commit_prepared(&records);
        Ok(records)
    }

    /// Returns the clock of a sitting, with the limit that it has reached; `None` for an unknown
    /// sitting. A server asks before every command of a play, and refuses it after a limit.
    pub fn clock(&self, moment: Moment, sitting: &SittingId) -> Option<ClockReading> {
        let sitting = self.state.sittings.get(sitting)?;
        let limits = &self.state.protocol_of(sitting).limits;
        Some(read_clock(sitting, limits, moment))
    }

    /// Returns the chains whose records must be removed when a person is erased. When the study is
    /// closed, the chain [`StudyChain::Memory`] must be removed as well.
    pub fn chains_of(&self, participant: &ParticipantId) -> Vec<StudyChain> {
        let sittings = match self.state.erased.get(participant) {
            Some(erased) => erased.sittings.iter().cloned().collect::<Vec<_>>(),
            None => {
                let sittings = self.state.sittings_of(participant);
                sittings.map(|(id, _)| id.clone()).collect()
            }
        };
        let mut chains = vec![StudyChain::Participant(participant.clone())];
        chains.extend(sittings.into_iter().map(StudyChain::Sitting));
        chains
    }

    /// Applies records that [`Study::prepare`] has just returned. They need no verification, so this
    /// is fast.
    ///
    /// # Panics
    ///
    /// Panics if the study has changed since the records were prepared.
    pub fn commit_prepared(&mut self, records: &[StudyRecord]) {
        if let Some(first) = records.first() {
            assert_eq!(first.seq, self.heads.last_seq + 1, "the study has changed");
        }
        for record in records {
            apply(&mut self.state, record).expect("prepared events apply");
            self.heads.advance(record);
        }
        for chain in erased_chains(records) {
            self.heads.remove(&chain);
        }
    }

    /// Turns events into records, and records the heads of chains that would otherwise end
    /// unprotected: those of participants, and those of sittings from their end on.
    fn records(&self, now_ms: u64, events: Events) -> Vec<StudyRecord> {
        let mut draft = ChainDraft::new(&self.heads, now_ms);
        let mut protect = BTreeSet::new();
        for (chain, mut event) in events {
            if let StudyEvent::Erased {
                participant,
                records,
                ..
            } = &mut event
            {
                let chains = self.chains_of(participant);
                let heads = chains.iter().filter_map(|chain| draft.head(chain));
                *records = heads.map(|head| head.position).sum();
            }
            if self.needs_head(&chain, &event) {
                protect.insert(chain.clone());
            }
            draft.append(chain, event);
        }
        for chain in protect {
            if let Some(Head { position, hash }) = draft.head(&chain).cloned() {
                let event = StudyEvent::HeadRecorded {
                    chain,
                    position,
                    head: hash,
                };
                draft.append(StudyChain::Study, event);
            }
        }
        draft.records
    }

    fn needs_head(&self, chain: &StudyChain, event: &StudyEvent) -> bool {
        match chain {
            StudyChain::Study | StudyChain::Memory(_) => false,
            StudyChain::Participant(_) => true,
            StudyChain::Sitting(id) => {
                let ended = self
                    .state
                    .sittings
                    .get(id)
                    .is_some_and(|one| !one.is_open());
                ended || matches!(event, StudyEvent::SittingEnded { .. })
            }
        }
    }
}

/// Returns the chains whose records were to be removed: those of erased people, and what was
/// remembered of them until the study was closed.
fn erased_chains(records: &[StudyRecord]) -> BTreeSet<StudyChain> {
    let mut chains = BTreeSet::new();
    for record in records {
        if let StudyEvent::Erased {
            participant,
            sittings,
            ..
        } = &record.event
        {
            chains.insert(StudyChain::Participant(participant.clone()));
            chains.extend(sittings.iter().cloned().map(StudyChain::Sitting));
        }
        if let StudyEvent::Forgotten { participants } = &record.event {
            chains.extend(participants.iter().cloned().map(StudyChain::Memory));
        }
    }
    chains
}

/// Checks that exactly the removed records are missing. They may still be present, if a server was
/// stopped between an erasure and the removal of the records.
fn check_missing(
    records: &[StudyRecord],
    erased: &BTreeSet<StudyChain>,
    state: &StudyState,
    last_seq: u64,
) -> Result<(), ReplayError> {
    let present = records
        .iter()
        .filter(|one| erased.contains(&one.chain))
        .count() as u64;
    let listed: u64 = state.erased.values().map(|person| person.records).sum();
    // A memory consists of one record.
    let is_memory = |chain: &&StudyChain| matches!(chain, StudyChain::Memory(_));
    let listed = listed + erased.iter().filter(is_memory).count() as u64;
    let missing = last_seq - records.len() as u64;
    if missing + present != listed {
        return Err(ReplayError::Missing {
            missing,
            erased: listed,
        });
    }
    Ok(())
}

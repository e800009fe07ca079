//! A board: its log, checked and folded into its state.

use rhae_protocol::{BoardDefinition, BoardEvent, BoardId, BoardRecord, Digest};
use rhae_study::digest;

use crate::chain::{ChainError, Head};
use crate::command::{Command, ORGANISER};
use crate::decide::{decide, release};
use crate::definition_check::check_definition;
use crate::fold::{FoldError, fold};
use crate::names::seal;
use crate::rejection::Rejection;
use crate::state::BoardState;

/// A board as a state machine over its event log.
///
/// [`Board::prepare`] validates a command and returns its records, the caller stores them, and
/// [`Board::commit`] applies them. Of two callers that prepare at the same time, the store accepts
/// the records of one.
///
/// # Examples
///
/// ```
/// use rhae_board::{Board, Command, ORGANISER};
/// # use rhae_protocol::{BoardDefinition, BoardKind};
/// # let definition: BoardDefinition = serde_json::from_str(r#"{"rules_version": 1,
/// #     "kind": "community", "title": "A board", "method": "docs-2026-04", "budget": "5x",
/// #     "set": {"name": "one", "visibility": "public", "environments": [{"id": "ab12-v1",
/// #         "levels": [{"baseline": 20, "source": "solver", "provisional": true}]}]}}"#).unwrap();
///
/// let (mut board, mut log) = Board::create(1_000, "main".into(), definition)?;
/// let close = Command::Close { reason: "a newer set".to_owned() };
/// let records = board.prepare(2_000, ORGANISER, &close)?;
/// board.commit(&records).unwrap();
/// log.extend(records);
///
/// assert_eq!(Board::replay(&log).unwrap(), board);
/// // Nothing happens on a closed board.
/// assert!(board.prepare(3_000, ORGANISER, &Command::Release).is_err());
/// # Ok::<(), rhae_board::Rejection>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    state: BoardState,
    head: Head,
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
}

impl Board {
    /// Creates a board and the first record of its log.
    ///
    /// # Errors
    ///
    /// Returns the reason if the definition is not accepted.
    pub fn create(
        now_ms: u64,
        id: BoardId,
        definition: BoardDefinition,
    ) -> Result<(Self, Vec<BoardRecord>), Rejection> {
        check_definition(&definition)?;
        let event = BoardEvent::Created {
            board: id,
            set: digest(&definition.set),
            definition: Box::new(definition),
        };
        let records = vec![Head::default().next(now_ms, ORGANISER, event)];
        let board = Self::replay(&records).expect("a new log is valid");
        Ok((board, records))
    }

    /// Rebuilds a board from its log and verifies every record.
    ///
    /// # Errors
    ///
    /// Returns [`ReplayError`] at the first record that was changed, moved or removed.
    pub fn replay(records: &[BoardRecord]) -> Result<Self, ReplayError> {
        let mut head = Head::default();
        let mut state = None;
        for record in records {
            head.accept(record)?;
            fold(&mut state, record)?;
        }
        let state = state.ok_or(ReplayError::Empty)?;
        Ok(Self { state, head })
    }

    pub const fn state(&self) -> &BoardState {
        &self.state
    }

    /// Returns the number of the last record.
    pub const fn last_seq(&self) -> u64 {
        self.head.seq
    }

    /// Returns the hash of the last record. A reader who keeps it can detect a changed log.
    pub const fn head(&self) -> &Digest {
        &self.head.hash
    }

    /// Validates a command of an actor and returns the records that it causes. Registrations whose
    /// time has passed are marked first.
    ///
    /// # Errors
    ///
    /// Returns the reason if the command is not accepted.
    pub fn prepare(
        &self,
        now_ms: u64,
        actor: &str,
        command: &Command,
    ) -> Result<Vec<BoardRecord>, Rejection> {
        self.records(now_ms, actor, command, None)
    }

    /// Does the same as [`Board::prepare`], with salted hashes in the places of the names of people, so
    /// that the names can be erased later. `salt` must be random, and different for each command.
    ///
    /// # Errors
    ///
    /// Returns the reason if the command is not accepted.
    pub fn prepare_sealed(
        &self,
        now_ms: u64,
        actor: &str,
        command: &Command,
        salt: &str,
    ) -> Result<Vec<BoardRecord>, Rejection> {
        self.records(now_ms, actor, command, Some(salt))
    }

    fn records(
        &self,
        now_ms: u64,
        actor: &str,
        command: &Command,
        salt: Option<&str>,
    ) -> Result<Vec<BoardRecord>, Rejection> {
        let now_ms = now_ms.max(self.head.at_ms);
        let mut next = self.clone();
        let mut records = Vec::new();
        for registration in self.state.overdue(now_ms) {
            let event = BoardEvent::Abandoned { registration };
            records.push(next.append(now_ms, ORGANISER, event, None));
        }
        for event in decide(&next.state, now_ms, actor, command)? {
            records.push(next.append(now_ms, actor, event, salt));
        }
        if matches!(command, Command::Rescore { .. }) {
            // All corrections of an error are in one release.
            let event = release(&next.state, now_ms);
            records.push(next.append(now_ms, actor, event, salt));
        }
        Ok(records)
    }

    fn append(
        &mut self,
        now_ms: u64,
        actor: &str,
        mut event: BoardEvent,
        salt: Option<&str>,
    ) -> BoardRecord {
        let mut actor = actor.to_owned();
        let names = salt.map(|salt| seal(salt, &mut actor, &mut event));
        let mut record = self.head.next(now_ms, &actor, event);
        record.names = names.unwrap_or_default();
        let applied = self.commit(std::slice::from_ref(&record));
        applied.expect("decided events apply");
        record
    }

    /// Verifies and applies records that follow the last one.
    ///
    /// # Errors
    ///
    /// Returns [`ReplayError`] if the records do not continue the log. The board is then unchanged.
    pub fn commit(&mut self, records: &[BoardRecord]) -> Result<(), ReplayError> {
        let mut head = self.head.clone();
        let mut state = Some(self.state.clone());
        for record in records {
            head.accept(record)?;
            fold(&mut state, record)?;
        }
        self.state = state.ok_or(ReplayError::Empty)?;
        self.head = head;
        Ok(())
    }
}

//! A play in memory: executing commands, and rebuilding the play from its log.
//!
//! **Invariant:** while a command is in progress the play is out of its slot, and it is put back
//! only after the commit. If anything fails in between (a full disk, a panic, a shutdown), the next
//! request finds the slot empty and rebuilds the play from the log.

use std::sync::Arc;

use rhae_engine::{Action, Frame, PlayState};
use rhae_protocol::{CompactResponse, Details, Entry};
use rhae_session::Play;
use rhae_store::{IdempotencyKey, PlayId, Snapshot, StoreError, StoredPlay};
use serde_json::Value;
use tokio::sync::MutexGuard;

use super::Plays;
use super::response::{compact_response, frame_response};
use super::table::{PlaySlot, SlotState};
use crate::ApiError;
use crate::game_executor::Admission;

/// The maximum number of attempts to execute a command while other servers append to the same play.
const MAX_ATTEMPTS: u32 = 5;
/// The largest snapshot interval for hosted plays. An action of a hosted play takes about a
/// thousand times as long as one of a native play, so fewer hosted actions can be replayed while a
/// client waits.
const MAX_HOSTED_SNAPSHOT_INTERVAL: u32 = 50;

/// A play in memory, at the end of its log.
pub(crate) struct LivePlay {
    pub(crate) play: Play,
    /// The index of the next log entry.
    pub(crate) next: u32,
}

#[derive(Clone)]
pub(crate) struct Command {
    pub(crate) action: Action,
    /// The environment as the client named it; the response repeats it.
    pub(crate) game_id: String,
    /// Free-form data of the client, stored with the action.
    pub(crate) reasoning: Option<Value>,
    pub(crate) form: ResponseForm,
}

/// The form of the response to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseForm {
    /// The JSON of the official API.
    Official,
    /// The packed form for web pages.
    Compact,
    /// The packed form without the id of the play, for participants of a study.
    Anonymous,
}

impl Plays {
    /// Returns the current state of a play, rebuilding it from its log if necessary, and whether a
    /// RESET would restart the whole game rather than the level.
    pub(crate) async fn current_state(
        &self,
        stored: &StoredPlay,
    ) -> Result<(CompactResponse, bool), ApiError> {
        let slot = self.table.get_or_insert(stored.clone(), SlotState::Absent);
        let admission = self.games.admit(&stored.game_id)?;
        let mut state = lock_state(&slot, admission.as_ref()).await?;
        let mut live = self.take(stored, &mut state).await?;
        if self.store.head(stored.key).await? != live.next {
            // Another server has advanced the play. The slot is empty now, so this rebuilds the
            // play from its log.
            live = self.take(stored, &mut state).await?;
        }
        let answer = live.play.current();
        let settled = std::slice::from_ref(answer.observation.settled());
        let current_state = compact_response(
            &answer,
            settled,
            &stored.id.to_string(),
            answer.observation.action,
        );
        let reset_restarts_game = live.play.reset_restarts_game();
        *state = SlotState::Live(live);
        Ok((current_state, reset_restarts_game))
    }

    /// Returns the settled frame of a play, or `None` if the play is not in memory or is busy. It
    /// does not wait for a command in progress, which may take long in a hosted game.
    pub(crate) fn settled_frame(&self, id: PlayId) -> Option<Frame> {
        let slot = self.table.find(id)?;
        match &*slot.state.try_lock().ok()? {
            SlotState::Live(live) => Some(live.play.current().observation.settled().clone()),
            SlotState::Absent | SlotState::Frozen(_) => None,
        }
    }

    /// Executes a command, commits it, and returns the body of the response.
    pub(super) async fn command(
        &self,
        slot: &PlaySlot,
        command: &Command,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Vec<u8>, ApiError> {
        let admission = self.games.admit(&slot.play.game_id)?;
        let mut state = lock_state(slot, admission.as_ref()).await?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self
                .attempt(slot, &mut state, command, idempotency_key)
                .await
            {
                // Another server appended first. The failed attempt dropped the copy in memory, so
                // the next one starts from the stored log.
                Err(ApiError::Unavailable(StoreError::Conflict(_))) if attempts < MAX_ATTEMPTS => {}
                done => return done,
            }
        }
    }

    async fn attempt(
        &self,
        slot: &PlaySlot,
        state: &mut SlotState,
        command: &Command,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Vec<u8>, ApiError> {
        let StoredPlay { key, card, .. } = slot.play;
        let mut live = self.take(&slot.play, state).await?;
        if command.action != Action::Reset
            && live.play.current().observation.state != PlayState::NotFinished
        {
            // A refusal writes nothing, so the commit cannot detect that this copy is out of date.
            // The store is therefore asked for the length of the log.
            let head = self.store.head(key).await?;
            if head != live.next {
                return Err(StoreError::Conflict(live.next).into());
            }
            *state = SlotState::Live(live);
            return Err(ApiError::GameOver);
        }
        let guid = slot.play.id.to_string();
        let save_snapshot = (live.next + 1).is_multiple_of(self.snapshot_interval(&live.play));
        let done = if live.play.may_block() {
            // The async threads must stay free for other clients.
            let (command, guid) = (command.clone(), guid.clone());
            let work = self.games.run(&slot.play.game_id, move || {
                let done = ExecutedCommand::run(&mut live.play, &command, &guid, save_snapshot);
                (live, done)
            });
            let done;
            (live, done) = work.await?;
            done
        } else {
            ExecutedCommand::run(&mut live.play, command, &guid, save_snapshot)
        };
        let ExecutedCommand {
            body,
            entry,
            snapshot,
        } = done?;
        let committed = self
            .store
            .append_idempotent(
                key,
                card,
                live.next,
                entry,
                self.clock.now_ms(),
                idempotency_key.cloned(),
            )
            .await;
        committed.map_err(|error| match error {
            StoreError::CardNotOpen => ApiError::NoSuchPlay {
                game: command.game_id.clone(),
                guid,
            },
            error => error.into(),
        })?;
        live.next += 1;
        self.metrics.actions.inc();
        if let Some(bytes) = snapshot {
            self.save_snapshot(
                &slot.play,
                Snapshot {
                    entries: live.next,
                    bytes,
                },
            );
        }
        *state = SlotState::Live(live);
        Ok(body)
    }

    /// The number of log entries between two snapshots of a play.
    fn snapshot_interval(&self, play: &Play) -> u32 {
        let every = self.snapshot_every;
        if play.may_block() {
            every.min(MAX_HOSTED_SNAPSHOT_INTERVAL)
        } else {
            every
        }
    }

    /// Saves a snapshot in the background, so that the response does not wait for it. If saving
    /// fails, the play is later rebuilt from an older snapshot or from its whole log.
    fn save_snapshot(&self, stored: &StoredPlay, snapshot: Snapshot) {
        let (store, play) = (Arc::clone(&self.store), stored.key);
        tokio::spawn(async move { store.save_snapshot(play, snapshot).await });
    }

    /// Takes a play out of its slot, rebuilding it from its log if the slot is empty. Concurrent
    /// requests wait for the slot's lock, so the play is rebuilt only once.
    async fn take(
        &self,
        stored: &StoredPlay,
        state: &mut SlotState,
    ) -> Result<Box<LivePlay>, ApiError> {
        match std::mem::replace(state, SlotState::Absent) {
            SlotState::Live(live) => return Ok(live),
            SlotState::Frozen(reason) => {
                *state = SlotState::Frozen(reason.clone());
                return Err(ApiError::Frozen(reason));
            }
            SlotState::Absent => {}
        }
        match self.rebuilder.rebuild(stored).await? {
            Ok(replica) => {
                self.metrics.rebuilds.inc();
                Ok(Box::new(LivePlay {
                    next: replica.next(),
                    play: replica.into_play(),
                }))
            }
            Err(reason) => {
                tracing::error!(guid = %stored.id, reason, "froze a play whose log does not replay");
                self.metrics.frozen.inc();
                *state = SlotState::Frozen(reason.clone());
                Err(ApiError::Frozen(reason))
            }
        }
    }
}

/// Waits until no other request uses the play. A command to a hosted game waits for a limited time.
async fn lock_state<'a>(
    slot: &'a PlaySlot,
    admission: Option<&Admission<'_>>,
) -> Result<MutexGuard<'a, SlotState>, ApiError> {
    match admission {
        Some(admission) => admission.wait(slot.state.lock()).await,
        None => Ok(slot.state.lock().await),
    }
}

/// The result of a command before it is committed.
struct ExecutedCommand {
    body: Vec<u8>,
    entry: Entry,
    /// A snapshot after the command, if one is due and the environment supports snapshots.
    snapshot: Option<Vec<u8>>,
}

impl ExecutedCommand {
    fn run(
        play: &mut Play,
        command: &Command,
        guid: &str,
        save_snapshot: bool,
    ) -> Result<Self, ApiError> {
        let answer = play
            .command(command.action)
            .map_err(|error| ApiError::Failed(error.to_string()))?;
        let body = frame_response(&answer, command, guid, Some(command.action));
        let entry = answer.entry(
            command.action,
            Details {
                reasoning: command.reasoning.clone(),
                ..Details::default()
            },
        );
        // A failed snapshot is not an error: the play can be rebuilt from an older one or from its
        // whole log.
        let snapshot = if save_snapshot {
            play.snapshot().ok().flatten()
        } else {
            None
        };
        Ok(Self {
            body,
            entry,
            snapshot,
        })
    }
}

//! A play in memory: carrying out a command, and making the play again from its log.
//!
//! **Invariant:** while a command is under way the play is out of its place, and it is put back only after the commit. So
//! whatever goes wrong between (a full disk, a panic, a server that stops), the next request finds no play and makes it from the log.

use std::sync::Arc;

use rhae_engine::{Action, Frame, PlayState};
use rhae_protocol::{CompactAnswer, Details, Entry, FrameAnswer, Shown};
use rhae_session::{Answer, Play};
use rhae_store::{Once, Play as StoredPlay, PlayId, Snapshot, StoreError};
use serde_json::Value;

use crate::plays::{Place, Stage};
use crate::rebuild::blocking;
use crate::{ApiError, Server};

/// How often a command is carried out while other servers append to the same play.
const ATTEMPTS: u32 = 5;
/// Entries after which a snapshot of a hosted play is kept at the latest: its actions take a thousand times as long as those of a native
/// one, so that many of them are too many to play again while a client waits.
const HOSTED_SNAPSHOTS: u32 = 50;

/// A play in memory.
pub(crate) struct Live {
    pub(crate) play: Play,
    /// The index of the next entry of its log.
    pub(crate) next: u32,
}

/// A command to a play.
#[derive(Clone)]
pub(crate) struct Command {
    pub(crate) action: Action,
    /// The environment as the client named it.
    pub(crate) game_id: String,
    /// What the client added.
    pub(crate) reasoning: Option<Value>,
    /// Whether it is a page that asks, to which frames are sent packed.
    pub(crate) compact: bool,
}

impl Server {
    /// Where a play stands, and whether a RESET would start the whole game anew. The play is made from its log if need be.
    pub(crate) async fn standing(
        &self,
        stored: &StoredPlay,
    ) -> Result<(CompactAnswer, bool), ApiError> {
        let place = self.plays.place(stored.clone(), Stage::Absent);
        let mut stage = place.stage.lock().await;
        let mut live = self.take(stored, &mut stage).await?;
        if self.store.head(stored.key).await? != live.next {
            // Another server went on with it.
            live = self.take(stored, &mut stage).await?;
        }
        let answer = live.play.opening();
        let settled = std::slice::from_ref(answer.observation.settled());
        let standing = compact_answer(
            &answer,
            settled,
            &stored.id.to_string(),
            answer.observation.action,
        );
        let anew = live.play.reset_starts_anew();
        *stage = Stage::Live(live);
        Ok((standing, anew))
    }

    /// The settled frame of a play that is in memory.
    pub(crate) async fn settled(&self, id: PlayId) -> Option<Frame> {
        let place = self.plays.find(id)?;
        match &*place.stage.lock().await {
            Stage::Live(live) => Some(live.play.opening().observation.settled().clone()),
            Stage::Absent | Stage::Frozen(_) => None,
        }
    }

    /// Carries out a command, commits it, and gives the answer's body.
    pub(crate) async fn command(
        &self,
        place: &Place,
        command: &Command,
        once: Option<&Once>,
    ) -> Result<Vec<u8>, ApiError> {
        let mut stage = place.stage.lock().await;
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.attempt(place, &mut stage, command, once).await {
                // Another server was faster. The copy here is gone, so that the next attempt begins with what is stored now.
                Err(ApiError::Unavailable(StoreError::Conflict(_))) if attempts < ATTEMPTS => {}
                done => return done,
            }
        }
    }

    async fn attempt(
        &self,
        place: &Place,
        stage: &mut Stage,
        command: &Command,
        once: Option<&Once>,
    ) -> Result<Vec<u8>, ApiError> {
        let StoredPlay { key, card, .. } = place.play;
        let mut live = self.take(&place.play, stage).await?;
        if command.action != Action::Reset
            && live.play.opening().observation.state != PlayState::NotFinished
        {
            // A refusal is not written, so it is no proof by itself that the copy here is up to date.
            let head = self.store.head(key).await?;
            if head != live.next {
                return Err(StoreError::Conflict(live.next).into());
            }
            *stage = Stage::Live(live);
            return Err(ApiError::NotStarted);
        }
        let guid = place.play.id.to_string();
        let keeps = (live.next + 1).is_multiple_of(self.snapshot_every(&live.play));
        let done = if live.play.waits() {
            // The environment may take its time, and the threads here serve everybody.
            let (command, guid) = (command.clone(), guid.clone());
            let work = blocking(move || {
                let done = Done::of(&mut live.play, &command, &guid, keeps);
                (live, done)
            });
            let done;
            (live, done) = work.await?;
            done
        } else {
            Done::of(&mut live.play, command, &guid, keeps)
        };
        let Done {
            body,
            entry,
            snapshot,
        } = done?;
        let committed = self
            .store
            .append_once(
                key,
                card,
                live.next,
                entry,
                self.clock.now_ms(),
                once.cloned(),
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
        self.metrics.actions.add_one();
        if let Some(bytes) = snapshot {
            self.keep_snapshot(
                &place.play,
                Snapshot {
                    entries: live.next,
                    bytes,
                },
            );
        }
        *stage = Stage::Live(live);
        Ok(body)
    }

    /// After how many entries a snapshot of a play is kept.
    fn snapshot_every(&self, play: &Play) -> u32 {
        let every = self.config.snapshot_every;
        if play.waits() {
            every.min(HOSTED_SNAPSHOTS)
        } else {
            every
        }
    }

    /// Keeps a snapshot of a play. It is written later, so that the answer does not wait for it; if anything goes wrong, the play is made
    /// from an older one.
    fn keep_snapshot(&self, stored: &StoredPlay, snapshot: Snapshot) {
        let (store, play) = (Arc::clone(&self.store), stored.key);
        tokio::spawn(async move { store.keep_snapshot(play, snapshot).await });
    }

    /// Takes a play out of its place; makes it from its log if it is not there. Whoever else wants it waits for the lock, so
    /// that it is made once.
    async fn take(&self, stored: &StoredPlay, stage: &mut Stage) -> Result<Box<Live>, ApiError> {
        match std::mem::replace(stage, Stage::Absent) {
            Stage::Live(live) => return Ok(live),
            Stage::Frozen(reason) => {
                *stage = Stage::Frozen(reason.clone());
                return Err(ApiError::Frozen(reason));
            }
            Stage::Absent => {}
        }
        match self.rebuild(stored).await? {
            Ok(replica) => {
                self.metrics.rebuilds.add_one();
                Ok(Box::new(Live {
                    next: replica.next(),
                    play: replica.into_play(),
                }))
            }
            Err(reason) => {
                tracing::error!(guid = %stored.id, reason, "a play is frozen");
                self.metrics.frozen.add_one();
                *stage = Stage::Frozen(reason.clone());
                Err(ApiError::Frozen(reason))
            }
        }
    }
}

/// What carrying out a command gives, before any of it is committed.
struct Done {
    body: Vec<u8>,
    entry: Entry,
    /// The play as it is now, if that is to be kept and the environment can be saved.
    snapshot: Option<Vec<u8>>,
}

impl Done {
    fn of(play: &mut Play, command: &Command, guid: &str, keeps: bool) -> Result<Self, ApiError> {
        let answer = play
            .command(command.action)
            .map_err(|error| ApiError::Failed(error.to_string()))?;
        let body = frame_answer(&answer, command, guid, Some(command.action));
        let entry = answer.entry(
            command.action,
            Details {
                reasoning: command.reasoning.clone(),
                ..Details::default()
            },
        );
        // A play that cannot be saved is as good as one that was not.
        let snapshot = if keeps {
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

/// The body of an answer; `action` is `None` for the RESET that opened the play.
pub(crate) fn frame_answer(
    answer: &Answer<'_>,
    command: &Command,
    guid: &str,
    action: Option<Action>,
) -> Vec<u8> {
    if command.compact {
        let answer = compact_answer(answer, answer.frames, guid, action.unwrap_or(Action::Reset));
        return serde_json::to_vec(&answer).expect("plain fields can be written to memory");
    }
    let body = FrameAnswer {
        game_id: &command.game_id,
        guid,
        frames: answer.frames,
        state: answer.seen.state,
        levels_completed: answer.seen.levels_completed,
        win_levels: answer.observation.win_levels,
        full_reset: answer.seen.full_reset,
        available: answer.observation.available,
        action,
        reasoning: command.reasoning.as_ref(),
    };
    body.to_json()
}

/// The same for a page.
fn compact_answer(
    answer: &Answer<'_>,
    frames: &[Frame],
    guid: &str,
    action: Action,
) -> CompactAnswer {
    let shown = Shown {
        action,
        frames,
        state: answer.seen.state,
        levels_completed: answer.seen.levels_completed,
        changed: answer.seen.changed,
        counted: answer.seen.counted,
        full_reset: answer.seen.full_reset,
    };
    CompactAnswer::new(
        guid,
        shown,
        answer.observation.win_levels,
        answer.observation.available,
    )
}

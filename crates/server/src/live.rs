//! A play in memory: carrying out a command, and making the play again from its log.
//!
//! **Invariant:** while a command is under way the play is out of its place, and it is put back only after the commit. So
//! whatever goes wrong between (a full disk, a panic, a server that stops), the next request finds no play and makes it from the log.

use std::sync::Arc;

use rhae_engine::{Action, PlayState};
use rhae_protocol::{Details, Entry, Format, FrameAnswer, Header, Recording, SOFTWARE};
use rhae_session::{Answer, Catalog, CatalogError, Play, ReplayError, replay};
use rhae_store::{Play as StoredPlay, StoreError};
use serde_json::Value;

use crate::plays::{Place, Stage};
use crate::{ApiError, Server};

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
}

impl Server {
    /// Carries out a command, commits it, and gives the answer's body.
    pub(crate) async fn command(&self, place: &Place, command: Command) -> Result<Vec<u8>, ApiError> {
        let mut stage = place.stage.lock().await;
        let mut live = self.take(&place.play, &mut stage).await?;
        if command.action != Action::Reset && live.play.opening().observation.state != PlayState::NotFinished {
            *stage = Stage::Live(live);
            return Err(ApiError::NotStarted);
        }
        let guid = place.play.id.to_string();
        let done = if live.play.waits() {
            // The environment may take its time, and the threads here serve everybody.
            let (command, guid) = (command.clone(), guid.clone());
            let work = tokio::task::spawn_blocking(move || {
                let done = carry_out(&mut live.play, &command, &guid);
                (live, done)
            });
            let done;
            (live, done) = work.await.map_err(|error| ApiError::Failed(error.to_string()))?;
            done
        } else {
            carry_out(&mut live.play, &command, &guid)
        };
        let (body, entry) = done?;
        let StoredPlay { key, card, .. } = place.play;
        let committed = self.store.append(key, card, live.next, entry, self.clock.now_ms()).await;
        committed.map_err(|error| match error {
            StoreError::CardNotOpen => ApiError::NoSuchPlay { game: command.game_id, guid },
            error => error.into(),
        })?;
        live.next += 1;
        *stage = Stage::Live(live);
        Ok(body)
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
        let entries = self.store.log(stored.key).await?;
        let (catalog, guid, stored) = (Arc::clone(&self.catalog), stored.id, stored.clone());
        // A long log takes a while to replay, during which other plays go on.
        let rebuilt = tokio::task::spawn_blocking(move || rebuild(catalog.as_ref(), &stored, entries)).await;
        match rebuilt.map_err(|error| ApiError::Failed(error.to_string()))?? {
            Ok(live) => Ok(live),
            Err(reason) => {
                eprintln!("the play {guid} is frozen: {reason}");
                *stage = Stage::Frozen(reason.clone());
                Err(ApiError::Frozen(reason))
            }
        }
    }
}

/// Carries out a command; gives the answer's body and the entry for the log.
fn carry_out(play: &mut Play, command: &Command, guid: &str) -> Result<(Vec<u8>, Entry), ApiError> {
    let answer = play.command(command.action).map_err(|error| ApiError::Failed(error.to_string()))?;
    let body = frame_answer(&answer, command, guid, Some(command.action));
    Ok((body, answer.entry(command.action, Details { reasoning: command.reasoning.clone(), ..Details::default() })))
}

/// Makes a play from its log, or says why the log cannot be trusted. An environment that fails says nothing about the log.
fn rebuild(catalog: &dyn Catalog, stored: &StoredPlay, entries: Vec<Entry>) -> Result<Result<Box<Live>, String>, ApiError> {
    let Ok(next) = u32::try_from(entries.len()) else {
        return Ok(Err("its log is too long".to_owned()));
    };
    let header = Header {
        game_id: stored.game_id.clone(),
        seed: stored.seed,
        agent: String::new(),
        agent_seed: None,
        software: SOFTWARE.to_owned(),
        guid: Some(stored.id.to_string()),
        resets: stored.rule,
        win_levels: stored.win_levels,
        available: rhae_engine::ActionSet::EMPTY,
    };
    let recording = Recording { format: Format::Rhae, header, entries, ending: None };
    let replayed = match replay(catalog, &recording) {
        Ok(replayed) => replayed,
        Err(ReplayError::Environment(error) | ReplayError::Catalog(CatalogError::Environment(error))) => {
            return Err(ApiError::Failed(error.to_string()));
        }
        Err(error) => return Ok(Err(error.to_string())),
    };
    Ok(match replayed.mismatch {
        None => Ok(Box::new(Live { play: replayed.play, next })),
        Some(mismatch) => Err(format!("at entry {} of its log {}", mismatch.entry, mismatch.what)),
    })
}

/// The body of an answer; `action` is `None` for the RESET that opened the play.
pub(crate) fn frame_answer(answer: &Answer<'_>, command: &Command, guid: &str, action: Option<Action>) -> Vec<u8> {
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

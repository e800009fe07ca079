//! `GET /api/plays/{guid}` and its recording. A play of somebody else is answered like one that does not exist, and a competition's play is not
//! shown before its card is closed, as the card itself.

use std::io;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rhae_protocol::{PlayListing, ToolkitLine, level_of, rfc3339_utc};
use rhae_session::Replica;
use rhae_store::{PlayFacts, PlayId, Timed};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use crate::access::Caller;
use crate::events::PATIENCE;
use crate::listeners::Listening;
use crate::openapi::{Always, ErrorBody, Named};
use crate::plays::Stage;
use crate::rebuild::blocking;
use crate::{ApiError, Server};

/// Entries that are read at once.
const PART: u32 = 64;
/// Text is handed over when it has reached this length, so that a recording never stands in memory.
const CHUNK: usize = 256 * 1024;

/// A play and where it stands.
#[utoipa::path(
    get,
    path = "/api/plays/{guid}",
    tag = "plays",
    params(("guid" = String, Path, description = "The play")),
    responses((status = OK, body = PlayListing, description = "The play"),
        (status = FORBIDDEN, body = ErrorBody, description = "A play of a competition is not shown before its card is closed"), Always, Named)
)]
pub(crate) async fn facts(
    State(server): State<Arc<Server>>,
    Path(guid): Path<String>,
    caller: Caller,
) -> Result<Json<PlayListing>, ApiError> {
    let facts = server.readable_play(&caller, &guid).await?;
    let frozen = match server.plays.find(facts.play.id) {
        Some(place) => match &*place.stage.lock().await {
            Stage::Frozen(reason) => Some(reason.clone()),
            Stage::Absent | Stage::Live(_) => None,
        },
        None => None,
    };
    Ok(Json(PlayListing {
        guid: facts.play.id.to_string(),
        game_id: facts.play.game_id.to_string(),
        card_id: facts.card.to_string(),
        card_open: facts.closed_ms.is_none(),
        state: facts.state.name().to_owned(),
        level: level_of(facts.levels_completed, facts.play.win_levels),
        levels_completed: facts.levels_completed,
        win_levels: facts.play.win_levels,
        actions: facts.actions,
        entries: facts.entries,
        opened_at: rfc3339_utc(facts.opened_ms),
        last_action_at: rfc3339_utc(facts.last_ms),
        frozen,
    }))
}

/// The play as a recording, made by replaying it.
#[utoipa::path(
    get,
    path = "/api/plays/{guid}/recording",
    tag = "plays",
    params(("guid" = String, Path, description = "The play")),
    responses((status = OK, body = String, content_type = "application/x-ndjson", description = "A line for each command, as the official toolkit writes them"),
        (status = FORBIDDEN, body = ErrorBody, description = "A play of a competition is not shown before its card is closed"),
        (status = CONFLICT, body = ErrorBody, description = "The play is frozen"), Always, Named)
)]
pub(crate) async fn recording(
    State(server): State<Arc<Server>>,
    Path(guid): Path<String>,
    caller: Caller,
) -> Result<Response, ApiError> {
    let facts = server.readable_play(&caller, &guid).await?;
    // Making a recording takes as much as listening, so that it takes one of the places.
    let listening = server
        .listeners
        .listen(server.store.as_ref(), facts.play.id)
        .ok_or(ApiError::Crowded)?;
    let replica = server
        .beginning(&facts.play)
        .await?
        .map_err(ApiError::Frozen)?;
    let name = format!(
        "attachment; filename=\"{}-{}.jsonl\"",
        facts.play.game_id, facts.play.id
    );
    let (out, stream) = channel(2);
    tokio::spawn(record(server, facts, replica, out, listening));
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, Body::from_stream(ReceiverStream::new(stream))).into_response())
}

/// Replays a play and sends its lines. A log that does not replay breaks the answer off, so that nobody takes a part for the whole.
async fn record(
    server: Arc<Server>,
    facts: PlayFacts,
    mut replica: Replica,
    out: Sender<io::Result<Bytes>>,
    _listening: Listening,
) {
    let facts = Arc::new(facts);
    while replica.next() < facts.entries {
        let part = server
            .store
            .log_from(
                facts.play.key,
                replica.next(),
                PART.min(facts.entries - replica.next()),
            )
            .await;
        let mut part = match part {
            Ok(part) if !part.is_empty() => part,
            _ => {
                return drop(
                    out.send(Err(io::Error::other("the log cannot be read")))
                        .await,
                );
            }
        };
        while !part.is_empty() {
            let play = Arc::clone(&facts);
            let written = blocking(move || {
                let text = lines(&mut replica, &play, &mut part);
                (replica, part, text)
            });
            let Ok((further, left, text)) = written.await else {
                return drop(out.send(Err(io::Error::other("the replay failed"))).await);
            };
            (replica, part) = (further, left);
            let departed = text.is_err();
            let sent = tokio::time::timeout(PATIENCE, out.send(text.map(Bytes::from))).await;
            if departed || !sent.is_ok_and(|sent| sent.is_ok()) {
                return;
            }
        }
    }
}

/// The lines of the first of these entries, up to a length; those that are left are left.
fn lines(replica: &mut Replica, facts: &PlayFacts, part: &mut Vec<Timed>) -> io::Result<Vec<u8>> {
    let guid = facts.play.id.to_string();
    let mut text = Vec::new();
    let mut done = 0;
    for Timed { entry, at_ms, .. } in part.iter() {
        if text.len() >= CHUNK {
            break;
        }
        let answer = replica
            .follow(entry)
            .map_err(|departure| io::Error::other(departure.to_string()))?;
        done += 1;
        if ToolkitLine::is_known(entry) {
            let line = ToolkitLine {
                game_id: &facts.play.game_id,
                guid: Some(&guid),
                win_levels: facts.play.win_levels,
                available: answer.observation.available,
                entry,
                frames: answer.frames,
                at_ms: *at_ms,
            };
            text.append(&mut line.to_json());
        }
    }
    part.drain(..done);
    Ok(text)
}

impl Server {
    /// A play that the caller may read, of an environment that it may see, unless it is on an open card of a competition.
    pub(crate) async fn readable_play(
        &self,
        caller: &Caller,
        guid: &str,
    ) -> Result<PlayFacts, ApiError> {
        let missing = || ApiError::NoSuchGuid(guid.to_owned());
        let id: PlayId = guid.parse().map_err(|_| missing())?;
        let readable = |facts: &PlayFacts| {
            caller.reads(facts.play.owner) && self.shows(caller, &facts.play.game_id)
        };
        let facts = self
            .store
            .play_facts(id)
            .await?
            .filter(readable)
            .ok_or_else(missing)?;
        if facts.competition && facts.closed_ms.is_none() {
            Err(ApiError::Competing)
        } else {
            Ok(facts)
        }
    }
}

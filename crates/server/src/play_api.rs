//! `GET /api/plays/{guid}` and `/recording`: the facts and the recording of a play.
//!
//! A request for a play of another owner gets the same response as a request for one that does not
//! exist. A play on a competition card is readable only after the card is closed, like the card
//! itself.

use std::io;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rhae_protocol::{PlayListing, ToolkitLine, current_level, rfc3339_utc};
use rhae_session::Replica;
use rhae_store::{LogEntry, Owner, PlayFacts};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use crate::ApiError;
use crate::access::Caller;
use crate::events::SEND_TIMEOUT;
use crate::listeners::Listeners;
use crate::network::ClientAddress;
use crate::openapi::{Always, ErrorBody, Named};
use crate::plays::Plays;

/// Log entries read from the store at a time.
const ENTRIES_PER_READ: u32 = 64;
/// The minimum size in bytes of a chunk of the recording, except for the last chunk of each read.
/// The recording is sent in chunks, so that it is never in memory as a whole.
const CHUNK_BYTES: usize = 256 * 1024;

/// Returns a play and its current state.
#[utoipa::path(
    get,
    path = "/api/plays/{guid}",
    tag = "plays",
    params(("guid" = String, Path, description = "The play")),
    responses((status = OK, body = PlayListing, description = "The play"),
        (status = FORBIDDEN, body = ErrorBody, description = "A play on a competition scorecard cannot be read before the scorecard is closed"), Always, Named)
)]
pub(crate) async fn facts(
    State(plays): State<Arc<Plays>>,
    Path(guid): Path<String>,
    caller: Caller,
) -> Result<Json<PlayListing>, ApiError> {
    let facts = plays.readable(&caller, &guid).await?;
    let frozen = plays.frozen_reason(facts.play.id);
    Ok(Json(PlayListing {
        guid: facts.play.id.to_string(),
        game_id: facts.play.game_id.to_string(),
        card_id: facts.card.to_string(),
        card_open: facts.closed_ms.is_none(),
        state: facts.state,
        level: current_level(facts.levels_completed, facts.play.win_levels),
        levels_completed: facts.levels_completed,
        win_levels: facts.play.win_levels,
        actions: facts.actions,
        entries: facts.entries,
        opened_at: rfc3339_utc(facts.opened_ms),
        last_action_at: rfc3339_utc(facts.last_ms),
        source_digest: facts.play.source_digest,
        frozen,
    }))
}

/// Returns the recording of a play, produced by replaying its log.
#[utoipa::path(
    get,
    path = "/api/plays/{guid}/recording",
    tag = "plays",
    params(("guid" = String, Path, description = "The play")),
    responses((status = OK, body = String, content_type = "application/x-ndjson", description = "One JSON line per command, in the format of the official toolkit"),
        (status = FORBIDDEN, body = ErrorBody, description = "A play on a competition scorecard cannot be read before the scorecard is closed"),
        (status = CONFLICT, body = ErrorBody, description = "The play is frozen"), Always, Named)
)]
pub(crate) async fn recording(
    State(plays): State<Arc<Plays>>,
    State(listeners): State<Arc<Listeners>>,
    Path(guid): Path<String>,
    caller: Caller,
    address: ClientAddress,
) -> Result<Response, ApiError> {
    let facts = plays.readable(&caller, &guid).await?;
    recording_response(plays, &listeners, caller.owner, facts, address).await
}

/// Returns the recording of a play. `holder` counts against the limit of streams.
pub(crate) async fn recording_response(
    plays: Arc<Plays>,
    listeners: &Listeners,
    holder: Owner,
    facts: PlayFacts,
    address: ClientAddress,
) -> Result<Response, ApiError> {
    // Producing a recording costs as much as following a play, so it counts against the same limit.
    let subscription = listeners.subscribe(facts.play.id, holder, address)?;
    let replica = plays
        .rebuilder()
        .opening_replica(&facts.play)
        .await?
        .map_err(ApiError::Frozen)?;
    let name = format!(
        "attachment; filename=\"{}-{}.jsonl\"",
        facts.play.game_id, facts.play.id
    );
    let (out, stream) = channel(2);
    let abort = out.clone();
    let work = record(plays, facts, replica, out);
    tokio::spawn(subscription.run_download(work, abort));
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, Body::from_stream(ReceiverStream::new(stream))).into_response())
}

/// Replays a play and sends its lines. If the log cannot be replayed, the response is aborted, so
/// that the client cannot mistake the part that it received for the whole recording.
async fn record(
    plays: Arc<Plays>,
    facts: PlayFacts,
    mut replica: Replica,
    out: Sender<io::Result<Bytes>>,
) {
    let facts = Arc::new(facts);
    while replica.next() < facts.entries {
        let part = plays
            .store()
            .log_from(
                facts.play.key,
                replica.next(),
                ENTRIES_PER_READ.min(facts.entries - replica.next()),
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
            let written = plays.games().run(&facts.play.game_id, move || {
                let text = lines(&mut replica, &play, &mut part);
                (replica, part, text)
            });
            let Ok((next_replica, rest, text)) = written.await else {
                return drop(out.send(Err(io::Error::other("the replay failed"))).await);
            };
            (replica, part) = (next_replica, rest);
            let failed = text.is_err();
            let sent = tokio::time::timeout(SEND_TIMEOUT, out.send(text.map(Bytes::from))).await;
            if failed || !sent.is_ok_and(|sent| sent.is_ok()) {
                return;
            }
        }
    }
}

/// Replays entries until the text reaches [`CHUNK_BYTES`], and removes them from `part`.
fn lines(
    replica: &mut Replica,
    facts: &PlayFacts,
    part: &mut Vec<LogEntry>,
) -> io::Result<Vec<u8>> {
    let guid = facts.play.id.to_string();
    let mut text = Vec::new();
    let mut done = 0;
    for LogEntry { entry, at_ms, .. } in part.iter() {
        if text.len() >= CHUNK_BYTES {
            break;
        }
        let answer = replica
            .follow(entry)
            .map_err(|departure| io::Error::other(departure.to_string()))?;
        done += 1;
        if ToolkitLine::is_representable(entry) {
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

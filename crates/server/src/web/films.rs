//! What the scripts of the pages ask for: a play as a film, what was said about its actions, and where a visitor's play stands.

use std::io;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rhae_protocol::{Packer, Shown};
use rhae_session::Replica;
use rhae_store::{PlayFacts, Timed};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use super::Guest;
use crate::access::Caller;
use crate::events::PATIENCE;
use crate::listeners::Listening;
use crate::rebuild::{PART, blocking};
use crate::{ApiError, Server};

/// Bytes that are handed over at once.
const CHUNK: usize = 256 * 1024;
/// Entries whose reasoning is given at once.
const SAID: u32 = 32;
/// The visitor's last plays among which the one to go on with is looked for.
const MOST_PLAYS: u32 = 200;
const MOST_CARDS: u32 = 200;
/// What cards that a browser opens are filed under, beside `human`.
const TAG: &str = "browser";

/// The whole play in the packed form. A log that does not replay breaks the answer off.
pub(crate) async fn film(
    State(server): State<Arc<Server>>,
    guest: Guest,
    Path(guid): Path<String>,
) -> Result<Response, ApiError> {
    let facts = server.readable_play(&guest.caller, &guid).await?;
    let listening = server
        .listeners
        .listen(server.store.as_ref(), facts.play.id)
        .ok_or(ApiError::Crowded)?;
    let replica = server
        .beginning(&facts.play)
        .await?
        .map_err(ApiError::Frozen)?;
    let (out, stream) = channel(2);
    let entries = facts.entries;
    tokio::spawn(pack_all(server, facts, replica, out, listening));
    // By this a page knows where to go on.
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (ENTRIES, entries.to_string()),
    ];
    Ok((headers, Body::from_stream(ReceiverStream::new(stream))).into_response())
}

/// How many entries of the log a film has.
const ENTRIES: header::HeaderName = header::HeaderName::from_static("x-rhae-entries");

async fn pack_all(
    server: Arc<Server>,
    facts: PlayFacts,
    mut replica: Replica,
    out: Sender<io::Result<Bytes>>,
    _listening: Listening,
) {
    let mut packer = Packer::default();
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
            let packed = blocking(move || {
                let bytes = pack(&mut replica, &mut packer, &mut part);
                (replica, packer, part, bytes)
            });
            let Ok((further, same, left, bytes)) = packed.await else {
                return drop(out.send(Err(io::Error::other("the replay failed"))).await);
            };
            (replica, packer, part) = (further, same, left);
            let departed = bytes.is_err();
            let sent = tokio::time::timeout(PATIENCE, out.send(bytes.map(Bytes::from))).await;
            if departed || !sent.is_ok_and(|sent| sent.is_ok()) {
                return;
            }
        }
    }
}

/// The first of these entries, up to a length; those that are left are left.
fn pack(replica: &mut Replica, packer: &mut Packer, part: &mut Vec<Timed>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut done = 0;
    for Timed { entry, .. } in part.iter() {
        if bytes.len() >= CHUNK {
            break;
        }
        let answer = replica
            .follow(entry)
            .map_err(|departure| io::Error::other(departure.to_string()))?;
        let shown = Shown {
            action: entry.action,
            frames: answer.frames,
            state: answer.seen.state,
            levels_completed: answer.seen.levels_completed,
            changed: answer.seen.changed,
            counted: answer.seen.counted,
            full_reset: answer.seen.full_reset,
        };
        packer.pack(shown, &mut bytes);
        done += 1;
    }
    part.drain(..done);
    Ok(bytes)
}

/// What was said about some actions: a list of pairs, the number of the entry and the text.
pub(crate) async fn reasoning(
    State(server): State<Arc<Server>>,
    guest: Guest,
    Path(guid): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<Value>, ApiError> {
    let facts = server.readable_play(&guest.caller, &guid).await?;
    let wrong = ApiError::Field {
        field: "from",
        expected: "the number of an entry, from 0",
    };
    let from: u32 = query
        .as_deref()
        .and_then(|query| query.strip_prefix("from=")?.parse().ok())
        .ok_or(wrong)?;
    let entries = server.store.log_from(facts.play.key, from, SAID).await?;
    let said = entries.into_iter().filter_map(|timed| {
        let text = match timed.entry.details.reasoning? {
            Value::String(text) => text,
            other => serde_json::to_string_pretty(&other).unwrap_or_default(),
        };
        Some(json!([timed.index, text]))
    });
    Ok(Json(
        json!({"from": from, "most": SAID, "said": said.collect::<Vec<_>>()}),
    ))
}

/// Where the visitor's play of an environment stands: the last one on a card that is open, and else the card for a new one.
pub(crate) async fn state(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let info = server.game(&caller, &id).ok_or(ApiError::NoSuchGame(id))?;
    let cards = server
        .store
        .cards_before(Some(caller.owner), None, MOST_CARDS)
        .await?;
    let cards: Vec<_> = cards
        .into_iter()
        .filter(|card| card.closed_ms.is_none() && card.tags.iter().any(|tag| tag == TAG))
        .collect();
    let plays = server.store.owner_plays(caller.owner, MOST_PLAYS).await?;
    let mine = |facts: &&PlayFacts| {
        facts.play.game_id == info.id
            && facts.closed_ms.is_none()
            && cards.iter().any(|card| card.id == facts.card)
    };
    let Some(facts) = plays.iter().find(mine) else {
        // In a competition each environment is played once, on one card.
        return Ok(Json(
            json!({"card_id": cards.first().map(|card| card.id.to_string())}),
        ));
    };
    let (answer, anew) = server.standing(&facts.play).await?;
    let mut state = json!({"card_id": facts.card.to_string(), "actions": facts.actions, "reset_starts_anew": anew});
    state["answer"] =
        serde_json::to_value(answer).map_err(|error| ApiError::Failed(error.to_string()))?;
    Ok(Json(state))
}

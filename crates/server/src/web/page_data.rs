//! Data that the pages' scripts request: packed plays, the reasoning of actions, and the state of a
//! visitor's play.

use std::io;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rhae_protocol::{ObservationView, Packer};
use rhae_report::{ModelWork, work_rows};
use rhae_session::Replica;
use rhae_store::{LogEntry, Owner, PlayFacts};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use super::PageVisitor;
use super::sign_in::OptionalCaller;
use crate::access::{Access, Caller};
use crate::cards::Cards;
use crate::events::SEND_TIMEOUT;
use crate::games::Games;
use crate::listeners::Listeners;
use crate::network::ClientAddress;
use crate::plays::{ENTRIES_PER_READ, Plays};
use crate::{ApiError, Visitors};

/// The minimum size in bytes of a chunk of packed frames, except for the last chunk of each read.
const CHUNK_BYTES: usize = 256 * 1024;
/// The number of log entries that one response with reasoning covers.
const REASONING_PER_REQUEST: u32 = 32;
/// The number of the visitor's most recent plays that are searched for a play to resume.
const MAX_RECENT_PLAYS: u32 = 200;
const MAX_RECENT_CARDS: u32 = 200;
/// The tag that cards opened in a browser have in addition to `human`.
const TAG: &str = "browser";

/// Returns a whole play in packed form. If the log cannot be replayed, the response is aborted.
pub(crate) async fn packed_play(
    State(plays): State<Arc<Plays>>,
    State(listeners): State<Arc<Listeners>>,
    visitor: PageVisitor,
    Path(guid): Path<String>,
    address: ClientAddress,
) -> Result<Response, ApiError> {
    let facts = plays.readable(&visitor.caller, &guid).await?;
    pack_response(plays, &listeners, visitor.caller.owner, facts, address).await
}

/// Returns a whole play in packed form. `holder` counts against the limit of streams.
pub(super) async fn pack_response(
    plays: Arc<Plays>,
    listeners: &Listeners,
    holder: Owner,
    facts: PlayFacts,
    address: ClientAddress,
) -> Result<Response, ApiError> {
    let subscription = listeners.subscribe(facts.play.id, holder, address)?;
    let replica = plays
        .rebuilder()
        .opening_replica(&facts.play)
        .await?
        .map_err(ApiError::Frozen)?;
    let (out, stream) = channel(2);
    let entries = facts.entries;
    let abort = out.clone();
    let work = pack_all(plays, facts, replica, out);
    tokio::spawn(subscription.run_download(work, abort));
    // Tells the page from which entry to continue with live events.
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (ENTRIES_HEADER, entries.to_string()),
    ];
    Ok((headers, Body::from_stream(ReceiverStream::new(stream))).into_response())
}

/// The number of log entries that the packed play covers.
const ENTRIES_HEADER: header::HeaderName = header::HeaderName::from_static("x-rhae-entries");

async fn pack_all(
    plays: Arc<Plays>,
    facts: PlayFacts,
    mut replica: Replica,
    out: Sender<io::Result<Bytes>>,
) {
    let mut packer = Packer::default();
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
            let packed = plays.games().run(&facts.play.game_id, move || {
                let bytes = pack(&mut replica, &mut packer, &mut part);
                (replica, packer, part, bytes)
            });
            let Ok((next_replica, next_packer, rest, bytes)) = packed.await else {
                return drop(out.send(Err(io::Error::other("the replay failed"))).await);
            };
            (replica, packer, part) = (next_replica, next_packer, rest);
            let failed = bytes.is_err();
            let sent = tokio::time::timeout(SEND_TIMEOUT, out.send(bytes.map(Bytes::from))).await;
            if failed || !sent.is_ok_and(|sent| sent.is_ok()) {
                return;
            }
        }
    }
}

/// Packs entries until [`CHUNK_BYTES`] are reached, and removes them from `part`.
fn pack(
    replica: &mut Replica,
    packer: &mut Packer,
    part: &mut Vec<LogEntry>,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut done = 0;
    for LogEntry { entry, .. } in part.iter() {
        if bytes.len() >= CHUNK_BYTES {
            break;
        }
        let answer = replica
            .follow(entry)
            .map_err(|error| io::Error::other(error.to_string()))?;
        let shown = ObservationView {
            action: entry.action,
            frames: answer.frames,
            state: answer.outcome.state,
            levels_completed: answer.outcome.levels_completed,
            changed: answer.outcome.changed,
            counted: answer.outcome.counted,
            full_reset: answer.outcome.full_reset,
        };
        packer.pack(shown, &mut bytes);
        done += 1;
    }
    part.drain(..done);
    Ok(bytes)
}

/// Returns the reasoning of a range of log entries as pairs of entry index and text.
pub(crate) async fn reasoning(
    State(plays): State<Arc<Plays>>,
    visitor: PageVisitor,
    Path(guid): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<Value>, ApiError> {
    let facts = plays.readable(&visitor.caller, &guid).await?;
    reasoning_of(&plays, &facts, query.as_deref()).await
}

pub(super) async fn reasoning_of(
    plays: &Plays,
    facts: &PlayFacts,
    query: Option<&str>,
) -> Result<Json<Value>, ApiError> {
    let wrong = ApiError::Field {
        field: "from",
        expected: "the index of a log entry, from 0",
    };
    let from: u32 = query
        .and_then(|query| query.strip_prefix("from=")?.parse().ok())
        .ok_or(wrong)?;
    let entries = plays
        .store()
        .log_from(facts.play.key, from, REASONING_PER_REQUEST)
        .await?;
    let texts = entries.into_iter().filter_map(|log_entry| {
        let text = rhae_report::reasoning_text(&log_entry.entry.details.reasoning?);
        Some(json!([log_entry.index, text]))
    });
    Ok(Json(
        json!({"from": from, "most": REASONING_PER_REQUEST, "said": texts.collect::<Vec<_>>()}),
    ))
}

/// Returns what the model of the agent did before each log entry, if the agent has said so.
pub(crate) async fn work(
    State(plays): State<Arc<Plays>>,
    State(listeners): State<Arc<Listeners>>,
    visitor: PageVisitor,
    Path(guid): Path<String>,
    address: ClientAddress,
) -> Result<Json<Vec<Value>>, ApiError> {
    let facts = plays.readable(&visitor.caller, &guid).await?;
    work_of(&plays, &listeners, visitor.caller.owner, &facts, address).await
}

pub(super) async fn work_of(
    plays: &Plays,
    listeners: &Listeners,
    holder: Owner,
    facts: &PlayFacts,
    address: ClientAddress,
) -> Result<Json<Vec<Value>>, ApiError> {
    // The whole log is read, as for a download.
    let _subscription = listeners.subscribe(facts.play.id, holder, address)?;
    let work = of_each_entry(plays, facts, |log| ModelWork::of(&log.entry.details)).await?;
    Ok(Json(work_rows(work)))
}

/// Returns the time of each log entry, in milliseconds since the first one.
pub(crate) async fn times(
    State(plays): State<Arc<Plays>>,
    State(listeners): State<Arc<Listeners>>,
    visitor: PageVisitor,
    Path(guid): Path<String>,
    address: ClientAddress,
) -> Result<Json<Vec<u64>>, ApiError> {
    let facts = plays.readable(&visitor.caller, &guid).await?;
    times_of(&plays, &listeners, visitor.caller.owner, &facts, address).await
}

pub(super) async fn times_of(
    plays: &Plays,
    listeners: &Listeners,
    holder: Owner,
    facts: &PlayFacts,
    address: ClientAddress,
) -> Result<Json<Vec<u64>>, ApiError> {
    // The whole log is read, as for a download.
    let _subscription = listeners.subscribe(facts.play.id, holder, address)?;
    let times = of_each_entry(plays, facts, |log| log.at_ms).await?;
    let first = times.first().copied().unwrap_or(0);
    let since = times.iter().map(|time| time.saturating_sub(first));
    Ok(Json(since.collect()))
}

/// Reads the whole log of a play in parts, and returns what `convert` makes of each entry.
async fn of_each_entry<T>(
    plays: &Plays,
    facts: &PlayFacts,
    convert: impl Fn(&LogEntry) -> T,
) -> Result<Vec<T>, ApiError> {
    let mut converted = Vec::new();
    loop {
        let next = u32::try_from(converted.len()).unwrap_or(u32::MAX);
        let max = ENTRIES_PER_READ.min(facts.entries.saturating_sub(next));
        let part = plays.store().log_from(facts.play.key, next, max).await?;
        if part.is_empty() {
            return Ok(converted);
        }
        converted.extend(part.iter().map(&convert));
    }
}

/// Returns the state of the visitor's latest play of an environment on an open card. If there is no
/// such play, returns the first frame of the environment, and the id of the open card on which to
/// start a play, if any. Nothing is opened before the visitor acts.
pub(crate) async fn state(
    State(access): State<Arc<Access>>,
    State(games): State<Arc<Games>>,
    State(cards): State<Arc<Cards>>,
    State(plays): State<Arc<Plays>>,
    OptionalCaller(caller): OptionalCaller,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let anonymous = || (access.visitors() == Visitors::Public).then(Caller::anonymous);
    let is_new = caller.is_none_or(|caller| caller.is_without_key());
    let caller = caller.or_else(anonymous).ok_or(ApiError::Unauthorized)?;
    let info = games.find(&caller, &id).ok_or(ApiError::NoSuchGame(id))?;
    if is_new {
        let preview = plays.preview(&info.id).await?;
        return Ok(Json(json!({"card_id": null, "preview": preview})));
    }
    let cards = cards
        .before(Some(caller.owner), None, MAX_RECENT_CARDS)
        .await?;
    let cards: Vec<_> = cards
        .into_iter()
        .filter(|card| card.closed_ms.is_none() && card.tags.iter().any(|tag| tag == TAG))
        .collect();
    let recent = plays
        .store()
        .owner_plays(caller.owner, MAX_RECENT_PLAYS)
        .await?;
    let resumable = |facts: &&PlayFacts| {
        facts.play.game_id == info.id
            && facts.closed_ms.is_none()
            && cards.iter().any(|card| card.id == facts.card)
    };
    let Some(facts) = recent.iter().find(resumable) else {
        // The page opens the play on the card that is already open, because in a competition all
        // plays must be on one card.
        let card = cards.first().map(|card| card.id.to_string());
        let preview = plays.preview(&info.id).await?;
        return Ok(Json(json!({"card_id": card, "preview": preview})));
    };
    let (answer, reset_restarts_game) = plays.current_state(&facts.play).await?;
    let mut state = json!({"card_id": facts.card.to_string(), "actions": facts.actions, "reset_starts_anew": reset_restarts_game});
    state["answer"] =
        serde_json::to_value(answer).map_err(|error| ApiError::Failed(error.to_string()))?;
    Ok(Json(state))
}

//! `GET /api/plays/{guid}/events`: a play in progress as server-sent events.
//!
//! Each listener has its own replica, which replays the log from the store, no matter which server
//! appends to the log. The play therefore never waits for a listener, a slow listener needs only a
//! small buffer of fixed size, and a listener that reconnects resumes where it stopped. The server
//! ends the stream of a listener that reads nothing for [`SEND_TIMEOUT`].

use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rhae_protocol::{ObservationView, Packer, PlayEvent};
use rhae_session::Replica;
use rhae_store::{LogEntry, StoredPlay};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use crate::ApiError;
use crate::access::Caller;
use crate::listeners::{Listeners, Subscription};
use crate::network::ClientAddress;
use crate::openapi::{Always, ErrorBody, Named, SentEvent};
use crate::plays::Plays;

/// Log entries read from the store at a time.
const ENTRIES_PER_READ: u32 = 64;
/// Events buffered between the replica and the connection.
const CHANNEL_CAPACITY: usize = 16;
/// How long the server waits for a client to accept data before it ends the stream.
pub(crate) const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// Streams a play as server-sent events of the types `action`, `end` and `frozen`.
#[utoipa::path(
    get,
    path = "/api/plays/{guid}/events",
    tag = "plays",
    params(
        ("guid" = String, Path, description = "The play"),
        ("from" = Option<u32>, Query, description = "The index of the first log entry to send; default: the last entry"),
        ("Last-Event-ID" = Option<u32>, Header, description = "The index of the last log entry received; takes precedence over `from`")),
    responses((status = OK, body = SentEvent, content_type = "text/event-stream", description = "Events until the scorecard is closed"),
        (status = FORBIDDEN, body = ErrorBody, description = "A play on a competition scorecard cannot be read before the scorecard is closed"),
        (status = CONFLICT, body = ErrorBody, description = "The play is frozen"), Always, Named)
)]
pub(crate) async fn events(
    State(plays): State<Arc<Plays>>,
    State(listeners): State<Arc<Listeners>>,
    Path(guid): Path<String>,
    RawQuery(query): RawQuery,
    caller: Caller,
    address: ClientAddress,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let facts = plays.readable(&caller, &guid).await?;
    let after = headers
        .get("last-event-id")
        .map(|value| number(value.to_str().ok(), "Last-Event-ID"))
        .transpose()?;
    let requested = query
        .as_deref()
        .and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("from=")));
    let requested = requested
        .map(|text| number(Some(text), "from"))
        .transpose()?;
    let from = after
        .map(|last| last.saturating_add(1))
        .or(requested)
        .unwrap_or(facts.entries.saturating_sub(1))
        .min(facts.entries);
    let subscription = listeners.subscribe(facts.play.id, caller.owner, address)?;
    let replica = plays
        .rebuilder()
        .replica(&facts.play, from)
        .await?
        .map_err(ApiError::Frozen)?;
    let (out, stream) = channel(CHANNEL_CAPACITY);
    let follower = Follower {
        plays,
        keep_alive: listeners.keep_alive(),
        stored: facts.play,
        replica,
        packer: None,
        out,
    };
    let eviction = subscription.eviction();
    tokio::spawn(async move {
        // A client whose stream ends reconnects with `Last-Event-ID`.
        tokio::select! {
            () = eviction.notified() => {}
            () = follower.run(subscription) => {}
        }
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, Body::from_stream(ReceiverStream::new(stream))).into_response())
}

fn number(text: Option<&str>, field: &'static str) -> Result<u32, ApiError> {
    let wrong = ApiError::Field {
        field,
        expected: "the index of a log entry, from 0",
    };
    text.and_then(|text| text.parse().ok()).ok_or(wrong)
}

/// The state of one event stream.
struct Follower {
    plays: Arc<Plays>,
    keep_alive: Duration,
    stored: StoredPlay,
    replica: Replica,
    packer: Option<Packer>,
    out: Sender<Result<Bytes, Infallible>>,
}

impl Follower {
    async fn run(mut self, mut subscription: Subscription) {
        loop {
            // The facts are read before the log: if the card is closed now, the log read next is
            // complete.
            let Ok(Some(facts)) = self.plays.store().play_facts(self.stored.id).await else {
                return;
            };
            let Ok(part) = self
                .plays
                .store()
                .log_from(self.stored.key, self.replica.next(), ENTRIES_PER_READ)
                .await
            else {
                return;
            };
            if !part.is_empty() {
                match self.follow(part).await {
                    Some(next) => self = next,
                    None => return,
                }
                continue;
            }
            if facts.closed_ms.is_some() {
                self.send(
                    "event: end\ndata: {\"reason\":\"the scorecard is closed\"}\n\n".to_owned(),
                )
                .await;
                return;
            }
            tokio::select! {
                () = self.out.closed() => return,
                update = tokio::time::timeout(self.keep_alive, subscription.changed()) => match update {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(_) if self.send(": nothing new\n\n".to_owned()).await => {}
                    Err(_) => return,
                },
            }
        }
    }

    /// Sends the events of some entries. Returns `None` if the stream has ended.
    async fn follow(mut self, part: Vec<LogEntry>) -> Option<Self> {
        for log_entry in part {
            let (plays, game) = (Arc::clone(&self.plays), self.stored.game_id.clone());
            let step = move || {
                let text = self.step(&log_entry);
                (self, text)
            };
            let (follower, text) = plays.games().run(&game, step).await.ok()?;
            self = follower;
            let (text, failed) = match text {
                Ok(text) => (text, false),
                Err(reason) => (
                    format!(
                        "event: frozen\ndata: {}\n\n",
                        serde_json::json!({"reason": reason})
                    ),
                    true,
                ),
            };
            if !self.send(text).await || failed {
                return None;
            }
        }
        Some(self)
    }

    /// Replays an entry and formats its event.
    fn step(&mut self, log_entry: &LogEntry) -> Result<String, String> {
        let answer = self
            .replica
            .follow(&log_entry.entry)
            .map_err(|error| error.to_string())?;
        let shown = ObservationView {
            action: log_entry.entry.action,
            frames: answer.frames,
            state: answer.outcome.state,
            levels_completed: answer.outcome.levels_completed,
            changed: answer.outcome.changed,
            counted: answer.outcome.counted,
            full_reset: answer.outcome.full_reset,
        };
        let event = PlayEvent::new(
            log_entry.index,
            shown,
            self.stored.win_levels,
            log_entry.at_ms,
            &mut self.packer,
        );
        let json = serde_json::to_string(&event).map_err(|error| error.to_string())?;
        let mut text = String::with_capacity(json.len() + 64);
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            "id: {}\nevent: action\ndata: {json}\n\n",
            log_entry.index
        );
        Ok(text)
    }

    /// Sends text to the client. Returns `false` if the client is gone or too slow.
    async fn send(&mut self, text: String) -> bool {
        let sent = tokio::time::timeout(SEND_TIMEOUT, self.out.send(Ok(Bytes::from(text)))).await;
        sent.is_ok_and(|sent| sent.is_ok())
    }
}

//! `GET /api/plays/{guid}/events`: a play as it goes on, as server-sent events.
//!
//! A listener has a replica of the play of its own and follows the log in the store, whoever appends to it. So it costs the play nothing, it may
//! be as slow as it likes without anything piling up, and after a break it goes on where it was. One that takes nothing for a while is dropped.

use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rhae_protocol::{Packer, PlayEvent, Shown};
use rhae_session::Replica;
use rhae_store::{Play as StoredPlay, Timed};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use crate::access::Caller;
use crate::listeners::Listening;
use crate::openapi::{Always, ErrorBody, Named, SentEvent};
use crate::rebuild::blocking;
use crate::{ApiError, Server};

/// Entries that are read at once.
const PART: u32 = 64;
/// Events on their way to a client.
const WAITING: usize = 16;
/// How long a client may take nothing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The play while it goes on, as server-sent events: `action`, `end`, `frozen`.
#[utoipa::path(
    get,
    path = "/api/plays/{guid}/events",
    tag = "plays",
    params(
        ("guid" = String, Path, description = "The play"),
        ("from" = Option<u32>, Query, description = "The first entry that is sent; the last one if absent"),
        ("Last-Event-ID" = Option<u32>, Header, description = "The last entry that was received")),
    responses((status = OK, body = SentEvent, content_type = "text/event-stream", description = "Events until the card is closed"),
        (status = FORBIDDEN, body = ErrorBody, description = "A play of a competition is not shown before its card is closed"),
        (status = CONFLICT, body = ErrorBody, description = "The play is frozen"), Always, Named)
)]
pub(crate) async fn events(
    State(server): State<Arc<Server>>,
    Path(guid): Path<String>,
    RawQuery(query): RawQuery,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let facts = server.readable_play(&caller, &guid).await?;
    let after = headers
        .get("last-event-id")
        .map(|value| number(value.to_str().ok(), "Last-Event-ID"))
        .transpose()?;
    let asked = query
        .as_deref()
        .and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("from=")));
    let asked = asked.map(|text| number(Some(text), "from")).transpose()?;
    let from = after
        .map(|last| last.saturating_add(1))
        .or(asked)
        .unwrap_or(facts.entries.saturating_sub(1))
        .min(facts.entries);
    let listening = server
        .listeners
        .listen(server.store.as_ref(), facts.play.id)
        .ok_or(ApiError::Crowded)?;
    let replica = server
        .replica(&facts.play, from)
        .await?
        .map_err(ApiError::Frozen)?;
    let (out, stream) = channel(WAITING);
    let follower = Follower {
        server,
        stored: facts.play,
        replica,
        packer: None,
        out,
    };
    tokio::spawn(follower.run(listening));
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, Body::from_stream(ReceiverStream::new(stream))).into_response())
}

fn number(text: Option<&str>, field: &'static str) -> Result<u32, ApiError> {
    let wrong = ApiError::Field {
        field,
        expected: "the number of an entry, from 0",
    };
    text.and_then(|text| text.parse().ok()).ok_or(wrong)
}

/// One client's way through a play.
struct Follower {
    server: Arc<Server>,
    stored: StoredPlay,
    replica: Replica,
    packer: Option<Packer>,
    out: Sender<Result<Bytes, Infallible>>,
}

impl Follower {
    async fn run(mut self, mut listening: Listening) {
        let pause = Duration::from_millis(self.server.config.keep_alive_ms);
        loop {
            // Asked before the log is read: what a closed card has now is all that it will ever have.
            let Ok(Some(facts)) = self.server.store.play_facts(self.stored.id).await else {
                return;
            };
            let Ok(part) = self
                .server
                .store
                .log_from(self.stored.key, self.replica.next(), PART)
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
                told = tokio::time::timeout(pause, listening.news()) => match told {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(_) if self.send(": nothing new\n\n".to_owned()).await => {}
                    Err(_) => return,
                },
            }
        }
    }

    /// Sends the events of some entries; `None` if that was the last that can be done.
    async fn follow(mut self, part: Vec<Timed>) -> Option<Self> {
        for timed in part {
            let (stepped, text) = blocking(move || {
                let text = self.step(&timed);
                (self, text)
            })
            .await
            .ok()?;
            self = stepped;
            let (text, departed) = match text {
                Ok(text) => (text, false),
                Err(reason) => (
                    format!(
                        "event: frozen\ndata: {}\n\n",
                        serde_json::json!({"reason": reason})
                    ),
                    true,
                ),
            };
            if !self.send(text).await || departed {
                return None;
            }
        }
        Some(self)
    }

    /// The event of the next entry.
    fn step(&mut self, timed: &Timed) -> Result<String, String> {
        let answer = self
            .replica
            .follow(&timed.entry)
            .map_err(|departure| departure.to_string())?;
        let shown = Shown {
            action: timed.entry.action,
            frames: answer.frames,
            state: answer.seen.state,
            levels_completed: answer.seen.levels_completed,
            changed: answer.seen.changed,
            counted: answer.seen.counted,
            full_reset: answer.seen.full_reset,
        };
        let event = PlayEvent::new(
            timed.index,
            shown,
            self.stored.win_levels,
            timed.at_ms,
            &mut self.packer,
        );
        let json = serde_json::to_string(&event).map_err(|error| error.to_string())?;
        let mut text = String::with_capacity(json.len() + 64);
        // Writing to a string does not fail.
        let _ = write!(text, "id: {}\nevent: action\ndata: {json}\n\n", timed.index);
        Ok(text)
    }

    /// Hands text to the connection; `false` if nobody takes it.
    async fn send(&mut self, text: String) -> bool {
        let sent = tokio::time::timeout(PATIENCE, self.out.send(Ok(Bytes::from(text)))).await;
        sent.is_ok_and(|sent| sent.is_ok())
    }
}

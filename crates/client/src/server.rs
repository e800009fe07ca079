//! A server that was reached: sends requests, again where that is safe.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rhae_engine::GameInfo;
use serde_json::Value;
use uuid::Uuid;

use crate::answer::listing;
use crate::link::{Failure, Line, Link};
use crate::patience::sleep;
use crate::{ClientError, Patience};

/// A server of the ARC-AGI-3 REST API.
pub struct Server {
    link: Link,
    patience: Patience,
    cancelled: AtomicBool,
    games: Vec<GameInfo>,
    /// Entries of the game list that are not environments we can name.
    left_out: usize,
}

/// Whether a request may be sent again when nobody knows whether it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Yes: it changes nothing, or the same as before.
    Freely,
    /// Yes, but a key that the server knows it by spares it a needless card or play.
    Harmlessly,
    /// Only with such a key.
    WithKey,
}

impl Server {
    /// Reaches a server and reads its list of environments.
    pub fn connect(
        address: &str,
        key: Option<&str>,
        patience: Patience,
    ) -> Result<Arc<Self>, ClientError> {
        let link = Link::new(address, key, &patience)?;
        let mut server = Self {
            link,
            patience,
            cancelled: AtomicBool::new(false),
            games: Vec::new(),
            left_out: 0,
        };
        let path = "/api/games";
        let list = server.get(Line::Cards, path)?;
        (server.games, server.left_out) =
            listing(&list).map_err(|reason| ClientError::BadAnswer {
                path: path.to_owned(),
                reason,
            })?;
        Ok(Arc::new(server))
    }

    /// Where it is.
    pub fn address(&self) -> &str {
        self.link.base()
    }

    /// Its environments, older versions of one before newer ones.
    pub fn games(&self) -> &[GameInfo] {
        &self.games
    }

    /// How many entries of its list have no id of the form `ab12-v1` and were left out.
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// Gives up all plays: what waits for an answer fails at once, and nothing more is sent for them. Cards can still be closed.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.link.cut();
    }

    pub(crate) const fn patience(&self) -> &Patience {
        &self.patience
    }

    pub(crate) fn get(&self, line: Line, path: &str) -> Result<Vec<u8>, ClientError> {
        self.call(line, path, None, Repeat::Freely)
            .map_err(|failure| error(path, failure))
    }

    pub(crate) fn post(
        &self,
        line: Line,
        path: &str,
        body: &Value,
        repeat: Repeat,
    ) -> Result<Vec<u8>, ClientError> {
        self.call(line, path, Some(body), repeat)
            .map_err(|failure| error(path, failure))
    }

    /// Sends a request until there is an answer, or until it must not be sent again.
    pub(crate) fn call(
        &self,
        line: Line,
        path: &str,
        body: Option<&Value>,
        repeat: Repeat,
    ) -> Result<Vec<u8>, Failure> {
        let body = body.map(Value::to_string);
        let never = AtomicBool::new(false);
        let cancelled = if line == Line::Plays {
            &self.cancelled
        } else {
            &never
        };
        // A server that takes keys and was not known to do so gets one from the next request on.
        let keyed = repeat != Repeat::Freely && self.link.is_idempotent();
        let once = keyed.then(|| Uuid::new_v4().to_string());
        for attempt in 1.. {
            let failure = match self.link.send(line, path, body.as_deref(), once.as_deref()) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let safe = repeat != Repeat::WithKey || keyed;
            let Some(asked) = self
                .is_temporary(&failure, safe)
                .filter(|_| attempt < self.patience.attempts)
            else {
                return Err(failure);
            };
            if !sleep(self.patience.pause(attempt, asked), cancelled) {
                return Err(failure);
            }
        }
        unreachable!("the last attempt returns")
    }

    /// Whether it helps and is safe to send the request again, and the pause that the server asked for. `safe` says that it may be
    /// carried out twice.
    fn is_temporary(&self, failure: &Failure, safe: bool) -> Option<Option<Duration>> {
        match failure {
            Failure::NotSent(_) => Some(None),
            Failure::Lost { .. } => safe.then_some(None),
            // Who is limited was not served.
            Failure::Status {
                status: 429,
                retry_after,
                ..
            } => Some(*retry_after),
            Failure::Status {
                status: 503,
                code,
                retry_after,
                ..
            } => {
                let nothing_happened = self.link.is_ours() && code == "SERVICE_UNAVAILABLE";
                (safe || nothing_happened).then_some(*retry_after)
            }
            Failure::Status {
                status: 502 | 504,
                retry_after,
                ..
            } => safe.then_some(*retry_after),
            Failure::Status { .. } | Failure::Bad(_) => None,
        }
    }

    /// Waits, unless the plays are given up meanwhile; then it gives false.
    pub(crate) fn wait(&self, pause: Duration) -> bool {
        sleep(pause, &self.cancelled)
    }
}

pub(crate) fn error(path: &str, failure: Failure) -> ClientError {
    let path = path.to_owned();
    match failure {
        Failure::NotSent(reason) | Failure::Lost { reason, .. } => {
            ClientError::NoAnswer { path, reason }
        }
        Failure::Status {
            status,
            code,
            message,
            ..
        } => ClientError::Refused {
            path,
            status,
            code,
            message,
        },
        Failure::Bad(reason) => ClientError::BadAnswer { path, reason },
    }
}

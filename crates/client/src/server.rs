//! A connection to a server, which retries requests where that is safe.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rhae_engine::GameInfo;
use rhae_protocol::ErrorCode;
use serde_json::Value;
use uuid::Uuid;

use crate::response::parse_games;
use crate::retry_policy::sleep;
use crate::transport::{Channel, Failure, Transport};
use crate::{ClientError, RetryPolicy};

/// A connection to a server of the ARC-AGI-3 REST API.
///
/// A `Server` holds the list of environments that it read when it connected, and sends the requests
/// of all cards and plays. It is shared between threads as an `Arc`.
///
/// # Examples
///
/// ```
/// use rhae_client::{ClientError, RetryPolicy, Server};
///
/// let error = Server::connect("localhost:8001", None, RetryPolicy::default()).err();
/// assert!(matches!(error, Some(ClientError::Address { .. })), "the scheme is missing");
/// ```
pub struct Server {
    transport: Transport,
    retry_policy: RetryPolicy,
    cancelled: AtomicBool,
    games: Vec<GameInfo>,
    /// The number of listed environments whose ids are not of the form `ab12-v1`, or are
    /// duplicates.
    skipped_games: usize,
}

/// Whether a request may be sent again if it is unknown whether it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetrySafety {
    /// The request is idempotent by nature.
    Always,
    /// A duplicate does no harm, but an idempotency key saves the server a needless card or play.
    PreferKey,
    /// Only an idempotency key makes a second attempt safe.
    RequireKey,
}

impl Server {
    /// Connects to a server and reads its list of environments.
    ///
    /// `address` is a URL such as `https://three.arcprize.org`, without a query, user name or
    /// password. `key` is sent as `X-API-Key`.
    ///
    /// # Errors
    ///
    /// [`ClientError::Address`] and [`ClientError::Key`] if the arguments are malformed; otherwise
    /// the error of the first request.
    pub fn connect(
        address: &str,
        key: Option<&str>,
        retry_policy: RetryPolicy,
    ) -> Result<Arc<Self>, ClientError> {
        let transport = Transport::new(address, key, &retry_policy)?;
        let mut server = Self {
            transport,
            retry_policy,
            cancelled: AtomicBool::new(false),
            games: Vec::new(),
            skipped_games: 0,
        };
        let path = "/api/games";
        let list = server.get(Channel::Cards, path)?;
        (server.games, server.skipped_games) =
            parse_games(&list).map_err(|reason| ClientError::InvalidResponse {
                path: path.to_owned(),
                reason,
            })?;
        Ok(Arc::new(server))
    }

    /// Returns the address without a trailing slash.
    pub fn address(&self) -> &str {
        self.transport.base()
    }

    /// Returns the environments in the order of the server's list. This client assumes that the
    /// list has older versions of an environment before newer ones.
    pub fn games(&self) -> &[GameInfo] {
        &self.games
    }

    /// Returns the number of listed environments that were skipped because their ids are not of the
    /// form `ab12-v1`, or are duplicates.
    pub const fn skipped_games(&self) -> usize {
        self.skipped_games
    }

    /// Cancels all plays: pending requests fail immediately, and no further action is sent. Cards
    /// can still be closed.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.transport.abort_plays();
    }

    pub(crate) const fn retry_policy(&self) -> &RetryPolicy {
        &self.retry_policy
    }

    pub(crate) fn get(&self, channel: Channel, path: &str) -> Result<Vec<u8>, ClientError> {
        self.call(channel, path, None, RetrySafety::Always)
            .map_err(|failure| error(path, failure))
    }

    pub(crate) fn post(
        &self,
        channel: Channel,
        path: &str,
        body: &Value,
        safety: RetrySafety,
    ) -> Result<Vec<u8>, ClientError> {
        self.call(channel, path, Some(body), safety)
            .map_err(|failure| error(path, failure))
    }

    /// Sends a request until there is a response, or until it must not be sent again.
    pub(crate) fn call(
        &self,
        channel: Channel,
        path: &str,
        body: Option<&Value>,
        safety: RetrySafety,
    ) -> Result<Vec<u8>, Failure> {
        let body = body.map(Value::to_string);
        let never = AtomicBool::new(false);
        let cancelled = if channel == Channel::Plays {
            &self.cancelled
        } else {
            &never
        };
        // The first response reveals whether the server supports keys, so only later requests carry
        // one.
        let keyed = safety != RetrySafety::Always && self.transport.is_idempotent();
        let idempotency_key = keyed.then(|| Uuid::new_v4().to_string());
        let backoff = self.retry_policy.backoff();
        for attempt in 1.. {
            let failure = match self.transport.send(
                channel,
                path,
                body.as_deref(),
                idempotency_key.as_deref(),
            ) {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
            let safe = safety != RetrySafety::RequireKey || keyed;
            let Some(pause) = self
                .retry_delay(&failure, safe)
                .and_then(|retry_after| backoff.pause_after(attempt, retry_after))
            else {
                return Err(failure);
            };
            if !sleep(pause, cancelled) {
                return Err(failure);
            }
        }
        unreachable!("the last attempt returns")
    }

    /// Returns `None` if a retry is useless or unsafe, and otherwise the `Retry-After` of the
    /// server. `safe` says whether sending the request again is harmless even if the first attempt
    /// was executed.
    fn retry_delay(&self, failure: &Failure, safe: bool) -> Option<Option<Duration>> {
        match failure {
            Failure::NotSent(_) => Some(None),
            Failure::Lost { .. } => safe.then_some(None),
            // A rate-limited request was not executed.
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
                let unavailable = ErrorCode::from_name(code) == Some(ErrorCode::Unavailable);
                let not_executed = self.transport.is_rhae() && unavailable;
                (safe || not_executed).then_some(*retry_after)
            }
            Failure::Status {
                status: 502 | 504,
                retry_after,
                ..
            } => safe.then_some(*retry_after),
            Failure::Status { .. } | Failure::Invalid(_) => None,
        }
    }

    /// Sleeps for `pause`. Returns `false` if the plays are cancelled.
    pub(crate) fn wait(&self, pause: Duration) -> bool {
        sleep(pause, &self.cancelled)
    }
}

pub(crate) fn error(path: &str, failure: Failure) -> ClientError {
    let path = path.to_owned();
    match failure {
        Failure::NotSent(reason) | Failure::Lost { reason, .. } => {
            ClientError::NoResponse { path, reason }
        }
        Failure::Status {
            status,
            code,
            message,
            ..
        } => ClientError::Rejected {
            path,
            status,
            code,
            message,
        },
        Failure::Invalid(reason) => ClientError::InvalidResponse { path, reason },
    }
}

//! Every error of the API: its code, its HTTP status and its message.
//!
//! Codes, statuses and some messages ("cannot open multiple scorecards in competition mode") are
//! the same as those of the official server, where it defines them. A request for a resource of
//! another owner gets exactly the same response as a request for one that does not exist.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
pub use rhae_protocol::ErrorCode as Code;
use rhae_store::StoreError;

use crate::openapi::ErrorBody;
use crate::routes::NAME;

/// The reason a request is refused.
///
/// [`kind`](Self::kind) maps it to a code and a status; its `Display` text is the `message` of the
/// response.
///
/// # Examples
///
/// ```
/// use rhae_server::{ApiError, Code};
///
/// let error = ApiError::Field { field: "x", expected: "an integer from 0 to 63" };
/// let (code, status) = error.kind();
/// assert_eq!((code, status.as_u16()), (Code::Validation, 400));
/// assert_eq!(error.to_string(), "`x` must be an integer from 0 to 63");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    #[error("the body is not valid JSON: {0}")]
    Malformed(String),
    #[error("the body must be a JSON object")]
    NotAnObject,
    /// A field is missing or has an invalid value.
    #[error("`{field}` must be {expected}")]
    Field {
        field: &'static str,
        /// What the field must be, as the end of the sentence "`field` must be …".
        expected: &'static str,
    },
    /// A free-form field exceeds its size limit.
    #[error("`{field}` must be at most {max} bytes long")]
    TooLong { field: &'static str, max: usize },
    #[error("the body is nested deeper than {0} levels")]
    TooDeep(usize),
    /// The connection ended before the body was complete.
    #[error("the body is incomplete: the connection ended before all of it arrived")]
    BodyIncomplete,
    /// Reading the body took longer than [`Limits::body_timeout`](crate::Limits::body_timeout).
    #[error("the body did not arrive in time")]
    BodyTimeout,
    /// The API key is missing or invalid.
    #[error(
        "a valid API key is required in the header `X-API-Key`; ask the server's operator for one"
    )]
    Unauthorized,
    /// The server requires keys, and only its operator creates them.
    #[error(
        "this server does not issue anonymous keys; ask its operator for a key and set ARC_API_KEY"
    )]
    NoAnonymousKeys,
    #[error("this key may not download sources")]
    NoSources,
    /// A card or play cannot be published, because not everyone may see its environments.
    #[error("this cannot be published: it contains an environment that is not public")]
    NotPublic,
    /// The key has used up its requests for this minute.
    #[error(
        "rate limit has been exceeded: {max} requests per minute are allowed; try again in {retry_seconds} s"
    )]
    RateLimit {
        max: u32,
        /// Seconds until the next request is accepted.
        retry_seconds: u64,
    },
    /// The owner has this many open cards, which is the limit.
    #[error("the limit of {0} open scorecards is reached; close one first")]
    TooManyCards(u32),
    /// The card has this many plays, which is the limit.
    #[error("the limit of {0} plays on this scorecard is reached")]
    TooManyPlays(u32),
    /// The owner has stored this many bytes, which is the limit.
    #[error(
        "the limit of {0} stored bytes per key is reached; ask the server's operator to raise it"
    )]
    StorageFull(u64),
    /// The owner has this many working links, which is the limit.
    #[error("the limit of {0} links is reached; revoke one first")]
    TooManyShares(u32),
    /// The client has this many event streams and downloads in progress, which is the limit.
    #[error(
        "the limit of {max} event streams and downloads at a time per {holder} is reached; end one first"
    )]
    TooManyStreams {
        max: usize,
        /// `key` or `address`.
        holder: &'static str,
    },
    /// The client's address has this many connections, which is the limit.
    #[error("the limit of {0} connections per address is reached; close one first")]
    AddressConnections(usize),
    /// All connections of the server are in use.
    #[error("all connections of the server are in use; try again later")]
    TooManyConnections,
    /// The request names this host, which is neither this machine nor a configured name.
    #[error(
        "this server does not serve the host `{0}`; use localhost or 127.0.0.1, or let its operator add the name with --hosts"
    )]
    ForeignHost(String),
    /// With open access, a page of another site sent a request that may change something.
    #[error(
        "a web page of another site sent this request; with open access only pages of this server and programs may send it"
    )]
    ForeignSite,
    #[error("the header `Content-Type` must be `application/json`")]
    MediaType,
    /// The body exceeds this number of bytes.
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    #[error("no resource exists at this path")]
    NoSuchPath,
    #[error("this path does not support this method")]
    MethodNotAllowed,
    /// The environment named in the path does not exist, or the key may not see it.
    #[error("game `{0}` not found")]
    NoSuchGame(String),
    /// The environment named in a command does not exist, or the key may not see it.
    #[error("game `{0}` is not available")]
    GameNotAvailable(String),
    /// The environment is native, so there is no Python source to download.
    #[error("game `{0}` is native and has no Python source; play it with `OperationMode.ONLINE`")]
    NoSource(String),
    /// No card with this id is readable by the caller.
    #[error("card_id `{0}` not found")]
    NoSuchCard(String),
    /// The caller has no open card with this id.
    #[error("no open scorecard has the id `{0}`")]
    CardNotOpen(String),
    /// A competition card can be read only after it is closed.
    #[error("cannot get scorecard that is in competition mode before it is closed")]
    CompetitionCardOpen,
    /// A competition server allows each key one card.
    #[error("cannot open multiple scorecards in competition mode")]
    SecondCompetitionCard,
    /// A competition card allows one play of each environment.
    #[error(
        "game `{0}` was already played on this scorecard; in competition mode each game is played once"
    )]
    AlreadyPlayed(String),
    /// The environment does not count on the card: it was not played on the card and is not part of
    /// the card's competition.
    #[error("game `{0}` is not on this scorecard")]
    NotOnCard(String),
    /// The play does not exist, belongs to another environment or owner, its environment is hidden
    /// from the caller, or its card is closed.
    #[error("game `{game}` with guid `{guid}` not found, or its scorecard is closed")]
    NoSuchPlay {
        /// The environment as the client named it.
        game: String,
        /// The play as the client named it.
        guid: String,
    },
    /// No play with this id is readable by the caller.
    #[error("play `{0}` not found")]
    NoSuchGuid(String),
    /// The caller has no link with this id.
    #[error("link `{0}` not found")]
    NoSuchShare(String),
    /// The study does not exist, or the caller has no role in it.
    #[error("study `{0}` not found")]
    NoSuchStudy(String),
    /// A part of a study does not exist.
    #[error("{0}")]
    StudyItem(String),
    /// The token in `X-Study-Token` belongs to no link.
    #[error("this link is not valid; ask the people who run the study for a new one")]
    NoSuchLink,
    /// The role of the caller lacks a permission.
    #[error("the role `{role}` does not have the permission `{permission}`")]
    StudyForbidden {
        role: &'static str,
        permission: &'static str,
    },
    /// Visitors cannot create studies.
    #[error("this key may not create studies")]
    NoStudies,
    /// The server has no key for contact data.
    #[error(
        "external ids and shared links need a key for contact data, which this server does not have"
    )]
    NoIdentityKey,
    /// The rules of the study do not accept the request.
    #[error("{0}")]
    StudyRejected(String),
    /// A limit was reached, or the request names an environment that is not in progress.
    #[error("the time is up, or this environment is not in progress any more")]
    StudyLimitReached,
    #[error("board `{0}` not found")]
    NoSuchBoard(String),
    /// A row, a run or a recording of a board does not exist, or the set is hidden.
    #[error("{0}")]
    BoardItem(String),
    /// The caller may not change the board.
    #[error("{0}")]
    BoardForbidden(&'static str),
    /// The rules of the board do not accept the request.
    #[error("{0}")]
    BoardRejected(String),
    /// The limit on clients that follow plays or download recordings is reached.
    #[error("too many clients are following plays or downloading recordings; try again later")]
    TooManyListeners,
    /// The limit on calls of a hosted game is reached, or the game is too slow.
    #[error("nothing was changed: game `{0}` is busy with other requests; try again")]
    GameBusy(String),
    /// The play has ended; only RESET restarts it.
    #[error("the game is over; send RESET to restart it")]
    GameOver,
    /// The play's log cannot be replayed, or replaying it gives frames that differ from the
    /// recorded ones.
    #[error("the play is frozen: {0}")]
    Frozen(String),
    /// The idempotency key was already used for a different request.
    #[error(
        "the idempotency key `{0}` was already used for a different request; a retry must repeat the path and the body"
    )]
    IdempotencyKeyReused(String),
    /// The commit was interrupted: the connection to the database was lost, or the disk reported an
    /// error.
    #[error(
        "the outcome of the request is unknown: {0}; repeat it with the same idempotency key, or read the scorecard or the play to see whether it took effect"
    )]
    OutcomeUnknown(StoreError),
    /// The store failed before the commit or refused it, so nothing was changed.
    #[error("nothing was changed; try again: {0}")]
    Unavailable(StoreError),
    #[error("internal error: {0}")]
    Failed(String),
    /// An error of the HTTP layer that no other variant describes.
    #[error("{}", .0.canonical_reason().unwrap_or("the request was rejected"))]
    Http(StatusCode),
}

impl ApiError {
    /// The code and the HTTP status of the response.
    pub fn kind(&self) -> (Code, StatusCode) {
        match self {
            Self::Malformed(_)
            | Self::NotAnObject
            | Self::Field { .. }
            | Self::TooLong { .. }
            | Self::TooDeep(_)
            | Self::BodyIncomplete => (Code::Validation, StatusCode::BAD_REQUEST),
            Self::BodyTimeout => (Code::RequestTimeout, StatusCode::REQUEST_TIMEOUT),
            Self::Unauthorized => (Code::Unauthorized, StatusCode::UNAUTHORIZED),
            Self::NoAnonymousKeys
            | Self::NoSources
            | Self::NotPublic
            | Self::NoStudies
            | Self::ForeignSite
            | Self::BoardForbidden(_)
            | Self::StudyForbidden { .. } => (Code::Forbidden, StatusCode::FORBIDDEN),
            Self::NoSuchStudy(_)
            | Self::StudyItem(_)
            | Self::NoSuchLink
            | Self::NoSuchBoard(_)
            | Self::BoardItem(_) => (Code::NotFound, StatusCode::NOT_FOUND),
            Self::BoardRejected(_) => (Code::BoardRejected, StatusCode::CONFLICT),
            Self::StudyRejected(_) | Self::NoIdentityKey => {
                (Code::StudyRejected, StatusCode::CONFLICT)
            }
            Self::StudyLimitReached => (Code::StudyLimitReached, StatusCode::CONFLICT),
            Self::RateLimit { .. } => (Code::RateLimit, StatusCode::TOO_MANY_REQUESTS),
            Self::TooManyCards(_)
            | Self::TooManyPlays(_)
            | Self::StorageFull(_)
            | Self::TooManyShares(_) => (Code::LimitReached, StatusCode::CONFLICT),
            Self::TooManyStreams { .. } | Self::AddressConnections(_) => {
                (Code::LimitReached, StatusCode::TOO_MANY_REQUESTS)
            }
            Self::ForeignHost(_) => (Code::HostNotAllowed, StatusCode::MISDIRECTED_REQUEST),
            Self::MediaType => (
                Code::UnsupportedMediaType,
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ),
            Self::TooLarge(_) => (Code::PayloadTooLarge, StatusCode::PAYLOAD_TOO_LARGE),
            Self::NoSuchPath => (Code::NotFound, StatusCode::NOT_FOUND),
            Self::MethodNotAllowed => (Code::MethodNotAllowed, StatusCode::METHOD_NOT_ALLOWED),
            Self::NoSuchGame(_)
            | Self::NoSource(_)
            | Self::NoSuchCard(_)
            | Self::NotOnCard(_)
            | Self::NoSuchGuid(_)
            | Self::NoSuchShare(_) => (Code::Server, StatusCode::NOT_FOUND),
            Self::GameNotAvailable(_) => (Code::GameNotAvailable, StatusCode::BAD_REQUEST),
            Self::CardNotOpen(_) => (Code::Validation, StatusCode::NOT_FOUND),
            Self::CompetitionCardOpen => (Code::Server, StatusCode::FORBIDDEN),
            Self::SecondCompetitionCard => (Code::Server, StatusCode::CONFLICT),
            Self::AlreadyPlayed(_) | Self::NoSuchPlay { .. } => {
                (Code::Server, StatusCode::BAD_REQUEST)
            }
            Self::GameOver => (Code::GameNotStarted, StatusCode::BAD_REQUEST),
            Self::Frozen(_) => (Code::PlayFrozen, StatusCode::CONFLICT),
            Self::Unavailable(_)
            | Self::GameBusy(_)
            | Self::TooManyListeners
            | Self::TooManyConnections => (Code::Unavailable, StatusCode::SERVICE_UNAVAILABLE),
            Self::IdempotencyKeyReused(_) => {
                (Code::IdempotencyKeyReused, StatusCode::UNPROCESSABLE_ENTITY)
            }
            Self::OutcomeUnknown(_) => (Code::OutcomeUnknown, StatusCode::SERVICE_UNAVAILABLE),
            Self::Failed(_) => (Code::Server, StatusCode::INTERNAL_SERVER_ERROR),
            Self::Http(status) => (
                if status.is_server_error() {
                    Code::Server
                } else {
                    Code::Validation
                },
                *status,
            ),
        }
    }

    /// The value of the header `Retry-After`: when the same request may succeed, in seconds.
    pub(crate) const fn retry_seconds(&self) -> Option<u64> {
        match self {
            Self::Unavailable(_)
            | Self::OutcomeUnknown(_)
            | Self::GameBusy(_)
            | Self::TooManyConnections => Some(1),
            Self::TooManyListeners | Self::TooManyStreams { .. } | Self::AddressConnections(_) => {
                Some(5)
            }
            Self::RateLimit { retry_seconds, .. } => Some(*retry_seconds),
            _ => None,
        }
    }

    /// The response to a client whose connection is refused, as the bytes to send.
    pub(crate) fn connection_refusal(&self) -> String {
        let (code, status) = self.kind();
        let body = ErrorBody {
            error: code.name(),
            message: self.to_string(),
        };
        let body = serde_json::to_string(&body).unwrap_or_default();
        format!(
            "HTTP/1.1 {status}\r\nServer: {NAME}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Retry-After: {}\r\nConnection: close\r\n\r\n{body}",
            body.len(),
            self.retry_seconds().unwrap_or(1)
        )
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (code, status) = self.kind();
        let body = ErrorBody {
            error: code.name(),
            message: self.to_string(),
        };
        let mut response = (status, Json(body)).into_response();
        // The web app takes the error from the extensions and renders it as a page.
        response.extensions_mut().insert(self.clone());
        if let Some(seconds) = self.retry_seconds() {
            let value = HeaderValue::from(seconds);
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        let (name, value) = match self {
            Self::Unauthorized => (header::WWW_AUTHENTICATE, HeaderValue::from_static("ApiKey")),
            // The connection must be closed, because the server would read the rest of the body as
            // the next request.
            Self::BodyTimeout | Self::BodyIncomplete => {
                (header::CONNECTION, HeaderValue::from_static("close"))
            }
            _ => return response,
        };
        response.headers_mut().insert(name, value);
        response
    }
}

/// Converts database failures. Handlers convert refusals, such as a closed card, themselves,
/// because the meaning of a refusal depends on the request.
impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Corrupt(_) => Self::Failed(error.to_string()),
            StoreError::CommitUnknown(_) => Self::OutcomeUnknown(error),
            _ => Self::Unavailable(error),
        }
    }
}

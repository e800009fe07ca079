//! Every error that the API answers: its code, its status, its message.
//!
//! Codes and statuses are the official ones where the official server has them. A thing of another owner is answered
//! exactly like one that does not exist.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rhae_store::StoreError;

use crate::openapi::ErrorBody;

/// What an error is called in its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The request says something that cannot be.
    Validation,
    /// The environment is not there to be played.
    GameNotAvailable,
    /// The play has ended, and only RESET begins it again.
    GameNotStarted,
    /// What the official server answers for most other refusals.
    Server,
    /// There is no such path.
    NotFound,
    /// The path exists, but not for this method.
    MethodNotAllowed,
    /// The body is too large.
    PayloadTooLarge,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// The play's log does not give the frames that it gave, so it takes no further commands.
    PlayFrozen,
    /// The idempotency key belongs to another request.
    KeyReused,
    /// There is no key, or none that the server knows.
    Unauthorized,
    /// The key does not allow it.
    Forbidden,
    /// Too many requests.
    RateLimit,
    /// There are as many cards or plays as may be.
    LimitReached,
    /// The body did not come in time.
    RequestTimeout,
    /// Nothing has happened, and the same request may succeed later.
    Unavailable,
    /// Nobody knows whether what was asked for has happened.
    Unknown,
}

impl Code {
    /// Every code.
    pub const ALL: [Self; 17] = [
        Self::Validation,
        Self::GameNotAvailable,
        Self::GameNotStarted,
        Self::Server,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::PlayFrozen,
        Self::KeyReused,
        Self::Unauthorized,
        Self::Forbidden,
        Self::RateLimit,
        Self::LimitReached,
        Self::RequestTimeout,
        Self::Unavailable,
        Self::Unknown,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Validation => "VALIDATION_ERROR",
            Self::GameNotAvailable => "GAME_NOT_AVAILABLE_ERROR",
            Self::GameNotStarted => "GAME_NOT_STARTED_ERROR",
            Self::Server => "SERVER_ERROR",
            Self::NotFound => "NOT_FOUND",
            Self::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Self::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Self::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Self::PlayFrozen => "PLAY_FROZEN",
            Self::KeyReused => "IDEMPOTENCY_KEY_REUSED",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::Forbidden => "FORBIDDEN",
            Self::RateLimit => "RATE_LIMIT_EXCEEDED",
            Self::LimitReached => "LIMIT_REACHED",
            Self::RequestTimeout => "REQUEST_TIMEOUT",
            Self::Unavailable => "SERVICE_UNAVAILABLE",
            Self::Unknown => "OUTCOME_UNKNOWN",
        }
    }
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// The body cannot be read.
    #[error("the body is not JSON: {0}")]
    Malformed(String),
    /// The body is JSON, but no object.
    #[error("the body must be a JSON object")]
    NotAnObject,
    /// A field is missing or has a value that cannot be.
    #[error("`{field}` must be {expected}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What it may be.
        expected: &'static str,
    },
    /// A field has more bytes than it may have.
    #[error("`{field}` must be at most {most} bytes long")]
    TooLong {
        /// Its name.
        field: &'static str,
        /// The limit.
        most: usize,
    },
    /// The body is nested too deeply.
    #[error("the body is nested deeper than {0} levels")]
    TooDeep(usize),
    /// The body ended before its end.
    #[error("the body could not be read to its end")]
    BodyBroken,
    /// The body did not come in time.
    #[error("the body did not come in time")]
    BodyTimeout,
    /// There is no key, or none that the server knows.
    #[error("this needs a valid key in the header `X-API-Key`; ask the server's operator for one")]
    Unauthorized,
    /// Keys are given out by people.
    #[error("this server gives no anonymous keys; ask its operator for one and set ARC_API_KEY")]
    NoAnonymousKeys,
    /// The key does not allow sources.
    #[error("this key may not download sources")]
    NoSources,
    /// Too many requests.
    #[error(
        "rate limit has been exceeded: {most} requests a minute; try again in {retry_seconds} s"
    )]
    RateLimit {
        /// The limit.
        most: u32,
        /// When the next may be sent.
        retry_seconds: u64,
    },
    /// As many cards are open as may be.
    #[error("{0} scorecards are open, and no more may be: close one")]
    TooManyCards(u32),
    /// The card has as many plays as it may have.
    #[error("the scorecard has {0} plays, and no more may be opened on it")]
    TooManyPlays(u32),
    /// The body is not declared as JSON.
    #[error("the header `Content-Type` must be `application/json`")]
    MediaType,
    /// The body is too large.
    #[error("the body has more than {0} bytes")]
    TooLarge(usize),
    /// No such path.
    #[error("there is nothing at this path")]
    NoSuchPath,
    /// Not with this method.
    #[error("this path does not take this method")]
    Method,
    /// No such environment, asked for by its path.
    #[error("game `{0}` not found")]
    NoSuchGame(String),
    /// No such environment, asked for in a command.
    #[error("game `{0}` is not available")]
    GameNotAvailable(String),
    /// The environment has no source to download.
    #[error("game `{0}` is native and has no Python source; play it with OperationMode.ONLINE")]
    NoSource(String),
    /// No such card to be read.
    #[error("card_id `{0}` not found")]
    NoSuchCard(String),
    /// No such open card.
    #[error("there is no open scorecard `{0}`")]
    CardNotOpen(String),
    /// The card of a competition is not read before it is closed.
    #[error("cannot get scorecard that is in competition mode before it is closed")]
    Competing,
    /// A competition's server gives one card to each key.
    #[error("cannot open multiple scorecards in competition mode")]
    OpenedBefore,
    /// A competition's card has one play of each environment.
    #[error(
        "game `{0}` has been played on this scorecard, and may be played once in competition mode"
    )]
    PlayedBefore(String),
    /// The environment was not played on the card.
    #[error("game `{0}` is not on this scorecard")]
    NotOnCard(String),
    /// No such play, or not of this environment, or its card is closed.
    #[error("game `{game}` with guid `{guid}` not found, or its scorecard is closed")]
    NoSuchPlay {
        /// The environment as the client named it.
        game: String,
        /// The play as the client named it.
        guid: String,
    },
    /// No such play to be read.
    #[error("play `{0}` not found")]
    NoSuchGuid(String),
    /// Everybody who may listen at a time does so.
    #[error("too many clients follow plays or download recordings now, try again later")]
    Crowded,
    /// The play has ended.
    #[error("the game is over: only RESET is possible")]
    NotStarted,
    /// The play's log does not give the same frames again.
    #[error("the play is frozen: {0}")]
    Frozen(String),
    /// The key belongs to another request.
    #[error(
        "the idempotency key `{0}` was used for another request: a repetition has the same path and the same body"
    )]
    KeyReused(String),
    /// The database was lost in a commit.
    #[error("nobody knows whether it was done: {0}")]
    Unknown(StoreError),
    /// The database gave no answer; nothing has happened.
    #[error("nothing was done, try again: {0}")]
    Unavailable(StoreError),
    /// The environment or the server failed.
    #[error("the server failed: {0}")]
    Failed(String),
    /// An answer of the HTTP layer.
    #[error("{}", .0.canonical_reason().unwrap_or("the request was refused"))]
    Http(StatusCode),
}

impl ApiError {
    /// Its code and status.
    pub fn kind(&self) -> (Code, StatusCode) {
        match self {
            Self::Malformed(_)
            | Self::NotAnObject
            | Self::Field { .. }
            | Self::TooLong { .. }
            | Self::TooDeep(_)
            | Self::BodyBroken => (Code::Validation, StatusCode::BAD_REQUEST),
            Self::BodyTimeout => (Code::RequestTimeout, StatusCode::REQUEST_TIMEOUT),
            Self::Unauthorized => (Code::Unauthorized, StatusCode::UNAUTHORIZED),
            Self::NoAnonymousKeys | Self::NoSources => (Code::Forbidden, StatusCode::FORBIDDEN),
            Self::RateLimit { .. } => (Code::RateLimit, StatusCode::TOO_MANY_REQUESTS),
            Self::TooManyCards(_) | Self::TooManyPlays(_) => {
                (Code::LimitReached, StatusCode::CONFLICT)
            }
            Self::MediaType => (
                Code::UnsupportedMediaType,
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ),
            Self::TooLarge(_) => (Code::PayloadTooLarge, StatusCode::PAYLOAD_TOO_LARGE),
            Self::NoSuchPath => (Code::NotFound, StatusCode::NOT_FOUND),
            Self::Method => (Code::MethodNotAllowed, StatusCode::METHOD_NOT_ALLOWED),
            Self::NoSuchGame(_)
            | Self::NoSource(_)
            | Self::NoSuchCard(_)
            | Self::NotOnCard(_)
            | Self::NoSuchGuid(_) => (Code::Server, StatusCode::NOT_FOUND),
            Self::GameNotAvailable(_) => (Code::GameNotAvailable, StatusCode::BAD_REQUEST),
            Self::CardNotOpen(_) => (Code::Validation, StatusCode::NOT_FOUND),
            Self::Competing => (Code::Server, StatusCode::FORBIDDEN),
            Self::OpenedBefore => (Code::Server, StatusCode::CONFLICT),
            Self::PlayedBefore(_) | Self::NoSuchPlay { .. } => {
                (Code::Server, StatusCode::BAD_REQUEST)
            }
            Self::NotStarted => (Code::GameNotStarted, StatusCode::BAD_REQUEST),
            Self::Frozen(_) => (Code::PlayFrozen, StatusCode::CONFLICT),
            Self::Unavailable(_) | Self::Crowded => {
                (Code::Unavailable, StatusCode::SERVICE_UNAVAILABLE)
            }
            Self::KeyReused(_) => (Code::KeyReused, StatusCode::UNPROCESSABLE_ENTITY),
            Self::Unknown(_) => (Code::Unknown, StatusCode::INTERNAL_SERVER_ERROR),
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
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (code, status) = self.kind();
        let body = ErrorBody {
            error: code.name(),
            message: self.to_string(),
        };
        let mut response = (status, Json(body)).into_response();
        // The pages of the web app say it in their own way.
        response.extensions_mut().insert(self.clone());
        let (name, value) = match self {
            Self::Unavailable(_) => (header::RETRY_AFTER, HeaderValue::from_static("1")),
            Self::RateLimit { retry_seconds, .. } => {
                (header::RETRY_AFTER, HeaderValue::from(retry_seconds))
            }
            Self::Unauthorized => (header::WWW_AUTHENTICATE, HeaderValue::from_static("ApiKey")),
            // What is left of the body would be taken for the next request.
            Self::BodyTimeout | Self::BodyBroken => {
                (header::CONNECTION, HeaderValue::from_static("close"))
            }
            _ => return response,
        };
        response.headers_mut().insert(name, value);
        response
    }
}

/// Refusals have a meaning that depends on the request, so handlers turn them into errors themselves; what is left is a fault of
/// the database.
impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Corrupt(_) => Self::Failed(error.to_string()),
            StoreError::Unknown(_) => Self::Unknown(error),
            _ => Self::Unavailable(error),
        }
    }
}

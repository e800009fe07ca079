//! The error codes of the HTTP API, which servers send and clients act on.
//!
//! Names that the official server defines too are the same there. `rhae-server` maps its errors to
//! codes and statuses.

/// The machine-readable error code in the field `error` of an error response.
///
/// # Examples
///
/// ```
/// use rhae_protocol::ErrorCode;
///
/// assert_eq!(ErrorCode::PlayFrozen.name(), "PLAY_FROZEN");
/// assert_eq!(ErrorCode::from_name("PLAY_FROZEN"), Some(ErrorCode::PlayFrozen));
/// // Other servers have other codes.
/// assert_eq!(ErrorCode::from_name("TEAPOT"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// The request is malformed or has an invalid field.
    Validation,
    /// The environment does not exist, or the key may not play it.
    GameNotAvailable,
    /// The play has ended; only RESET restarts it.
    GameNotStarted,
    /// The official server's code for most other refusals.
    Server,
    /// No route has this path.
    NotFound,
    /// The path exists, but does not support the method.
    MethodNotAllowed,
    /// The body exceeds the size limit.
    PayloadTooLarge,
    /// The `Content-Type` is not JSON.
    UnsupportedMediaType,
    /// Replaying the play's log gives frames that differ from the recorded ones, so the play
    /// accepts no further commands.
    PlayFrozen,
    /// The idempotency key was already used for a different request.
    IdempotencyKeyReused,
    /// The API key is missing or invalid.
    Unauthorized,
    /// The key lacks the permission.
    Forbidden,
    /// The key has used up its requests for this minute.
    RateLimit,
    /// A limit of the key, the address or the card is reached: open cards, plays per card, stored
    /// bytes, streams or connections.
    LimitReached,
    /// The body did not arrive in time.
    RequestTimeout,
    /// Nothing was changed, and the same request may succeed later.
    Unavailable,
    /// The commit was interrupted, so the request may or may not have taken effect.
    OutcomeUnknown,
    /// The request names a host that a server with open access does not serve.
    HostNotAllowed,
    /// The rules of the study do not accept the request. Nothing was changed.
    StudyRejected,
    /// A time limit was reached, or the participant's environment is another one by now.
    StudyLimitReached,
    /// The rules of the board do not accept the request. Nothing was changed.
    BoardRejected,
}

impl ErrorCode {
    /// All codes, in the order of the OpenAPI document.
    pub const ALL: [Self; 21] = [
        Self::Validation,
        Self::GameNotAvailable,
        Self::GameNotStarted,
        Self::Server,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::PlayFrozen,
        Self::IdempotencyKeyReused,
        Self::Unauthorized,
        Self::Forbidden,
        Self::RateLimit,
        Self::LimitReached,
        Self::RequestTimeout,
        Self::Unavailable,
        Self::OutcomeUnknown,
        Self::HostNotAllowed,
        Self::StudyRejected,
        Self::StudyLimitReached,
        Self::BoardRejected,
    ];

    /// The code as it appears in JSON.
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
            Self::IdempotencyKeyReused => "IDEMPOTENCY_KEY_REUSED",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::Forbidden => "FORBIDDEN",
            Self::RateLimit => "RATE_LIMIT_EXCEEDED",
            Self::LimitReached => "LIMIT_REACHED",
            Self::RequestTimeout => "REQUEST_TIMEOUT",
            Self::Unavailable => "SERVICE_UNAVAILABLE",
            Self::OutcomeUnknown => "OUTCOME_UNKNOWN",
            Self::HostNotAllowed => "HOST_NOT_ALLOWED",
            Self::StudyRejected => "STUDY_REJECTED",
            Self::StudyLimitReached => "STUDY_LIMIT_REACHED",
            Self::BoardRejected => "BOARD_REJECTED",
        }
    }

    /// Returns the code with this name; `None` for a name that Rhae does not use.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

//! What the API says of itself at `/api/openapi.json`, made from the handlers and the types that they answer with.
//!
//! **Invariant:** a route is described where it is handled, so that none is served without being described. Bodies that come in are
//! described here, because they are read field by field, more leniently than a type could.

#![allow(unused_qualifications, reason = "the macro qualifies what it is given")]

use std::collections::BTreeMap;

use axum::http::StatusCode;
use rhae_engine::ActionKind;
use rhae_protocol::PlayEvent;
use serde_json::Value;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{Components, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, Modify, OpenApi, PartialSchema, ToSchema};

use crate::Code;

/// The document without its paths, which the routes add.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Rhae",
        description = "Play environments of ARC-AGI-3 and read what it came to. Open a scorecard, open plays on it with RESET, \
                       send actions, close the card. A command is answered after it is stored. With an `Idempotency-Key` a request may \
                       be sent again and is carried out once.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(ErrorBody, PlayEvent)),
    modifiers(&KeyHeader),
    security(("key" = []), ()),
    tags(
        (name = "environments", description = "What can be played"),
        (name = "scorecards", description = "What plays count on"),
        (name = "commands", description = "Playing"),
        (name = "plays", description = "Plays, while they go on and afterwards"),
        (name = "server", description = "The server itself")
    )
)]
pub(crate) struct Document;

/// How a client says who it is. A server with open access takes any key and none.
struct KeyHeader;

impl Modify for KeyHeader {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let header = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-API-Key")));
        document
            .components
            .get_or_insert_with(Components::new)
            .add_security_scheme("key", header);
    }
}

/// Whether the server is there.
#[utoipa::path(get, path = "/api/healthcheck", tag = "server", responses((status = OK, body = String, description = "`okay`")), security(()))]
pub(crate) async fn healthcheck() -> &'static str {
    "okay"
}

/// Every refusal.
#[derive(serde::Serialize, ToSchema)]
#[schema(as = Error)]
pub(crate) struct ErrorBody {
    /// What programs tell errors apart by.
    #[schema(value_type = Code)]
    pub(crate) error: &'static str,
    /// What people read.
    pub(crate) message: String,
}

impl PartialSchema for Code {
    fn schema() -> RefOr<Schema> {
        one_of(Self::ALL.map(Self::name))
    }
}

impl ToSchema for Code {}

/// The name of a command in its path.
pub(crate) struct CommandName;

impl PartialSchema for CommandName {
    fn schema() -> RefOr<Schema> {
        one_of(ActionKind::ALL.map(ActionKind::name))
    }
}

impl ToSchema for CommandName {}

fn one_of<const COUNT: usize>(names: [&'static str; COUNT]) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::String))
        .enum_values(Some(names))
        .into()
}

/// A command.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "the description of a body that is read field by field"
)]
pub(crate) struct CommandBody {
    /// The environment, by its four characters or with its version.
    game_id: String,
    /// The play; without one RESET opens a play.
    guid: Option<String>,
    /// The open scorecard that a new play counts on.
    card_id: Option<String>,
    /// The column of a click, needed for ACTION6.
    #[schema(maximum = 63)]
    x: Option<u8>,
    /// The row of a click, needed for ACTION6.
    #[schema(maximum = 63)]
    y: Option<u8>,
    /// Anything, at most 16,384 bytes unless the server has another limit; it is kept with the action.
    reasoning: Option<Value>,
}

/// A scorecard to be opened.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "the description of a body that is read field by field"
)]
pub(crate) struct OpeningBody {
    /// What it is filed under. One with neither `human` nor `agent` gets `agent`.
    tags: Option<Vec<String>>,
    /// Where the source of the agent is found.
    source_url: Option<String>,
    /// Anything, at most 16,384 bytes unless the server has another limit; it is kept with the card.
    opaque: Option<Value>,
    /// Whether the rules of the competition hold: one play of each environment, level resets only, nothing read before it is closed.
    competition_mode: Option<bool>,
}

/// A scorecard named by its id.
#[derive(serde::Serialize, ToSchema)]
pub(crate) struct CardBody {
    /// The scorecard.
    pub(crate) card_id: String,
}

/// A server-sent event.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "the description of a text that is written field by field"
)]
pub(crate) struct SentEvent {
    /// The number of the entry, for `Last-Event-ID`.
    id: Option<String>,
    /// `action`, `end` or `frozen`.
    event: String,
    /// JSON: a `PlayEvent` for `action`, otherwise an object with the `reason`.
    data: String,
}

/// A key that anybody may have.
#[derive(serde::Serialize, ToSchema)]
pub(crate) struct KeyBody {
    /// The key.
    pub(crate) api_key: String,
}

/// What any request may be answered.
pub(crate) struct Always;

impl IntoResponses for Always {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        refusals(&[
            (
                StatusCode::BAD_REQUEST,
                "the request says something that cannot be",
            ),
            (
                StatusCode::UNAUTHORIZED,
                "there is no key, or none that the server knows",
            ),
            (StatusCode::REQUEST_TIMEOUT, "the body did not come in time"),
            (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"),
            (
                StatusCode::TOO_MANY_REQUESTS,
                "too many requests; `Retry-After` says when the next may come",
            ),
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                "the server or the environment failed",
            ),
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "nothing was done, and the same request may succeed later",
            ),
        ])
    }
}

/// What a request with a body may be answered besides.
pub(crate) struct Bodied;

impl IntoResponses for Bodied {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        refusals(&[(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body is not declared as JSON",
        )])
    }
}

/// What a request for one thing may be answered besides.
pub(crate) struct Named;

impl IntoResponses for Named {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        refusals(&[(
            StatusCode::NOT_FOUND,
            "there is no such thing, or the key may not see it",
        )])
    }
}

fn refusals(list: &[(StatusCode, &str)]) -> BTreeMap<String, RefOr<Response>> {
    let content = || {
        utoipa::openapi::ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("Error")))
            .build()
    };
    let described = |&(status, text): &(StatusCode, &str)| {
        let response = ResponseBuilder::new()
            .description(text)
            .content("application/json", content())
            .build();
        (status.as_u16().to_string(), response.into())
    };
    list.iter().map(described).collect()
}

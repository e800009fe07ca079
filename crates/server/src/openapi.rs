//! The OpenAPI document at `/api/openapi.json`, generated from the handlers and their response
//! types.
//!
//! **Invariant:** every API route, except that of the document itself, is registered together with
//! the description at its handler, so none is served without one. The types of
//! the request bodies are those that the handlers deserialise.

#![allow(
    unused_qualifications,
    reason = "the derive macro emits qualified paths"
)]

use std::collections::BTreeMap;

use axum::http::StatusCode;
use rhae_engine::ActionKind;
use rhae_protocol::PlayEvent;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{Components, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, Modify, OpenApi, PartialSchema, ToSchema};

use crate::Code;

/// The document without its paths, which `routes` adds.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Rhae",
        description = "Play ARC-AGI-3 environments and read the results. Open a scorecard, open plays on it with RESET, send actions, \
                       close the card. The server responds to a command after storing it. A request with an `Idempotency-Key` can be \
                       repeated safely: it is executed once.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(ErrorBody, PlayEvent)),
    modifiers(&KeyHeader),
    security(("key" = []), ()),
    tags(
        (name = "environments", description = "The environments that can be played"),
        (name = "scorecards", description = "Scorecards, which collect the results of plays"),
        (name = "commands", description = "Commands to a play"),
        (name = "plays", description = "Plays, in progress or finished"),
        (name = "links", description = "Links that publish scorecards and replays"),
        (name = "sittings", description = "Taking part in a study of how people play"),
        (name = "studies", description = "Running a study of how people play"),
        (name = "boards", description = "Leaderboards: rows, evidence and submissions"),
        (name = "server", description = "The server itself")
    )
)]
pub(crate) struct Document;

/// Adds the `X-API-Key` header as the security scheme. A server with open access accepts any key,
/// and also requests without a key.
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

/// Health check: responds as soon as the server accepts requests.
#[utoipa::path(get, path = "/api/healthcheck", tag = "server", responses((status = OK, body = String, description = "`okay`")), security(()))]
pub(crate) async fn healthcheck() -> &'static str {
    "okay"
}

/// The body of every error response.
#[derive(serde::Serialize, ToSchema)]
#[schema(as = Error)]
pub(crate) struct ErrorBody {
    /// The machine-readable error code.
    #[schema(value_type = CodeName)]
    pub(crate) error: &'static str,
    /// A message for people.
    pub(crate) message: String,
}

/// The name of an error code, whose type is defined in `rhae-protocol`.
pub(crate) struct CodeName;

impl PartialSchema for CodeName {
    fn schema() -> RefOr<Schema> {
        one_of(Code::ALL.map(Code::name))
    }
}

impl ToSchema for CodeName {
    fn name() -> std::borrow::Cow<'static, str> {
        "Code".into()
    }
}

/// The command name in the path: RESET, or ACTION1 to ACTION7.
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

/// A server-sent event.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a text that is written field by field")]
pub(crate) struct SentEvent {
    /// The index of the log entry, for use as `Last-Event-ID`.
    id: Option<String>,
    /// The event type: `action`, `end` or `frozen`.
    event: String,
    /// JSON: a `PlayEvent` for `action`, otherwise an object with a `reason`.
    data: String,
}

/// An anonymous API key.
#[derive(serde::Serialize, ToSchema)]
pub(crate) struct KeyBody {
    /// The key to send as `X-API-Key`.
    pub(crate) api_key: String,
}

/// The error responses of every route.
pub(crate) struct Always;

impl IntoResponses for Always {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        error_responses(&[
            (
                StatusCode::BAD_REQUEST,
                "The request is malformed or has an invalid field",
            ),
            (
                StatusCode::UNAUTHORIZED,
                "The API key is missing or invalid",
            ),
            (
                StatusCode::REQUEST_TIMEOUT,
                "The body did not arrive in time",
            ),
            (StatusCode::PAYLOAD_TOO_LARGE, "The body is too large"),
            (
                StatusCode::TOO_MANY_REQUESTS,
                "The rate limit or the limit on streams is exceeded; `Retry-After` gives the seconds to wait",
            ),
            (
                StatusCode::MISDIRECTED_REQUEST,
                "The server has open access and does not serve the host that the request names",
            ),
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                "The server or the environment failed",
            ),
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "Nothing was changed, and the same request may succeed later; or, with the code `OUTCOME_UNKNOWN`, the request may or may not have taken effect",
            ),
        ])
    }
}

/// The additional error responses of routes with a request body.
pub(crate) struct Bodied;

impl IntoResponses for Bodied {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        error_responses(&[(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The `Content-Type` is not JSON",
        )])
    }
}

/// The additional error responses of routes that name a resource.
pub(crate) struct Named;

impl IntoResponses for Named {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        error_responses(&[(
            StatusCode::NOT_FOUND,
            "The resource does not exist, or the key may not see it",
        )])
    }
}

fn error_responses(list: &[(StatusCode, &str)]) -> BTreeMap<String, RefOr<Response>> {
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

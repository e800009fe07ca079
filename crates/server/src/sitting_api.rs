//! `/api/sitting…` and `/api/arrivals`: how people take part in a study.
//!
//! A participant is identified by the token of a link, in the header `X-Study-Token`. Browsers do
//! not send the header by themselves, so no other site can act for a participant.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, Path, RawQuery, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rhae_engine::{Action, ActionKind};
use rhae_protocol::{
    ArrivalBody, ArrivalPath, CompactResponse, ParticipantAction, SittingRequest, SittingView,
};
use tracing::Instrument;

use crate::ApiError;
use crate::access::Access;
use crate::body::{self, Body};
use crate::detach_on_drop::DetachOnDrop;
use crate::idempotency::idempotency_key;
use crate::network::ClientAddress;
use crate::openapi::{Always, Bodied, CommandName, ErrorBody, Named};
use crate::query::parameter;
use crate::studies::{ActionRequest, LinkToken, Studies};

const TOKEN: &str = "x-study-token";

impl<S: Sync> FromRequestParts<S> for LinkToken {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let token = parts.headers.get(TOKEN).and_then(|text| text.to_str().ok());
        token.and_then(Self::parse).ok_or(ApiError::NoSuchLink)
    }
}

/// Returns what the participant sees. The request shows that the participant is present.
#[utoipa::path(
    get,
    path = "/api/sitting",
    tag = "sittings",
    params(
        ("X-Study-Token" = String, Header, description = "The token of the participant's link"),
        ("language" = Option<String>, Query, description = "The language of the consent text")),
    responses((status = OK, body = SittingView, description = "What the participant sees"), Always, Named),
    security(())
)]
pub(crate) async fn view(
    State(studies): State<Arc<Studies>>,
    token: LinkToken,
    RawQuery(query): RawQuery,
) -> Result<Json<SittingView>, ApiError> {
    let language = parameter(query.as_deref(), "language");
    let view = studies.view(&token, language).await;
    Ok(Json(view.map_err(without_names)?))
}

/// Executes a request of a participant. Repeating it has no further effect.
#[utoipa::path(
    post,
    path = "/api/sitting/commands",
    tag = "sittings",
    params(("X-Study-Token" = String, Header, description = "The token of the participant's link")),
    request_body = SittingRequest,
    responses((status = OK, body = SittingView, description = "What the participant sees then"),
        (status = CONFLICT, body = ErrorBody, description = "The rules of the study do not accept the request, or a limit was reached"), Always, Bodied, Named),
    security(())
)]
pub(crate) async fn command(
    State(studies): State<Arc<Studies>>,
    token: LinkToken,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SittingView>, ApiError> {
    let request: SittingRequest = body::parse(&headers, body, studies.plays().limits())?;
    let work = async move { studies.request(&token, request).await };
    let view = DetachOnDrop::new(work.in_current_span()).await;
    Ok(Json(view.map_err(without_names)?))
}

/// Replaces errors whose text may name an environment or a play, which participants must not see.
pub(crate) fn without_names(error: ApiError) -> ApiError {
    match error {
        ApiError::GameBusy(_) => ApiError::GameBusy("environment".to_owned()),
        ApiError::Frozen(_) => ApiError::Frozen("its log does not replay".to_owned()),
        ApiError::Failed(_)
        | ApiError::NoSuchGame(_)
        | ApiError::NoSuchPlay { .. }
        | ApiError::GameNotAvailable(_) => {
            ApiError::Failed("the environment is not available".to_owned())
        }
        error => error,
    }
}

/// Executes an action in the environment that the participant plays.
#[utoipa::path(
    post,
    path = "/api/sitting/actions/{name}",
    tag = "sittings",
    params(
        ("name" = inline(CommandName), Path, description = "The action. RESET restarts the level"),
        ("X-Study-Token" = String, Header, description = "The token of the participant's link"),
        ("Idempotency-Key" = Option<String>, Header, description = "A request repeated with the same key, path and body is executed once", min_length = 1, max_length = 255, pattern = "^[!-~]+$")),
    request_body = ParticipantAction,
    responses((status = OK, body = CompactResponse, description = "The frames and the state after the action"),
        (status = CONFLICT, body = ErrorBody, description = "A limit was reached, or another environment is in progress"),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "The idempotency key was already used for a different request"), Always, Bodied, Named),
    security(())
)]
pub(crate) async fn action(
    State(studies): State<Arc<Studies>>,
    token: LinkToken,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let kind = ActionKind::from_name(&name).ok_or(ApiError::NoSuchPath)?;
    let sent = body.as_ref().map_or_else(|_| Bytes::new(), Bytes::clone);
    let parsed: ParticipantAction = body::parse(&headers, body, studies.plays().limits())?;
    let environment = body::optional("environment", parsed.environment, EXPECTED_NUMBER)?;
    let action = match kind.simple() {
        Some(action) => action,
        None => Action::Action6 {
            x: body::coordinate("x", parsed.x)?,
            y: body::coordinate("y", parsed.y)?,
        },
    };
    let request = ActionRequest {
        action,
        environment: environment.ok_or(ApiError::Field {
            field: "environment",
            expected: EXPECTED_NUMBER,
        })?,
    };
    let path = format!("sitting/{name}");
    let key = move |owner| idempotency_key(&headers, owner, &path, &Ok(sent));
    let work = async move { studies.act(&token, request, key).await };
    let json = DetachOnDrop::new(work.in_current_span()).await;
    let json = json.map_err(without_names)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

const EXPECTED_NUMBER: &str = "present, as the number of the environment in the sitting";

/// Registers a person whom a recruiting platform sent, and returns the personal link. The same
/// person always gets the same link.
#[utoipa::path(
    post,
    path = "/api/arrivals",
    tag = "sittings",
    request_body = ArrivalBody,
    responses((status = OK, body = ArrivalPath, description = "The personal link"),
        (status = CONFLICT, body = ErrorBody, description = "The study is not open"), Always, Bodied, Named),
    security(())
)]
pub(crate) async fn arrive(
    State(studies): State<Arc<Studies>>,
    State(access): State<Arc<Access>>,
    address: ClientAddress,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<ArrivalPath>, ApiError> {
    access.count_arrival(address)?;
    let body: ArrivalBody = body::parse(&headers, body, studies.plays().limits())?;
    Ok(Json(studies.arrive(&body).await?))
}

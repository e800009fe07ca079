//! `/api/scorecard/…`: opening, keeping open, reading and closing scorecards.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use rhae_protocol::{CardBody, Field, OpeningBody, Scorecard};

use crate::ApiError;
use crate::access::{Access, Caller};
use crate::body::{self, Body};
use crate::cards::{CardRequest, Cards};
use crate::idempotency::idempotency_key;
use crate::openapi::{Always, Bodied, ErrorBody, Named};
use crate::run_pages::{page_response, runs_after};

/// Opens a scorecard.
#[utoipa::path(
    post,
    path = "/api/scorecard/open",
    tag = "scorecards",
    params(("Idempotency-Key" = Option<String>, Header, description = "A request repeated with the same key, path and body is executed once", min_length = 1, max_length = 255, pattern = "^[!-~]+$")),
    request_body = Option<OpeningBody>,
    responses((status = OK, body = CardBody, description = "The new scorecard"),
        (status = CONFLICT, body = ErrorBody, description = "The limit on open scorecards or on stored bytes is reached"),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "The idempotency key was already used for a different request"), Always, Bodied)
)]
pub(crate) async fn open(
    State(cards): State<Arc<Cards>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<CardBody>, ApiError> {
    let key = idempotency_key(&headers, caller.owner, "scorecard/open", &body)?;
    let body: OpeningBody = body::parse_optional(&headers, body, cards.limits())?;
    let tags = body::tags(body.tags)?;
    let competition = body::optional("competition_mode", body.competition_mode, "true or false")?;
    let request = CardRequest {
        tags,
        competition: competition.unwrap_or_default(),
        source_url: body::source_url(body.source_url)?,
        opaque: body::extra("opaque", body.opaque, cards.limits().extra_bytes)?,
    };
    let id = cards.open(&caller, request, key).await?;
    Ok(Json(CardBody {
        card_id: Field::Valid(id.to_string()),
    }))
}

/// Resets the idle time of an open scorecard.
#[utoipa::path(
    post,
    path = "/api/scorecard/heartbeat",
    tag = "scorecards",
    request_body = CardBody,
    responses((status = OK, body = CardBody, description = "The scorecard is open"), Always, Bodied, Named)
)]
pub(crate) async fn heartbeat(
    State(cards): State<Arc<Cards>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<CardBody>, ApiError> {
    let body: CardBody = body::parse(&headers, body, cards.limits())?;
    let card_id = body::required_text("card_id", body.card_id)?;
    let id = cards.touch(&caller, &card_id).await?;
    Ok(Json(CardBody {
        card_id: Field::Valid(id.to_string()),
    }))
}

/// Closes a scorecard. Its plays accept no further commands.
#[utoipa::path(
    post,
    path = "/api/scorecard/close",
    tag = "scorecards",
    request_body = CardBody,
    responses((status = OK, body = Scorecard, description = "The final result"), Always, Bodied, Named)
)]
pub(crate) async fn close(
    State(cards): State<Arc<Cards>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let body: CardBody = body::parse(&headers, body, cards.limits())?;
    let card_id = body::required_text("card_id", body.card_id)?;
    let card = cards.close(&caller, &card_id).await?;
    let path = format!("/api/scorecard/{}", card.card_id);
    Ok(page_response(card, 0, &path))
}

/// Returns a scorecard, open or closed.
#[utoipa::path(
    get,
    path = "/api/scorecard/{card_id}",
    tag = "scorecards",
    params(("card_id" = String, Path, description = "The scorecard"),
        ("after" = Option<u32>, Query, description = "The number of runs to skip. A response lists at most 5,000 runs besides the best of each environment; the header `Link` names the next page")),
    responses((status = OK, body = Scorecard, description = "The current result"),
        (status = FORBIDDEN, body = ErrorBody, description = "A competition scorecard cannot be read before it is closed"), Always, Named)
)]
pub(crate) async fn read(
    State(cards): State<Arc<Cards>>,
    State(access): State<Arc<Access>>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let after = runs_after(query.as_deref())?;
    let card = cards.readable(&caller, &id).await?;
    let owner = access.owner(&caller, &card).await?;
    let card = cards.scorecard(&card).await?;
    Ok(page_response(Scorecard { owner, ..card }, after, ""))
}

/// Returns the part of a scorecard that concerns one environment.
#[utoipa::path(
    get,
    path = "/api/scorecard/{card_id}/{game_id}",
    tag = "scorecards",
    params(("card_id" = String, Path, description = "The scorecard"),
        ("game_id" = String, Path, description = "The environment: its four-character name, or the full id with the version"),
        ("after" = Option<u32>, Query, description = "The number of runs to skip, as for the whole scorecard")),
    responses((status = OK, body = Scorecard, description = "The current result of this environment"),
        (status = FORBIDDEN, body = ErrorBody, description = "A competition scorecard cannot be read before it is closed"), Always, Named)
)]
pub(crate) async fn read_game(
    State(cards): State<Arc<Cards>>,
    State(access): State<Arc<Access>>,
    caller: Caller,
    Path((id, game)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let after = runs_after(query.as_deref())?;
    let card = cards.readable(&caller, &id).await?;
    let owner = access.owner(&caller, &card).await?;
    let card = cards.scorecard_of(&card, &game).await?;
    Ok(page_response(Scorecard { owner, ..card }, after, ""))
}

//! `/api/shares…`: publishing scorecards and replays by links.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use rhae_protocol::{ShareBody, ShareListing};

use crate::ApiError;
use crate::access::Caller;
use crate::body::{self, Body};
use crate::openapi::{Always, Bodied, ErrorBody, Named};
use crate::plays::Plays;
use crate::shares::{ShareRequest, Shares};

/// Publishes a scorecard or a replay: whoever has the link can read it until it is revoked.
#[utoipa::path(
    post,
    path = "/api/shares",
    tag = "links",
    request_body = ShareBody,
    responses((status = OK, body = ShareListing, description = "The link. Its path is returned only here"),
        (status = FORBIDDEN, body = ErrorBody, description = "An environment is not public, or a competition scorecard is not closed"),
        (status = CONFLICT, body = ErrorBody, description = "The limit on links is reached"), Always, Bodied, Named)
)]
pub(crate) async fn create(
    State(shares): State<Arc<Shares>>,
    State(plays): State<Arc<Plays>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<ShareListing>, ApiError> {
    let body: ShareBody = body::parse(&headers, body, plays.limits())?;
    let card = body::text("card_id", body.card_id)?;
    let guid = body::text("guid", body.guid)?;
    let request = match (card, guid) {
        (Some(card), None) => ShareRequest::Card(card),
        (None, Some(guid)) => ShareRequest::Play(guid),
        _ => {
            return Err(ApiError::Field {
                field: "card_id",
                expected: "present unless `guid` is; exactly one of them names what to publish",
            });
        }
    };
    Ok(Json(shares.create(&caller, &request).await?))
}

/// Lists the links of the key, revoked ones included, the newest first, a hundred at a time.
#[utoipa::path(
    get,
    path = "/api/shares",
    tag = "links",
    params(("after" = Option<String>, Query, description = "The id of the last link of the page before. The header `Link` names the next page")),
    responses((status = OK, body = Vec<ShareListing>, description = "The links, without their paths"), Always, Named)
)]
pub(crate) async fn list(
    State(shares): State<Arc<Shares>>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let page = shares.list(&caller, link_after(query.as_deref())).await?;
    let links = Json(page.shares);
    Ok(match page.next {
        Some(id) => {
            let next = format!("</api/shares?after={id}>; rel=\"next\"");
            ([(header::LINK, next)], links).into_response()
        }
        None => links.into_response(),
    })
}

/// Returns the id in the query parameter `after`.
pub(crate) fn link_after(query: Option<&str>) -> Option<&str> {
    let mut pairs = query?.split('&');
    pairs.find_map(|pair| pair.strip_prefix("after="))
}

/// Revokes a link permanently.
#[utoipa::path(
    delete,
    path = "/api/shares/{id}",
    tag = "links",
    params(("id" = String, Path, description = "The link")),
    responses((status = OK, body = ShareListing, description = "The revoked link"), Always, Named)
)]
pub(crate) async fn revoke(
    State(shares): State<Arc<Shares>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShareListing>, ApiError> {
    Ok(Json(shares.revoke(&caller, &id).await?))
}

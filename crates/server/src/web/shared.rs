//! Published scorecards and replays, and the page on which owners manage their links.
//!
//! **Invariant:** a published page needs no key and has no link to a page that needs one, except the
//! site's navigation.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use rhae_protocol::{ShareListing, rfc3339_utc};
use rhae_store::{Owner, PlayFacts};
use rhae_web::{CardView, LinkRow, card_page, links_page, replay_page};
use serde_json::Value;

use super::sign_in::{OptionalCaller, form_value};
use super::{PageVisitor, cards, page_data, pages, perception};
use crate::ApiError;
use crate::access::{Access, is_same_origin};
use crate::games::Games;
use crate::listeners::Listeners;
use crate::network::ClientAddress;
use crate::play_api;
use crate::run_pages::{page_response, runs_after};
use crate::share_api::link_after;
use crate::shares::{SharePage, ShareRequest, Shared, SharedContent, Shares};

/// Shows what a link publishes.
pub(crate) async fn page(
    State(access): State<Arc<Access>>,
    State(shares): State<Arc<Shares>>,
    State(games): State<Arc<Games>>,
    OptionalCaller(caller): OptionalCaller,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let viewer = access.viewer(caller.as_ref());
    let base = format!("/shared/{token}");
    let html = match shares.open(&token).await?.content {
        SharedContent::Card(card) => {
            let view = CardView {
                runs_after: runs_after(query.as_deref())?,
                card: shares.content().0.scorecard(&card).await?,
                opened_at: rfc3339_utc(card.opened_ms),
                closed_at: card.closed_ms.map(rfc3339_utc),
                base,
                published: true,
                publishable: false,
            };
            card_page(viewer, &view)
        }
        SharedContent::Play(facts) => {
            let mut view = pages::replay_view(&games, &facts);
            (view.base, view.published) = (base, true);
            replay_page(viewer, &view)
        }
    };
    // The address is a secret, so search engines must not list it.
    let hidden = [("x-robots-tag", HeaderValue::from_static("noindex"))];
    Ok((hidden, Html(html)).into_response())
}

pub(crate) async fn scorecard(
    State(shares): State<Arc<Shares>>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let after = runs_after(query.as_deref())?;
    let SharedContent::Card(card) = shares.open(&token).await?.content else {
        return Err(ApiError::NoSuchPath);
    };
    let card = shares.content().0.scorecard(&card).await?;
    Ok(page_response(card, after, ""))
}

pub(crate) async fn csv(
    State(shares): State<Arc<Shares>>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let after = runs_after(query.as_deref())?;
    let SharedContent::Card(card) = shares.open(&token).await?.content else {
        return Err(ApiError::NoSuchPath);
    };
    let card = shares.content().0.scorecard(&card).await?;
    Ok(cards::csv_response(card, after))
}

/// Returns the published play.
async fn play(shares: &Shares, token: &str) -> Result<(Owner, PlayFacts), ApiError> {
    match shares.open(token).await? {
        Shared {
            holder,
            content: SharedContent::Play(facts),
        } => Ok((holder, *facts)),
        Shared { .. } => Err(ApiError::NoSuchPath),
    }
}

pub(crate) async fn packed_play(
    State(shares): State<Arc<Shares>>,
    State(listeners): State<Arc<Listeners>>,
    Path(token): Path<String>,
    address: ClientAddress,
) -> Result<Response, ApiError> {
    let (holder, facts) = play(&shares, &token).await?;
    let plays = Arc::clone(shares.content().1);
    page_data::pack_response(plays, &listeners, holder, facts, address).await
}

pub(crate) async fn recording(
    State(shares): State<Arc<Shares>>,
    State(listeners): State<Arc<Listeners>>,
    Path(token): Path<String>,
    address: ClientAddress,
) -> Result<Response, ApiError> {
    let (holder, facts) = play(&shares, &token).await?;
    let plays = Arc::clone(shares.content().1);
    play_api::recording_response(plays, &listeners, holder, facts, address).await
}

pub(crate) async fn reasoning(
    State(shares): State<Arc<Shares>>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<Value>, ApiError> {
    let (_, facts) = play(&shares, &token).await?;
    page_data::reasoning_of(shares.content().1, &facts, query.as_deref()).await
}

pub(crate) async fn work(
    State(shares): State<Arc<Shares>>,
    State(listeners): State<Arc<Listeners>>,
    Path(token): Path<String>,
    address: ClientAddress,
) -> Result<Json<Vec<Value>>, ApiError> {
    let (holder, facts) = play(&shares, &token).await?;
    let plays = shares.content().1;
    page_data::work_of(plays, &listeners, holder, &facts, address).await
}

pub(crate) async fn perception(
    State(shares): State<Arc<Shares>>,
    State(listeners): State<Arc<Listeners>>,
    Path(token): Path<String>,
    address: ClientAddress,
) -> Result<Json<Value>, ApiError> {
    let (holder, facts) = play(&shares, &token).await?;
    let plays = shares.content().1;
    perception::perception_of(plays, &listeners, holder, &facts, address).await
}

pub(crate) async fn times(
    State(shares): State<Arc<Shares>>,
    State(listeners): State<Arc<Listeners>>,
    Path(token): Path<String>,
    address: ClientAddress,
) -> Result<Json<Vec<u64>>, ApiError> {
    let (holder, facts) = play(&shares, &token).await?;
    page_data::times_of(shares.content().1, &listeners, holder, &facts, address).await
}

/// Lists the visitor's links.
pub(crate) async fn links(
    State(shares): State<Arc<Shares>>,
    visitor: PageVisitor,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, ApiError> {
    let after = link_after(query.as_deref());
    let page = shares.list(&visitor.caller, after).await?;
    Ok(Html(page_of(&visitor, None, &page)))
}

/// Publishes a scorecard or a replay, and shows its link once.
pub(crate) async fn publish(
    State(shares): State<Arc<Shares>>,
    visitor: PageVisitor,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    if !is_same_origin(&headers) {
        return Err(ApiError::NoSuchPath);
    }
    let request = match (form_value(&body, "card_id"), form_value(&body, "guid")) {
        (Some(card), None) => ShareRequest::Card(card),
        (None, Some(guid)) => ShareRequest::Play(guid),
        _ => return Err(ApiError::NoSuchPath),
    };
    let created = shares.create(&visitor.caller, &request).await?;
    let page = shares.list(&visitor.caller, None).await?;
    let page = page_of(&visitor, created.path.as_deref(), &page);
    Ok((StatusCode::CREATED, Html(page)).into_response())
}

/// Revokes a link of the visitor.
pub(crate) async fn revoke(
    State(shares): State<Arc<Shares>>,
    visitor: PageVisitor,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    if !is_same_origin(&headers) {
        return Err(ApiError::NoSuchPath);
    }
    let id = form_value(&body, "id").unwrap_or_default();
    shares.revoke(&visitor.caller, &id).await?;
    Ok(Redirect::to("/links").into_response())
}

fn page_of(visitor: &PageVisitor, created: Option<&str>, page: &SharePage) -> String {
    let row = |share: &ShareListing| LinkRow {
        id: share.id.clone(),
        card_id: share.card_id.clone(),
        guid: share.guid.clone(),
        created_at: share.created_at.clone(),
        revoked_at: share.revoked_at.clone(),
    };
    let rows: Vec<LinkRow> = page.shares.iter().map(row).collect();
    links_page(visitor.viewer, created, &rows, page.next.as_deref())
}

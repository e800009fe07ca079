//! The scorecard pages and the CSV download.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use rhae_protocol::rfc3339_utc;
use rhae_web::{CardRow, CardView, card_csv, card_page, cards_page};

use super::PageVisitor;
use crate::ApiError;
use crate::cards::Cards;

/// Scorecards listed per page.
const PAGE_SIZE: u32 = 50;

pub(crate) async fn list(
    State(cards): State<Arc<Cards>>,
    visitor: PageVisitor,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, ApiError> {
    let requested = query.as_deref().and_then(|query| {
        query
            .split('&')
            .find_map(|pair| pair.strip_prefix("before="))
    });
    let before = match requested {
        Some(id) => cards
            .find(id)
            .await?
            .filter(|card| visitor.caller.can_read(card.owner))
            .map(|card| card.key),
        None => None,
    };
    let owner = if visitor.caller.can_read_all() {
        None
    } else {
        Some(visitor.caller.owner)
    };
    let page = cards.before(owner, before, PAGE_SIZE).await?;
    let mut rows = Vec::with_capacity(page.len());
    for card in &page {
        let hidden = card.competition && card.closed_ms.is_none();
        rows.push(CardRow {
            id: card.id.to_string(),
            opened_at: rfc3339_utc(card.opened_ms),
            open: card.closed_ms.is_none(),
            tags: card.tags.clone(),
            card: if hidden {
                None
            } else {
                Some(cards.scorecard(card).await?)
            },
        });
    }
    let more = rows
        .last()
        .filter(|_| rows.len() == PAGE_SIZE as usize)
        .map(|row| row.id.clone());
    Ok(Html(cards_page(visitor.viewer, &rows, more.as_deref())))
}

pub(crate) async fn page(
    State(cards): State<Arc<Cards>>,
    visitor: PageVisitor,
    Path(id): Path<String>,
) -> Result<Html<String>, ApiError> {
    let card = cards.readable(&visitor.caller, &id).await?;
    let view = CardView {
        card: cards.scorecard(&card).await?,
        opened_at: rfc3339_utc(card.opened_ms),
        closed_at: card.closed_ms.map(rfc3339_utc),
    };
    Ok(Html(card_page(visitor.viewer, &view)))
}

pub(crate) async fn csv(
    State(cards): State<Arc<Cards>>,
    visitor: PageVisitor,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let card = cards.readable(&visitor.caller, &id).await?;
    let text = card_csv(&cards.scorecard(&card).await?);
    Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], text).into_response())
}

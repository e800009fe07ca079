//! The scorecard pages and the CSV download.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use rhae_protocol::{Scorecard, rfc3339_utc};
use rhae_store::Card;
use rhae_web::{CardRow, CardView, card_csv, card_page, cards_page};

use super::PageVisitor;
use crate::ApiError;
use crate::access::Access;
use crate::cards::Cards;
use crate::run_pages::{keep_page, runs_after};
use crate::shares::Shares;

/// Scorecards listed per page.
const PAGE_SIZE: u32 = 50;
/// Tags shown per card in the list.
const MAX_LISTED_TAGS: usize = 8;
/// Characters shown of each tag in the list.
const MAX_LISTED_TAG_CHARS: usize = 64;
/// Runs in a CSV file, besides the best of each environment.
const MAX_CSV_RUNS: usize = 10_000;

pub(crate) async fn list(
    State(cards): State<Arc<Cards>>,
    State(access): State<Arc<Access>>,
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
            .filter(|card| visitor.caller.can_read_all() || visitor.caller.can_read(card.owner))
            .map(|card| card.key),
        None => None,
    };
    let owner = if visitor.caller.can_read_all() {
        None
    } else {
        Some(visitor.caller.owner)
    };
    let page = cards.before(owner, before, PAGE_SIZE).await?;
    let owners = access.owners(&visitor.caller, &page).await?;
    let mut rows = Vec::with_capacity(page.len());
    let readable = |card: &&Card| visitor.caller.can_read(card.owner);
    for card in page.iter().filter(readable) {
        let hidden = card.competition && card.closed_ms.is_none();
        rows.push(CardRow {
            id: card.id.to_string(),
            opened_at: rfc3339_utc(card.opened_ms),
            open: card.closed_ms.is_none(),
            owner: owners.get(&card.owner).cloned(),
            tags: listed_tags(&card.tags),
            card: if hidden {
                None
            } else {
                Some(cards.scorecard(card).await?)
            },
        });
    }
    let more = page
        .last()
        .filter(|_| page.len() == PAGE_SIZE as usize)
        .map(|card| card.id.to_string());
    Ok(Html(cards_page(visitor.viewer, &rows, more.as_deref())))
}

pub(crate) async fn page(
    State(cards): State<Arc<Cards>>,
    State(access): State<Arc<Access>>,
    State(shares): State<Arc<Shares>>,
    visitor: PageVisitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, ApiError> {
    let runs_after = runs_after(query.as_deref())?;
    let card = cards.readable(&visitor.caller, &id).await?;
    let owner = access.owner(&visitor.caller, &card).await?;
    let scorecard = cards.scorecard(&card).await?;
    let view = CardView {
        runs_after,
        card: Scorecard { owner, ..scorecard },
        opened_at: rfc3339_utc(card.opened_ms),
        closed_at: card.closed_ms.map(rfc3339_utc),
        base: format!("/scorecards/{}", card.id),
        published: false,
        publishable: shares.is_available() && card.owner == visitor.caller.owner,
    };
    Ok(Html(card_page(visitor.viewer, &view)))
}

pub(crate) async fn csv(
    State(cards): State<Arc<Cards>>,
    visitor: PageVisitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let after = runs_after(query.as_deref())?;
    let card = cards.readable(&visitor.caller, &id).await?;
    Ok(csv_response(cards.scorecard(&card).await?, after))
}

/// Returns a page of a scorecard's runs as CSV.
pub(super) fn csv_response(mut card: Scorecard, after: usize) -> Response {
    let next = keep_page(&mut card, after, MAX_CSV_RUNS);
    let link = next.map(|next| [(header::LINK, format!("<?after={next}>; rel=\"next\""))]);
    let text = card_csv(&card);
    let file = ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], text);
    match link {
        Some(link) => (link, file).into_response(),
        None => file.into_response(),
    }
}

/// Shortens the tags of a card for the list. The page of the card shows all of them.
fn listed_tags(tags: &[String]) -> Vec<String> {
    let shortened = |tag: &String| match tag.char_indices().nth(MAX_LISTED_TAG_CHARS) {
        Some((end, _)) => format!("{}…", &tag[..end]),
        None => tag.clone(),
    };
    let mut listed: Vec<String> = tags.iter().take(MAX_LISTED_TAGS).map(shortened).collect();
    if tags.len() > MAX_LISTED_TAGS {
        listed.push("…".to_owned());
    }
    listed
}

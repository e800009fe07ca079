//! The web app: which page is where, what its answers have in common, and who a page is for.
//!
//! Pages are made by `rhae-web`; here is what they show and to whom. **Invariant:** what a page shows passes the same checks as the API:
//! the key in a visitor's cookie is looked at by the gate as if it came in a header. Where access is open, everybody on the machine may
//! read everything, and so may its pages.

mod cards;
mod films;
mod pages;
mod pictures;
mod visitors;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use rhae_web::{POLICY, Who, asset, refusal_page};

use crate::access::Caller;
use crate::{ApiError, Server, Visitors, cards as card_api, events, play_api};

pub(crate) use pictures::Pictures;
pub(crate) use visitors::Entrances;

/// The cookie that has a visitor's key.
pub(crate) const COOKIE: &str = "rhae_key";

/// The routes of the web app.
pub(crate) fn routes(server: &Arc<Server>) -> Router<Arc<Server>> {
    let pages = Router::new()
        .route("/", get(pages::gallery))
        .route("/play/{id}", get(pages::play))
        .route("/replay", get(pages::drop_file))
        .route("/replay/{guid}", get(pages::replay))
        .route("/watch", get(pages::watch_list))
        .route("/watch/{guid}", get(pages::watch))
        .route("/scorecards", get(cards::list))
        .route("/scorecards/{card_id}", get(cards::page))
        .route("/enter", get(visitors::entrance).post(visitors::enter))
        .route("/leave", post(visitors::leave))
        .route(
            "/invite/{token}",
            get(visitors::invitation).post(visitors::accept),
        )
        .layer(from_fn_with_state(Arc::clone(server), as_pages));
    Router::new()
        .route("/visit", post(visitors::visit))
        .route("/play/{id}/state", get(films::state))
        .route("/replay/{guid}/film", get(films::film))
        .route("/replay/{guid}/reasoning", get(films::reasoning))
        .route("/replay/{guid}/recording.jsonl", get(play_api::recording))
        .route("/watch/{guid}/events", get(events::events))
        .route("/watch/{guid}/now.png", get(pictures::now))
        .route("/scorecards/{card_id}/scorecard.json", get(card_api::read))
        .route("/scorecards/{card_id}/scorecard.csv", get(cards::csv))
        .route("/pictures/{name}", get(pictures::first_level))
        .route("/assets/{name}", get(file))
        .merge(pages)
        .layer(from_fn(guarded))
}

/// The first parts of the web app's paths, where a missing key is no error by itself.
const PAGES: [&str; 10] = [
    "",
    "play",
    "replay",
    "watch",
    "scorecards",
    "enter",
    "leave",
    "invite",
    "visit",
    "pictures",
];

/// Whether a path is the web app's.
pub(crate) fn is_page(path: &str) -> bool {
    path.split('/')
        .nth(1)
        .is_some_and(|first| PAGES.contains(&first))
}

/// What browsers must know of every answer.
async fn guarded(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    guard(response.headers_mut());
    response
}

fn guard(headers: &mut HeaderMap) {
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(POLICY),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    // What a page shows is the visitor's own, and changes.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

/// Refusals of pages, which people can read.
async fn as_pages(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let who = server.who(request.extensions().get().copied().flatten().as_ref());
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<ApiError>() {
        Some(error) => page_instead(who, &error, response),
        None => response,
    }
}

/// The same for those who never came to a page, because the gate sent them away or there is none at the path.
pub(crate) fn for_people(server: &Server, mut response: Response) -> Response {
    match response.extensions_mut().remove::<ApiError>() {
        Some(error) => {
            let who = match error {
                _ if server.keys.is_none() => Who::Open,
                // Only who has a key can have used it too often.
                ApiError::RateLimit { .. } => Who::Known,
                _ => Who::Nobody,
            };
            page_instead(who, &error, response)
        }
        None => response,
    }
}

/// Whether a browser is about to show the answer. Scripts and programs take anything, or JSON.
pub(crate) fn is_read_by_a_person(request: &Request) -> bool {
    let names_html = |value: &HeaderValue| {
        value
            .to_str()
            .is_ok_and(|kinds| kinds.contains("text/html"))
    };
    !request.uri().path().starts_with("/api/")
        && request
            .headers()
            .get(header::ACCEPT)
            .is_some_and(names_html)
}

/// A refusal with a page as its body; what its headers say stays.
fn page_instead(who: Who, error: &ApiError, refusal: Response) -> Response {
    let (mut parts, _) = refusal.into_parts();
    let wait_seconds = parts
        .headers
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let message = match error {
        ApiError::RateLimit { most, .. } => {
            format!(
                "this server takes {most} requests a minute, and those of this minute are used up"
            )
        }
        // A browser has no place for a header.
        ApiError::Unauthorized => {
            "this is for those who have a key of the server's operator".to_owned()
        }
        error => error.to_string(),
    };
    let page = refusal_page(who, parts.status.as_u16(), &message, wait_seconds);
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    guard(&mut parts.headers);
    Response::from_parts(parts, page.into())
}

/// A script, a style or a picture of the site.
async fn file(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    let asset = asset(&name).ok_or(ApiError::NoSuchPath)?;
    let known = headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|tag| tag.as_bytes() == asset.tag.as_bytes());
    let facts = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::ETAG, asset.tag.as_str()),
        // Modules name each other without versions, so a browser asks whether it has the present one.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok(if known {
        (StatusCode::NOT_MODIFIED, facts).into_response()
    } else {
        (facts, asset.text.as_str()).into_response()
    })
}

/// Who looks at a page: a caller if there is one, or anybody where visitors are welcome.
pub(crate) struct Guest {
    pub(crate) caller: Caller,
    pub(crate) who: Who,
}

/// Leads to the door whoever may not look.
pub(crate) struct Outside;

impl IntoResponse for Outside {
    fn into_response(self) -> Response {
        Redirect::to("/enter").into_response()
    }
}

impl axum::extract::FromRequestParts<Arc<Server>> for Guest {
    type Rejection = Outside;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        server: &Arc<Server>,
    ) -> Result<Self, Outside> {
        let known: Option<Caller> = parts.extensions.get().copied().flatten();
        let who = server.who(known.as_ref());
        match known {
            Some(caller) => Ok(Self { caller, who }),
            None if server.config.visitors == Visitors::Public => Ok(Self {
                caller: Caller::nobody(),
                who,
            }),
            None => Err(Outside),
        }
    }
}

impl Server {
    fn who(&self, caller: Option<&Caller>) -> Who {
        match caller {
            _ if self.keys.is_none() => Who::Open,
            Some(_) => Who::Known,
            None => Who::Nobody,
        }
    }
}

//! The web app: its routes, the headers of its pages, and the identity of the viewer.
//!
//! `rhae-web` renders the pages; this module decides what they show and to whom.
//!
//! **Invariant:** the content of a page passes the same access checks as the API. The middleware
//! treats the key in a visitor's cookie like one in a header. The exception is open access, under
//! which pages show the cards and plays of every owner.

mod board_replays;
mod boards;
mod cards;
mod page_data;
mod pages;
mod perception;
mod shared;
mod sign_in;
mod sittings;
mod studies;
mod study_plays;
mod thumbnails;

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRef, FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use rhae_web::{CONTENT_SECURITY_POLICY, Viewer, asset, error_page};

use crate::access::{Access, Caller};
use crate::state::AppState;
use crate::{ApiError, Visitors, card_api, events, play_api, study_report_api};

pub(crate) use thumbnails::Thumbnails;

/// The name of the cookie with a visitor's key.
pub(crate) const COOKIE: &str = "rhae_key";

pub(crate) fn routes(state: &AppState) -> Router<AppState> {
    let pages = pages().layer(from_fn_with_state(state.clone(), errors_as_pages));
    data().merge(pages).layer(from_fn(secured))
}

/// The pages. Their errors are pages as well.
fn pages() -> Router<AppState> {
    Router::new()
        .route("/", get(pages::gallery))
        .route("/play/{id}", get(pages::play))
        .route("/replay", get(pages::file_replay))
        .route("/replay/{guid}", get(pages::replay))
        .route("/watch", get(pages::watch_list))
        .route("/watch/{guid}", get(pages::watch))
        .route("/scorecards", get(cards::list))
        .route("/scorecards/{card_id}", get(cards::page))
        .route("/links", get(shared::links).post(shared::publish))
        .route("/links/revoke", post(shared::revoke))
        .route("/shared/{token}", get(shared::page))
        .route("/enter", get(sign_in::form).post(sign_in::sign_in))
        .route("/leave", post(sign_in::sign_out))
        .route(
            "/invite/{token}",
            get(sign_in::invitation).post(sign_in::accept_invitation),
        )
        .route("/s/{token}", get(sittings::home))
        .route("/s/{token}/consent", get(sittings::consent))
        .route("/s/{token}/withdraw", get(sittings::withdraw))
        .route("/studies", get(studies::list))
        .route("/studies/{study}", get(studies::setup))
        .route("/studies/{study}/sessions", get(studies::sessions))
        .route("/studies/{study}/live", get(studies::live))
        .route("/studies/{study}/coverage", get(studies::coverage))
        .route("/studies/{study}/results", get(studies::results))
        .route("/studies/{study}/plays/{guid}", get(study_plays::replay))
        .route(
            "/studies/{study}/environments/{environment}",
            get(studies::environment),
        )
        .route("/studies/{study}/sittings", get(studies::sittings))
        .route("/studies/{study}/payments", get(studies::payments))
        .route("/studies/{study}/baselines", get(studies::baselines))
        .route("/studies/{study}/data", get(studies::data))
        .route("/boards", get(boards::list))
        .route("/boards/{board}", get(boards::board))
        .route("/boards/{board}/{entry}", get(boards::entry))
        .route(
            "/boards/{board}/runs/{run}/recordings/{recording}",
            get(board_replays::page),
        )
}

/// What pages load and link to.
fn data() -> Router<AppState> {
    Router::new()
        .route("/visit", post(sign_in::visit))
        .route("/play/{id}/state", get(page_data::state))
        .route("/replay/{guid}/film", get(page_data::packed_play))
        .route("/replay/{guid}/reasoning", get(page_data::reasoning))
        .route("/replay/{guid}/recording.jsonl", get(play_api::recording))
        .route("/replay/{guid}/times", get(page_data::times))
        .route("/replay/{guid}/work", get(page_data::work))
        .route("/replay/{guid}/perception", get(perception::perception))
        .route("/shared/{token}/film", get(shared::packed_play))
        .route("/shared/{token}/reasoning", get(shared::reasoning))
        .route("/shared/{token}/times", get(shared::times))
        .route("/shared/{token}/work", get(shared::work))
        .route("/shared/{token}/perception", get(shared::perception))
        .route("/shared/{token}/recording.jsonl", get(shared::recording))
        .route("/shared/{token}/scorecard.json", get(shared::scorecard))
        .route("/shared/{token}/scorecard.csv", get(shared::csv))
        .route("/watch/{guid}/events", get(events::events))
        .route("/watch/{guid}/now.png", get(thumbnails::current))
        .route("/scorecards/{card_id}/scorecard.json", get(card_api::read))
        .route("/scorecards/{card_id}/scorecard.csv", get(cards::csv))
        .route("/studies/{study}/plays/{guid}/film", get(study_plays::film))
        .route(
            "/studies/{study}/plays/{guid}/times",
            get(study_plays::times),
        )
        .route(
            "/studies/{study}/plays/{guid}/reasoning",
            get(study_plays::reasoning),
        )
        .route(
            "/studies/{study}/plays/{guid}/recording.jsonl",
            get(study_report_api::recording),
        )
        .route("/s/{token}/consent.txt", get(sittings::consent_text))
        .route("/pictures/{name}", get(thumbnails::first_level))
        .route("/boards/{board}/plot.svg", get(boards::plot))
        .route("/boards/{board}/plot.png", get(boards::picture))
        .route("/boards/{board}/export.tar", get(boards::export))
        .route("/boards/{board}/rows.csv", get(boards::table))
        .route(
            "/boards/{board}/runs/{run}/recordings/{recording}/{part}",
            get(board_replays::part),
        )
        .route("/assets/{name}", get(file))
}

/// The first path segments of the web app. A request below them is accepted without a key, and the
/// page's handler decides what to show.
const PAGES: [&str; 15] = [
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
    "links",
    "shared",
    "s",
    "studies",
    "boards",
];

/// Whether a path belongs to the web app.
pub(crate) fn is_page(path: &str) -> bool {
    path.split('/')
        .nth(1)
        .is_some_and(|first| PAGES.contains(&first))
}

/// Adds the security headers to every response of the web app.
async fn secured(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    add_security_headers(response.headers_mut());
    response
}

fn add_security_headers(headers: &mut HeaderMap) {
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(CONTENT_SECURITY_POLICY),
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
    // A page shows the visitor's own data, which changes, so caches must not store it.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

/// Renders the errors of page handlers as HTML.
async fn errors_as_pages(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    let viewer = access.viewer(request.extensions().get().copied().flatten().as_ref());
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<ApiError>() {
        Some(error) => with_error_page(viewer, &error, response),
        None => response,
    }
}

/// Renders an error of the middleware or of the router as HTML, for a browser that asked for a
/// page.
pub(crate) fn error_as_page(access: &Access, mut response: Response) -> Response {
    match response.extensions_mut().remove::<ApiError>() {
        Some(error) => {
            let viewer = match error {
                _ if access.is_open() => Viewer::OpenAccess,
                // Only a client with a key is subject to the rate limit.
                ApiError::RateLimit { .. } => Viewer::KeyHolder,
                _ => Viewer::Anonymous,
            };
            with_error_page(viewer, &error, response)
        }
        None => response,
    }
}

/// Whether the client is a browser that will display the response, which its `Accept` header shows
/// by naming HTML. Scripts and other programs accept any type, or JSON.
pub(crate) fn wants_html(request: &Request) -> bool {
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

/// Replaces the body of an error response with an HTML page and keeps the other headers.
fn with_error_page(viewer: Viewer, error: &ApiError, refusal: Response) -> Response {
    let (mut parts, _) = refusal.into_parts();
    let wait_seconds = parts
        .headers
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let message = match error {
        ApiError::RateLimit { max, .. } => {
            format!(
                "you have sent more than {max} requests in one minute, the limit of this server"
            )
        }
        // The API's message names a header, which a person cannot set in a browser.
        ApiError::Unauthorized => "this page requires a key from the server's operator".to_owned(),
        error => error.to_string(),
    };
    let page = error_page(viewer, parts.status.as_u16(), &message, wait_seconds);
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    add_security_headers(&mut parts.headers);
    Response::from_parts(parts, page.into())
}

/// Serves a script, a style sheet or an image.
async fn file(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    let asset = asset(&name).ok_or(ApiError::NoSuchPath)?;
    let known = headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|tag| tag.as_bytes() == asset.tag.as_bytes());
    let facts = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::ETAG, asset.tag.as_str()),
        // JavaScript modules import each other by names that contain no version, so the browser
        // must revalidate each file.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok(if known {
        (StatusCode::NOT_MODIFIED, facts).into_response()
    } else {
        (facts, asset.text.as_str()).into_response()
    })
}

/// The visitor of a page: an identified caller or, if the server admits public visitors, an
/// anonymous one.
pub(crate) struct PageVisitor {
    pub(crate) caller: Caller,
    pub(crate) viewer: Viewer,
}

/// Redirects a visitor who may not view a page to the sign-in page.
pub(crate) struct SignInRedirect;

impl IntoResponse for SignInRedirect {
    fn into_response(self) -> Response {
        Redirect::to("/enter").into_response()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PageVisitor
where
    Arc<Access>: FromRef<S>,
{
    type Rejection = SignInRedirect;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, SignInRedirect> {
        let access = Arc::<Access>::from_ref(state);
        let known: Option<Caller> = parts.extensions.get().copied().flatten();
        let viewer = access.viewer(known.as_ref());
        match known {
            Some(caller) => Ok(Self { caller, viewer }),
            None if access.visitors() == Visitors::Public => Ok(Self {
                caller: Caller::anonymous(),
                viewer,
            }),
            None => Err(SignInRedirect),
        }
    }
}

//! Which path leads where, and what every answer has in common.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tower_http::catch_panic::CatchPanicLayer;

use crate::{ApiError, Server, cards, commands, events, games, gate, play_api, web};

/// How the server calls itself.
const NAME: &str = concat!("rhae/", env!("CARGO_PKG_VERSION"));

/// The routes of a server.
pub fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/api/games", get(games::list))
        .route("/api/games/anonkey", get(games::anonymous_key))
        .route("/api/games/{id}", get(games::details))
        .route("/api/games/{id}/source", get(games::source))
        .route("/api/scorecard/open", post(cards::open))
        .route("/api/scorecard/close", post(cards::close))
        .route("/api/scorecard/heartbeat", post(cards::heartbeat))
        .route("/api/scorecard/{card_id}", get(cards::read))
        .route("/api/scorecard/{card_id}/{game_id}", get(cards::read_game))
        .route("/api/cmd/{name}", post(commands::command))
        .route("/api/plays/{guid}", get(play_api::facts))
        .route("/api/plays/{guid}/recording", get(play_api::recording))
        .route("/api/plays/{guid}/events", get(events::events))
        .route("/api/healthcheck", get(|| async { "okay" }))
        .merge(web::routes(&server))
        .fallback(|| async { ApiError::NoSuchPath })
        .method_not_allowed_fallback(|| async { ApiError::Method })
        // The gate has the body's limits.
        .layer(DefaultBodyLimit::disable())
        .layer(CatchPanicLayer::new())
        .layer(map_response(in_common))
        .layer(from_fn_with_state(Arc::clone(&server), gate::pass))
        .with_state(server)
}

/// Base addresses that end in a slash give paths that begin with two.
pub(crate) fn collapse_slashes(mut request: Request) -> Request {
    let path_and_query = request.uri().path_and_query().map_or("/", |both| both.as_str());
    if path_and_query.starts_with("//") {
        let single = format!("/{}", path_and_query.trim_start_matches('/'));
        // What was a path stays one without its first slashes.
        if let Ok(uri) = single.parse::<Uri>() {
            *request.uri_mut() = uri;
        }
    }
    request
}

/// What every answer has: the server's name, by which clients know that a 503 means that nothing happened, and errors as JSON.
async fn in_common(response: Response) -> Response {
    let mut response = errors_as_json(response);
    let headers = response.headers_mut();
    headers.insert(header::SERVER, HeaderValue::from_static(NAME));
    // Says to clients that a request with a key may be sent again.
    headers.insert("idempotency-supported", HeaderValue::from_static("true"));
    response
}

/// What the HTTP layer refuses by itself it refuses in text.
fn errors_as_json(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE).map(|kind| kind.as_bytes());
    let is_ours = kind.is_some_and(|kind| kind == b"application/json" || kind.starts_with(b"text/html"));
    if is_ours || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    match status {
        StatusCode::METHOD_NOT_ALLOWED => ApiError::Method.into_response(),
        StatusCode::NOT_FOUND => ApiError::NoSuchPath.into_response(),
        status => ApiError::Http(status).into_response(),
    }
}

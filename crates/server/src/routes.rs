//! Which path leads where, and what every answer has in common.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::openapi::Document;
use crate::{ApiError, Server, cards, commands, events, games, gate, openapi, play_api, web};

/// How the server calls itself.
const NAME: &str = concat!("rhae/", env!("CARGO_PKG_VERSION"));

/// The routes of a server.
pub fn router(server: Arc<Server>) -> Router {
    let (router, document) = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(games::list))
        .routes(routes!(games::anonymous_key))
        .routes(routes!(games::details))
        .routes(routes!(games::source))
        .routes(routes!(cards::open))
        .routes(routes!(cards::close))
        .routes(routes!(cards::heartbeat))
        .routes(routes!(cards::read))
        .routes(routes!(cards::read_game))
        .routes(routes!(commands::command))
        .routes(routes!(play_api::facts))
        .routes(routes!(play_api::recording))
        .routes(routes!(events::events))
        .routes(routes!(openapi::healthcheck))
        .split_for_parts();
    let described = Bytes::from(
        document
            .to_pretty_json()
            .expect("a description can be written to memory"),
    );
    let described = move || async { ([(header::CONTENT_TYPE, "application/json")], described) };
    router
        .route("/api/openapi.json", get(described))
        .merge(web::routes(&server))
        .fallback(|| async { ApiError::NoSuchPath })
        .method_not_allowed_fallback(|| async { ApiError::Method })
        // The gate has the body's limits.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(&server), gate::pass))
        .with_state(server)
}

/// Base addresses that end in a slash give paths that begin with two.
pub(crate) fn collapse_slashes(mut request: Request) -> Request {
    let path_and_query = request
        .uri()
        .path_and_query()
        .map_or("/", |both| both.as_str());
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
pub(crate) fn in_common(response: Response) -> Response {
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
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)
        .map(|kind| kind.as_bytes());
    let is_ours =
        kind.is_some_and(|kind| kind == b"application/json" || kind.starts_with(b"text/html"));
    if is_ours || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    match status {
        StatusCode::METHOD_NOT_ALLOWED => ApiError::Method.into_response(),
        StatusCode::NOT_FOUND => ApiError::NoSuchPath.into_response(),
        status => ApiError::Http(status).into_response(),
    }
}

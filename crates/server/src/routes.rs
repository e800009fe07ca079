//! The routing table, and the headers and error format that all responses share.

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
use crate::state::AppState;
use crate::{
    ApiError, Server, board_api, card_api, commands, events, game_api, middleware, openapi,
    play_api, share_api, sitting_api, study_api, study_report_api, web,
};

/// The value of the `Server` header.
pub(crate) const NAME: &str = concat!("rhae/", env!("CARGO_PKG_VERSION"));

/// Builds the axum router of a server: the API, its OpenAPI document, and the web app.
pub fn router(server: Arc<Server>) -> Router {
    let state = AppState::new(server);
    let (router, document) = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(game_api::list))
        .routes(routes!(game_api::anonymous_key))
        .routes(routes!(game_api::details))
        .routes(routes!(game_api::source))
        .routes(routes!(card_api::open))
        .routes(routes!(card_api::close))
        .routes(routes!(card_api::heartbeat))
        .routes(routes!(card_api::read))
        .routes(routes!(card_api::read_game))
        .routes(routes!(commands::command))
        .routes(routes!(play_api::facts))
        .routes(routes!(play_api::recording))
        .routes(routes!(events::events))
        .routes(routes!(share_api::create, share_api::list))
        .routes(routes!(share_api::revoke))
        .routes(routes!(sitting_api::view))
        .routes(routes!(sitting_api::command))
        .routes(routes!(sitting_api::action))
        .routes(routes!(sitting_api::arrive))
        .routes(routes!(study_api::list, study_api::create))
        .routes(routes!(study_api::read))
        .routes(routes!(study_api::check))
        .routes(routes!(study_api::change))
        .routes(routes!(study_api::enrol))
        .routes(routes!(study_api::links))
        .routes(routes!(study_report_api::live))
        .routes(routes!(study_report_api::coverage))
        .routes(routes!(study_report_api::results))
        .routes(routes!(study_report_api::clicks))
        .routes(routes!(study_report_api::report))
        .routes(routes!(study_report_api::sittings))
        .routes(routes!(study_report_api::recording))
        .routes(routes!(study_report_api::payments))
        .routes(routes!(study_report_api::payment_list))
        .routes(routes!(study_report_api::baselines))
        .routes(routes!(study_report_api::published))
        .routes(routes!(study_report_api::log))
        .routes(routes!(study_report_api::export))
        .routes(routes!(study_report_api::verification))
        .routes(routes!(board_api::list, board_api::create))
        .routes(routes!(board_api::read))
        .routes(routes!(board_api::entry))
        .routes(routes!(board_api::compare))
        .routes(routes!(board_api::log))
        .routes(routes!(board_api::plot))
        .routes(routes!(board_api::picture))
        .routes(routes!(board_api::export))
        .routes(routes!(board_api::table))
        .routes(routes!(board_api::recording))
        .routes(routes!(board_api::register))
        .routes(routes!(board_api::submit))
        .routes(routes!(board_api::change))
        .routes(routes!(openapi::healthcheck))
        .split_for_parts();
    let openapi_json = Bytes::from(
        document
            .to_pretty_json()
            .expect("the OpenAPI document serialises to JSON"),
    );
    let openapi_json =
        move || async { ([(header::CONTENT_TYPE, "application/json")], openapi_json) };
    router
        .route("/api/openapi.json", get(openapi_json))
        .merge(web::routes(&state))
        .fallback(|| async { ApiError::NoSuchPath })
        .method_not_allowed_fallback(|| async { ApiError::MethodNotAllowed })
        // The middleware enforces the configured body limit.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(state.clone(), middleware::handle))
        .with_state(state)
}

/// Collapses leading slashes of the path, because clients with a base URL that ends in a slash send
/// `//api/...`.
pub(crate) fn collapse_slashes(mut request: Request) -> Request {
    let path_and_query = request
        .uri()
        .path_and_query()
        .map_or("/", |both| both.as_str());
    if path_and_query.starts_with("//") {
        let single = format!("/{}", path_and_query.trim_start_matches('/'));
        // Parsing cannot fail: removing leading slashes from a valid path leaves a valid path.
        if let Ok(uri) = single.parse::<Uri>() {
            *request.uri_mut() = uri;
        }
    }
    request
}

/// Completes every response: converts plain-text errors to JSON and sets the common headers.
///
/// The `Server` header lets a client distinguish a 503 `SERVICE_UNAVAILABLE` of this server, which
/// means that nothing was changed, from a 503 of a proxy.
pub(crate) fn finish_response(response: Response) -> Response {
    let mut response = errors_as_json(response);
    let headers = response.headers_mut();
    headers.insert(header::SERVER, HeaderValue::from_static(NAME));
    // Tells clients that they may repeat a request that carries an idempotency key.
    headers.insert("idempotency-supported", HeaderValue::from_static("true"));
    response
}

/// Replaces the plain-text error bodies of axum and hyper with the JSON form.
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
        StatusCode::METHOD_NOT_ALLOWED => ApiError::MethodNotAllowed.into_response(),
        StatusCode::NOT_FOUND => ApiError::NoSuchPath.into_response(),
        status => ApiError::Http(status).into_response(),
    }
}

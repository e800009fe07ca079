//! The middleware layer that every request and response passes through.
//!
//! On the way in it assigns a request id, checks the host name and the site of the sender (with open
//! access), identifies the caller, applies the rate limit, and reads the body within its size and
//! time limits. On the way out it adds the common headers and the request id, counts the request,
//! and logs it. All of this is one layer because each additional layer costs a few allocations per
//! request.
//!
//! **Invariant:** neither a key nor a body is ever logged.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use tracing::Instrument;

use crate::access::check_site;
use crate::routes::finish_response;
use crate::state::AppState;
use crate::web::{error_as_page, wants_html};
use crate::{ApiError, Server};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The number of bytes of an oversized body that the server reads and discards before it responds.
/// Without this, a client that is still sending when the connection closes might never see the
/// response.
const MAX_DISCARDED_BYTES: usize = 1024 * 1024;

/// Processes a request and its response.
pub(crate) async fn handle(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let server = state.server();
    let started = Instant::now();
    let id = request_id(&server.request_ids, request.headers());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let wants_page = wants_html(&request);
    // The span exists only if debug logging is enabled, because a span per request is expensive.
    let span = tracing::debug_span!("request", id = id.to_str().unwrap_or_default());
    let handled = async {
        match prepare(server, request).await {
            Ok(request) => next.run(request).await,
            Err(refused) => refused.into_response(),
        }
    };
    let mut response = finish_response(catch_panic(handled.instrument(span.clone())).await);
    if wants_page {
        response = error_as_page(&server.access, response);
    }
    response.headers_mut().insert(REQUEST_ID, id.clone());
    let (status, took) = (response.status().as_u16(), started.elapsed());
    server
        .metrics
        .request(route.as_ref().map_or("", MatchedPath::as_str), status, took);
    let _entered = span.enter();
    // The token of an invitation, of a link or of a participant grants access like a key, so it is not logged.
    let path = match uri.path() {
        path if path.starts_with("/invite/") => "/invite/…",
        path if path.starts_with("/shared/") => "/shared/…",
        path if path.starts_with("/s/") => "/s/…",
        path => path,
    };
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    match status {
        500..=599 => {
            let request = id.to_str().unwrap_or_default();
            tracing::error!(request, %method, path, status, micros, "failed");
        }
        _ => tracing::debug!(%method, path, status, micros, "answered"),
    }
    response
}

/// Runs a handler and converts a panic into a 500 response.
async fn catch_panic(handled: impl Future<Output = Response>) -> Response {
    let mut handled = pin!(handled);
    let answered = poll_fn(|context| {
        // Catching the panic is safe: the future is not polled again, and the state that it held is
        // rebuilt from the store.
        match catch_unwind(AssertUnwindSafe(|| handled.as_mut().poll(context))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        }
    });
    answered
        .await
        .unwrap_or_else(|| ApiError::Http(StatusCode::INTERNAL_SERVER_ERROR).into_response())
}

/// Returns the client's request id if it is short and plain, otherwise a new one.
fn request_id(ids: &RequestIds, headers: &HeaderMap) -> HeaderValue {
    let is_valid = |value: &&HeaderValue| {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        (1..=64).contains(&value.len()) && value.as_bytes().iter().all(plain)
    };
    headers
        .get(&REQUEST_ID)
        .filter(is_valid)
        .cloned()
        .unwrap_or_else(|| ids.next())
}

/// Generates request ids: a random number of the server and a counter. The ids of different servers
/// are therefore very unlikely to collide.
pub(crate) struct RequestIds {
    server: u32,
    count: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new() -> Self {
        Self {
            server: uuid::Uuid::new_v4().as_fields().0,
            count: AtomicU64::new(0),
        }
    }

    fn next(&self) -> HeaderValue {
        let id = format!(
            "{:08x}-{:x}",
            self.server,
            self.count.fetch_add(1, Ordering::Relaxed)
        );
        HeaderValue::try_from(id).expect("hexadecimal digits and a hyphen are valid in a header")
    }
}

/// Identifies the caller and reads the body.
async fn prepare(server: &Server, request: Request) -> Result<Request, ApiError> {
    let (mut parts, body) = request.into_parts();
    let limits = &server.config.limits;
    // Without keys, any page that a browser shows could use the server.
    let origin = if server.access.is_open() {
        let host = server.network.check_host(&parts.uri, &parts.headers);
        host.and_then(|()| check_site(&parts.method, &parts.headers))
    } else {
        Ok(())
    };
    let admitted = match origin {
        Ok(()) => {
            let path = parts.uri.path();
            server.access.authenticate(path, &parts.headers).await
        }
        Err(refused) => Err(refused),
    };
    if body.is_end_stream() {
        parts.extensions.insert(admitted?);
        return Ok(Request::from_parts(parts, body));
    }
    // The body of a refused request is read and discarded, so that the client sees the response.
    let max = if admitted.is_ok() {
        limits.body_bytes
    } else {
        0
    };
    let read = tokio::time::timeout(limits.body_timeout, read_body(body, max)).await;
    parts.extensions.insert(admitted?);
    let bytes = read.map_err(|_| ApiError::BodyTimeout)??;
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// Reads a body to its end. A body longer than `max` bytes is discarded and gives
/// [`ApiError::TooLarge`]; at most [`MAX_DISCARDED_BYTES`] beyond `max` are read.
async fn read_body(mut body: Body, max: usize) -> Result<Bytes, ApiError> {
    let broken = |_| ApiError::BodyIncomplete;
    let mut single = Bytes::new();
    let mut parts: Vec<u8> = Vec::new();
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(broken)?.into_data() else {
            continue;
        };
        length = length.saturating_add(data.len());
        if length > max.saturating_add(MAX_DISCARDED_BYTES) {
            break;
        }
        if length > max {
            (single, parts) = (Bytes::new(), Vec::new());
        } else if single.is_empty() && parts.is_empty() {
            // Most bodies arrive in one piece, which needs no copy.
            single = data;
        } else {
            if parts.is_empty() {
                parts = std::mem::take(&mut single).to_vec();
            }
            parts.extend_from_slice(&data);
        }
    }
    if length > max {
        return Err(ApiError::TooLarge(max));
    }
    Ok(if parts.is_empty() {
        single
    } else {
        parts.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn panicking_handler_gets_a_500() {
        let panics = async {
            tokio::task::yield_now().await;
            panic!("deliberate panic of the test")
        };
        assert_eq!(
            catch_panic(panics).await.status(),
            StatusCode::INTERNAL_SERVER_ERROR
        );
        assert_eq!(
            catch_panic(async { "fine".into_response() }).await.status(),
            StatusCode::OK
        );
    }
}

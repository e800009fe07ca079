//! What every request passes on its way to a handler and every answer on its way back.
//!
//! In: an id, the caller, the rate, the body with its size, time and depth. Out: what all answers have in common, the id, the count, the
//! line in the log. All of it is one layer, because each layer costs every request a few allocations.
//! **Invariant:** neither a key nor a body is ever logged.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
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

use crate::body::is_json;
use crate::routes::in_common;
use crate::web::{for_people, is_read_by_a_person};
use crate::{ApiError, Server};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Of a body that is too large so much more is read and thrown away, because a client that is still sending when the connection
/// is closed may never see the answer.
const MOST_DISCARDED: usize = 1024 * 1024;

/// Takes a request in and its answer out.
pub(crate) async fn pass(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let id = request_id(&server, request.headers());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let for_a_person = is_read_by_a_person(&request);
    // There is a span only where every request is logged anyway, because one is made for each request.
    let span = tracing::debug_span!("request", id = id.to_str().unwrap_or_default());
    let handled = async {
        match prepare(&server, request).await {
            Ok(request) => next.run(request).await,
            Err(refused) => refused.into_response(),
        }
    };
    let mut response = in_common(caught(handled.instrument(span.clone())).await);
    if for_a_person {
        response = for_people(&server, response);
    }
    response.headers_mut().insert(REQUEST_ID, id.clone());
    let (status, took) = (response.status().as_u16(), begun.elapsed());
    server
        .metrics
        .request(route.as_ref().map_or("", MatchedPath::as_str), status, took);
    let _entered = span.enter();
    // An invitation is as good as a key.
    let path = if uri.path().starts_with("/invite/") {
        "/invite/…"
    } else {
        uri.path()
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

/// The answer of a handler, also of one that panics.
async fn caught(handled: impl Future<Output = Response>) -> Response {
    let mut handled = pin!(handled);
    let answered = poll_fn(|context| {
        // A future that panicked is not polled again, and what it held is made anew from the store.
        match catch_unwind(AssertUnwindSafe(|| handled.as_mut().poll(context))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        }
    });
    answered
        .await
        .unwrap_or_else(|| ApiError::Http(StatusCode::INTERNAL_SERVER_ERROR).into_response())
}

/// The client's id for the request if it is a sane one, otherwise a new one.
fn request_id(server: &Server, headers: &HeaderMap) -> HeaderValue {
    let sane = |value: &&HeaderValue| {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        (1..=64).contains(&value.len()) && value.as_bytes().iter().all(plain)
    };
    headers
        .get(&REQUEST_ID)
        .filter(sane)
        .cloned()
        .unwrap_or_else(|| server.request_ids.next())
}

/// Ids that no other request of this server or another has.
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
        HeaderValue::try_from(id).expect("digits and a hyphen can stand in a header")
    }
}

/// Finds out who sends a request and reads its body.
async fn prepare(server: &Server, request: Request) -> Result<Request, ApiError> {
    let (mut parts, body) = request.into_parts();
    let limits = &server.config.limits;
    let admitted = server.admit(parts.uri.path(), &parts.headers).await;
    if body.is_end_stream() {
        parts.extensions.insert(admitted?);
        return Ok(Request::from_parts(parts, body));
    }
    // The body of a request that is refused is read for the same reason as the rest of one that is too large.
    let most = if admitted.is_ok() {
        limits.body_bytes
    } else {
        0
    };
    let read = tokio::time::timeout(limits.body_timeout, read(body, most)).await;
    parts.extensions.insert(admitted?);
    let bytes = read.map_err(|_| ApiError::BodyTimeout)??;
    if is_json(&parts.headers) && deeper_than(&bytes, limits.json_depth) {
        return Err(ApiError::TooDeep(limits.json_depth));
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// Reads a body to its end; one that is longer than it may be is not kept.
async fn read(mut body: Body, most: usize) -> Result<Bytes, ApiError> {
    let broken = |_| ApiError::BodyBroken;
    let mut whole = Bytes::new();
    let mut parts: Vec<u8> = Vec::new();
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(broken)?.into_data() else {
            continue;
        };
        length = length.saturating_add(data.len());
        if length > most.saturating_add(MOST_DISCARDED) {
            break;
        }
        if length > most {
            (whole, parts) = (Bytes::new(), Vec::new());
        } else if whole.is_empty() && parts.is_empty() {
            // Most bodies come in one piece, which needs no copy.
            whole = data;
        } else {
            if parts.is_empty() {
                parts = std::mem::take(&mut whole).to_vec();
            }
            parts.extend_from_slice(&data);
        }
    }
    if length > most {
        return Err(ApiError::TooLarge(most));
    }
    Ok(if parts.is_empty() {
        whole
    } else {
        parts.into()
    })
}

/// Whether a JSON text is nested deeper than it may be. What is not JSON is left to the parser.
fn deeper_than(text: &[u8], most: usize) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                if depth > most {
                    return true;
                }
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_handler_that_panics_is_answered_for() {
        let panics = async {
            tokio::task::yield_now().await;
            panic!("a handler went wrong, as it should here")
        };
        assert_eq!(
            caught(panics).await.status(),
            StatusCode::INTERNAL_SERVER_ERROR
        );
        assert_eq!(
            caught(async { "fine".into_response() }).await.status(),
            StatusCode::OK
        );
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert!(!deeper_than(br#"{"a":[1,[2]],"b":[{}]}"#, 3));
        assert!(deeper_than(br#"{"a":[1,[2]],"b":[{}]}"#, 2));
        assert!(!deeper_than(br#"{"a":"[[[[\"[[[[\\"}"#, 1));
        assert!(deeper_than(br#"{"a":"\\"  ,"b":[]}"#, 1));
        assert!(!deeper_than(b"]]]]}}}{", 1));
    }
}

//! Signing in. A new visitor receives a key in a cookie; someone who already has a key signs in,
//! which stores that key in the cookie.
//!
//! A key is created when a visitor starts to play, not when a page is viewed, so that crawlers
//! create no keys. The number of keys that `/visit` creates per minute is limited, for each address
//! and in total; an invitation has its own limit. Scripts cannot read the cookie, and the browser does not attach it to
//! cross-site requests other than top-level navigation.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use rhae_store::Key;
use rhae_web::{Viewer, invitation_page, sign_in_page};

use super::COOKIE;
use crate::access::{Access, Caller, is_same_origin};
use crate::network::ClientAddress;
use crate::{ApiError, ApiKey, Visitors};

const COOKIE_MAX_AGE_SECONDS: u32 = 365 * 24 * 60 * 60;

/// Handles `POST /visit`, which a page sends before its first command so that the visitor has a
/// key.
pub(crate) async fn visit(
    State(access): State<Arc<Access>>,
    caller: OptionalCaller,
    address: ClientAddress,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if !is_same_origin(&headers) {
        return Err(ApiError::Unauthorized);
    }
    let open = access.is_open();
    if caller.0.is_some_and(|caller| !open || caller.in_browser) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    if !open && access.visitors() != Visitors::Public {
        return Err(ApiError::Unauthorized);
    }
    let secret = access.create_visitor_key(address).await?;
    Ok((
        StatusCode::NO_CONTENT,
        [(header::SET_COOKIE, cookie(&secret, &headers))],
    )
        .into_response())
}

pub(crate) async fn form(State(access): State<Arc<Access>>, caller: OptionalCaller) -> Response {
    if access.is_open() {
        return Redirect::to("/").into_response();
    }
    Html(sign_in_page(access.viewer(caller.0.as_ref()), None)).into_response()
}

/// Checks a key from the sign-in form and stores it in the cookie.
pub(crate) async fn sign_in(
    State(access): State<Arc<Access>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let text = form_value(&body, "key").unwrap_or_default();
    let refused = || {
        (
            StatusCode::UNAUTHORIZED,
            Html(sign_in_page(
                Viewer::Anonymous,
                Some("This key is not valid on this server."),
            )),
        )
    };
    if access.is_open() || !is_same_origin(&headers) {
        return Ok(Redirect::to("/").into_response());
    }
    let Some(secret) = access.verified_key(&text).await? else {
        return Ok(refused().into_response());
    };
    Ok((
        [(header::SET_COOKIE, cookie(&secret, &headers))],
        Redirect::to("/scorecards"),
    )
        .into_response())
}

/// Deletes the cookie; the key stays valid.
pub(crate) async fn sign_out(headers: HeaderMap) -> Response {
    if !is_same_origin(&headers) {
        return Redirect::to("/").into_response();
    }
    let expired = format!("{COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    ([(header::SET_COOKIE, expired)], Redirect::to("/")).into_response()
}

pub(crate) async fn invitation(
    State(access): State<Arc<Access>>,
    caller: OptionalCaller,
    Path(token): Path<String>,
) -> Result<Response, ApiError> {
    let (invitation, is_valid) = access.find_invitation(&token).await?;
    // A returning visitor may open the link again, even if it admits no further visitors.
    if caller.has_accepted(&invitation) {
        return Ok(Redirect::to("/").into_response());
    }
    if is_valid {
        Ok(Html(invitation_page(&token)).into_response())
    } else {
        Err(ApiError::NoSuchPath)
    }
}

/// Accepts an invitation: creates a visitor key and stores it in the cookie.
pub(crate) async fn accept_invitation(
    State(access): State<Arc<Access>>,
    caller: OptionalCaller,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if !is_same_origin(&headers) {
        return Err(ApiError::NoSuchPath);
    }
    let (invitation, is_valid) = access.find_invitation(&token).await?;
    if caller.has_accepted(&invitation) {
        // A returning visitor keeps the identity created on the first visit.
        return Ok(Redirect::to("/").into_response());
    }
    if !is_valid {
        return Err(ApiError::NoSuchPath);
    }
    let secret = access.accept_invitation(&invitation).await?;
    Ok((
        [(header::SET_COOKIE, cookie(&secret, &headers))],
        Redirect::to("/"),
    )
        .into_response())
}

/// Builds the cookie. It is `Secure` if the browser uses HTTPS, which the `Origin` header or a
/// TLS-terminating proxy's `X-Forwarded-Proto` shows.
fn cookie(secret: &ApiKey, headers: &HeaderMap) -> HeaderValue {
    let secure = headers
        .get("x-forwarded-proto")
        .is_some_and(|scheme| scheme == "https");
    let origin = headers
        .get(header::ORIGIN)
        .is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if secure || origin { "; Secure" } else { "" };
    let text = format!(
        "{COOKIE}={}; Path=/; Max-Age={COOKIE_MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax{secure}",
        secret.reveal()
    );
    HeaderValue::try_from(text).expect("a key consists of letters, digits and underscores")
}

/// Returns a field of a form. Does not percent-decode, because keys contain only characters that
/// need no escaping; surrounding spaces (`+`) are removed.
pub(super) fn form_value(body: &[u8], name: &str) -> Option<String> {
    let text = str::from_utf8(body).ok()?;
    let field = text
        .split('&')
        .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    field.map(|value| value.trim_matches('+').trim().to_owned())
}

/// The caller, or `None` if the request has no valid key.
pub(crate) struct OptionalCaller(pub(crate) Option<Caller>);

impl OptionalCaller {
    fn has_accepted(&self, invitation: &Key) -> bool {
        let caller = self.0.as_ref();
        caller.is_some_and(|caller| Access::has_accepted(caller, invitation))
    }
}

impl<S: Sync> axum::extract::FromRequestParts<S> for OptionalCaller {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        _: &S,
    ) -> Result<Self, Self::Rejection> {
        Ok(Self(parts.extensions.get().copied().flatten()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_value_finds_the_field() {
        assert_eq!(
            form_value(b"a=1&key=rhae_1_2", "key").as_deref(),
            Some("rhae_1_2")
        );
        assert_eq!(form_value(b"key=+x+", "key").as_deref(), Some("x"));
        assert_eq!(form_value(b"keys=1", "key"), None);
        assert_eq!(form_value(b"\xff", "key"), None);
    }
}

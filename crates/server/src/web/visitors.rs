//! Coming in: visitors get a key of their own in a cookie, those who have a key put it there.
//!
//! A key is made when somebody begins to play, not when a page is looked at, so that programs that read pages leave no keys behind; and no
//! more than so many in a minute. The cookie cannot be read by scripts and is not sent along from other sites.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use rhae_store::{GameSets, Key, KeyId, Scopes};
use rhae_web::{Who, entrance_page, invitation_page};

use super::COOKIE;
use crate::access::{Caller, is_from_here};
use crate::rate::Rates;
use crate::{ApiError, ApiKey, Server, Visitors};

/// Keys that visitors may get in a minute, all of them together.
const MOST_NEW: u32 = 600;
/// How long a browser keeps the cookie: a year.
const KEPT_SECONDS: u32 = 365 * 24 * 60 * 60;

/// Counts those who come in.
#[derive(Default)]
pub(crate) struct Entrances(Rates);

impl Entrances {
    fn count(&self, now: Duration) -> Result<(), ApiError> {
        let counted = self.0.count(KeyId(0), MOST_NEW, now);
        counted.map_err(|retry_seconds| ApiError::RateLimit {
            most: MOST_NEW,
            retry_seconds,
        })
    }
}

/// `POST /visit`: what a page asks before the first command, so that the visitor has a key.
pub(crate) async fn visit(
    State(server): State<Arc<Server>>,
    known: Known,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if !is_from_here(&headers) {
        return Err(ApiError::Unauthorized);
    }
    let open = server.keys.is_none();
    if known.0.is_some_and(|caller| !open || caller.in_browser) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    if !open && server.config.visitors != Visitors::Public {
        return Err(ApiError::Unauthorized);
    }
    server.entrances.count(server.begun.elapsed())?;
    let (secret, key) = new_visitor(&server, "visitor", GameSets::PUBLIC)?;
    if let Some(keys) = &server.keys {
        keys.store().create_key(key).await?;
    }
    Ok((
        StatusCode::NO_CONTENT,
        [(header::SET_COOKIE, cookie(&secret, &headers))],
    )
        .into_response())
}

pub(crate) async fn entrance(State(server): State<Arc<Server>>, known: Known) -> Response {
    if server.keys.is_none() {
        return Redirect::to("/").into_response();
    }
    Html(entrance_page(server.who(known.0.as_ref()), None)).into_response()
}

/// Takes a key that somebody has been given.
pub(crate) async fn enter(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let text = form_value(&body, "key").unwrap_or_default();
    let refused = || {
        (
            StatusCode::UNAUTHORIZED,
            Html(entrance_page(
                Who::Nobody,
                Some("This is not a key of this server."),
            )),
        )
    };
    let Some(keys) = server.keys.as_ref().filter(|_| is_from_here(&headers)) else {
        return Ok(Redirect::to("/").into_response());
    };
    let Some(secret) = ApiKey::parse(text.as_bytes()) else {
        return Ok(refused().into_response());
    };
    let stored = keys.store().key(secret.id()).await?;
    if stored.is_none_or(|stored| stored.invitation.is_some() || secret.verify(&stored).is_none()) {
        return Ok(refused().into_response());
    }
    Ok((
        [(header::SET_COOKIE, cookie(&secret, &headers))],
        Redirect::to("/scorecards"),
    )
        .into_response())
}

/// Forgets the key in this browser; it stays valid.
pub(crate) async fn leave(headers: HeaderMap) -> Response {
    if !is_from_here(&headers) {
        return Redirect::to("/").into_response();
    }
    let gone = format!("{COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    ([(header::SET_COOKIE, gone)], Redirect::to("/")).into_response()
}

pub(crate) async fn invitation(
    State(server): State<Arc<Server>>,
    Path(token): Path<String>,
) -> Result<Html<String>, ApiError> {
    server.invited(&token).await?;
    Ok(Html(invitation_page(&token)))
}

/// Gives a key for an invitation.
pub(crate) async fn accept(
    State(server): State<Arc<Server>>,
    known: Known,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if !is_from_here(&headers) {
        return Err(ApiError::NoSuchPath);
    }
    let invitation = server.invited(&token).await?;
    if known.0.is_some_and(|caller| caller.visitor) {
        // Somebody who comes a second time goes on as whom the first time made.
        return Ok(Redirect::to("/").into_response());
    }
    let keys = server.keys.as_ref().ok_or(ApiError::NoSuchPath)?;
    let (secret, key) = new_visitor(
        &server,
        &format!("visitor by {}", invitation.id),
        invitation.scopes.sets,
    )?;
    if !keys
        .store()
        .accept_invitation(invitation.id, key, server.clock.now_ms())
        .await?
    {
        return Err(ApiError::NoSuchPath);
    }
    Ok((
        [(header::SET_COOKIE, cookie(&secret, &headers))],
        Redirect::to("/"),
    )
        .into_response())
}

impl Server {
    /// The invitation with this text, if it still holds.
    async fn invited(&self, token: &str) -> Result<Key, ApiError> {
        let keys = self
            .keys
            .as_ref()
            .filter(|_| self.config.visitors != Visitors::Off)
            .ok_or(ApiError::NoSuchPath)?;
        let secret = ApiKey::parse(token.as_bytes()).ok_or(ApiError::NoSuchPath)?;
        let stored = keys
            .store()
            .key(secret.id())
            .await?
            .ok_or(ApiError::NoSuchPath)?;
        let holds = stored
            .invitation
            .is_some_and(|left| left.left > 0 && left.until_ms > self.clock.now_ms());
        if holds && secret.verify(&stored).is_some() {
            Ok(stored)
        } else {
            Err(ApiError::NoSuchPath)
        }
    }
}

fn new_visitor(server: &Server, name: &str, sets: GameSets) -> Result<(ApiKey, Key), ApiError> {
    let secret = ApiKey::generate().map_err(|error| ApiError::Failed(error.to_string()))?;
    let scopes = Scopes {
        sets,
        sources: false,
        admin: false,
        visitor: true,
    };
    let (id, hash, created_ms) = (secret.id(), secret.hash(), server.clock.now_ms());
    Ok((
        secret,
        Key {
            id,
            hash,
            name: name.to_owned(),
            scopes,
            created_ms,
            revoked_ms: None,
            invitation: None,
        },
    ))
}

/// The cookie of a key. Behind a proxy that ends TLS, the proxy says so.
fn cookie(secret: &ApiKey, headers: &HeaderMap) -> HeaderValue {
    let secure = headers
        .get("x-forwarded-proto")
        .is_some_and(|scheme| scheme == "https");
    let origin = headers
        .get(header::ORIGIN)
        .is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if secure || origin { "; Secure" } else { "" };
    let text = format!(
        "{COOKIE}={}; Path=/; Max-Age={KEPT_SECONDS}; HttpOnly; SameSite=Lax{secure}",
        secret.reveal()
    );
    HeaderValue::try_from(text).expect("a key is letters, digits and underscores")
}

/// A field of a form; keys have no characters that forms escape.
fn form_value(body: &[u8], name: &str) -> Option<String> {
    let text = str::from_utf8(body).ok()?;
    let field = text
        .split('&')
        .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    field.map(|value| value.trim_matches('+').trim().to_owned())
}

/// Who sends the request, if that is known.
pub(crate) struct Known(Option<Caller>);

impl<S: Sync> axum::extract::FromRequestParts<S> for Known {
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
    fn a_field_of_a_form_is_found() {
        assert_eq!(
            form_value(b"a=1&key=rhae_1_2", "key").as_deref(),
            Some("rhae_1_2")
        );
        assert_eq!(form_value(b"key=+x+", "key").as_deref(), Some("x"));
        assert_eq!(form_value(b"keys=1", "key"), None);
        assert_eq!(form_value(b"\xff", "key"), None);
    }
}

//! HTTP requests to one address. Each request is sent only once, and a [`Failure`] says whether it
//! may have arrived.
//!
//! This module does not know what requests mean. Its caller decides whether one may be sent again.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rhae_throttle::parse_retry_after;
use serde::Deserialize;
use ureq::http::{HeaderMap, HeaderValue, Response, header};
use ureq::{Agent, Body, Timeout};

use crate::cookies::Cookies;
use crate::{ClientError, RetryPolicy};

/// The maximum size of a response: a thousand frames with two digits per cell, and some overhead.
const MAX_RESPONSE_BYTES: u64 = 16 * 1024 * 1024;
/// The maximum length of an error text from the server.
const MAX_MESSAGE_CHARS: usize = 300;

/// The reason why a request has no usable response.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The request was not sent.
    NotSent(String),
    /// The request may have arrived; its effect is unknown.
    Lost {
        reason: String,
        /// Whether the server may still execute the request, because only the wait for the response
        /// timed out.
        pending: bool,
    },
    /// The server responded with an error status.
    Status {
        status: u16,
        code: String,
        message: String,
        retry_after: Option<Duration>,
    },
    /// The response is invalid.
    Invalid(String),
}

/// The pool of connections that a request uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// Connections of plays, which are closed when the run is cancelled.
    Plays,
    /// Connections for requests about cards. They stay usable after a cancellation, because cards
    /// must still be closed.
    Cards,
}

pub(crate) struct Transport {
    base: String,
    key: Option<HeaderValue>,
    plays: Agent,
    cards: Agent,
    cookies: Mutex<Cookies>,
    /// Whether the server identifies itself as Rhae.
    is_rhae: AtomicBool,
    /// Whether the server announced support for idempotency keys.
    idempotent: AtomicBool,
}

impl Transport {
    pub(crate) fn new(
        address: &str,
        key: Option<&str>,
        retry_policy: &RetryPolicy,
    ) -> Result<Self, ClientError> {
        let key = key
            .map(|key| HeaderValue::from_str(key).map_err(|_| ClientError::Key))
            .transpose()?;
        let agent = || {
            let config = Agent::config_builder()
                .http_status_as_error(false)
                .max_redirects(0)
                .max_redirects_will_error(false)
                .user_agent(rhae_protocol::SOFTWARE.replace(' ', "/"))
                .timeout_connect(Some(retry_policy.connect_timeout))
                .timeout_resolve(Some(retry_policy.connect_timeout))
                .timeout_global(Some(retry_policy.response_timeout));
            Agent::from(config.build())
        };
        Ok(Self {
            base: base_url(address)?,
            key,
            plays: agent(),
            cards: agent(),
            cookies: Mutex::default(),
            is_rhae: AtomicBool::new(false),
            idempotent: AtomicBool::new(false),
        })
    }

    /// Returns the address without a trailing slash.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Returns whether the server is Rhae, whose status 503 with the code `SERVICE_UNAVAILABLE`
    /// guarantees that nothing was executed.
    pub(crate) fn is_rhae(&self) -> bool {
        self.is_rhae.load(Ordering::Relaxed)
    }

    /// Returns whether a request with an idempotency key may be repeated safely.
    pub(crate) fn is_idempotent(&self) -> bool {
        self.idempotent.load(Ordering::Relaxed)
    }

    /// Closes the connections of plays, including those that wait for a response.
    pub(crate) fn abort_plays(&self) {
        self.plays.clone().shutdown();
    }

    /// Sends a request once: a POST if there is a body, otherwise a GET.
    pub(crate) fn send(
        &self,
        channel: Channel,
        path: &str,
        body: Option<&str>,
        idempotency_key: Option<&str>,
    ) -> Result<Vec<u8>, Failure> {
        let agent = if channel == Channel::Plays {
            &self.plays
        } else {
            &self.cards
        };
        let url = format!("{}{path}", self.base);
        let sent = match body {
            Some(body) => self
                .add_headers(agent.post(&url), idempotency_key)
                .header(header::CONTENT_TYPE, "application/json")
                .send(body),
            None => self.add_headers(agent.get(&url), idempotency_key).call(),
        };
        self.receive(sent.map_err(failure)?)
    }

    fn add_headers<B>(
        &self,
        mut request: ureq::RequestBuilder<B>,
        idempotency_key: Option<&str>,
    ) -> ureq::RequestBuilder<B> {
        request = request.header(header::ACCEPT, "application/json");
        if let Some(key) = &self.key {
            request = request.header("X-API-Key", key.clone());
        }
        if let Some(cookies) = self
            .cookies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .header()
        {
            request = request.header(header::COOKIE, cookies);
        }
        match idempotency_key {
            Some(idempotency_key) => request.header("Idempotency-Key", idempotency_key),
            None => request,
        }
    }

    fn receive(&self, mut response: Response<Body>) -> Result<Vec<u8>, Failure> {
        self.read_server_headers(response.headers());
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let location = text(response.headers(), header::LOCATION.as_str());
        let body = response
            .body_mut()
            .with_config()
            .limit(MAX_RESPONSE_BYTES)
            .read_to_vec();
        if status.is_success() {
            return body.map_err(|error| match error {
                ureq::Error::BodyExceedsLimit(_) => {
                    Failure::Invalid(format!("it is larger than {MAX_RESPONSE_BYTES} bytes"))
                }
                error => Failure::Lost {
                    reason: format!("the response was cut off: {}", sanitize(&error.to_string())),
                    pending: false,
                },
            });
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Error {
            error: String,
            message: String,
        }
        let Error { error, message } =
            serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
        let message = match location {
            Some(location) if status.is_redirection() => {
                format!("it redirects to {location}; use that address instead")
            }
            _ if error.is_empty() => message,
            _ => format!("{error} {message}"),
        };
        Err(Failure::Status {
            status: status.as_u16(),
            code: sanitize(&error),
            message: sanitize(message.trim()),
            retry_after,
        })
    }

    /// Stores the cookies in a response's headers, and what the headers reveal about the server.
    fn read_server_headers(&self, headers: &HeaderMap) {
        let mut cookies = self.cookies.lock().unwrap_or_else(PoisonError::into_inner);
        headers
            .get_all(header::SET_COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .for_each(|value| cookies.store(value));
        if text(headers, header::SERVER.as_str()).is_some_and(|name| name.starts_with("rhae/")) {
            self.is_rhae.store(true, Ordering::Relaxed);
        }
        if text(headers, "idempotency-supported")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
        {
            self.idempotent.store(true, Ordering::Relaxed);
        }
    }
}

/// Checks an address and removes trailing slashes, so that paths can be appended.
fn base_url(address: &str) -> Result<String, ClientError> {
    let invalid = |reason| ClientError::Address {
        address: sanitize(address),
        reason,
    };
    let rest = address
        .strip_prefix("http://")
        .or_else(|| address.strip_prefix("https://"));
    let rest = rest.ok_or_else(|| invalid("it must begin with http:// or https://"))?;
    let base = address.trim_end_matches('/');
    if rest.contains('@') {
        // The address is written into the run's configuration, where a password must not appear.
        return Err(ClientError::Address {
            address: "…@…".to_owned(),
            reason: "it must not contain a name or password",
        });
    }
    if rest.contains(['?', '#']) {
        return Err(invalid("it must not contain a query"));
    }
    match base.parse::<ureq::http::Uri>() {
        Ok(uri) if uri.scheme().is_some() && uri.host().is_some_and(|host| !host.is_empty()) => {
            Ok(base.to_owned())
        }
        _ => Err(invalid("it names no host")),
    }
}

fn failure(error: ureq::Error) -> Failure {
    let reason = sanitize(&error.to_string());
    match error {
        ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => Failure::NotSent(reason),
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            Failure::NotSent(reason)
        }
        ureq::Error::Timeout(_) => Failure::Lost {
            reason,
            pending: true,
        },
        ureq::Error::Io(_) | ureq::Error::Protocol(_) => Failure::Lost {
            reason,
            pending: false,
        },
        _ => Failure::Invalid(reason),
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(sanitize)
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = text(headers, header::RETRY_AFTER.as_str())?;
    parse_retry_after(&value, SystemTime::now())
}

/// Truncates a server's text and replaces control characters.
pub(crate) fn sanitize(text: &str) -> String {
    text.chars()
        .take(MAX_MESSAGE_CHARS)
        .map(|letter| {
            if letter.is_control() {
                '\u{FFFD}'
            } else {
                letter
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_url_is_normalized_and_invalid_addresses_are_rejected() {
        assert_eq!(
            base_url("http://127.0.0.1:8001").unwrap(),
            "http://127.0.0.1:8001"
        );
        assert_eq!(
            base_url("https://example.org/arc//").unwrap(),
            "https://example.org/arc"
        );
        for address in [
            "",
            "127.0.0.1:8001",
            "ftp://a",
            "http://",
            "http:///",
            "http://a/?b",
            "http://a b",
        ] {
            assert!(base_url(address).is_err(), "{address}");
        }
        let secret = base_url("http://me:secret@example.org")
            .unwrap_err()
            .to_string();
        assert!(!secret.contains("secret"), "{secret}");
    }

    #[test]
    fn key_that_would_break_the_header_is_rejected() {
        assert_eq!(
            Transport::new("http://a", Some("a\r\nb"), &RetryPolicy::default()).err(),
            Some(ClientError::Key)
        );
    }
}

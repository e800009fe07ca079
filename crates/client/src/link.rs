//! One address: sends a request once, and says what is known of it if it fails.
//!
//! It does not know what requests mean; whether one may be sent again is decided by who sends it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use ureq::http::{HeaderMap, HeaderValue, Response, header};
use ureq::{Agent, Body, Timeout};

use crate::cookies::Cookies;
use crate::{ClientError, Patience};

/// The most bytes of an answer: a thousand frames of two digits a cell, and what else may be around them.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// The most characters of an error that are kept.
const MOST_CHARACTERS: usize = 300;

/// Why there is no good answer.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The request never left.
    NotSent(String),
    /// It may have arrived, and what came of it is not known.
    Lost {
        reason: String,
        /// Whether it may still be waiting somewhere, because the answer only took too long.
        pending: bool,
    },
    /// The server answered with an error.
    Status {
        status: u16,
        code: String,
        message: String,
        retry_after: Option<Duration>,
    },
    /// The answer is of no use.
    Bad(String),
}

/// Which connections a request goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Those of plays, which are cut when the caller gives up.
    Plays,
    /// Those of cards, which have to be closed even then.
    Cards,
}

/// The way to a server.
pub(crate) struct Link {
    base: String,
    key: Option<HeaderValue>,
    plays: Agent,
    cards: Agent,
    cookies: Mutex<Cookies>,
    /// Whether the server is ours, by its name.
    ours: AtomicBool,
    /// Whether the server said that it takes idempotency keys.
    idempotent: AtomicBool,
}

impl Link {
    pub(crate) fn new(
        address: &str,
        key: Option<&str>,
        patience: &Patience,
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
                .timeout_connect(Some(patience.connect))
                .timeout_resolve(Some(patience.connect))
                .timeout_global(Some(patience.answer));
            Agent::from(config.build())
        };
        Ok(Self {
            base: base(address)?,
            key,
            plays: agent(),
            cards: agent(),
            cookies: Mutex::default(),
            ours: AtomicBool::new(false),
            idempotent: AtomicBool::new(false),
        })
    }

    /// The address without a slash at its end.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Whether the server calls itself ours. Its 503 means that nothing happened.
    pub(crate) fn is_ours(&self) -> bool {
        self.ours.load(Ordering::Relaxed)
    }

    /// Whether a request with a key may be repeated as often as need be.
    pub(crate) fn is_idempotent(&self) -> bool {
        self.idempotent.load(Ordering::Relaxed)
    }

    /// Cuts the connections of plays, also those that wait for an answer.
    pub(crate) fn cut(&self) {
        self.plays.clone().shutdown();
    }

    /// Sends a request once. With a body it is a POST.
    pub(crate) fn send(
        &self,
        line: Line,
        path: &str,
        body: Option<&str>,
        once: Option<&str>,
    ) -> Result<Vec<u8>, Failure> {
        let agent = if line == Line::Plays {
            &self.plays
        } else {
            &self.cards
        };
        let url = format!("{}{path}", self.base);
        let sent = match body {
            Some(body) => self
                .head(agent.post(&url), once)
                .header(header::CONTENT_TYPE, "application/json")
                .send(body),
            None => self.head(agent.get(&url), once).call(),
        };
        self.receive(sent.map_err(failure)?)
    }

    fn head<B>(
        &self,
        mut request: ureq::RequestBuilder<B>,
        once: Option<&str>,
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
        match once {
            Some(once) => request.header("Idempotency-Key", once),
            None => request,
        }
    }

    fn receive(&self, mut response: Response<Body>) -> Result<Vec<u8>, Failure> {
        self.take_note(response.headers());
        let status = response.status();
        let retry_after = seconds(response.headers());
        let location = text(response.headers(), header::LOCATION.as_str());
        let body = response
            .body_mut()
            .with_config()
            .limit(MOST_BYTES)
            .read_to_vec();
        if status.is_success() {
            return body.map_err(|error| match error {
                ureq::Error::BodyExceedsLimit(_) => {
                    Failure::Bad(format!("it has more than {MOST_BYTES} bytes"))
                }
                error => Failure::Lost {
                    reason: format!("its answer was cut off: {}", clean(&error.to_string())),
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
                format!("it redirects to {location}; give that address instead")
            }
            _ if error.is_empty() => message,
            _ => format!("{error} {message}"),
        };
        Err(Failure::Status {
            status: status.as_u16(),
            code: clean(&error),
            message: clean(message.trim()),
            retry_after,
        })
    }

    /// Takes in what every answer says about the server.
    fn take_note(&self, headers: &HeaderMap) {
        let mut cookies = self.cookies.lock().unwrap_or_else(PoisonError::into_inner);
        headers
            .get_all(header::SET_COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .for_each(|value| cookies.take(value));
        if text(headers, header::SERVER.as_str()).is_some_and(|name| name.starts_with("rhae/")) {
            self.ours.store(true, Ordering::Relaxed);
        }
        if text(headers, "idempotency-supported")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
        {
            self.idempotent.store(true, Ordering::Relaxed);
        }
    }
}

/// An address that paths can be put after.
fn base(address: &str) -> Result<String, ClientError> {
    let wrong = |reason| ClientError::Address {
        address: clean(address),
        reason,
    };
    let rest = address
        .strip_prefix("http://")
        .or_else(|| address.strip_prefix("https://"));
    let rest = rest.ok_or_else(|| wrong("it must begin with http:// or https://"))?;
    let base = address.trim_end_matches('/');
    if rest.contains('@') {
        // It would stand in the run's configuration.
        return Err(ClientError::Address {
            address: "…@…".to_owned(),
            reason: "it must not contain a name or password",
        });
    }
    if rest.contains(['?', '#']) {
        return Err(wrong("it must not contain a query"));
    }
    match base.parse::<ureq::http::Uri>() {
        Ok(uri) if uri.scheme().is_some() && uri.host().is_some_and(|host| !host.is_empty()) => {
            Ok(base.to_owned())
        }
        _ => Err(wrong("it names no host")),
    }
}

fn failure(error: ureq::Error) -> Failure {
    let reason = clean(&error.to_string());
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
        _ => Failure::Bad(reason),
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(clean)
}

/// `Retry-After` in seconds; its other form, a date, is not used by servers of this API.
fn seconds(headers: &HeaderMap) -> Option<Duration> {
    text(headers, header::RETRY_AFTER.as_str())?
        .trim()
        .parse()
        .ok()
        .map(Duration::from_secs)
}

/// A text from outside, short and without control characters.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .take(MOST_CHARACTERS)
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
    fn an_address_is_one_that_paths_can_be_put_after() {
        assert_eq!(
            base("http://127.0.0.1:8001").unwrap(),
            "http://127.0.0.1:8001"
        );
        assert_eq!(
            base("https://example.org/arc//").unwrap(),
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
            assert!(base(address).is_err(), "{address}");
        }
        let secret = base("http://me:secret@example.org")
            .unwrap_err()
            .to_string();
        assert!(!secret.contains("secret"), "{secret}");
    }

    #[test]
    fn a_key_that_would_break_the_header_is_refused() {
        assert_eq!(
            Link::new("http://a", Some("a\r\nb"), &Patience::default()).err(),
            Some(ClientError::Key)
        );
    }
}

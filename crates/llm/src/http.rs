//! The HTTP transport: sends one request once.
//!
//! The transport knows neither the content of a request nor the retry policy. It replaces the API
//! key in every text that it returns; a key that is split over several events of a stream is
//! replaced later, by the model.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rhae_throttle::parse_retry_after;
use serde_json::Value;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Response, header};
use ureq::{Agent, Body, Timeout};

use crate::config::seconds;
use crate::failure::{Failure, FailureKind};
use crate::secret::{Secret, Variables};
use crate::sse::{Event, Events};
use crate::wire::Wire;
use crate::{CancelToken, LlmError, ModelConfig};

/// The size limit of a response.
const MAX_RESPONSE_BYTES: u64 = 64 * 1024 * 1024;
/// The size limit of an error response. The body of a longer error response is ignored.
const MAX_ERROR_BYTES: u64 = 64 * 1024;

/// The connections to the server of a model.
pub(crate) struct HttpTransport {
    key: Option<Secret>,
    headers: Vec<(HeaderName, HeaderValue)>,
    config: ureq::config::Config,
    /// Idle connections. Each carries one request at a time, so that one request can be cancelled
    /// without affecting others.
    idle: Mutex<Vec<Agent>>,
}

pub(crate) struct Post<'a> {
    pub(crate) url: &'a str,
    pub(crate) body: &'a [u8],
    pub(crate) id: &'a str,
    /// The timeout from start to end.
    pub(crate) total: Duration,
}

/// The destination of the events of a stream.
pub(crate) trait EventSink {
    /// Processes an event. Returns true if it was the last.
    fn take(&mut self, event: &Event) -> Result<bool, Failure>;

    /// Returns whether the reply is complete, even if the stream ends without its end marker.
    fn is_complete(&self) -> bool;
}

/// A received response.
pub(crate) enum Received {
    /// A single JSON document.
    Complete(Value),
    /// A stream, whose events were all passed to the sink.
    Streamed,
}

impl HttpTransport {
    pub(crate) fn new(
        model: &ModelConfig,
        wire: &dyn Wire,
        variables: Variables<'_>,
    ) -> Result<Self, LlmError> {
        let key = model
            .key_variable()
            .map(|variable| Secret::find(variable, variables))
            .transpose()?;
        let times = &model.timeouts;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("rhae/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(seconds(times.connect_s)))
            .timeout_connect(Some(seconds(times.connect_s)))
            .timeout_per_write(Some(seconds(times.write_s)))
            .timeout_per_read(Some(seconds(times.read_s)))
            .build();
        let wrong = |name: &str| LlmError::Model {
            model: model.name.clone(),
            reason: format!("the header `{name}` has an invalid name or value"),
        };
        let mut headers = Vec::new();
        let key_pair = key.as_ref().map(|key| wire.key_header(key.reveal()));
        let own = wire.headers().iter().copied().filter(|(name, _)| {
            !model
                .headers
                .keys()
                .any(|given| given.eq_ignore_ascii_case(name))
        });
        let given = model
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.chain(given).chain(
            key_pair
                .as_ref()
                .map(|(name, value)| (*name, value.as_str())),
        ) {
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong(name))?;
            value.set_sensitive(true);
            headers.push((name.parse().map_err(|_| wrong(name))?, value));
        }
        Ok(Self {
            key,
            headers,
            config,
            idle: Mutex::default(),
        })
    }

    /// Replaces the API key in a text.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.key
            .as_ref()
            .map_or_else(|| text.to_owned(), |key| key.hide(text))
    }

    /// Sends a request once and reads the complete response.
    pub(crate) fn post(
        &self,
        post: &Post<'_>,
        cancel: &CancelToken,
        stream: Option<&mut dyn EventSink>,
    ) -> Result<Received, Failure> {
        let agent = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let agent = agent.unwrap_or_else(|| Agent::new_with_config(self.config.clone()));
        let Some(guard) = cancel.register(&agent) else {
            return Err(Failure::new(FailureKind::NotSent, "the call was cancelled"));
        };
        let received = self.exchange(&agent, post, stream);
        drop(guard);
        match received {
            Err(failure) if cancel.is_cancelled() => {
                let kind = if failure.kind == FailureKind::NotSent {
                    FailureKind::NotSent
                } else {
                    FailureKind::Cancelled
                };
                Err(Failure {
                    no_retry: true,
                    ..Failure::new(kind, "the call was cancelled")
                })
            }
            // A connection that failed is not reused.
            Err(failure) if failure.kind != FailureKind::Status => Err(failure),
            received => {
                self.idle
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(agent);
                received
            }
        }
    }

    fn exchange(
        &self,
        agent: &Agent,
        post: &Post<'_>,
        stream: Option<&mut dyn EventSink>,
    ) -> Result<Received, Failure> {
        let mut request = agent
            .post(post.url)
            .header(header::CONTENT_TYPE, "application/json")
            .header("X-Client-Request-Id", post.id);
        for (name, value) in &self.headers {
            request = request.header(name.clone(), value.clone());
        }
        let request = request.config().timeout_global(Some(post.total)).build();
        let response = request
            .send(post.body)
            .map_err(|error| self.failure(error))?;
        if !response.status().is_success() {
            return Err(self.refusal(response));
        }
        let is_stream = response
            .headers()
            .get(header::CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let reader = response
            .into_body()
            .into_with_config()
            .limit(MAX_RESPONSE_BYTES)
            .reader();
        match stream {
            Some(stream) if is_stream => self.stream(reader, stream),
            _ => self.read_json(reader),
        }
    }

    fn read_json(&self, mut reader: impl Read) -> Result<Received, Failure> {
        let mut bytes = Vec::new();
        reader
            .read_to_end(&mut bytes)
            .map_err(|error| self.broken(error))?;
        let text = self.hide(&String::from_utf8_lossy(&bytes));
        let value = serde_json::from_str(&text);
        value.map(Received::Complete).map_err(|error| {
            Failure::new(
                FailureKind::Garbled,
                format!("the answer is not JSON: {error}"),
            )
        })
    }

    fn stream(&self, reader: impl Read, stream: &mut dyn EventSink) -> Result<Received, Failure> {
        let mut events = Events::new(BufReader::new(reader));
        loop {
            let event = match events.next() {
                Ok(Some(event)) => Event {
                    data: self.hide(&event.data),
                    ..event
                },
                // The reply is complete, so it is used even if the stream ends irregularly: a retry
                // would be billed again.
                _ if stream.is_complete() => return Ok(Received::Streamed),
                Ok(None) => {
                    return Err(Failure::new(
                        FailureKind::Lost,
                        "the stream ended before the answer did",
                    ));
                }
                Err(error) => return Err(self.broken(error)),
            };
            if stream.take(&event)? {
                return Ok(Received::Streamed);
            }
        }
    }

    /// Converts a response with an error status into a failure.
    fn refusal(&self, mut response: Response<Body>) -> Failure {
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers(), SystemTime::now());
        let location = response
            .headers()
            .get(header::LOCATION)
            .and_then(|value| value.to_str().ok())
            .map(|text| self.hide(text));
        let should_not_retry = response
            .headers()
            .get("x-should-retry")
            .is_some_and(|value| value.as_bytes() == b"false");
        let body = response
            .body_mut()
            .with_config()
            .limit(MAX_ERROR_BYTES)
            .read_to_vec()
            .unwrap_or_default();
        let text = self.hide(&String::from_utf8_lossy(&body));
        let document = serde_json::from_str(&text).ok();
        let document = document.as_ref().and_then(ErrorDocument::read);
        let quota_exhausted = status == 429
            && document
                .as_ref()
                .is_some_and(|document| document.code.as_deref() == Some(QUOTA_EXHAUSTED));
        let reason = document.map_or(text, |document| document.to_string());
        let message = match location {
            Some(location) if (300..400).contains(&status) => {
                format!("the server redirects to {location}: set `base_url` to that address")
            }
            _ => format!(
                "the server answered {status}: {}",
                if reason.trim().is_empty() {
                    "no message"
                } else {
                    reason.trim()
                }
            ),
        };
        Failure {
            retry_after,
            no_retry: should_not_retry || quota_exhausted,
            ..Failure::status(status, message)
        }
    }

    fn failure(&self, error: ureq::Error) -> Failure {
        let message = self.hide(&error.to_string());
        match error {
            ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => Failure::new(
                FailureKind::NotSent,
                format!("cannot reach the server: {message}"),
            ),
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Failure::new(
                    FailureKind::NotSent,
                    format!("cannot reach the server: {message}"),
                )
            }
            ureq::Error::Timeout(Timeout::Global | Timeout::PerCall) => Failure::new(
                FailureKind::TimedOut,
                "the request exceeded its total time (`timeouts.total_s`)",
            ),
            ureq::Error::Timeout(Timeout::PerWrite) => Failure::new(
                FailureKind::Lost,
                "the server accepted no data for too long (`timeouts.write_s`)",
            ),
            ureq::Error::Timeout(_) => Failure::new(
                FailureKind::Lost,
                "the server was silent for too long (`timeouts.read_s`)",
            ),
            ureq::Error::Io(_) | ureq::Error::Protocol(_) => Failure::new(
                FailureKind::Lost,
                format!("the connection broke: {message}"),
            ),
            ureq::Error::BodyExceedsLimit(_) => Failure::new(
                FailureKind::Garbled,
                format!("the answer has more than {MAX_RESPONSE_BYTES} bytes"),
            ),
            _ => Failure {
                no_retry: true,
                ..Failure::new(FailureKind::NotSent, message)
            },
        }
    }

    fn broken(&self, error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::InvalidData
            && error
                .get_ref()
                .is_none_or(|inner| !inner.is::<ureq::Error>())
        {
            return Failure::new(FailureKind::Garbled, self.hide(&error.to_string()));
        }
        self.failure(ureq::Error::from(error))
    }
}

/// Returns the error that a response with a success status contains. Some proxies send such
/// responses.
pub(crate) fn error_in(value: &Value) -> Option<Failure> {
    let error = value.get("error").filter(|error| !error.is_null())?;
    let message = ErrorDocument::read(value)
        .map_or_else(|| "no message".to_owned(), |document| document.to_string());
    let code = [&error["code"], &error["status"]]
        .into_iter()
        .find_map(Value::as_u64)
        .and_then(|code| u16::try_from(code).ok());
    let busy = [
        "overloaded_error",
        "rate_limit_error",
        "rate_limit_exceeded",
    ];
    let status = match (
        code,
        error["type"]
            .as_str()
            .or(error["code"].as_str())
            .unwrap_or_default(),
    ) {
        (Some(code), _) if (400..600).contains(&code) => code,
        (_, kind) if busy.contains(&kind) => 429,
        (_, "invalid_request_error") => 400,
        (_, "authentication_error") => 401,
        (_, "permission_error") => 403,
        (_, "not_found_error") => 404,
        _ => 500,
    };
    Some(Failure::status(
        status,
        format!("the server reports an error: {message}"),
    ))
}

/// The code of an error that a retry cannot fix: the account has no credit left.
const QUOTA_EXHAUSTED: &str = "insufficient_quota";

/// An error document, in the formats that providers use.
struct ErrorDocument {
    message: String,
    code: Option<String>,
}

impl ErrorDocument {
    fn read(value: &Value) -> Option<Self> {
        let value = value
            .as_array()
            .and_then(|all| all.first())
            .unwrap_or(value);
        let error = value.get("error").unwrap_or(value);
        let message = error
            .get("message")
            .and_then(Value::as_str)
            .or(error.as_str())?;
        let code = ["code", "type", "status"]
            .iter()
            .find_map(|field| error.get(*field).and_then(Value::as_str));
        Some(Self {
            message: message.to_owned(),
            code: code.map(str::to_owned),
        })
    }
}

impl fmt::Display for ErrorDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.code {
            Some(code) => write!(f, "{} ({code})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Parses the pause that a server requests: `Retry-After` with seconds or a date, or
/// `retry-after-ms`.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    let from_ms = |ms: f64| Duration::try_from_secs_f64(ms / 1000.0).ok();
    if let Some(pause) = text("retry-after-ms").and_then(|ms| from_ms(ms.parse().ok()?)) {
        return Some(pause);
    }
    parse_retry_after(text(header::RETRY_AFTER.as_str())?, now)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use serde_json::json;

    use super::*;

    #[test]
    fn retry_after_is_parsed_in_three_formats() {
        let parsed = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            retry_after(&headers, UNIX_EPOCH + Duration::from_secs(784_111_770))
        };
        assert_eq!(parsed("retry-after", "3"), Some(Duration::from_secs(3)));
        assert_eq!(
            parsed("retry-after", "0.5"),
            Some(Duration::from_millis(500))
        );
        assert_eq!(
            parsed("retry-after-ms", "250"),
            Some(Duration::from_millis(250))
        );
        assert_eq!(
            parsed("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Duration::from_secs(7))
        );
        for bad in ["", "soon", "-1", "NaN", "1e300"] {
            assert_eq!(parsed("retry-after", bad), None, "{bad}");
        }
        assert_eq!(
            parsed("retry-after", "Sun, 06 Nov 1994 08:49:17 GMT"),
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn errors_are_found_in_every_format() {
        let cases = [
            (
                json!({"error": {"message": "no", "type": "invalid_request_error"}}),
                400,
                "no (invalid_request_error)",
            ),
            (
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
                429,
                "busy (overloaded_error)",
            ),
            (
                json!({"error": {"code": 503, "message": "down", "status": "UNAVAILABLE"}}),
                503,
                "down (UNAVAILABLE)",
            ),
            (json!({"error": "odd"}), 500, "odd"),
        ];
        for (value, status, message) in cases {
            let failure = error_in(&value).unwrap();
            assert_eq!(failure.status, Some(status), "{value}");
            assert!(failure.message.ends_with(message), "{}", failure.message);
        }
        assert!(error_in(&json!({"error": null, "choices": []})).is_none());
    }
}

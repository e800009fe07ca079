//! Requests to the server of a simulation. A request without a response is repeated, as the pages of
//! the web app do.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;

use crate::SimulationError;

/// How often a request is sent before the simulation gives up: for a minute.
const MAX_ATTEMPTS: u32 = 1200;
/// The pause between two attempts, long enough for a server to be started again.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(120);
const TOKEN_HEADER: &str = "x-study-token";

/// Connections to the servers, for researchers and participants.
#[derive(Clone)]
pub(crate) struct Http {
    addresses: Vec<SocketAddr>,
    agent: Agent,
}

/// A response with its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// The parts of a request of a participant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParticipantRequest<'a> {
    pub(crate) path: &'a str,
    pub(crate) token: &'a str,
    /// The number of the person, who always uses the same server.
    pub(crate) person: u32,
    pub(crate) idempotency_key: Option<&'a str>,
    /// `None` for a GET.
    pub(crate) body: Option<&'a str>,
}

impl Http {
    pub(crate) fn new(addresses: Vec<SocketAddr>, connections: usize) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_idle_connections(connections)
            .max_idle_connections_per_host(connections)
            .timeout_global(Some(RESPONSE_TIMEOUT));
        Self {
            addresses,
            agent: Agent::from(config.build()),
        }
    }

    /// Sends a request of a researcher: a POST if there is a body.
    pub(crate) fn research<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<T, SimulationError> {
        let body = body.map(serde_json::to_string).transpose()?;
        let address = self.addresses[0];
        let response = self.repeat(path, || self.send(address, path, &[], body.as_deref()))?;
        response.parse(path)
    }

    /// Sends a request of a participant.
    pub(crate) fn participate(
        &self,
        request: ParticipantRequest<'_>,
    ) -> Result<Response, SimulationError> {
        let mut headers = vec![(TOKEN_HEADER, request.token)];
        headers.extend(request.idempotency_key.map(|key| ("idempotency-key", key)));
        let address = self.address_of(request.person);
        self.repeat(request.path, || {
            self.send(address, request.path, &headers, request.body)
        })
    }

    /// Sends a request of a participant whose connection is lost before the response arrives, if it
    /// reaches the server at all.
    pub(crate) fn send_without_response(&self, request: ParticipantRequest<'_>) {
        let address = self.address_of(request.person);
        let body = request.body.unwrap_or_default();
        let method = if request.body.is_some() {
            "POST"
        } else {
            "GET"
        };
        let key = request.idempotency_key;
        let key = key.map_or_else(String::new, |key| format!("idempotency-key: {key}\r\n"));
        let text = format!(
            "{method} {} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n{TOKEN_HEADER}: {}\r\n{key}content-length: {}\r\n\r\n{body}",
            request.path,
            request.token,
            body.len(),
        );
        // A server that was killed does not even accept the connection.
        let _ =
            TcpStream::connect(address).and_then(|mut stream| stream.write_all(text.as_bytes()));
    }

    fn address_of(&self, person: u32) -> SocketAddr {
        self.addresses[person as usize % self.addresses.len()]
    }

    fn repeat(
        &self,
        path: &str,
        send: impl Fn() -> Result<Response, ureq::Error>,
    ) -> Result<Response, SimulationError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let reason = match send() {
                Ok(response) if response.status != 503 => return Ok(response),
                Ok(response) => response.body,
                Err(error) => error.to_string(),
            };
            if attempt == MAX_ATTEMPTS {
                return Err(SimulationError::NoResponse {
                    path: path.to_owned(),
                    reason,
                });
            }
            std::thread::sleep(RETRY_PAUSE);
        }
    }

    fn send(
        &self,
        address: SocketAddr,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> Result<Response, ureq::Error> {
        let url = format!("http://{address}{path}");
        let mut response = match body {
            Some(body) => {
                let mut request = self.agent.post(&url);
                for (name, value) in headers {
                    request = request.header(*name, *value);
                }
                request.content_type("application/json").send(body)?
            }
            None => {
                let mut request = self.agent.get(&url);
                for (name, value) in headers {
                    request = request.header(*name, *value);
                }
                request.call()?
            }
        };
        Ok(Response {
            status: response.status().as_u16(),
            body: response
                .body_mut()
                .with_config()
                .limit(MAX_BODY_BYTES)
                .read_to_string()?,
        })
    }
}

/// The maximum size of a response: the list of all sittings of a large study.
const MAX_BODY_BYTES: u64 = 256 * 1024 * 1024;

impl Response {
    /// Parses the body of a successful response.
    pub(crate) fn parse<T: DeserializeOwned>(&self, path: &str) -> Result<T, SimulationError> {
        if self.status != 200 {
            return Err(SimulationError::Refused {
                path: path.to_owned(),
                status: self.status,
                body: self.body.clone(),
            });
        }
        serde_json::from_str(&self.body).map_err(|error| SimulationError::Unexpected {
            path: path.to_owned(),
            reason: error.to_string(),
        })
    }
}

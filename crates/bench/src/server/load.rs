//! Load generation with API clients: one thread and one play per client.
//!
//! Requests are serialised in advance and responses are not parsed, so that the clients use little
//! CPU time even if they share a small machine with the server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::BenchError;

/// The frames of one in this many responses are counted.
const SAMPLE_INTERVAL: u64 = 64;
/// The time limit for reading from the server.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum number of actions of one client.
const MAX_ACTIONS: u64 = 1_000_000;
/// The API key of all clients.
const KEY: &str = "bench";

/// A server and the game to play on it.
pub(crate) struct Target {
    pub(crate) address: String,
    pub(crate) game: &'static str,
}

/// The measurements of one client, or of all clients together.
#[derive(Default)]
pub(crate) struct LoadResult {
    pub(crate) actions: u64,
    pub(crate) time: Duration,
    pub(crate) latencies: Vec<Duration>,
    /// The number of responses whose frames were counted.
    pub(crate) sampled: u64,
    /// The number of frames in the sampled responses.
    pub(crate) frames: u64,
}

/// A client with its play. The requests are serialised in advance.
pub(crate) struct Client {
    connection: Connection,
    actions: [Vec<u8>; 4],
    reset: Vec<u8>,
}

/// Creates clients and opens a scorecard and a play for each.
pub(crate) fn connect(target: &Target, clients: usize) -> Result<Vec<Client>, BenchError> {
    (0..clients).map(|_| Client::connect(target)).collect()
}

/// Lets all clients play concurrently for `time`.
pub(crate) fn play(clients: Vec<Client>, time: Duration) -> Result<LoadResult, BenchError> {
    run_concurrently(clients, |_, client, start| client.play(start, time))
}

/// Runs every client on its own thread and combines their results. `play` gets the index of the
/// client and must wait at the barrier before it starts to measure.
pub(crate) fn run_concurrently<C: Send>(
    clients: Vec<C>,
    play: impl Fn(usize, C, &Barrier) -> Result<LoadResult, BenchError> + Sync,
) -> Result<LoadResult, BenchError> {
    let start = Barrier::new(clients.len());
    let loads: Vec<Result<LoadResult, BenchError>> = std::thread::scope(|scope| {
        let (start, play) = (&start, &play);
        let threads: Vec<_> = clients
            .into_iter()
            .enumerate()
            .map(|(index, client)| scope.spawn(move || play(index, client, start)))
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(BenchError::Response("a client panicked".to_owned())))
            })
            .collect()
    });
    let mut all = LoadResult::default();
    for load in loads {
        let load = load?;
        all.actions += load.actions;
        all.time = all.time.max(load.time);
        all.latencies.extend(load.latencies);
        all.sampled += load.sampled;
        all.frames += load.frames;
    }
    Ok(all)
}

impl Client {
    fn connect(target: &Target) -> Result<Self, BenchError> {
        let mut connection = Connection::to(&target.address);
        let game = connection.json(&get(
            &target.address,
            &format!("/api/games/{}", target.game),
        ))?["game_id"]
            .clone();
        let card =
            connection.json(&post(&target.address, "/api/scorecard/open", &json!({})))?["card_id"]
                .clone();
        let opened = connection.json(&post(
            &target.address,
            "/api/cmd/RESET",
            &json!({"card_id": card, "game_id": game}),
        ))?;
        let body = json!({"game_id": game, "guid": opened["guid"]});
        // Up, right, down, left: a loop that never completes the level.
        let actions =
            [1, 4, 2, 3].map(|id| post(&target.address, &format!("/api/cmd/ACTION{id}"), &body));
        Ok(Self {
            connection,
            actions,
            reset: post(&target.address, "/api/cmd/RESET", &body),
        })
    }

    fn play(mut self, start: &Barrier, time: Duration) -> Result<LoadResult, BenchError> {
        let mut load = LoadResult::default();
        start.wait();
        let started = Instant::now();
        while started.elapsed() < time && load.actions < MAX_ACTIONS {
            let sent = Instant::now();
            let action = &self.actions[(load.actions % 4) as usize];
            let mut status = self.connection.send(action)?;
            if status == 400 {
                // Status 400 means that the level is lost, so the client restarts it.
                status = self.connection.send(&self.reset)?;
            }
            self.connection.expect_status(status, 200)?;
            load.latencies.push(sent.elapsed());
            if load.actions.is_multiple_of(SAMPLE_INTERVAL) {
                load.sampled += 1;
                load.frames += 1 + self
                    .connection
                    .body()
                    .windows(5)
                    .filter(|bytes| bytes == b"]],[[")
                    .count() as u64;
            }
            load.actions += 1;
        }
        load.time = started.elapsed();
        Ok(load)
    }
}

/// An HTTP/1.1 connection. It reconnects if the server closes the connection after a response.
pub(crate) struct Connection {
    address: String,
    stream: Option<TcpStream>,
    /// The last response, head and body.
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) fn to(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            stream: None,
            buffer: Vec::new(),
        }
    }

    /// Returns a header of the last response.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let head = String::from_utf8_lossy(&self.buffer[..head_length(&self.buffer)?]).into_owned();
        let mut pairs = head.lines().filter_map(|line| line.split_once(':'));
        pairs
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
    }

    /// Sends a request, expects status 200 and parses the response as JSON.
    pub(crate) fn json(&mut self, request: &[u8]) -> Result<Value, BenchError> {
        let status = self.send(request)?;
        self.expect_status(status, 200)?;
        serde_json::from_slice(self.body())
            .map_err(|error| BenchError::Response(format!("the response is not JSON: {error}")))
    }

    /// Returns an error with the body of the last response unless its status is the expected one.
    pub(crate) fn expect_status(&self, status: u16, expected: u16) -> Result<(), BenchError> {
        if status == expected {
            return Ok(());
        }
        Err(BenchError::Response(format!(
            "the server answered with {status}: {}",
            String::from_utf8_lossy(self.body())
        )))
    }

    /// Sends a request, reads the whole response and returns its status.
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<u16, BenchError> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let open = || {
                    let stream = TcpStream::connect(&self.address)?;
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(READ_TIMEOUT))?;
                    Ok(stream)
                };
                open().map_err(BenchError::io(format!("cannot reach {}", self.address)))?
            }
        };
        stream
            .write_all(request)
            .map_err(BenchError::io("cannot send a request"))?;
        self.buffer
            .resize(self.buffer.capacity().max(128 * 1024), 0);
        let (mut filled, mut length) = (0, None);
        while length.is_none_or(|length| filled < length) {
            if filled == self.buffer.len() {
                self.buffer.resize(2 * filled, 0);
            }
            let read = stream
                .read(&mut self.buffer[filled..])
                .map_err(BenchError::io("cannot read a response"))?;
            if read == 0 {
                return Err(BenchError::Response(
                    "the server closed the connection during a response".to_owned(),
                ));
            }
            filled += read;
            if length.is_none() {
                length = response_length(&self.buffer[..filled])?;
            }
        }
        self.buffer.truncate(filled);
        let head = String::from_utf8_lossy(&self.buffer[..head_length(&self.buffer).unwrap_or(0)])
            .to_ascii_lowercase();
        if !head.starts_with("http/1.0") && !head.contains("connection: close") {
            self.stream = Some(stream);
        }
        head.split_whitespace()
            .nth(1)
            .and_then(|status| status.parse().ok())
            .ok_or_else(|| BenchError::Response("the response has no status".to_owned()))
    }

    /// Returns the body of the last response.
    pub(crate) fn body(&self) -> &[u8] {
        &self.buffer[head_length(&self.buffer).unwrap_or(0)..]
    }
}

/// Returns the length of the head of a response, or `None` if it is incomplete.
fn head_length(response: &[u8]) -> Option<usize> {
    response
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .map(|end| end + 4)
}

/// Returns the length of a response with its head, or `None` if the head is incomplete.
fn response_length(response: &[u8]) -> Result<Option<usize>, BenchError> {
    let Some(head) = head_length(response) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&response[..head]).to_ascii_lowercase();
    if text.split_whitespace().nth(1) == Some("204") {
        // A 204 response has no body.
        return Ok(Some(head));
    }
    let body = text.lines().find_map(|line| {
        line.strip_prefix("content-length:")?
            .trim()
            .parse::<usize>()
            .ok()
    });
    match body {
        Some(body) => Ok(Some(head + body)),
        None => Err(BenchError::Response(
            "the response has no content length".to_owned(),
        )),
    }
}

fn get(address: &str, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {KEY}\r\nAccept: application/json\r\n\r\n").into_bytes()
}

fn post(address: &str, path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {KEY}\r\nAccept: application/json\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

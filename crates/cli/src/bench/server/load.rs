//! The load: clients in threads, each with a play of its own, that do next to nothing with the answers.
//!
//! Requests are bytes made beforehand and answers are not parsed, so that on a small machine the clients take little from the server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

/// Every so many answers one is looked at for its frames.
const LOOK: u64 = 64;
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most actions of one client.
const MOST_ACTIONS: u64 = 1_000_000;
/// The key of all clients.
const KEY: &str = "bench";

/// A server and what is played on it.
pub(crate) struct Target {
    pub(crate) address: String,
    pub(crate) game: &'static str,
}

/// What clients did and saw.
#[derive(Default)]
pub(crate) struct Load {
    pub(crate) actions: u64,
    pub(crate) time: Duration,
    pub(crate) latencies: Vec<Duration>,
    /// Answers that were looked at, and the frames in them.
    pub(crate) looked_at: u64,
    pub(crate) frames: u64,
}

/// A client with its play.
pub(crate) struct Player {
    line: Line,
    keys: [Vec<u8>; 4],
    reset: Vec<u8>,
}

/// Opens a card and a play on it for each client.
pub(crate) fn enter(target: &Target, clients: usize) -> Result<Vec<Player>> {
    (0..clients).map(|_| Player::enter(target)).collect()
}

/// Lets all clients play at once for a while.
pub(crate) fn play(players: Vec<Player>, time: Duration) -> Result<Load> {
    at_once(players, |_, player, start| player.play(start, time))
}

/// Lets everybody do something in a thread of their own, from one moment on, and gives what all of them did and saw. Each is told which
/// of them they are, and waits at the barrier before anything is counted.
pub(crate) fn at_once<P: Send>(
    players: Vec<P>,
    play: impl Fn(usize, P, &Barrier) -> Result<Load> + Sync,
) -> Result<Load> {
    let start = Barrier::new(players.len());
    let loads: Vec<Result<Load>> = std::thread::scope(|scope| {
        let (start, play) = (&start, &play);
        let threads: Vec<_> = players
            .into_iter()
            .enumerate()
            .map(|(at, player)| scope.spawn(move || play(at, player, start)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| bail!("a client panicked")))
            .collect()
    });
    let mut all = Load::default();
    for load in loads {
        let load = load?;
        all.actions += load.actions;
        all.time = all.time.max(load.time);
        all.latencies.extend(load.latencies);
        all.looked_at += load.looked_at;
        all.frames += load.frames;
    }
    Ok(all)
}

impl Player {
    fn enter(target: &Target) -> Result<Self> {
        let mut line = Line::to(&target.address);
        let game = line.json(&get(
            &target.address,
            &format!("/api/games/{}", target.game),
        ))?["game_id"]
            .clone();
        let card = line.json(&post(&target.address, "/api/scorecard/open", &json!({})))?["card_id"]
            .clone();
        let opened = line.json(&post(
            &target.address,
            "/api/cmd/RESET",
            &json!({"card_id": card, "game_id": game}),
        ))?;
        let body = json!({"game_id": game, "guid": opened["guid"]});
        // Up and down, left and right: it goes on for ever.
        let keys =
            [1, 4, 2, 3].map(|key| post(&target.address, &format!("/api/cmd/ACTION{key}"), &body));
        Ok(Self {
            line,
            keys,
            reset: post(&target.address, "/api/cmd/RESET", &body),
        })
    }

    fn play(mut self, start: &Barrier, time: Duration) -> Result<Load> {
        let mut load = Load::default();
        start.wait();
        let begun = Instant::now();
        while begun.elapsed() < time && load.actions < MOST_ACTIONS {
            let sent = Instant::now();
            let key = &self.keys[(load.actions % 4) as usize];
            let mut status = self.line.send(key)?;
            if status == 400 {
                // The level is lost.
                status = self.line.send(&self.reset)?;
            }
            ensure!(
                status == 200,
                "the server answered with {status}: {}",
                String::from_utf8_lossy(self.line.body())
            );
            load.latencies.push(sent.elapsed());
            if load.actions.is_multiple_of(LOOK) {
                load.looked_at += 1;
                load.frames += 1 + self
                    .line
                    .body()
                    .windows(5)
                    .filter(|bytes| bytes == b"]],[[")
                    .count() as u64;
            }
            load.actions += 1;
        }
        load.time = begun.elapsed();
        Ok(load)
    }
}

/// A connection, made again where the server ends it after an answer.
pub(crate) struct Line {
    address: String,
    stream: Option<TcpStream>,
    /// The last answer.
    buffer: Vec<u8>,
}

impl Line {
    pub(crate) fn to(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            stream: None,
            buffer: Vec::new(),
        }
    }

    /// A header of the last answer.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let head = String::from_utf8_lossy(&self.buffer[..head_length(&self.buffer)?]).into_owned();
        let mut pairs = head.lines().filter_map(|line| line.split_once(':'));
        pairs
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
    }

    pub(crate) fn json(&mut self, request: &[u8]) -> Result<Value> {
        let status = self.send(request)?;
        ensure!(
            status == 200,
            "the server answered with {status}: {}",
            String::from_utf8_lossy(self.body())
        );
        Ok(serde_json::from_slice(self.body())?)
    }

    /// Sends a request and reads the whole answer.
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<u16> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(&self.address)
                    .with_context(|| format!("cannot reach {}", self.address))?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream
            }
        };
        stream.write_all(request)?;
        self.buffer
            .resize(self.buffer.capacity().max(128 * 1024), 0);
        let (mut filled, mut whole) = (0, None);
        while whole.is_none_or(|whole| filled < whole) {
            if filled == self.buffer.len() {
                self.buffer.resize(2 * filled, 0);
            }
            let read = stream.read(&mut self.buffer[filled..])?;
            ensure!(read > 0, "the server ended the connection within an answer");
            filled += read;
            if whole.is_none() {
                whole = length(&self.buffer[..filled])?;
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
            .context("an answer has no status")
    }

    /// The body of the last answer.
    pub(crate) fn body(&self) -> &[u8] {
        &self.buffer[head_length(&self.buffer).unwrap_or(0)..]
    }
}

/// Where the head of an answer ends, if it is there.
fn head_length(answer: &[u8]) -> Option<usize> {
    answer
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .map(|end| end + 4)
}

/// The length of an answer, if its head is there.
fn length(answer: &[u8]) -> Result<Option<usize>> {
    let Some(head) = head_length(answer) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&answer[..head]).to_ascii_lowercase();
    if text.split_whitespace().nth(1) == Some("204") {
        // Nothing follows.
        return Ok(Some(head));
    }
    let body = text.lines().find_map(|line| {
        line.strip_prefix("content-length:")?
            .trim()
            .parse::<usize>()
            .ok()
    });
    Ok(Some(
        head + body.context("an answer does not say how long it is")?,
    ))
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

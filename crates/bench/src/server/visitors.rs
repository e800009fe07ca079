//! Load generation with visitors: concurrent browser users, each with a cookie and a constant rate.
//!
//! Each action has a scheduled time that does not depend on earlier responses, and its latency is
//! measured from that time. If the server falls behind, the delay therefore appears in the
//! latencies instead of only slowing the clients down.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::json;

use super::load::{Connection, LoadResult, run_concurrently};
use crate::BenchError;

/// The media type that the pages request.
const COMPACT: &str = "application/vnd.rhae.compact+json";

/// A visitor with a play.
pub(crate) struct Visitor {
    connection: Connection,
    address: String,
    cookie: String,
    body: String,
    number: usize,
}

impl Visitor {
    /// Gets a cookie and opens a play, as a page does.
    pub(crate) fn connect(address: &str, number: usize) -> Result<Self, BenchError> {
        let mut connection = Connection::to(address);
        let status = connection.send(&visit(address, number))?;
        connection.expect_status(status, 204)?;
        let cookie = connection
            .header("set-cookie")
            .and_then(|value| value.split(';').next().map(str::to_owned));
        let cookie = cookie
            .ok_or_else(|| BenchError::Response("a visitor received no cookie".to_owned()))?;
        let open = json!({"tags": ["human", "browser"]}).to_string();
        let card = connection.json(&request(
            address,
            "/api/scorecard/open",
            &cookie,
            "open",
            &open,
        ))?["card_id"]
            .clone();
        let opening = json!({"card_id": card, "game_id": "kq19"}).to_string();
        let opened = connection.json(&request(
            address,
            "/api/cmd/RESET",
            &cookie,
            "reset",
            &opening,
        ))?;
        let body = json!({"game_id": "kq19", "guid": opened["guid"]}).to_string();
        Ok(Self {
            connection,
            address: address.to_owned(),
            cookie,
            body,
            number,
        })
    }

    fn play(
        mut self,
        start: &Barrier,
        time: Duration,
        interval: Duration,
        offset: Duration,
    ) -> Result<LoadResult, BenchError> {
        let mut load = LoadResult::default();
        start.wait();
        let started = Instant::now();
        let mut due = started + offset;
        while due < started + time {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let command = ["ACTION1", "ACTION4", "ACTION2", "ACTION3"][(load.actions % 4) as usize];
            let mut status = self.send(command, load.actions)?;
            if status == 400 {
                // Status 400 means that the level is lost, so the visitor restarts it.
                status = self.send("RESET", load.actions)?;
            }
            self.connection.expect_status(status, 200)?;
            load.latencies.push(due.elapsed());
            load.actions += 1;
            due += interval;
        }
        load.time = started.elapsed();
        Ok(load)
    }

    fn send(&mut self, command: &str, action: u64) -> Result<u16, BenchError> {
        let key = format!("{}-{action}-{command}", self.number);
        self.connection.send(&request(
            &self.address,
            &format!("/api/cmd/{command}"),
            &self.cookie,
            &key,
            &self.body,
        ))
    }
}

/// Lets all visitors play concurrently for `time`, each with `per_second` actions per second.
pub(crate) fn play(
    visitors: Vec<Visitor>,
    time: Duration,
    per_second: u32,
) -> Result<LoadResult, BenchError> {
    let interval = Duration::from_secs(1) / per_second;
    let count = visitors.len().max(1);
    run_concurrently(visitors, |index, visitor, start| {
        // Distribute the visitors over the interval: people do not press keys simultaneously.
        let offset = interval.mul_f64(index as f64 / count as f64);
        visitor.play(start, time, interval, offset)
    })
}

/// Returns the request for a cookie. Like a proxy on this machine, which the server trusts, it gives
/// every visitor a different address, because the server limits the visitors per address.
fn visit(address: &str, number: usize) -> Vec<u8> {
    format!(
        "POST /visit HTTP/1.1\r\nHost: {address}\r\nX-Forwarded-For: 198.51.100.{}\r\nSec-Fetch-Site: same-origin\r\n\
         Content-Length: 0\r\n\r\n",
        number % 256
    )
    .into_bytes()
}

fn request(address: &str, path: &str, cookie: &str, key: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nAccept: {COMPACT}\r\nSec-Fetch-Site: same-origin\r\n\
         Idempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

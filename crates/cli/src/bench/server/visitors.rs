//! Visitors: many people in browsers at once, each with a cookie of their own and a steady hand.
//!
//! Each sends an action whenever one is due, whether or not the last was answered in time, and a latency is counted from the moment at which
//! the action was due. So a server that falls behind cannot hide it by slowing its clients down.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::load::{Line, Load, at_once};

/// What pages ask for.
const COMPACT: &str = "application/vnd.rhae.compact+json";

/// A visitor with a play.
pub(crate) struct Visitor {
    line: Line,
    address: String,
    cookie: String,
    body: String,
    number: usize,
}

impl Visitor {
    /// Comes in and opens a play, as a page does.
    pub(crate) fn enter(address: &str, number: usize) -> Result<Self> {
        let mut line = Line::to(address);
        let status = line.send(&request(address, "/visit", "", "visit", ""))?;
        ensure!(status == 204, "a visitor was not let in: {status}");
        let cookie = line
            .header("set-cookie")
            .and_then(|value| value.split(';').next().map(str::to_owned));
        let cookie = cookie.context("a visitor got no cookie")?;
        let open = json!({"tags": ["human", "browser"]}).to_string();
        let card = line.json(&request(
            address,
            "/api/scorecard/open",
            &cookie,
            "open",
            &open,
        ))?["card_id"]
            .clone();
        let opening = json!({"card_id": card, "game_id": "kq19"}).to_string();
        let opened = line.json(&request(
            address,
            "/api/cmd/RESET",
            &cookie,
            "reset",
            &opening,
        ))?;
        let body = json!({"game_id": "kq19", "guid": opened["guid"]}).to_string();
        Ok(Self {
            line,
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
        every: Duration,
        stagger: Duration,
    ) -> Result<Load> {
        let mut load = Load::default();
        start.wait();
        let begun = Instant::now();
        let mut due = begun + stagger;
        while due < begun + time {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let command = ["ACTION1", "ACTION4", "ACTION2", "ACTION3"][(load.actions % 4) as usize];
            let mut status = self.send(command, load.actions)?;
            if status == 400 {
                // The level is lost.
                status = self.send("RESET", load.actions)?;
            }
            ensure!(
                status == 200,
                "the server answered with {status}: {}",
                String::from_utf8_lossy(self.line.body())
            );
            load.latencies.push(due.elapsed());
            load.actions += 1;
            due += every;
        }
        load.time = begun.elapsed();
        Ok(load)
    }

    fn send(&mut self, command: &str, action: u64) -> Result<u16> {
        let key = format!("{}-{action}-{command}", self.number);
        self.line.send(&request(
            &self.address,
            &format!("/api/cmd/{command}"),
            &self.cookie,
            &key,
            &self.body,
        ))
    }
}

/// Lets all visitors play at once, each with so many actions a second.
pub(crate) fn play(visitors: Vec<Visitor>, time: Duration, per_second: u32) -> Result<Load> {
    let every = Duration::from_secs(1) / per_second;
    let count = visitors.len().max(1);
    at_once(visitors, |at, visitor, start| {
        // People do not press keys in step.
        let stagger = every.mul_f64(at as f64 / count as f64);
        visitor.play(start, time, every, stagger)
    })
}

fn request(address: &str, path: &str, cookie: &str, key: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nAccept: {COMPACT}\r\nSec-Fetch-Site: same-origin\r\n\
         Idempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

//! The metrics of a server in the Prometheus text format.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::connection::ClientTimeout;

/// The upper bounds of the latency buckets in milliseconds; a last bucket has no bound.
const BOUNDS_MS: [f64; 13] = [
    0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 1000.0, 2500.0, 10_000.0,
];

/// A monotonic counter.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of a server.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Counts by route pattern. The number of entries is bounded by the number of routes.
    routes: Mutex<HashMap<String, Route>>,
    /// Committed commands, including the RESETs that open plays.
    pub(crate) actions: Counter,
    pub(crate) rebuilds: Counter,
    pub(crate) frozen: Counter,
    rate_limited: Counter,
    pub(crate) connections: Counter,
    pub(crate) connections_ended: Counter,
    timeouts: [Counter; ClientTimeout::ALL.len()],
}

#[derive(Default)]
struct Route {
    statuses: BTreeMap<u16, u64>,
    buckets: [u64; BOUNDS_MS.len() + 1],
    total: Duration,
}

impl Metrics {
    /// Counts a response. Requests that match no route are counted under the empty route.
    pub(crate) fn request(&self, route: &str, status: u16, took: Duration) {
        if status == 429 {
            self.rate_limited.add_one();
        }
        let took_ms = took.as_secs_f64() * 1000.0;
        let bucket = BOUNDS_MS
            .iter()
            .position(|&bound| took_ms <= bound)
            .unwrap_or(BOUNDS_MS.len());
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), Route::default());
        }
        let counts = routes.get_mut(route).expect("the entry was just inserted");
        *counts.statuses.entry(status).or_default() += 1;
        counts.buckets[bucket] += 1;
        counts.total += took;
    }

    /// Counts a connection that was closed because its client was too slow.
    pub(crate) fn ended(&self, timeout: ClientTimeout) {
        self.timeouts[timeout as usize].add_one();
    }

    fn write_routes(&self, text: &mut String) {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut routes: Vec<(&String, &Route)> = routes.iter().collect();
        routes.sort_by_key(|(name, _)| *name);
        head(
            text,
            "rhae_requests_total",
            "counter",
            "Responses by route and status.",
        );
        for (route, counts) in &routes {
            for (status, count) in &counts.statuses {
                line(
                    text,
                    format_args!(
                        "rhae_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}"
                    ),
                );
            }
        }
        head(
            text,
            "rhae_request_seconds",
            "histogram",
            "Time from the head of a request to its response, by route.",
        );
        for (route, counts) in &routes {
            let mut sum = 0;
            let bounds = BOUNDS_MS
                .iter()
                .map(|bound| (bound / 1000.0).to_string())
                .chain(["+Inf".to_owned()]);
            for (bound, count) in bounds.zip(counts.buckets) {
                sum += count;
                line(
                    text,
                    format_args!(
                        "rhae_request_seconds_bucket{{route=\"{route}\",le=\"{bound}\"}} {sum}"
                    ),
                );
            }
            line(
                text,
                format_args!(
                    "rhae_request_seconds_sum{{route=\"{route}\"}} {}",
                    counts.total.as_secs_f64()
                ),
            );
            line(
                text,
                format_args!("rhae_request_seconds_count{{route=\"{route}\"}} {sum}"),
            );
        }
    }
}

impl Metrics {
    /// Returns all metrics in the Prometheus text format. `commits` and `plays_in_memory` are
    /// counted elsewhere.
    pub(crate) fn text(&self, commits: u64, plays_in_memory: usize) -> String {
        let metrics = self;
        let mut text = String::new();
        metrics.write_routes(&mut text);
        let ended = metrics.connections_ended.get();
        let numbers = [
            (
                "rhae_actions_total",
                "counter",
                "Committed commands.",
                metrics.actions.get(),
            ),
            (
                "rhae_commits_total",
                "counter",
                "Committed transactions.",
                commits,
            ),
            (
                "rhae_plays_in_memory",
                "gauge",
                "Plays in memory.",
                plays_in_memory as u64,
            ),
            (
                "rhae_play_rebuilds_total",
                "counter",
                "Plays rebuilt from their logs.",
                metrics.rebuilds.get(),
            ),
            (
                "rhae_plays_frozen_total",
                "counter",
                "Plays frozen because replaying their logs gave other frames.",
                metrics.frozen.get(),
            ),
            (
                "rhae_rate_limited_total",
                "counter",
                "Requests refused with status 429.",
                metrics.rate_limited.get(),
            ),
            (
                "rhae_connections",
                "gauge",
                "Open connections.",
                metrics.connections.get().saturating_sub(ended),
            ),
            (
                "rhae_connections_total",
                "counter",
                "Accepted connections.",
                metrics.connections.get(),
            ),
        ];
        for (name, kind, help, number) in numbers {
            head(&mut text, name, kind, help);
            line(&mut text, format_args!("{name} {number}"));
        }
        let name = "rhae_connections_timed_out_total";
        head(
            &mut text,
            name,
            "counter",
            "Connections closed because the client was too slow.",
        );
        for (timeout, count) in ClientTimeout::ALL.iter().zip(&metrics.timeouts) {
            line(
                &mut text,
                format_args!(
                    "{name}{{waiting_for=\"{}\"}} {}",
                    timeout.name(),
                    count.get()
                ),
            );
        }
        text
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    line(
        text,
        format_args!("# HELP {name} {help}\n# TYPE {name} {kind}"),
    );
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing to a string cannot fail");
}

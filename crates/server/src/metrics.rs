//! The metrics of a server in the OpenMetrics text format, which Prometheus reads.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::connection::ClientTimeout;

/// The media type of [`Metrics::text`].
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The upper bounds of the latency buckets in seconds; a last bucket has no bound.
const BOUNDS: [f64; 13] = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0,
];

/// The counters of a server.
pub(crate) struct Metrics {
    registry: Registry,
    /// Responses by route pattern and status. The number of series is bounded by the number of
    /// routes.
    requests: Family<RouteStatus, Counter>,
    request_seconds: Family<Route, Histogram, Latency>,
    /// Committed commands, including the RESETs that open plays.
    pub(crate) actions: Counter,
    commits: Counter,
    plays_in_memory: Gauge,
    pub(crate) rebuilds: Counter,
    pub(crate) frozen: Counter,
    rate_limited: Counter,
    connections: Gauge,
    accepted: Accepted,
    timeouts: Family<WaitingFor, Counter>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteStatus {
    route: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct WaitingFor {
    waiting_for: &'static str,
}

/// Creates the latency histogram of a route.
#[derive(Clone)]
struct Latency;

impl MetricConstructor<Histogram> for Latency {
    fn new_metric(&self) -> Histogram {
        Histogram::new(BOUNDS)
    }
}

/// The number of accepted connections. As a counter, its family would have the same name as the
/// gauge of open connections, which the format forbids. It therefore has no declared type.
#[derive(Clone, Debug, Default)]
struct Accepted(Counter);

impl EncodeMetric for Accepted {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        encoder.encode_gauge(&self.0.get())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Unknown
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("rhae"),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(Latency),
            actions: Counter::default(),
            commits: Counter::default(),
            plays_in_memory: Gauge::default(),
            rebuilds: Counter::default(),
            frozen: Counter::default(),
            rate_limited: Counter::default(),
            connections: Gauge::default(),
            accepted: Accepted::default(),
            timeouts: Family::default(),
        };
        for timeout in ClientTimeout::ALL {
            drop(metrics.timeouts.get_or_create(&WaitingFor::from(timeout)));
        }
        metrics.register();
        metrics
    }
}

impl From<ClientTimeout> for WaitingFor {
    fn from(timeout: ClientTimeout) -> Self {
        Self {
            waiting_for: timeout.name(),
        }
    }
}

impl Metrics {
    /// Names the metrics. The registry adds the prefix `rhae_`, the suffix `_total` of counters and
    /// the full stop of descriptions.
    fn register(&mut self) {
        let registry = &mut self.registry;
        let requests = self.requests.clone();
        registry.register("requests", "Responses by route and status", requests);
        registry.register(
            "request_seconds",
            "Time from the head of a request to its response, by route",
            self.request_seconds.clone(),
        );
        registry.register("actions", "Committed commands", self.actions.clone());
        registry.register("commits", "Committed transactions", self.commits.clone());
        let plays_in_memory = self.plays_in_memory.clone();
        registry.register("plays_in_memory", "Plays in memory", plays_in_memory);
        registry.register(
            "play_rebuilds",
            "Plays rebuilt from their logs",
            self.rebuilds.clone(),
        );
        registry.register(
            "plays_frozen",
            "Plays frozen because replaying their logs gave other frames",
            self.frozen.clone(),
        );
        registry.register(
            "rate_limited",
            "Requests refused with status 429",
            self.rate_limited.clone(),
        );
        let connections = self.connections.clone();
        registry.register("connections", "Open connections", connections);
        let accepted = self.accepted.clone();
        registry.register("connections_total", "Accepted connections", accepted);
        registry.register(
            "connections_timed_out",
            "Connections closed because the client was too slow",
            self.timeouts.clone(),
        );
    }

    /// Counts a response. Requests that match no route are counted under the empty route.
    pub(crate) fn request(&self, route: &str, status: u16, took: Duration) {
        if status == 429 {
            self.rate_limited.inc();
        }
        let route = route.to_owned();
        let seconds = took.as_secs_f64();
        let labels = Route { route };
        self.request_seconds.get_or_create(&labels).observe(seconds);
        let Route { route } = labels;
        self.requests
            .get_or_create(&RouteStatus { route, status })
            .inc();
    }

    /// Counts an accepted connection.
    pub(crate) fn connected(&self) {
        self.accepted.0.inc();
        self.connections.inc();
    }

    /// Counts the end of a connection.
    pub(crate) fn disconnected(&self) {
        self.connections.dec();
    }

    /// Counts a connection that was closed because its client was too slow.
    pub(crate) fn timed_out(&self, timeout: ClientTimeout) {
        self.timeouts
            .get_or_create(&WaitingFor::from(timeout))
            .inc();
    }

    /// Returns all metrics as text. `commits` and `plays_in_memory` are counted elsewhere.
    pub(crate) fn text(&self, commits: u64, plays_in_memory: usize) -> String {
        let counted: &AtomicU64 = self.commits.inner();
        counted.store(commits, Ordering::Relaxed);
        let plays_in_memory = i64::try_from(plays_in_memory).unwrap_or(i64::MAX);
        self.plays_in_memory.set(plays_in_memory);
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to a string cannot fail");
        text
    }
}

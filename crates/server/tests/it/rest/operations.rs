//! The metrics, with numbers that depend on time or on connections replaced.

use std::sync::Arc;

use rhae_engine::Action;
use rhae_server::serve_metrics;
use serde_json::json;
use tokio::net::TcpListener;

use super::exchange::Exchanges;
use crate::client::Client;
use crate::test_server::TestServer;

/// Metrics whose values differ between runs.
const VOLATILE: [&str; 5] = [
    "rhae_request_seconds_bucket",
    "rhae_request_seconds_sum",
    "rhae_commits_total",
    "rhae_connections ",
    "rhae_connections_total",
];

fn without_volatile_numbers(line: &str) -> String {
    let is_volatile = VOLATILE.iter().any(|name| line.starts_with(name));
    match line.rsplit_once(' ') {
        Some((metric, _)) if is_volatile => format!("{metric} [number]\n"),
        _ => format!("{line}\n"),
    }
}

/// Sorts the lines of each metric, whose order is unspecified.
fn sorted_families(text: &str) -> String {
    let mut families: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        if line.starts_with('#') || families.is_empty() {
            families.push(Vec::new());
        }
        let family = families.last_mut().expect("a family was added above");
        family.push(without_volatile_numbers(line));
    }
    families.iter_mut().for_each(|family| family.sort());
    families.concat().concat()
}

#[test]
fn metrics_count_requests_and_actions() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    client.act("kq19", &guid, Action::Action1).success();
    client.get("/no/such/path").assert_error(404, "NOT_FOUND");
    let listener = server
        .runtime
        .block_on(TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let address = listener.local_addr().unwrap();
    let inner = Arc::clone(&server.inner);
    server
        .runtime
        .spawn(serve_metrics(listener, inner, std::future::pending()));
    let mut answer = Client::new(&format!("http://{address}"), "").get("/metrics");
    answer.text = sorted_families(&answer.text);
    Exchanges::default().check("metrics", "> GET /metrics\n", &answer);
}

//! Property test: arbitrary bytes and JSON, sent through the real routes, never cause a 5xx
//! response, and they change nothing unless the request succeeds.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use proptest::prelude::*;
use rhae_server::router;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::test_server::TestServer;

const PATHS: [&str; 7] = [
    "/api/cmd/RESET",
    "/api/cmd/ACTION1",
    "/api/cmd/ACTION6",
    "/api/cmd/ACTION7",
    "/api/scorecard/heartbeat",
    "/api/scorecard/open",
    "/api/scorecard/nothing",
];

/// Generates arbitrary JSON, a few levels deep, sometimes with field names and values that the API
/// uses.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..70).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["kq19", "kq19-v1", "<card>", "<guid>", "KQ19"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        let name = prop_oneof![
            prop::sample::select(vec!["game_id", "guid", "card_id", "x", "y"])
                .prop_map(str::to_owned),
            ".{0,6}"
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Generates an object with the fields of a command, each of which is valid, arbitrary or missing.
fn near_command() -> impl Strategy<Value = Value> {
    let field = |right: Value| prop_oneof![4 => Just(Some(right)), 1 => any_json().prop_map(Some), 1 => Just(None)];
    let fields = (
        field(json!("kq19")),
        field(json!("<guid>")),
        field(json!("<card>")),
        field(json!(5)),
        field(json!(63)),
        any_json(),
    );
    fields.prop_map(|(game, guid, card, x, y, reasoning)| {
        let named = [
            ("game_id", game),
            ("guid", guid),
            ("card_id", card),
            ("x", x),
            ("y", y),
            ("reasoning", Some(reasoning)),
        ];
        Value::Object(
            named
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)))
                .collect(),
        )
    })
}

fn any_body() -> impl Strategy<Value = Vec<u8>> {
    let text = |value: Value| value.to_string().into_bytes();
    let broken = (
        near_command().prop_map(text),
        any::<prop::sample::Index>(),
        any::<u8>(),
    )
        .prop_map(|(mut bytes, place, byte)| {
            let place = place.index(bytes.len());
            bytes[place] = byte;
            bytes
        });
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        any_json().prop_map(text),
        near_command().prop_map(text),
        broken,
    ]
}

#[test]
fn arbitrary_bodies_never_fail_the_server_and_rejected_ones_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    let routes = router(Arc::clone(&server.inner));
    let send = |path: &str, body: Option<Vec<u8>>| {
        let request = Request::builder()
            .uri(path)
            .header("X-API-Key", "k")
            .header(header::CONTENT_TYPE, "application/json");
        let request = match body {
            Some(body) => request.method("POST").body(Body::from(body)).unwrap(),
            None => request.body(Body::empty()).unwrap(),
        };
        server.runtime.block_on(async {
            let answer = routes.clone().oneshot(request).await.unwrap();
            let status = answer.status().as_u16();
            let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
            (status, serde_json::from_slice::<Value>(&body).unwrap())
        })
    };
    let read = || send(&format!("/api/scorecard/{card}"), None).1;
    let state = std::cell::RefCell::new(read());
    let taken = std::cell::Cell::new(0);
    let cases = if rhae_testkit::full("500 instead of 20,000 bodies") {
        20_000
    } else {
        500
    };
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(path in prop::sample::select(PATHS.to_vec()), body in any_body())| {
        let named = String::from_utf8(body).map(|text| text.replace("<card>", &card).replace("<guid>", &guid).into_bytes());
        let body = named.unwrap_or_else(|error| error.into_bytes());
        let (status, answer) = send(path, Some(body));
        prop_assert!(status == 200 || (400..500).contains(&status), "{status} {answer}");
        let now = read();
        if status == 200 {
            taken.set(taken.get() + 1);
        } else {
            prop_assert!(answer["error"].is_string() && answer["message"].is_string());
            prop_assert_eq!(&now, &*state.borrow());
        }
        state.replace(now);
    });
    // At least some of the bodies are accepted.
    assert!(taken.get() > 0);
}

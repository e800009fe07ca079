//! How much a client may store, and how large lists become.

use rhae_engine::Action;
use rhae_server::{Config, Limits};
use rhae_store::SqliteOptions;
use serde_json::{Value, json};

use crate::long_plays::corrupt;
use crate::test_server::TestServer;

#[test]
fn tags_and_source_url_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let open = |body: Value| client.post("/api/scorecard/open", &body);
    for body in [
        json!({"tags": vec!["x"; 33]}),
        json!({"tags": ["x".repeat(129)]}),
        json!({"source_url": "x".repeat(2049)}),
    ] {
        open(body).assert_error(400, "VALIDATION_ERROR");
    }
    let accepted = json!({"tags": vec!["x".repeat(128); 32], "source_url": "x".repeat(2048)});
    open(accepted).success();
}

#[test]
fn stored_bytes_per_key_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        stored_bytes_per_key: Some(20_000),
        ..Limits::default()
    };
    let config = Config {
        limits,
        ..Config::default()
    };
    let start = || TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let server = start();
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    let body = json!({"game_id": "kq19", "guid": guid, "reasoning": "x".repeat(1000)});
    let mut stored = 0;
    let act = |key: u64| {
        let client = client.with_idempotency_key(&key.to_string());
        client.post("/api/cmd/ACTION1", &body)
    };
    while act(stored).status == 200 {
        stored += 1;
        assert!(stored < 20, "there is no limit");
    }
    assert!(stored > 10, "{stored}");
    act(stored).assert_error(409, "LIMIT_REACHED");
    // Nothing else can be stored with this key, but everything can be read and repeated.
    client
        .post("/api/scorecard/open", &json!({"opaque": "x".repeat(2000)}))
        .assert_error(409, "LIMIT_REACHED");
    act(stored - 1).success();
    assert_eq!(client.card(&card)["total_actions"], stored);
    server.client("other").open_card(&json!({}));
    drop(client);
    server.stop();
    // The limit survives a restart.
    let server = start();
    let client = server.client("k");
    client
        .post("/api/cmd/ACTION1", &body)
        .assert_error(409, "LIMIT_REACHED");
    client.close(&card);
}

#[test]
fn list_of_scorecards_stays_small() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let mut card = String::new();
    for _ in 0..60 {
        card = client.open_card(&json!({"tags": vec!["<".repeat(128); 32]}));
    }
    // A file of an older version may contain longer tags.
    corrupt(
        folder.path(),
        "UPDATE cards SET tags = '[\"' || hex(zeroblob(200000)) || '\"]' WHERE key % 2 = 0",
    );
    let page = client.get("/scorecards");
    assert_eq!(page.status, 200);
    assert!(page.text.len() < 250_000, "{} bytes", page.text.len());
    assert_eq!(page.text.matches("href=\"/scorecards/").count(), 50);
    let old = client.card(&card);
    assert!(old["tags"].is_array());
}

#[test]
fn runs_of_a_scorecard_are_listed_in_pages() {
    const RUNS: usize = 6000;
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    client.act("kq19", &guid, Action::Action1).success();
    corrupt(
        folder.path(),
        &format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {RUNS} - 1)
             INSERT INTO runs SELECT play, i, level, state, resets, actions, levels, bytes FROM runs, n WHERE run = 0"
        ),
    );
    let path = format!("/api/scorecard/{card}");
    let runs = |card: &Value| card["environments"][0]["runs"].as_array().unwrap().len();
    let first = client.get(&path);
    assert_eq!(runs(&first.success()), 5000);
    let link = first.headers.iter().find(|(name, _)| name == "link");
    assert_eq!(link.unwrap().1, "<?after=5000>; rel=\"next\"");
    let second = client.get(&format!("{path}?after=5000"));
    // The first run is the best, which is on every page.
    assert_eq!(runs(&second.success()), 1001);
    assert!(second.headers.iter().all(|(name, _)| name != "link"));
    for page in [&first, &second] {
        assert_eq!(page.success()["total_actions"], RUNS);
    }
    client
        .get(&format!("{path}?after=x"))
        .assert_error(400, "VALIDATION_ERROR");
    assert_eq!(runs(&client.get(&format!("{path}/kq19")).success()), 5000);
    let page = client.get(&format!("/scorecards/{card}"));
    assert_eq!(page.text.matches("href=\"/replay/").count(), 200);
    assert!(page.text.contains(&format!("/scorecards/{card}?after=200")));
    let closed = client.post("/api/scorecard/close", &json!({"card_id": card}));
    assert_eq!(runs(&closed.success()), 5000);
    let link = closed.headers.iter().find(|(name, _)| name == "link");
    assert_eq!(
        link.unwrap().1,
        format!("<{path}?after=5000>; rel=\"next\"")
    );
}

use rhae_engine::Action;
use serde_json::json;

use crate::client::Client;
use crate::test_server::TestServer;

fn is_open(client: &Client, card: &str) -> bool {
    client
        .post("/api/scorecard/heartbeat", &json!({"card_id": card}))
        .status
        == 200
}

#[test]
fn idle_cards_are_closed_and_active_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let [idle, played, kept] = [(); 3].map(|()| client.open_card(&json!({})));
    let guid = client.open_play(&played, "kq19");
    let late = client.open_play(&idle, "kq19");
    for _ in 0..3 {
        server.clock.forward_minutes(10);
        client.act("kq19", &guid, Action::Action1).success();
        client
            .post("/api/scorecard/heartbeat", &json!({"card_id": kept}))
            .success();
        // Reading a card does not count as use.
        client.card(&idle);
        server.runtime.block_on(server.inner.close_stale()).unwrap();
    }
    assert_eq!(
        [&idle, &played, &kept].map(|card| is_open(&client, card)),
        [false, true, true]
    );
    client
        .act("kq19", &late, Action::Action1)
        .assert_error(400, "SERVER_ERROR");
    client
        .post(
            "/api/cmd/RESET",
            &json!({"card_id": idle, "game_id": "kq19"}),
        )
        .assert_error(400, "VALIDATION_ERROR");
    assert_eq!(client.card(&idle)["total_actions"], 0);
    assert_eq!(client.card(&played)["total_actions"], 3);
}

#[test]
fn card_is_closed_after_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    for minutes in 0..=24 * 6 {
        assert!(is_open(&client, &card), "after {minutes}0 minutes");
        server.clock.forward_minutes(10);
        server.runtime.block_on(server.inner.close_stale()).unwrap();
    }
    assert!(!is_open(&client, &card));
}

#[test]
fn downtime_does_not_count_as_idle() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let card = server.client("k").open_card(&json!({}));
    server.stop();
    let server = TestServer::start(folder.path());
    server.clock.forward_minutes(60);
    server
        .runtime
        .block_on(server.inner.restart_idle_timers())
        .unwrap();
    server.runtime.block_on(server.inner.close_stale()).unwrap();
    assert!(is_open(&server.client("k"), &card));
}

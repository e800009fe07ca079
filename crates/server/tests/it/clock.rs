use rhae_engine::Action;
use serde_json::json;

use crate::client::Client;
use crate::running::Running;

fn is_open(client: &Client, card: &str) -> bool {
    client
        .post("/api/scorecard/heartbeat", &json!({"card_id": card}))
        .status
        == 200
}

#[test]
fn idle_cards_are_closed_and_those_in_use_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let client = running.client("k");
    let [idle, played, kept] = [(); 3].map(|()| client.open_card(&json!({})));
    let guid = client.open_play(&played, "kq19");
    let late = client.open_play(&idle, "kq19");
    for _ in 0..3 {
        running.clock.forward_minutes(10);
        client.act("kq19", &guid, Action::Action1).fine();
        client
            .post("/api/scorecard/heartbeat", &json!({"card_id": kept}))
            .fine();
        // Reading is no use.
        client.card(&idle);
        running
            .runtime
            .block_on(running.server.close_stale())
            .unwrap();
    }
    assert_eq!(
        [&idle, &played, &kept].map(|card| is_open(&client, card)),
        [false, true, true]
    );
    client
        .act("kq19", &late, Action::Action1)
        .refused(400, "SERVER_ERROR");
    client
        .post(
            "/api/cmd/RESET",
            &json!({"card_id": idle, "game_id": "kq19"}),
        )
        .refused(400, "VALIDATION_ERROR");
    assert_eq!(client.card(&idle)["total_actions"], 0);
    assert_eq!(client.card(&played)["total_actions"], 3);
}

#[test]
fn no_card_stays_open_for_longer_than_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    for minutes in 0..=24 * 6 {
        assert!(is_open(&client, &card), "after {minutes}0 minutes");
        running.clock.forward_minutes(10);
        running
            .runtime
            .block_on(running.server.close_stale())
            .unwrap();
    }
    assert!(!is_open(&client, &card));
}

#[test]
fn time_without_a_server_is_not_idle() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let card = running.client("k").open_card(&json!({}));
    running.stop();
    let running = Running::start(folder.path());
    running.clock.forward_minutes(60);
    running.runtime.block_on(running.server.resume()).unwrap();
    running
        .runtime
        .block_on(running.server.close_stale())
        .unwrap();
    assert!(is_open(&running.client("k"), &card));
}

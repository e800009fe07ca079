//! Pages and files of the web app on a server with open access.

use rhae_engine::Action;
use serde_json::json;

use super::exchange::Exchanges;
use crate::test_server::TestServer;

#[test]
fn pages_are_served_without_any_play() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    exchanges.get("page_gallery", &client, "/");
    exchanges.get("page_play", &client, "/play/kq19");
    exchanges.get("page_replay_list_empty", &client, "/replay");
    exchanges.get("page_watch_list_empty", &client, "/watch");
    exchanges.get("page_scorecards_empty", &client, "/scorecards");
    exchanges.get("page_entrance_with_open_access", &client, "/enter");
}

#[test]
fn pages_show_plays_and_scorecards() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({"tags": ["human", "browser"]}));
    exchanges.get("page_play_state_without_play", &client, "/play/kq19/state");
    let guid = exchanges.open_play(&client, &card, "kq19");
    client.solve("kq19", &guid, 0);
    let body = json!({"game_id": "kq19", "guid": guid, "reasoning": {"why": "probe"}});
    client.post("/api/cmd/ACTION1", &body).success();
    let competing = exchanges.open_card(&client, &json!({"competition_mode": true}));
    exchanges.get("page_gallery_with_progress", &client, "/");
    exchanges.get("page_play_state", &client, "/play/kq19/state");
    exchanges.get("page_replay_list", &client, "/replay");
    exchanges.get("page_replay", &client, &format!("/replay/{guid}"));
    exchanges.get("page_replay_film", &client, &format!("/replay/{guid}/film"));
    exchanges.get(
        "page_replay_times",
        &client,
        &format!("/replay/{guid}/times"),
    );
    let reasoning = format!("/replay/{guid}/reasoning");
    exchanges.get(
        "page_replay_reasoning",
        &client,
        &format!("{reasoning}?from=0"),
    );
    exchanges.get("page_replay_reasoning_without_from", &client, &reasoning);
    exchanges.get("page_watch_list", &client, "/watch");
    exchanges.get("page_watch", &client, &format!("/watch/{guid}"));
    exchanges.get(
        "page_watch_picture",
        &client,
        &format!("/watch/{guid}/now.png"),
    );
    exchanges.get("page_scorecards", &client, "/scorecards");
    exchanges.get(
        "page_scorecard_open",
        &client,
        &format!("/scorecards/{card}"),
    );
    exchanges.get(
        "page_scorecard_of_open_competition",
        &client,
        &format!("/scorecards/{competing}"),
    );
    server.clock.forward_minutes(2);
    client.act("kq19", &guid, Action::Reset).success();
    client.close(&card);
    exchanges.get(
        "page_scorecard_closed",
        &client,
        &format!("/scorecards/{card}"),
    );
    let recording = client.get(&format!("/replay/{guid}/recording.jsonl"));
    assert_eq!(
        recording.text,
        client.get(&format!("/api/plays/{guid}/recording")).text
    );
    let events = client.get(&format!("/watch/{guid}/events?from=0"));
    assert_eq!(
        events.text,
        client.get(&format!("/api/plays/{guid}/events?from=0")).text
    );
}

#[test]
fn pictures_and_assets_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    exchanges.get("page_picture", &client, "/pictures/kq19.png");
    exchanges.get("page_picture_unknown_game", &client, "/pictures/zz99.png");
    for (kind, name) in [("css", "site.css"), ("svg", "icon.svg"), ("js", "play.js")] {
        let path = format!("/assets/{name}");
        exchanges.get(&format!("page_asset_{kind}"), &client, &path);
    }
    exchanges.get("page_asset_unknown", &client, "/assets/no-such-file.js");
}

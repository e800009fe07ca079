//! Thumbnails of plays in lists: available after a restart, with bounded work.

use rhae_engine::Action;
use rhae_server::Config;
use rhae_store::SqliteOptions;
use serde_json::json;

use crate::client::{Answer, Client};
use crate::counting_catalog::counted_server;
use crate::test_server::TestServer;

fn thumbnail(client: &Client, guid: &str) -> Answer {
    client.get(&format!("/watch/{guid}/now.png"))
}

#[test]
fn thumbnail_survives_a_restart_and_rebuilds_the_play_once() {
    let folder = tempfile::tempdir().unwrap();
    // Take snapshots often, so that the thumbnail is made from a snapshot.
    let config = Config {
        snapshot_every: 4,
        ..Config::default()
    };
    let server = TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let [walked, stood] = [(); 2].map(|()| client.open_play(&card, "kq19"));
    for action in [
        Action::Action1,
        Action::Action1,
        Action::Action4,
        Action::Action1,
        Action::Action4,
        Action::Action1,
    ] {
        client.act("kq19", &walked, action).success();
    }
    let before = [&walked, &stood].map(|guid| thumbnail(&client, guid));
    assert!(
        before
            .iter()
            .all(|answer| answer.status == 200 && answer.content_type == "image/png"),
        "{before:?}"
    );
    assert_ne!(before[0].text, before[1].text);
    drop(client);
    server.stop();

    let (server, counts) = counted_server(folder.path());
    let client = server.client("k");
    for _ in 0..3 {
        let after = [&walked, &stood].map(|guid| thumbnail(&client, guid));
        assert_eq!(
            after.map(|answer| answer.text),
            before.each_ref().map(|answer| answer.text.clone())
        );
    }
    assert_eq!(counts.opened(), 2);
    // The next command loads the play into memory, and the thumbnail shows its current frame.
    client.act("kq19", &stood, Action::Action1).success();
    assert_ne!(thumbnail(&client, &stood).text, before[1].text);
    assert_eq!(counts.opened(), 3);
    // Plays of closed cards appear in no list, so they have no thumbnail.
    client.close(&card);
    assert_eq!(thumbnail(&client, &walked).status, 404);
    assert_eq!(counts.opened(), 3);
}

#[test]
fn long_log_is_not_replayed_for_a_thumbnail() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        snapshot_every: u32::MAX,
        ..Config::default()
    };
    let server = TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    for _ in 0..1030 {
        client.act("kq19", &guid, Action::Reset).success();
    }
    assert_eq!(thumbnail(&client, &guid).status, 200);
    drop(client);
    server.stop();

    let (server, counts) = counted_server(folder.path());
    let client = server.client("k");
    assert_eq!(thumbnail(&client, &guid).status, 404);
    assert_eq!(counts.opened(), 0);
    // A command loads the play, and then the thumbnail is available.
    client.act("kq19", &guid, Action::Action1).success();
    assert_eq!(thumbnail(&client, &guid).status, 200);
}

//! Pictures of plays in lists: there after a restart as well, and never more work than is bounded.

use rhae_engine::Action;
use rhae_server::Config;
use rhae_store::SqliteOptions;
use serde_json::json;

use crate::client::{Answer, Client};
use crate::counting::counted_server;
use crate::running::Running;

fn picture(client: &Client, guid: &str) -> Answer {
    client.get(&format!("/watch/{guid}/now.png"))
}

#[test]
fn a_play_has_its_picture_after_a_restart_and_is_made_again_once_for_it() {
    let folder = tempfile::tempdir().unwrap();
    // Snapshots are kept often, so that the picture comes from one.
    let config = Config {
        snapshot_every: 4,
        ..Config::default()
    };
    let running = Running::start_with(folder.path(), config, SqliteOptions::default());
    let client = running.client("k");
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
        client.act("kq19", &walked, action).fine();
    }
    let before = [&walked, &stood].map(|guid| picture(&client, guid));
    assert!(
        before
            .iter()
            .all(|answer| answer.status == 200 && answer.content_type == "image/png"),
        "{before:?}"
    );
    assert_ne!(before[0].text, before[1].text);
    drop(client);
    running.stop();

    let (running, counts) = counted_server(folder.path());
    let client = running.client("k");
    for _ in 0..3 {
        let after = [&walked, &stood].map(|guid| picture(&client, guid));
        assert_eq!(
            after.map(|answer| answer.text),
            before.each_ref().map(|answer| answer.text.clone())
        );
    }
    assert_eq!(counts.opened(), 2);
    // From the next command on it is in memory, and its picture is of what it is now.
    client.act("kq19", &stood, Action::Action1).fine();
    assert_ne!(picture(&client, &stood).text, before[1].text);
    assert_eq!(counts.opened(), 3);
    // A card that is closed is on no list.
    client.close(&card);
    assert_eq!(picture(&client, &walked).status, 404);
    assert_eq!(counts.opened(), 3);
}

#[test]
fn a_log_that_is_too_long_to_be_played_for_a_picture_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        snapshot_every: u32::MAX,
        ..Config::default()
    };
    let running = Running::start_with(folder.path(), config, SqliteOptions::default());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    for _ in 0..1030 {
        client.act("kq19", &guid, Action::Reset).fine();
    }
    assert_eq!(picture(&client, &guid).status, 200);
    drop(client);
    running.stop();

    let (running, counts) = counted_server(folder.path());
    let client = running.client("k");
    assert_eq!(picture(&client, &guid).status, 404);
    assert_eq!(counts.opened(), 0);
    // A command needs the play, and then there is a picture.
    client.act("kq19", &guid, Action::Action1).fine();
    assert_eq!(picture(&client, &guid).status, 200);
}

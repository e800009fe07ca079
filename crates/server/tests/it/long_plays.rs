//! Long plays, which are rebuilt from their last snapshot and the log after it.

use rhae_engine::{Action, Catalog, PlayState};
use rhae_games::Builtin;
use rhae_protocol::{Details, ResetRule};
use rhae_server::Config;
use rhae_session::Play;
use rhae_store::{Snapshot, SqliteOptions, SqliteStore, Store};
use serde_json::json;

use crate::client::Client;
use crate::counting_catalog::counted_server;
use crate::test_server::TestServer;

/// Runs a statement on a server's database file, as another program would, while no server uses it.
pub(crate) fn corrupt(folder: &std::path::Path, statement: &str) {
    rusqlite::Connection::open(folder.join("rhae.db"))
        .unwrap()
        .execute_batch(statement)
        .unwrap();
}

/// Returns the action of a turn: a mix of keys, clicks, undo and occasional RESETs.
fn action(turn: u32) -> Action {
    match turn % 29 {
        0 => Action::Reset,
        7 | 8 => Action::Action7,
        9 => Action::Action5,
        turn @ 10..13 => Action::Action6 {
            x: (turn * 5) as u8,
            y: (turn * 3) as u8,
        },
        turn => [
            Action::Action1,
            Action::Action4,
            Action::Action2,
            Action::Action3,
        ][turn as usize % 4],
    }
}

/// Appends entries to a newly opened play, as a server would, but without a commit for each.
fn append_actions(folder: &std::path::Path, guid: &str, actions: u32) -> u32 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(&folder.join("rhae.db"), SqliteOptions::default())
            .await
            .unwrap();
        let stored = store.play(guid.parse().unwrap()).await.unwrap().unwrap();
        let mut play = Play::new(Builtin.open("hk26", 0).unwrap(), ResetRule::Official);
        // Append few entries at a time, so that the store receives them in order.
        for first in (1..=actions).step_by(25) {
            let mut appends = Vec::new();
            for index in first..(first + 25).min(actions + 1) {
                let over = play.current().observation.state != PlayState::NotFinished;
                let action = if over { Action::Reset } else { action(index) };
                let entry = play
                    .command(action)
                    .unwrap()
                    .entry(action, Details::default());
                appends.push(store.append(
                    stored.key,
                    stored.card,
                    index,
                    entry,
                    1_800_000_000_000,
                ));
                if (index + 1).is_multiple_of(1_000) {
                    let snapshot = Snapshot {
                        entries: index + 1,
                        bytes: play.snapshot().unwrap().unwrap(),
                    };
                    appends.push(store.save_snapshot(stored.key, snapshot));
                }
            }
            assert!(
                futures_util::future::join_all(appends)
                    .await
                    .into_iter()
                    .all(|appended| appended.is_ok())
            );
        }
        store.close().await;
    });
    actions
}

fn commands(client: &Client, guid: &str, turns: std::ops::Range<u32>) {
    for turn in turns {
        let answer = client.act("hk26", guid, action(turn));
        if answer.status == 400 {
            client.act("hk26", guid, Action::Reset).success();
        } else {
            answer.success();
        }
    }
}

#[test]
fn long_play_is_rebuilt_from_its_last_usable_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = counted_server(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "hk26");
    drop(client);
    server.stop();
    let entries = u64::from(append_actions(folder.path(), &guid, 10_500)) + 1;
    let (server, counts) = counted_server(folder.path());
    let before = server.client("k").card(&card);
    let facts = server
        .client("k")
        .get(&format!("/api/plays/{guid}"))
        .success();
    assert_eq!(
        (facts["entries"].as_u64(), counts.acted()),
        (Some(entries), 0)
    );
    server.stop();

    let resume = |replayed: std::ops::Range<u64>| {
        let (server, counts) = counted_server(folder.path());
        let client = server.client("k");
        client.act("hk26", &guid, Action::Action1).success();
        assert!(
            replayed.contains(&counts.acted()),
            "{counts:?} of {replayed:?}"
        );
        drop(client);
        server.stop();
    };
    // Only the tail is read and replayed, so corruption before it has no effect.
    corrupt(
        folder.path(),
        "UPDATE log SET hash = hash + 1 WHERE entry = 5",
    );
    resume(1..1_002);
    // If the last snapshot is corrupt, the one before it is used.
    corrupt(
        folder.path(),
        "UPDATE snapshots SET bytes = zeroblob(length(bytes)) WHERE entries = (SELECT max(entries) FROM snapshots)",
    );
    resume(1_001..2_003);
    // If no snapshot is usable, the whole log is replayed and the snapshots are dropped.
    corrupt(
        folder.path(),
        "UPDATE log SET hash = hash - 1 WHERE entry = 5; UPDATE snapshots SET bytes = substr(bytes, 2)",
    );
    resume(entries..entries + 10);
    corrupt(
        folder.path(),
        "UPDATE log SET hash = hash + 1 WHERE entry = 5",
    );
    let (server, _) = counted_server(folder.path());
    server
        .client("k")
        .act("hk26", &guid, Action::Action1)
        .assert_error(409, "PLAY_FROZEN");
    let after = server.client("k").card(&card);
    assert_eq!(
        after["total_actions"].as_u64(),
        Some(before["total_actions"].as_u64().unwrap() + 3)
    );
    server.stop();
}

#[test]
fn wrong_hash_after_the_snapshot_freezes_the_play() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        snapshot_every: 50,
        ..Config::default()
    };
    let server = TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "hk26");
    commands(&client, &guid, 1..231);
    drop(client);
    server.stop();
    corrupt(
        folder.path(),
        "UPDATE log SET hash = hash + 1 WHERE entry = 220",
    );
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    client
        .act("hk26", &guid, Action::Action1)
        .assert_error(409, "PLAY_FROZEN");
    let frozen = client.get(&format!("/api/plays/{guid}")).success();
    assert!(
        frozen["frozen"]
            .as_str()
            .unwrap()
            .contains("at entry 220 of its log the frames differ"),
        "{frozen}"
    );
}

//! Plays of many actions: made again from their last snapshot and the log after it.

use rhae_engine::{Action, PlayState};
use rhae_protocol::{Details, ResetRule};
use rhae_server::Config;
use rhae_session::{Builtin, Catalog, Play};
use rhae_store::{Snapshot, SqliteOptions, SqliteStore, Store};
use serde_json::json;

use crate::client::Client;
use crate::counting::counted_server;
use crate::running::Running;

/// Runs a statement on a server's file, as another program would, while no server uses it.
pub(crate) fn spoil(folder: &std::path::Path, statement: &'static str) {
    rusqlite::Connection::open(folder.join("rhae.db"))
        .unwrap()
        .execute_batch(statement)
        .unwrap();
}

/// Keys, clicks, undo, and now and then a RESET.
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

/// Appends so many entries to a play of which there is nothing but its opening, as a server would, but without a commit for each.
fn lengthen(folder: &std::path::Path, guid: &str, actions: u32) -> u32 {
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
        // Few enough at once that they are sent in their order.
        for first in (1..=actions).step_by(25) {
            let mut appends = Vec::new();
            for index in first..(first + 25).min(actions + 1) {
                let over = play.opening().observation.state != PlayState::NotFinished;
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
                    appends.push(store.keep_snapshot(stored.key, snapshot));
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
            client.act("hk26", guid, Action::Reset).fine();
        } else {
            answer.fine();
        }
    }
}

#[test]
fn a_long_play_is_made_from_its_last_snapshot_and_a_spoilt_one_harms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (running, _) = counted_server(folder.path());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "hk26");
    drop(client);
    running.stop();
    let entries = u64::from(lengthen(folder.path(), &guid, 10_500)) + 1;
    let (running, counts) = counted_server(folder.path());
    let before = running.client("k").card(&card);
    let facts = running
        .client("k")
        .get(&format!("/api/plays/{guid}"))
        .fine();
    assert_eq!(
        (facts["entries"].as_u64(), counts.acted()),
        (Some(entries), 0)
    );
    running.stop();

    let go_on = |replayed: std::ops::Range<u64>| {
        let (running, counts) = counted_server(folder.path());
        let client = running.client("k");
        client.act("hk26", &guid, Action::Action1).fine();
        assert!(
            replayed.contains(&counts.acted()),
            "{counts:?} of {replayed:?}"
        );
        drop(client);
        running.stop();
    };
    // Only the tail is replayed, and only the tail is read: nothing that was before it matters any more.
    spoil(
        folder.path(),
        "UPDATE log SET hash = hash + 1 WHERE entry = 5",
    );
    go_on(1..1_002);
    // With a spoilt snapshot the one before it is used.
    spoil(
        folder.path(),
        "UPDATE snapshots SET bytes = zeroblob(length(bytes)) WHERE entries = (SELECT max(entries) FROM snapshots)",
    );
    go_on(1_001..2_003);
    // With none that can be used the whole log is replayed, and they are dropped.
    spoil(
        folder.path(),
        "UPDATE log SET hash = hash - 1 WHERE entry = 5; UPDATE snapshots SET bytes = substr(bytes, 2)",
    );
    go_on(entries..entries + 10);
    spoil(
        folder.path(),
        "UPDATE log SET hash = hash + 1 WHERE entry = 5",
    );
    let (running, _) = counted_server(folder.path());
    running
        .client("k")
        .act("hk26", &guid, Action::Action1)
        .refused(409, "PLAY_FROZEN");
    let after = running.client("k").card(&card);
    assert_eq!(
        after["total_actions"].as_u64(),
        Some(before["total_actions"].as_u64().unwrap() + 3)
    );
    running.stop();
}

#[test]
fn a_wrong_hash_after_the_snapshot_freezes() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        snapshot_every: 50,
        ..Config::default()
    };
    let running = Running::start_with(folder.path(), config, SqliteOptions::default());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "hk26");
    commands(&client, &guid, 1..231);
    drop(client);
    running.stop();
    spoil(
        folder.path(),
        "UPDATE log SET hash = hash + 1 WHERE entry = 220",
    );
    let running = Running::start(folder.path());
    let client = running.client("k");
    client
        .act("hk26", &guid, Action::Action1)
        .refused(409, "PLAY_FROZEN");
    let frozen = client.get(&format!("/api/plays/{guid}")).fine();
    assert!(
        frozen["frozen"]
            .as_str()
            .unwrap()
            .contains("at entry 220 of its log the frames differ"),
        "{frozen}"
    );
}

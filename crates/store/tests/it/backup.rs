//! Backups of both databases, and restorations to both.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rhae_engine::Action;
use rhae_store::{
    CardId, Database, IdempotencyKey, Key, KeyId, KeyLimits, KeyStore, NewCard, Owner,
    PostgresStore, Scopes, Share, ShareId, ShareTarget, Snapshot, Store, StoreError,
};
use rhae_testkit::Postgres;

use crate::fixture::{Fixture, address, on_both_stores};
use crate::{card_with_play, entry, new_card, new_play, open};

on_both_stores!(
    backup_is_restored_to_both_databases_without_differences,
    backup_during_writes_is_a_state_between_two_commits
);

/// Fills a database with rows in every table and with unusual values.
async fn fill(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let (card, play) = card_with_play(store).await;
    let key = IdempotencyKey {
        owner: Owner([7; 32]),
        key: "a".to_owned(),
        digest: [1; 32],
    };
    let appended = store.append_idempotent(play, card, 1, entry(Action::Action1), 3_000, Some(key));
    appended.await.unwrap();
    let reset = entry(Action::Reset);
    store.append(play, card, 2, reset, 4_000).await.unwrap();
    let snapshot = Snapshot {
        entries: 2,
        bytes: vec![0, 255, 7],
    };
    store.save_snapshot(play, snapshot).await.unwrap();
    store.close_card(card, 5_000).await.unwrap();
    // PostgreSQL cannot store U+0000 in a text.
    let strange = NewCard {
        source_url: Some("https://example.org/\0\"".to_owned()),
        opaque: None,
        tags: vec!["\0".to_owned()],
        lasting: true,
        ..new_card()
    };
    store.open_card(strange).await.unwrap();
    fixture.keys.create_key(api_key()).await.unwrap();
    let link = Share {
        id: ShareId(3),
        hash: [4; 32],
        owner: Owner([7; 32]),
        target: ShareTarget::Card(CardId(uuid::Uuid::from_u128(5))),
        created_ms: 1,
        revoked_ms: None,
    };
    fixture.shares.create_share(link, 9).await.unwrap();
    let study = crate::studies::append("lab", 0, 2);
    fixture.studies.append_study(study).await.unwrap();
    let board = crate::boards::append("main", 0, 2);
    fixture.boards.append_board(board).await.unwrap();
    let work = crate::work_logs::append("job", 0, 2);
    fixture.work.append_work(work).await.unwrap();
}

fn api_key() -> Key {
    Key {
        id: KeyId(5),
        hash: [9; 32],
        name: "lab ä\"'".to_owned(),
        scopes: Scopes {
            sets: Default::default(),
            sources: true,
            admin: false,
            visitor: true,
        },
        created_ms: 1_000,
        revoked_ms: None,
        expires_ms: Some(2_000),
        limits: KeyLimits {
            stored_bytes: Some(7),
            ..KeyLimits::default()
        },
        invitation: None,
    }
}

/// Returns the rows of all tables of a file as text.
fn dump(file: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(file).unwrap();
    let rows = |statement: &str| -> Vec<String> {
        let mut statement = connection.prepare(statement).unwrap();
        let columns = statement.column_count();
        let text = |row: &rusqlite::Row<'_>| {
            let value = |at| {
                row.get::<_, rusqlite::types::Value>(at)
                    .map(|value| format!("{value:?}"))
            };
            (0..columns).map(value).collect::<Result<Vec<_>, _>>()
        };
        let rows = statement.query_map([], text).unwrap();
        rows.map(|row| row.unwrap().join(" ")).collect()
    };
    let tables = rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    let mut found = Vec::new();
    for table in tables {
        let name = table.split('"').nth(1).unwrap().to_owned();
        let mut all = rows(&format!("SELECT * FROM {name}"));
        assert!(!all.is_empty(), "`{name}` has no rows");
        all.sort();
        found.extend(all.into_iter().map(|row| format!("{name}: {row}")));
    }
    found
}

async fn backup_is_restored_to_both_databases_without_differences(fixture: &Fixture) {
    fill(fixture).await;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let counts = Database::backup(&fixture.db(), &at("first.db"))
        .await
        .unwrap();
    assert_eq!((counts.cards, counts.plays), (2, 1));
    assert_eq!((counts.entries, counts.keys, counts.links), (3, 1, 1));
    assert_eq!(counts.study_records, 2);
    let expected = dump(&at("first.db"));

    let restored = Database::restore(&at("first.db"), &at("copy.db"))
        .await
        .unwrap();
    assert_eq!(restored, counts);
    assert_eq!(dump(&at("copy.db")), expected);
    let copy = open(&at("copy.db")).await;
    assert_continues(&copy, &copy).await;
    copy.close().await;

    let Some(server) = Postgres::start() else {
        return;
    };
    let url = PathBuf::from(server.url());
    let restored = Database::restore(&at("first.db"), &url).await.unwrap();
    assert_eq!(restored, counts);
    Database::backup(&url, &at("second.db")).await.unwrap();
    assert_eq!(dump(&at("second.db")), expected);
    let again = Database::restore(&at("first.db"), &url).await;
    assert!(matches!(again, Err(StoreError::NotEmpty(_))), "{again:?}");
    let copy = PostgresStore::open(&address(&server)).await.unwrap();
    assert_continues(&copy, &copy).await;
    copy.close().await;
}

/// Checks that a restored database accepts cards, plays and entries.
async fn assert_continues(store: &dyn Store, keys: &dyn KeyStore) {
    assert_eq!(keys.key(KeyId(5)).await.unwrap(), Some(api_key()));
    let plays = store.plays_after(None, 10).await.unwrap();
    assert_eq!(store.head(plays[0].key).await.unwrap(), 3);
    assert_eq!(store.snapshots(plays[0].key).await.unwrap().len(), 1);
    let (card, play) = card_with_play(store).await;
    let appended = store.append(play, card, 1, entry(Action::Action1), 9_000);
    appended.await.unwrap();
    assert_eq!(store.log(play).await.unwrap().len(), 2);
}

async fn backup_during_writes_is_a_state_between_two_commits(fixture: &Fixture) {
    let folder = tempfile::tempdir().unwrap();
    let store = fixture.store.as_ref();
    let (card, _) = card_with_play(store).await;
    let ended = AtomicBool::new(false);
    // Every play has its opening entry and its counts in the same transaction.
    let writing = async {
        let mut opened = 1;
        while !ended.load(Ordering::Relaxed) || opened < 20 {
            store.open_play(new_play(card)).await.unwrap();
            opened += 1;
        }
    };
    let copying = async {
        for index in 0..5 {
            let file = folder.path().join(format!("{index}.db"));
            Database::backup(&fixture.db(), &file).await.unwrap();
            let connection = rusqlite::Connection::open(&file).unwrap();
            let count = |table: &str| -> i64 {
                let statement = format!("SELECT count(*) FROM {table}");
                connection
                    .query_row(&statement, [], |row| row.get(0))
                    .unwrap()
            };
            let plays = count("plays");
            assert!(plays >= 1);
            assert_eq!((count("log"), count("runs")), (plays, plays));
        }
        ended.store(true, Ordering::Relaxed);
    };
    tokio::join!(writing, copying);
}

#[tokio::test]
async fn backup_and_restoration_never_overwrite() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    open(&at("rhae.db")).await.close().await;
    std::fs::write(at("taken"), "mine").unwrap();
    let refused = Database::backup(&at("rhae.db"), &at("taken")).await;
    assert_eq!(refused, Err(StoreError::Exists(at("taken"))));
    Database::backup(&at("rhae.db"), &at("backup.db"))
        .await
        .unwrap();
    let refused = Database::restore(&at("backup.db"), &at("taken")).await;
    assert_eq!(refused, Err(StoreError::Exists(at("taken"))));
    assert_eq!(std::fs::read(at("taken")).unwrap(), b"mine");
    // The write-ahead log of another database would be applied to the restored file.
    std::fs::write(at("new.db-wal"), "").unwrap();
    let refused = Database::restore(&at("backup.db"), &at("new.db")).await;
    assert_eq!(refused, Err(StoreError::Exists(at("new.db-wal"))));
    // A file that is no backup leaves nothing behind.
    for content in ["", "not a database, but long enough to have a file header"] {
        std::fs::write(at("other"), content).unwrap();
        let refused = Database::restore(&at("other"), &at("never.db")).await;
        assert!(
            matches!(refused, Err(StoreError::Copy { .. })),
            "{refused:?}"
        );
    }
    let missing = Database::backup(&at("missing.db"), &at("never.db")).await;
    assert!(
        matches!(missing, Err(StoreError::Copy { .. })),
        "{missing:?}"
    );
    let mut left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        // A reader leaves the files of the write-ahead log.
        .filter(|name| !name.starts_with("rhae.db-"))
        .collect();
    left.sort();
    assert_eq!(
        left,
        ["backup.db", "new.db-wal", "other", "rhae.db", "taken"]
    );
}

#[tokio::test]
async fn backup_keeps_an_old_schema_and_restoration_migrates_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    open(&at("rhae.db")).await.close().await;
    crate::files::sql(
        &at("rhae.db"),
        "DROP TABLE shares; DROP TABLE study_events; DROP TABLE study_files; DROP TABLE board_events; DROP TABLE board_files; DROP TABLE work_events; PRAGMA user_version = 8",
    );
    let counts = Database::backup(&at("rhae.db"), &at("backup.db"))
        .await
        .unwrap();
    assert_eq!(counts.links, 0);
    let version = |name: &str| -> i64 {
        let connection = rusqlite::Connection::open(at(name)).unwrap();
        connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!((version("rhae.db"), version("backup.db")), (8, 8));
    Database::restore(&at("backup.db"), &at("new.db"))
        .await
        .unwrap();
    assert_eq!(version("new.db"), 12);
}

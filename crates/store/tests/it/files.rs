//! Tests specific to SQLite files.

use rhae_engine::Action;
use rhae_store::{IdempotencyKey, Owner, SqliteOptions, SqliteStore, Store, StoreError};

use crate::{card_with_play, entry, open};

#[tokio::test]
async fn newer_schema_and_foreign_files_are_rejected_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rhae.db");
    open(&path).await.close().await;
    sql(&path, "PRAGMA user_version = 99");
    let refused = SqliteStore::open(&path, SqliteOptions::default())
        .await
        .err()
        .unwrap();
    assert_eq!(
        refused,
        StoreError::NewerSchema {
            found: 99,
            known: 12
        }
    );
    assert!(
        refused.to_string().contains("use a newer binary"),
        "{refused}"
    );
    sql(&path, "PRAGMA user_version = 12");
    open(&path).await.close().await;

    let path = folder.path().join("other.db");
    sql(&path, "CREATE TABLE notes (text)");
    assert_eq!(
        SqliteStore::open(&path, SqliteOptions::default())
            .await
            .err(),
        Some(StoreError::Foreign)
    );
    std::fs::write(
        &path,
        "not a database, but long enough to have a file header",
    )
    .unwrap();
    assert!(matches!(
        SqliteStore::open(&path, SqliteOptions::default()).await,
        Err(StoreError::Unavailable(_))
    ));
}

#[tokio::test]
async fn file_with_the_first_schema_is_migrated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rhae.db");
    let store = open(&path).await;
    let (card, play) = card_with_play(&store).await;
    store.close().await;
    let first = "DROP INDEX cards_open_by_owner; DROP TABLE study_events; DROP TABLE study_files; DROP TABLE board_events; DROP TABLE board_files; DROP TABLE work_events; DROP TABLE shares; DROP TABLE api_keys; DROP TABLE requests; DROP TABLE snapshots; DROP TABLE runs;
                 ALTER TABLE cards DROP COLUMN lasting; ALTER TABLE plays DROP COLUMN source_digest;
                 PRAGMA user_version = 1";
    sql(&path, first);
    let store = open(&path).await;
    assert_eq!(rhae_store::KeyStore::keys(&store).await.unwrap(), []);
    let idempotency_key = IdempotencyKey {
        owner: Owner([7; 32]),
        key: "a".to_owned(),
        digest: [1; 32],
    };
    store
        .append_idempotent(
            play,
            card,
            1,
            entry(Action::Action1),
            3_000,
            Some(idempotency_key),
        )
        .await
        .unwrap();
    assert_eq!(store.log(play).await.unwrap().len(), 2);
    assert_eq!(store.runs(play).await.unwrap()[0].actions(), 1);
    let plays = store.plays_after(None, 10).await.unwrap();
    assert_eq!(plays[0].source_digest, None);
}

/// Executes a statement on a file without going through the store.
pub(crate) fn sql(path: &std::path::Path, statement: &str) {
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(statement)
        .unwrap();
}

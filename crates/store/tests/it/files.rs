//! What only a file can be.

use rhae_engine::Action;
use rhae_store::{Once, Owner, SqliteOptions, SqliteStore, Store, StoreError};

use crate::{card_with_play, entry, open};

#[tokio::test]
async fn a_newer_schema_and_a_foreign_file_are_refused_untouched() {
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
            known: 5
        }
    );
    assert!(
        refused.to_string().contains("use a newer binary"),
        "{refused}"
    );
    sql(&path, "PRAGMA user_version = 5");
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
        "no database at all, but long enough to be looked at by one",
    )
    .unwrap();
    assert!(matches!(
        SqliteStore::open(&path, SqliteOptions::default()).await,
        Err(StoreError::Unavailable(_))
    ));
}

#[tokio::test]
async fn a_file_of_the_first_version_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rhae.db");
    let store = open(&path).await;
    let (card, play) = card_with_play(&store).await;
    store.close().await;
    let first = "DROP INDEX cards_open_by_owner; DROP TABLE api_keys; DROP TABLE requests; DROP TABLE snapshots; DROP TABLE runs;
                 ALTER TABLE cards DROP COLUMN lasting;
                 PRAGMA user_version = 1";
    sql(&path, first);
    let store = open(&path).await;
    assert_eq!(rhae_store::KeyStore::keys(&store).await.unwrap(), []);
    let once = Once {
        owner: Owner([7; 32]),
        key: "a".to_owned(),
        digest: [1; 32],
    };
    store
        .append_once(play, card, 1, entry(Action::Action1), 3_000, Some(once))
        .await
        .unwrap();
    assert_eq!(store.log(play).await.unwrap().len(), 2);
    assert_eq!(store.runs(play).await.unwrap()[0].actions(), 1);
}

/// Runs a statement on a file, as another program would.
pub(crate) fn sql(path: &std::path::Path, statement: &str) {
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(statement)
        .unwrap();
}

//! Full and read-only SQLite databases.

use rhae_engine::Action;
use rhae_protocol::{Details, Entry};
use rhae_store::{SqliteOptions, SqliteStore, Store, StoreError};
use serde_json::Value;

use crate::{card_with_play, entry, open};

/// Returns an entry that takes several database pages.
fn large() -> Entry {
    let details = Details {
        reasoning: Some(Value::from("x".repeat(16_000))),
        ..Details::default()
    };
    Entry {
        details,
        ..entry(Action::Action1)
    }
}

#[tokio::test]
async fn full_database_is_reported_and_recovers_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rhae.db");
    let store = SqliteStore::open(
        &path,
        SqliteOptions {
            max_pages: Some(40),
            ..SqliteOptions::default()
        },
    )
    .await
    .unwrap();
    let (card, play) = card_with_play(&store).await;
    let mut stored = 1;
    let error = loop {
        match store.append(play, card, stored, large(), 3_000).await {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full(_)), "{error}");
    assert!(error.is_retryable() && stored > 1);
    // Reads still work, and writes work again once there is space.
    assert_eq!(store.log(play).await.unwrap().len(), stored as usize);
    assert!(
        store
            .append(play, card, stored, large(), 3_000)
            .await
            .is_err()
    );
    store.close().await;
    let store = open(&path).await;
    assert_eq!(store.log(play).await.unwrap().len(), stored as usize);
    store
        .append(play, card, stored, large(), 3_000)
        .await
        .unwrap();
}

#[tokio::test]
async fn read_only_database_rejects_writes_and_is_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rhae.db");
    let store = open(&path).await;
    let (card, play) = card_with_play(&store).await;
    store.close().await;
    let store = SqliteStore::open(
        &path,
        SqliteOptions {
            read_only: true,
            ..SqliteOptions::default()
        },
    )
    .await
    .unwrap();
    let error = store
        .append(play, card, 1, entry(Action::Action1), 3_000)
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::ReadOnly(_)) && error.is_retryable(),
        "{error}"
    );
    assert_eq!(store.log(play).await.unwrap().len(), 1);
    store.close().await;
    let store = open(&path).await;
    store
        .append(play, card, 1, entry(Action::Action1), 3_000)
        .await
        .unwrap();

    let missing = folder.path().join("missing.db");
    let read_only = SqliteOptions {
        read_only: true,
        ..SqliteOptions::default()
    };
    assert!(matches!(
        SqliteStore::open(&missing, read_only).await,
        Err(StoreError::Unavailable(_))
    ));
    assert!(!missing.exists());
}

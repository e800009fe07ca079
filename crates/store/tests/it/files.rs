use std::sync::Arc;

use rhae_engine::Action;
use rhae_store::{SqliteOptions, SqliteStore, Store, StoreError};
use tokio::task::JoinSet;

use crate::{card_with_play, entry, new_card, new_play, open};

#[tokio::test]
async fn everything_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rhae.db");
    let store = open(&path).await;
    let asked = new_card();
    store.open_card(asked.clone()).await.unwrap();
    let card = store.card(asked.id).await.unwrap().unwrap();
    let order = new_play(card.key);
    let play = store.open_play(order.clone()).await.unwrap();
    let actions = [Action::Action1, Action::Action6 { x: 63, y: 0 }, Action::Action7, Action::Reset];
    for (index, action) in (1..).zip(actions) {
        store.append(play, card.key, index, entry(action), 9_000).await.unwrap();
    }
    store.close().await;

    let store = open(&path).await;
    let found = store.card(asked.id).await.unwrap().unwrap();
    assert_eq!((found.owner, &found.tags, &found.source_url), (asked.owner, &asked.tags, &asked.source_url));
    assert_eq!(found.games, asked.games);
    assert_eq!((&found.opaque, found.opened_ms, found.used_ms, found.closed_ms), (&asked.opaque, 1_000, 9_000, None));
    let stored = store.play(order.id).await.unwrap().unwrap();
    assert_eq!((stored.key, stored.card, stored.owner), (play, found.key, asked.owner));
    assert_eq!((&stored.game_id, stored.seed, stored.rule, stored.win_levels), (&order.game_id, order.seed, order.rule, 8));
    let expected: Vec<_> = [Action::Reset].into_iter().chain(actions).map(entry).collect();
    assert_eq!(store.log(play).await.unwrap(), expected);
    let logged = store.card_log(found.key).await.unwrap();
    assert_eq!((logged.len(), &logged[0].play, logged[0].entries.len()), (1, &stored, 5));
    assert_eq!(logged[0].entries[2].details.reasoning, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_appenders_share_commits_and_lose_nothing() {
    const APPENDERS: u32 = 64;
    const ACTIONS: u32 = 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rhae.db");
    let store = Arc::new(open(&path).await);
    let mut plays = Vec::new();
    for _ in 0..APPENDERS {
        plays.push(card_with_play(&store).await);
    }
    let before = store.commits();
    let mut appenders = JoinSet::new();
    for &(card, play) in &plays {
        let store = Arc::clone(&store);
        appenders.spawn(async move {
            for index in 1..=ACTIONS {
                store.append(play, card, index, entry(Action::Action5), 3_000).await.unwrap();
            }
        });
    }
    appenders.join_all().await;
    let commits = store.commits() - before;
    println!("{commits} commits for {} actions", APPENDERS * ACTIONS);
    assert!(commits < u64::from(APPENDERS * ACTIONS), "{commits} commits");
    let store = Arc::into_inner(store).unwrap();
    store.close().await;
    let store = open(&path).await;
    for (_, play) in plays {
        assert_eq!(store.log(play).await.unwrap().len(), 1 + ACTIONS as usize);
    }
}

#[tokio::test]
async fn a_newer_schema_and_a_foreign_file_are_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rhae.db");
    open(&path).await.close().await;
    sql(&path, "PRAGMA user_version = 99").await;
    let refused = SqliteStore::open(&path, SqliteOptions::default()).await.err().unwrap();
    assert_eq!(refused, StoreError::NewerSchema { found: 99, known: 2 });
    assert!(refused.to_string().contains("use a newer binary"), "{refused}");
    sql(&path, "PRAGMA user_version = 2").await;
    open(&path).await.close().await;

    let path = folder.path().join("other.db");
    sql(&path, "CREATE TABLE notes (text)").await;
    assert_eq!(SqliteStore::open(&path, SqliteOptions::default()).await.err(), Some(StoreError::Foreign));
    std::fs::write(&path, "no database at all, but long enough to be looked at by one").unwrap();
    assert!(matches!(SqliteStore::open(&path, SqliteOptions::default()).await, Err(StoreError::Unavailable(_))));
}

#[tokio::test]
async fn a_file_of_the_first_version_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rhae.db");
    let store = open(&path).await;
    let (card, play) = card_with_play(&store).await;
    store.close().await;
    sql(&path, "DROP INDEX cards_open_by_owner; DROP TABLE api_keys; PRAGMA user_version = 1").await;
    let store = open(&path).await;
    assert_eq!(rhae_store::KeyStore::keys(&store).await.unwrap(), []);
    store.append(play, card, 1, entry(Action::Action1), 3_000).await.unwrap();
}

/// Runs a statement on a file, as another program would.
async fn sql(path: &std::path::Path, statement: &'static str) {
    use sqlx::{ConnectOptions, Connection};
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

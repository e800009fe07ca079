//! A PostgreSQL server that stops answering while its connections stay open.

use rhae_engine::Action;
use rhae_store::{IdempotencyKey, Owner, PostgresStore, Store, StoreError};
use rhae_testkit::Postgres;

use crate::fixture::address;
use crate::{card_with_play, entry};

fn key(name: &str) -> IdempotencyKey {
    IdempotencyKey {
        owner: Owner([7; 32]),
        key: name.to_owned(),
        digest: [1; 32],
    }
}

/// Whether an access failed because the database did not answer.
fn is_silent<T>(result: &Result<T, StoreError>) -> bool {
    matches!(
        result,
        Err(StoreError::Unavailable(_) | StoreError::CommitUnknown(_))
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suspended_database_fails_accesses_and_writes_nothing_twice() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let store = PostgresStore::open(&address(&server)).await.unwrap();
    let (card, play) = card_with_play(&store).await;
    let append = |index, name| {
        let entry = entry(Action::Action1);
        store.append_idempotent(play, card, index, entry, 3_000, Some(key(name)))
    };
    append(1, "before").await.unwrap();

    // Every access returns although the database stays suspended, also those that wait in the
    // writer's queue.
    server.suspend();
    let (one, two, read) = tokio::join!(append(2, "during"), append(2, "other"), store.head(play));
    assert!(is_silent(&one) && is_silent(&two), "{one:?} {two:?}");
    assert!(is_silent(&read), "{read:?}");
    let next = store.completed_request(Owner([7; 32]), "during").await;
    assert!(is_silent(&next), "{next:?}");
    server.resume();

    // A repeated append takes effect unless the first one did.
    let head = loop {
        if let Ok(head) = store.head(play).await {
            break head;
        }
    };
    let repeated = loop {
        match append(head, "during").await {
            Err(error) if error.is_retryable() => {}
            repeated => break repeated,
        }
    };
    assert!(
        matches!(
            repeated,
            Ok(()) | Err(StoreError::KeyUsed | StoreError::Conflict(_))
        ),
        "{repeated:?}"
    );
    let log = store.log(play).await.unwrap();
    assert_eq!(log.len(), 3);
    let completed = store.completed_request(Owner([7; 32]), "during").await;
    assert!(completed.unwrap().is_some());
    store.close().await;
}

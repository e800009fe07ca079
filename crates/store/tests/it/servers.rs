//! Tests specific to a PostgreSQL server: unreachable, newer, shared, protected by a password.

use std::time::Duration;

use rhae_engine::Action;
use rhae_store::{PostgresAddress, PostgresStore, StaleCutoffs, Store, StoreError};
use rhae_testkit::Postgres;

use crate::fixture::{Fixture, address, sql};
use crate::{card, card_with_play, entry, new_play};

#[tokio::test]
async fn unsuitable_databases_are_rejected_and_passwords_stay_hidden() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let wrong = server.url().replace(server.password(), "Wrong-1234");
    let refused = PostgresStore::open(&wrong.parse().unwrap())
        .await
        .err()
        .unwrap();
    let address = address(&server);
    let unreadable = format!("postgres://a:{}@host:port/b", server.password())
        .parse::<PostgresAddress>()
        .unwrap_err();
    for text in [
        refused.to_string(),
        format!("{refused:?}"),
        address.to_string(),
        format!("{address:?}"),
        unreadable.to_string(),
    ] {
        assert!(
            !text.contains(server.password()) && !text.contains("Wrong-1234"),
            "{text}"
        );
    }
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused}");
    assert!(address.to_string().ends_with("/postgres"), "{address}");

    // Tables of other applications stay unchanged, even with the same names.
    sql(
        &server,
        "CREATE TABLE cards (text text); INSERT INTO cards VALUES ('mine')",
    )
    .await;
    PostgresStore::open(&address).await.unwrap().close().await;
    sql(&server, "UPDATE rhae.version SET version = 99").await;
    let refused = PostgresStore::open(&address).await.err().unwrap();
    assert_eq!(
        refused,
        StoreError::NewerSchema {
            found: 99,
            known: 9
        }
    );
    sql(
        &server,
        "UPDATE rhae.version SET version = 9; DELETE FROM public.cards",
    )
    .await;
    PostgresStore::open(&address).await.unwrap().close().await;

    sql(
        &server,
        "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'",
    )
    .await;
    let latin = server
        .url()
        .replace("/postgres", "/latin")
        .replace("latin://", "postgres://");
    let refused = PostgresStore::open(&latin.parse().unwrap())
        .await
        .err()
        .unwrap();
    assert!(
        refused
            .to_string()
            .contains("its encoding is LATIN1, but must be UTF8"),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_first_starts_create_one_schema() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let address = address(&server);
    let open = || PostgresStore::open(&address);
    let (one, two, three, four) = tokio::join!(open(), open(), open(), open());
    for store in [one, two, three, four] {
        let store = store.unwrap();
        card_with_play(&store).await;
        store.close().await;
    }
}

#[tokio::test]
async fn lost_connections_are_reopened_without_data_loss() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let store = PostgresStore::open(&address(&server)).await.unwrap();
    let (card, play) = card_with_play(&store).await;
    let (mut stored, mut failed) = (1, 0);
    for round in 0..20 {
        if round % 5 == 4 {
            let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rhae'";
            sql(&server, others).await;
        }
        match store
            .append(play, card, stored, entry(Action::Action1), 3_000)
            .await
        {
            Ok(()) => stored += 1,
            Err(error) => {
                assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
                failed += 1;
            }
        }
        assert_eq!(store.head(play).await.unwrap(), stored);
    }
    assert!(failed <= 4 && stored >= 17, "{failed} {stored}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_servers_are_notified_of_appends() {
    let Some(fixture) = Fixture::postgres().await else {
        return;
    };
    let other = fixture.another().await;
    let mut receiver = other.subscribe();
    let card = card(fixture.store.as_ref()).await;
    let request = new_play(card);
    let play = fixture.store.open_play(request.clone()).await.unwrap();
    fixture
        .store
        .append(play, card, 1, entry(Action::Action1), 3_000)
        .await
        .unwrap();
    for _ in 0..2 {
        let received = tokio::time::timeout(Duration::from_secs(30), receiver.recv()).await;
        assert_eq!(received.expect("a notification").unwrap(), request.id);
    }
}

#[tokio::test]
async fn idle_time_counts_only_while_any_server_runs() {
    let Some(fixture) = Fixture::postgres().await else {
        return;
    };
    let (store, other) = (fixture.store.as_ref(), fixture.another().await);
    let idle = |now_ms: u64| StaleCutoffs {
        used_before_ms: now_ms - 20_000,
        opened_before_ms: 0,
        now_ms,
    };
    fixture.at(100_000).await;
    let card = card(store).await;
    store.restart_idle_timers(0).await.unwrap();
    // The other server runs while this one is down.
    for now_ms in [110_000, 118_000] {
        fixture.at(now_ms).await;
        assert_eq!(other.close_stale(idle(now_ms)).await.unwrap(), []);
    }
    // Both are down. After the restart, the card gets its full idle time again.
    fixture.at(500_000).await;
    store.restart_idle_timers(0).await.unwrap();
    assert_eq!(store.close_stale(idle(500_000)).await.unwrap(), []);
    for now_ms in [505_000, 510_000, 520_000] {
        fixture.at(now_ms).await;
        assert_eq!(store.close_stale(idle(now_ms)).await.unwrap(), []);
    }
    fixture.at(520_001).await;
    // A restarted server sees that another one was running, so it does not extend the idle time.
    other.restart_idle_timers(0).await.unwrap();
    assert_eq!(other.close_stale(idle(520_001)).await.unwrap().len(), 1);
    assert_eq!(
        store.touch_card(card, 0).await,
        Err(StoreError::CardNotOpen)
    );
}

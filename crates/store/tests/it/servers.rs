//! What only a database server can be: away, newer, shared with others, protected by a password.

use std::time::Duration;

use rhae_engine::Action;
use rhae_store::{PostgresAddress, PostgresStore, Stale, Store, StoreError};
use rhae_testkit::Postgres;

use crate::bench::{Bench, address, sql};
use crate::{card, card_with_play, entry, new_play};

#[tokio::test]
async fn a_newer_schema_and_another_encoding_are_refused_and_a_password_is_never_shown() {
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

    // Tables of others stay as they are, also with the same names.
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
            known: 2
        }
    );
    sql(
        &server,
        "UPDATE rhae.version SET version = 2; DELETE FROM public.cards",
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
            .contains("its encoding is LATIN1 and must be UTF8"),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_start_at_once_make_one_schema() {
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
async fn lost_connections_are_made_again_and_nothing_is_lost() {
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
async fn every_server_learns_what_has_advanced() {
    let Some(bench) = Bench::postgres().await else {
        return;
    };
    let other = bench.another().await;
    let mut advanced = other.advanced();
    let card = card(bench.store.as_ref()).await;
    let order = new_play(card);
    let play = bench.store.open_play(order.clone()).await.unwrap();
    bench
        .store
        .append(play, card, 1, entry(Action::Action1), 3_000)
        .await
        .unwrap();
    for _ in 0..2 {
        let heard = tokio::time::timeout(Duration::from_secs(30), advanced.recv()).await;
        assert_eq!(heard.expect("an announcement").unwrap(), order.id);
    }
}

#[tokio::test]
async fn time_without_any_server_is_not_idle_and_time_without_this_one_is() {
    let Some(bench) = Bench::postgres().await else {
        return;
    };
    let (store, other) = (bench.store.as_ref(), bench.another().await);
    let idle = |now_ms: u64| Stale {
        used_before_ms: now_ms - 20_000,
        opened_before_ms: 0,
        now_ms,
    };
    bench.at(100_000).await;
    let card = card(store).await;
    store.resume(0).await.unwrap();
    // The other server goes on while this one is away.
    for now_ms in [110_000, 118_000] {
        bench.at(now_ms).await;
        assert_eq!(other.close_stale(idle(now_ms)).await.unwrap(), []);
    }
    // Both are away; then there is one again, and the card has its whole time.
    bench.at(500_000).await;
    store.resume(0).await.unwrap();
    assert_eq!(store.close_stale(idle(500_000)).await.unwrap(), []);
    for now_ms in [505_000, 510_000, 520_000] {
        bench.at(now_ms).await;
        assert_eq!(store.close_stale(idle(now_ms)).await.unwrap(), []);
    }
    bench.at(520_001).await;
    // A server that comes back finds that others were there.
    other.resume(0).await.unwrap();
    assert_eq!(other.close_stale(idle(520_001)).await.unwrap().len(), 1);
    assert_eq!(
        store.touch_card(card, 0).await,
        Err(StoreError::CardNotOpen)
    );
}

//! Requests with idempotency keys.

use rhae_engine::Action;
use rhae_store::{Kept, NewCard, NewPlay, Once, Outcome, Owner, StoreError};

use crate::bench::{Bench, on_both_stores};
use crate::{card, card_with_play, entry, new_card, new_play};

on_both_stores!(
    an_entry_with_a_key_is_appended_once,
    a_card_and_a_play_are_opened_once,
    a_refused_request_takes_no_key,
    of_two_requests_at_once_one_is_carried_out,
    keys_are_forgotten_with_age,
);

const OWNER: Owner = Owner([7; 32]);

fn once(key: &str) -> Option<Once> {
    Some(Once {
        owner: OWNER,
        key: key.to_owned(),
        digest: [3; 32],
    })
}

async fn an_entry_with_a_key_is_appended_once(bench: &Bench) {
    let store = bench.store.as_ref();
    let card = card(store).await;
    let order = new_play(card);
    let play = store.open_play(order.clone()).await.unwrap();
    let append = async |index, key: &str| {
        store
            .append_once(play, card, index, entry(Action::Action1), 3_000, once(key))
            .await
    };
    assert_eq!(append(1, "a").await, Ok(()));
    assert_eq!(append(2, "b").await, Ok(()));
    assert_eq!(append(3, "a").await, Err(StoreError::KeyUsed));
    assert_eq!(store.head(play).await, Ok(3));
    let kept = Kept {
        digest: [3; 32],
        outcome: Outcome::Entry {
            play: order.id,
            entry: 2,
        },
    };
    assert_eq!(
        bench.another().await.recall(OWNER, "b").await,
        Ok(Some(kept))
    );
    assert_eq!(store.recall(OWNER, "c").await, Ok(None));
    // Another owner's key is another key.
    assert_eq!(store.recall(Owner([8; 32]), "b").await, Ok(None));
    let other = Some(Once {
        owner: Owner([8; 32]),
        ..once("a").unwrap()
    });
    store
        .append_once(play, card, 3, entry(Action::Action1), 3_000, other)
        .await
        .unwrap();
}

async fn a_card_and_a_play_are_opened_once(bench: &Bench) {
    let store = bench.store.as_ref();
    let first = new_card();
    store
        .open_card_once(first.clone(), once("card"))
        .await
        .unwrap();
    let again = new_card();
    assert_eq!(
        store.open_card_once(again.clone(), once("card")).await,
        Err(StoreError::KeyUsed)
    );
    assert_eq!(store.card(again.id).await, Ok(None));
    let kept = store.recall(OWNER, "card").await.unwrap().unwrap();
    assert_eq!(kept.outcome, Outcome::Card(first.id));

    let card = card(store).await;
    let first = new_play(card);
    store
        .open_play_once(first.clone(), once("play"))
        .await
        .unwrap();
    let again = new_play(card);
    assert_eq!(
        store.open_play_once(again.clone(), once("play")).await,
        Err(StoreError::KeyUsed)
    );
    assert_eq!(
        store.open_play_once(again.clone(), once("card")).await,
        Err(StoreError::KeyUsed)
    );
    assert_eq!(
        (
            store.play(again.id).await,
            store.card_log(card).await.unwrap().len()
        ),
        (Ok(None), 1)
    );
    let kept = store.recall(OWNER, "play").await.unwrap().unwrap();
    assert_eq!(
        kept.outcome,
        Outcome::Entry {
            play: first.id,
            entry: 0
        }
    );
}

async fn a_refused_request_takes_no_key(bench: &Bench) {
    let store = bench.store.as_ref();
    let (card, play) = card_with_play(store).await;
    let append = async |index| {
        store
            .append_once(play, card, index, entry(Action::Action1), 3_000, once("a"))
            .await
    };
    assert_eq!(append(2).await, Err(StoreError::Conflict(2)));
    assert_eq!(append(1).await, Ok(()));
    let only = |play| NewPlay {
        only_one: true,
        ..play
    };
    assert_eq!(
        store.open_play_once(only(new_play(card)), once("b")).await,
        Err(StoreError::PlayedBefore)
    );
    let opening = NewCard {
        only_one: true,
        ..new_card()
    };
    assert_eq!(
        store.open_card_once(opening, once("b")).await,
        Err(StoreError::OpenedBefore)
    );
    store.close_card(card, 4_000).await.unwrap();
    let late = store
        .append_once(play, card, 2, entry(Action::Action1), 5_000, once("b"))
        .await;
    assert_eq!(
        (late, store.recall(OWNER, "b").await),
        (Err(StoreError::CardNotOpen), Ok(None))
    );
}

async fn of_two_requests_at_once_one_is_carried_out(bench: &Bench) {
    let (one, other) = (bench.store.as_ref(), bench.another().await);
    let (card, play) = card_with_play(one).await;
    let (second_card, second_play) = card_with_play(one).await;
    for index in 1..=20 {
        let key = index.to_string();
        // On one server, and on two: different plays, so that nothing but the key decides.
        let [near, far] = [one, other.as_ref()].map(|store| {
            let heads = async {
                (
                    one.head(play).await.unwrap(),
                    one.head(second_play).await.unwrap(),
                )
            };
            let key = key.clone();
            async move {
                let (first, second) = heads.await;
                tokio::join!(
                    one.append_once(play, card, first, entry(Action::Action1), 3_000, once(&key)),
                    store.append_once(
                        second_play,
                        second_card,
                        second,
                        entry(Action::Action1),
                        3_000,
                        once(&key)
                    ),
                )
            }
        });
        let pair = if index % 2 == 0 {
            near.await
        } else {
            far.await
        };
        assert!(
            matches!(
                pair,
                (Ok(()), Err(StoreError::KeyUsed)) | (Err(StoreError::KeyUsed), Ok(()))
            ),
            "{pair:?}"
        );
    }
    assert_eq!(
        one.head(play).await.unwrap() + one.head(second_play).await.unwrap(),
        22
    );
}

async fn keys_are_forgotten_with_age(bench: &Bench) {
    let store = bench.store.as_ref();
    let (card, play) = card_with_play(store).await;
    for (index, at_ms) in [(1, 1_000), (2, 5_000)] {
        let now_ms = bench.at(at_ms).await;
        store
            .append_once(
                play,
                card,
                index,
                entry(Action::Action1),
                now_ms,
                once(&index.to_string()),
            )
            .await
            .unwrap();
    }
    assert_eq!(store.forget(10_000, bench.at(11_000).await).await, Ok(0));
    assert_eq!(store.forget(10_000, bench.at(11_001).await).await, Ok(1));
    assert_eq!(store.recall(OWNER, "1").await, Ok(None));
    assert!(store.recall(OWNER, "2").await.unwrap().is_some());
}

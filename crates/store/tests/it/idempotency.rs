//! Requests with idempotency keys.

use rhae_engine::Action;
use rhae_store::{
    CompletedRequest, IdempotencyKey, NewCard, NewPlay, Owner, RequestOutcome, StoreError,
};

use crate::fixture::{Fixture, on_both_stores};
use crate::{card, card_with_play, entry, new_card, new_play};

on_both_stores!(
    retried_append_is_rejected,
    retried_card_and_play_are_not_opened_again,
    rejected_request_does_not_use_its_key,
    concurrent_requests_with_one_key_execute_once,
    old_keys_are_deleted,
);

const OWNER: Owner = Owner([7; 32]);

fn idempotency_key(key: &str) -> Option<IdempotencyKey> {
    Some(IdempotencyKey {
        owner: OWNER,
        key: key.to_owned(),
        digest: [3; 32],
    })
}

async fn retried_append_is_rejected(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let card = card(store).await;
    let request = new_play(card);
    let play = store.open_play(request.clone()).await.unwrap();
    let append = async |index, key: &str| {
        store
            .append_idempotent(
                play,
                card,
                index,
                entry(Action::Action1),
                3_000,
                idempotency_key(key),
            )
            .await
    };
    assert_eq!(append(1, "a").await, Ok(()));
    assert_eq!(append(2, "b").await, Ok(()));
    assert_eq!(append(3, "a").await, Err(StoreError::KeyUsed));
    assert_eq!(store.head(play).await, Ok(3));
    let completed = CompletedRequest {
        digest: [3; 32],
        outcome: RequestOutcome::Entry {
            play: request.id,
            entry: 2,
        },
    };
    assert_eq!(
        fixture.another().await.completed_request(OWNER, "b").await,
        Ok(Some(completed))
    );
    assert_eq!(store.completed_request(OWNER, "c").await, Ok(None));
    // Keys are scoped by owner.
    assert_eq!(store.completed_request(Owner([8; 32]), "b").await, Ok(None));
    let other = Some(IdempotencyKey {
        owner: Owner([8; 32]),
        ..idempotency_key("a").unwrap()
    });
    store
        .append_idempotent(play, card, 3, entry(Action::Action1), 3_000, other)
        .await
        .unwrap();
}

async fn retried_card_and_play_are_not_opened_again(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let first = new_card();
    store
        .open_card_idempotent(first.clone(), idempotency_key("card"))
        .await
        .unwrap();
    let again = new_card();
    assert_eq!(
        store
            .open_card_idempotent(again.clone(), idempotency_key("card"))
            .await,
        Err(StoreError::KeyUsed)
    );
    assert_eq!(store.card(again.id).await, Ok(None));
    let completed = store
        .completed_request(OWNER, "card")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(completed.outcome, RequestOutcome::Card(first.id));

    let card = card(store).await;
    let first = new_play(card);
    store
        .open_play_idempotent(first.clone(), idempotency_key("play"))
        .await
        .unwrap();
    let again = new_play(card);
    assert_eq!(
        store
            .open_play_idempotent(again.clone(), idempotency_key("play"))
            .await,
        Err(StoreError::KeyUsed)
    );
    assert_eq!(
        store
            .open_play_idempotent(again.clone(), idempotency_key("card"))
            .await,
        Err(StoreError::KeyUsed)
    );
    assert_eq!(
        (
            store.play(again.id).await,
            store.card_log(card).await.unwrap().len()
        ),
        (Ok(None), 1)
    );
    let completed = store
        .completed_request(OWNER, "play")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        completed.outcome,
        RequestOutcome::Entry {
            play: first.id,
            entry: 0
        }
    );
}

async fn rejected_request_does_not_use_its_key(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let (card, play) = card_with_play(store).await;
    let append = async |index| {
        store
            .append_idempotent(
                play,
                card,
                index,
                entry(Action::Action1),
                3_000,
                idempotency_key("a"),
            )
            .await
    };
    assert_eq!(append(2).await, Err(StoreError::Conflict(2)));
    assert_eq!(append(1).await, Ok(()));
    let only = |play| NewPlay {
        only_one: true,
        ..play
    };
    assert_eq!(
        store
            .open_play_idempotent(only(new_play(card)), idempotency_key("b"))
            .await,
        Err(StoreError::PlayedBefore)
    );
    let opening = NewCard {
        only_one: true,
        ..new_card()
    };
    assert_eq!(
        store
            .open_card_idempotent(opening, idempotency_key("b"))
            .await,
        Err(StoreError::OpenedBefore)
    );
    store.close_card(card, 4_000).await.unwrap();
    let late = store
        .append_idempotent(
            play,
            card,
            2,
            entry(Action::Action1),
            5_000,
            idempotency_key("b"),
        )
        .await;
    assert_eq!(
        (late, store.completed_request(OWNER, "b").await),
        (Err(StoreError::CardNotOpen), Ok(None))
    );
}

async fn concurrent_requests_with_one_key_execute_once(fixture: &Fixture) {
    let (one, other) = (fixture.store.as_ref(), fixture.another().await);
    let (card, play) = card_with_play(one).await;
    let (second_card, second_play) = card_with_play(one).await;
    for index in 1..=20 {
        let key = index.to_string();
        // Both requests go to one store, or each goes to its own, in turn. They always append to
        // different plays, so that only the shared key can prevent the second append.
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
                    one.append_idempotent(
                        play,
                        card,
                        first,
                        entry(Action::Action1),
                        3_000,
                        idempotency_key(&key)
                    ),
                    store.append_idempotent(
                        second_play,
                        second_card,
                        second,
                        entry(Action::Action1),
                        3_000,
                        idempotency_key(&key)
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

async fn old_keys_are_deleted(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let (card, play) = card_with_play(store).await;
    for (index, at_ms) in [(1, 1_000), (2, 5_000)] {
        let now_ms = fixture.at(at_ms).await;
        store
            .append_idempotent(
                play,
                card,
                index,
                entry(Action::Action1),
                now_ms,
                idempotency_key(&index.to_string()),
            )
            .await
            .unwrap();
    }
    assert_eq!(
        store
            .delete_idempotency_keys(10_000, fixture.at(11_000).await)
            .await,
        Ok(0)
    );
    assert_eq!(
        store
            .delete_idempotency_keys(10_000, fixture.at(11_001).await)
            .await,
        Ok(1)
    );
    assert_eq!(store.completed_request(OWNER, "1").await, Ok(None));
    assert!(store.completed_request(OWNER, "2").await.unwrap().is_some());
}

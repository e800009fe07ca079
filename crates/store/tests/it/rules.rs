use rhae_engine::Action;
use rhae_store::{NewCard, NewPlay, Owner, Stale, Store, StoreError};

use crate::{card, card_with_play, entry, new_card, new_play, open};

#[tokio::test]
async fn a_log_has_no_gap_and_no_entry_twice() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("rhae.db")).await;
    let (card, play) = card_with_play(&store).await;
    for (index, expected) in [(0, false), (2, false), (1, true), (1, false), (2, true)] {
        let answer = store.append(play, card, index, entry(Action::Action1), 3_000).await;
        assert_eq!(answer, if expected { Ok(()) } else { Err(StoreError::Conflict(index)) });
    }
    assert_eq!(store.log(play).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_closed_card_accepts_nothing_and_stays_readable() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("rhae.db")).await;
    let (card, play) = card_with_play(&store).await;
    store.close_card(card, 5_000).await.unwrap();
    let closed = Err(StoreError::CardNotOpen);
    assert_eq!(store.close_card(card, 6_000).await, closed);
    assert_eq!(store.touch_card(card, 6_000).await, closed);
    assert_eq!(store.append(play, card, 1, entry(Action::Action1), 6_000).await, closed);
    assert_eq!(store.open_play(new_play(card)).await, Err(StoreError::CardNotOpen));
    assert_eq!(store.card_log(card).await.unwrap()[0].entries.len(), 1);
}

#[tokio::test]
async fn an_order_that_is_refused_hinders_no_other_of_its_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("rhae.db")).await;
    let (card, play) = card_with_play(&store).await;
    let (closed, late) = card_with_play(&store).await;
    let (append, close, refused, again) = tokio::join!(
        store.append(play, card, 1, entry(Action::Action1), 3_000),
        store.close_card(closed, 3_000),
        store.append(late, closed, 1, entry(Action::Action1), 3_000),
        store.append(play, card, 2, entry(Action::Action2), 3_000),
    );
    assert_eq!((append, close, refused, again), (Ok(()), Ok(()), Err(StoreError::CardNotOpen), Ok(())));
    assert_eq!((store.log(play).await.unwrap().len(), store.log(late).await.unwrap().len()), (3, 1));
}

#[tokio::test]
async fn what_may_be_done_once_is_done_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("rhae.db")).await;
    let only = NewCard { only_one: true, ..new_card() };
    store.open_card(only.clone()).await.unwrap();
    assert_eq!(store.open_card(NewCard { only_one: true, ..new_card() }).await, Err(StoreError::OpenedBefore));
    store.open_card(NewCard { only_one: true, owner: Owner([8; 32]), ..new_card() }).await.unwrap();

    let card = card(&store).await;
    store.open_play(NewPlay { only_one: true, ..new_play(card) }).await.unwrap();
    let newer = NewPlay { only_one: true, game_id: "ab12-v2".parse().unwrap(), ..new_play(card) };
    assert_eq!(store.open_play(newer).await, Err(StoreError::PlayedBefore));
    let other = NewPlay { only_one: true, game_id: "ab13-v1".parse().unwrap(), ..new_play(card) };
    store.open_play(other).await.unwrap();
}

#[tokio::test]
async fn no_owner_has_more_open_cards_and_no_card_more_plays_than_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("rhae.db")).await;
    let bounded = || NewCard { most_open: Some(2), ..new_card() };
    let cards = [bounded(), bounded(), bounded(), bounded()];
    // All of them wait together, so that a count before the transaction would let too many through.
    let [first, second, third, fourth] = &cards;
    let (a, b, c, d) = tokio::join!(
        store.open_card(first.clone()),
        store.open_card(second.clone()),
        store.open_card(third.clone()),
        store.open_card(fourth.clone())
    );
    assert_eq!([a, b, c, d], [Ok(()), Ok(()), Err(StoreError::TooManyCards(2)), Err(StoreError::TooManyCards(2))]);
    store.open_card(NewCard { owner: Owner([8; 32]), ..bounded() }).await.unwrap();
    let card = store.card(first.id).await.unwrap().unwrap().key;
    let play = || NewPlay { most_plays: Some(3), ..new_play(card) };
    for _ in 0..3 {
        store.open_play(play()).await.unwrap();
    }
    assert_eq!(store.open_play(play()).await, Err(StoreError::TooManyPlays(3)));
    store.close_card(card, 5_000).await.unwrap();
    store.open_card(third.clone()).await.unwrap();
}

#[tokio::test]
async fn the_clock_closes_idle_and_old_cards() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("rhae.db")).await;
    let mut ids = Vec::new();
    for (opened_ms, used_ms) in [(0, 0), (0, 50_000), (40_000, 60_000)] {
        let card = NewCard { opened_ms, ..new_card() };
        store.open_card(card.clone()).await.unwrap();
        let key = store.card(card.id).await.unwrap().unwrap().key;
        store.touch_card(key, used_ms).await.unwrap();
        ids.push(card.id);
    }
    let idle = Stale { used_before_ms: 40_000, opened_before_ms: 0, now_ms: 70_000 };
    assert_eq!(store.close_stale(idle).await.unwrap(), [ids[0]]);
    assert_eq!(store.card(ids[0]).await.unwrap().unwrap().closed_ms, Some(70_000));
    let old = Stale { used_before_ms: 0, opened_before_ms: 10_000, now_ms: 70_000 };
    assert_eq!(store.close_stale(old).await.unwrap(), [ids[1]]);
    store.resume(90_000).await.unwrap();
    let later = Stale { used_before_ms: 90_000, opened_before_ms: 0, now_ms: 95_000 };
    assert_eq!(store.close_stale(later).await.unwrap(), []);
    assert_eq!(store.card(ids[2]).await.unwrap().unwrap().used_ms, 90_000);
}

//! What both stores must do.

use std::sync::Arc;

use rhae_engine::Action;
use rhae_store::{NewCard, NewPlay, Owner, Stale, StoreError};
use tokio::task::JoinSet;

use crate::bench::{Bench, on_both_stores};
use crate::{card, card_with_play, entry, new_card, new_play};

on_both_stores!(
    a_log_has_no_gap_and_no_entry_twice,
    a_closed_card_accepts_nothing_and_stays_readable,
    an_order_that_is_refused_hinders_no_other_of_its_transaction,
    what_may_be_done_once_is_done_once,
    no_owner_has_more_open_cards_and_no_card_more_plays_than_may_be,
    the_clock_closes_idle_and_old_cards,
    everything_is_there_after_reopening,
    concurrent_appenders_share_commits_and_lose_nothing,
    listeners_learn_what_has_advanced,
);

async fn a_log_has_no_gap_and_no_entry_twice(bench: &Bench) {
    let store = bench.store.as_ref();
    let (card, play) = card_with_play(store).await;
    for (index, expected) in [(0, false), (2, false), (1, true), (1, false), (2, true)] {
        let answer = store
            .append(play, card, index, entry(Action::Action1), 3_000)
            .await;
        assert_eq!(
            answer,
            if expected {
                Ok(())
            } else {
                Err(StoreError::Conflict(index))
            }
        );
    }
    assert_eq!(store.log(play).await.unwrap().len(), 3);
}

async fn a_closed_card_accepts_nothing_and_stays_readable(bench: &Bench) {
    let store = bench.store.as_ref();
    let (card, play) = card_with_play(store).await;
    store.close_card(card, 5_000).await.unwrap();
    let closed = Err(StoreError::CardNotOpen);
    assert_eq!(store.close_card(card, 6_000).await, closed);
    assert_eq!(store.touch_card(card, 6_000).await, closed);
    assert_eq!(
        store
            .append(play, card, 1, entry(Action::Action1), 6_000)
            .await,
        closed
    );
    assert_eq!(
        store.open_play(new_play(card)).await,
        Err(StoreError::CardNotOpen)
    );
    assert_eq!(store.card_log(card).await.unwrap()[0].entries.len(), 1);
}

async fn an_order_that_is_refused_hinders_no_other_of_its_transaction(bench: &Bench) {
    let store = bench.store.as_ref();
    let (card, play) = card_with_play(store).await;
    let (closed, late) = card_with_play(store).await;
    store.close_card(closed, 3_000).await.unwrap();
    let (append, refused, again) = tokio::join!(
        store.append(play, card, 1, entry(Action::Action1), 3_000),
        store.append(late, closed, 1, entry(Action::Action1), 3_000),
        store.append(play, card, 2, entry(Action::Action2), 3_000),
    );
    assert_eq!(
        (append, refused, again),
        (Ok(()), Err(StoreError::CardNotOpen), Ok(()))
    );
    assert_eq!(
        (
            store.log(play).await.unwrap().len(),
            store.log(late).await.unwrap().len()
        ),
        (3, 1)
    );
}

async fn what_may_be_done_once_is_done_once(bench: &Bench) {
    let store = bench.store.as_ref();
    let only = NewCard {
        only_one: true,
        ..new_card()
    };
    store.open_card(only.clone()).await.unwrap();
    assert_eq!(
        store
            .open_card(NewCard {
                only_one: true,
                ..new_card()
            })
            .await,
        Err(StoreError::OpenedBefore)
    );
    store
        .open_card(NewCard {
            only_one: true,
            owner: Owner([8; 32]),
            ..new_card()
        })
        .await
        .unwrap();

    let card = card(store).await;
    store
        .open_play(NewPlay {
            only_one: true,
            ..new_play(card)
        })
        .await
        .unwrap();
    let newer = NewPlay {
        only_one: true,
        game_id: "ab12-v2".parse().unwrap(),
        ..new_play(card)
    };
    assert_eq!(store.open_play(newer).await, Err(StoreError::PlayedBefore));
    let other = NewPlay {
        only_one: true,
        game_id: "ab13-v1".parse().unwrap(),
        ..new_play(card)
    };
    store.open_play(other).await.unwrap();
}

async fn no_owner_has_more_open_cards_and_no_card_more_plays_than_may_be(bench: &Bench) {
    let store = bench.store.as_ref();
    let bounded = || NewCard {
        most_open: Some(2),
        ..new_card()
    };
    let cards = [bounded(), bounded(), bounded(), bounded()];
    // All of them wait together, so that a count before the transaction would let too many through.
    let [first, second, third, fourth] = &cards;
    let (a, b, c, d) = tokio::join!(
        store.open_card(first.clone()),
        store.open_card(second.clone()),
        store.open_card(third.clone()),
        store.open_card(fourth.clone())
    );
    let refused = [&a, &b, &c, &d]
        .into_iter()
        .filter(|answer| **answer == Err(StoreError::TooManyCards(2)))
        .count();
    assert_eq!(refused, 2, "{a:?} {b:?} {c:?} {d:?}");
    store
        .open_card(NewCard {
            owner: Owner([8; 32]),
            ..bounded()
        })
        .await
        .unwrap();
    let mut opened = Vec::new();
    for card in &cards {
        opened.extend(store.card(card.id).await.unwrap());
    }
    let card = opened[0].key;
    let play = || NewPlay {
        most_plays: Some(3),
        ..new_play(card)
    };
    for _ in 0..3 {
        store.open_play(play()).await.unwrap();
    }
    assert_eq!(
        store.open_play(play()).await,
        Err(StoreError::TooManyPlays(3))
    );
    store.close_card(card, 5_000).await.unwrap();
    store.open_card(bounded()).await.unwrap();
}

async fn the_clock_closes_idle_and_old_cards(bench: &Bench) {
    let store = bench.store.as_ref();
    let mut ids = Vec::new();
    for (opened_ms, used_ms) in [(0, 0), (0, 50_000), (40_000, 60_000)] {
        let card = NewCard {
            opened_ms: bench.at(opened_ms).await,
            ..new_card()
        };
        store.open_card(card.clone()).await.unwrap();
        let key = store.card(card.id).await.unwrap().unwrap().key;
        store
            .touch_card(key, bench.at(used_ms).await)
            .await
            .unwrap();
        ids.push(card.id);
    }
    // A server is there all the time.
    for now_ms in (0..70_000).step_by(10_000) {
        let nothing = Stale {
            used_before_ms: 0,
            opened_before_ms: 0,
            now_ms: bench.at(now_ms).await,
        };
        assert_eq!(store.close_stale(nothing).await.unwrap(), []);
    }
    let now_ms = bench.at(70_000).await;
    let idle = Stale {
        used_before_ms: 40_000,
        opened_before_ms: 0,
        now_ms,
    };
    assert_eq!(store.close_stale(idle).await.unwrap(), [ids[0]]);
    assert_eq!(
        store.card(ids[0]).await.unwrap().unwrap().closed_ms,
        Some(70_000)
    );
    let old = Stale {
        used_before_ms: 0,
        opened_before_ms: 10_000,
        now_ms,
    };
    assert_eq!(store.close_stale(old).await.unwrap(), [ids[1]]);
    // None is there for a while.
    store.resume(bench.at(90_000).await).await.unwrap();
    let later = Stale {
        used_before_ms: 90_000,
        opened_before_ms: 0,
        now_ms: bench.at(95_000).await,
    };
    assert_eq!(store.close_stale(later).await.unwrap(), []);
    assert_eq!(store.card(ids[2]).await.unwrap().unwrap().used_ms, 90_000);
}

async fn everything_is_there_after_reopening(bench: &Bench) {
    let store = bench.store.as_ref();
    bench.at(1_000).await;
    // A text from outside may have any character.
    let asked = NewCard {
        source_url: Some("a\0b".to_owned()),
        ..new_card()
    };
    store.open_card(asked.clone()).await.unwrap();
    let card = store.card(asked.id).await.unwrap().unwrap();
    let order = new_play(card.key);
    let play = store.open_play(order.clone()).await.unwrap();
    let actions = [
        Action::Action1,
        Action::Action6 { x: 63, y: 0 },
        Action::Action7,
        Action::Reset,
    ];
    bench.at(9_000).await;
    for (index, action) in (1..).zip(actions) {
        store
            .append(play, card.key, index, entry(action), 9_000)
            .await
            .unwrap();
    }

    let store = bench.another().await;
    let found = store.card(asked.id).await.unwrap().unwrap();
    assert_eq!(
        (found.owner, &found.tags, &found.source_url),
        (asked.owner, &asked.tags, &asked.source_url)
    );
    assert_eq!(found.games, asked.games);
    assert_eq!(
        (
            &found.opaque,
            found.opened_ms,
            found.used_ms,
            found.closed_ms
        ),
        (&asked.opaque, 1_000, 9_000, None)
    );
    let stored = store.play(order.id).await.unwrap().unwrap();
    assert_eq!(
        (stored.key, stored.card, stored.owner),
        (play, found.key, asked.owner)
    );
    assert_eq!(
        (&stored.game_id, stored.seed, stored.rule, stored.win_levels),
        (&order.game_id, order.seed, order.rule, 8)
    );
    let expected: Vec<_> = [Action::Reset]
        .into_iter()
        .chain(actions)
        .map(entry)
        .collect();
    assert_eq!(store.log(play).await.unwrap(), expected);
    assert_eq!(store.head(play).await, Ok(5));
    let logged = store.card_log(found.key).await.unwrap();
    assert_eq!(
        (logged.len(), &logged[0].play, logged[0].entries.len()),
        (1, &stored, 5)
    );
    assert_eq!(logged[0].entries[2].details.reasoning, None);
}

async fn concurrent_appenders_share_commits_and_lose_nothing(bench: &Bench) {
    const APPENDERS: u32 = 64;
    const ACTIONS: u32 = 20;
    let store = &bench.store;
    let mut plays = Vec::new();
    for _ in 0..APPENDERS {
        plays.push(card_with_play(store.as_ref()).await);
    }
    let before = bench.commits();
    let mut appenders = JoinSet::new();
    for &(card, play) in &plays {
        let store = Arc::clone(store);
        appenders.spawn(async move {
            for index in 1..=ACTIONS {
                store
                    .append(play, card, index, entry(Action::Action5), 3_000)
                    .await
                    .unwrap();
            }
        });
    }
    appenders.join_all().await;
    let commits = bench.commits() - before;
    println!("{commits} commits for {} actions", APPENDERS * ACTIONS);
    assert!(
        commits < u64::from(APPENDERS * ACTIONS),
        "{commits} commits"
    );
    let store = bench.another().await;
    for (_, play) in plays {
        assert_eq!(store.log(play).await.unwrap().len(), 1 + ACTIONS as usize);
    }
}

async fn listeners_learn_what_has_advanced(bench: &Bench) {
    let store = bench.store.as_ref();
    let card = card(store).await;
    let order = new_play(card);
    let play = store.open_play(order.clone()).await.unwrap();
    let mut advanced = [store.advanced(), store.advanced()];
    store
        .append(play, card, 1, entry(Action::Action1), 3_000)
        .await
        .unwrap();
    for advanced in &mut advanced {
        // The opening may still be on its way.
        assert_eq!(advanced.recv().await.unwrap(), order.id);
    }
    assert_eq!(
        store
            .append(play, card, 1, entry(Action::Action1), 3_000)
            .await,
        Err(StoreError::Conflict(1))
    );
}

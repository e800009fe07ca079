//! The rules that both stores must follow.

use std::sync::Arc;

use rhae_engine::Action;
use rhae_store::{NewCard, NewPlay, Owner, StaleCutoffs, StoreError};
use tokio::task::JoinSet;

use crate::fixture::{Fixture, on_both_stores};
use crate::{card, card_with_play, entry, new_card, new_play};

on_both_stores!(
    append_rejects_gaps_and_duplicates,
    closed_card_rejects_writes_and_stays_readable,
    rejected_write_does_not_affect_its_transaction,
    second_exclusive_card_or_play_is_rejected,
    limits_on_open_cards_and_plays_are_enforced,
    idle_and_old_cards_are_closed,
    all_fields_survive_reopening,
    concurrent_appends_share_commits,
    subscribers_are_notified_of_appends,
);

async fn append_rejects_gaps_and_duplicates(fixture: &Fixture) {
    let store = fixture.store.as_ref();
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

async fn closed_card_rejects_writes_and_stays_readable(fixture: &Fixture) {
    let store = fixture.store.as_ref();
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

async fn rejected_write_does_not_affect_its_transaction(fixture: &Fixture) {
    let store = fixture.store.as_ref();
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

async fn second_exclusive_card_or_play_is_rejected(fixture: &Fixture) {
    let store = fixture.store.as_ref();
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

async fn limits_on_open_cards_and_plays_are_enforced(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let bounded = || NewCard {
        max_open: Some(2),
        ..new_card()
    };
    let cards = [bounded(), bounded(), bounded(), bounded()];
    // The four requests are concurrent, so counting outside the transaction would accept too many.
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
        max_plays: Some(3),
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

async fn idle_and_old_cards_are_closed(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let mut ids = Vec::new();
    for (opened_ms, used_ms) in [(0, 0), (0, 50_000), (40_000, 60_000)] {
        let card = NewCard {
            opened_ms: fixture.at(opened_ms).await,
            ..new_card()
        };
        store.open_card(card.clone()).await.unwrap();
        let key = store.card(card.id).await.unwrap().unwrap().key;
        store
            .touch_card(key, fixture.at(used_ms).await)
            .await
            .unwrap();
        ids.push(card.id);
    }
    // A server runs during this time and looks for stale cards regularly.
    for now_ms in (0..70_000).step_by(10_000) {
        let nothing = StaleCutoffs {
            used_before_ms: 0,
            opened_before_ms: 0,
            now_ms: fixture.at(now_ms).await,
        };
        assert_eq!(store.close_stale(nothing).await.unwrap(), []);
    }
    let now_ms = fixture.at(70_000).await;
    let idle = StaleCutoffs {
        used_before_ms: 40_000,
        opened_before_ms: 0,
        now_ms,
    };
    assert_eq!(store.close_stale(idle).await.unwrap(), [ids[0]]);
    assert_eq!(
        store.card(ids[0]).await.unwrap().unwrap().closed_ms,
        Some(70_000)
    );
    let old = StaleCutoffs {
        used_before_ms: 0,
        opened_before_ms: 10_000,
        now_ms,
    };
    assert_eq!(store.close_stale(old).await.unwrap(), [ids[1]]);
    // No server runs for a while. The next one to start restarts the idle timers.
    store
        .restart_idle_timers(fixture.at(90_000).await)
        .await
        .unwrap();
    let later = StaleCutoffs {
        used_before_ms: 90_000,
        opened_before_ms: 0,
        now_ms: fixture.at(95_000).await,
    };
    assert_eq!(store.close_stale(later).await.unwrap(), []);
    assert_eq!(store.card(ids[2]).await.unwrap().unwrap().used_ms, 90_000);
}

async fn all_fields_survive_reopening(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    fixture.at(1_000).await;
    // A client's text may contain any character.
    let requested = NewCard {
        source_url: Some("a\0b".to_owned()),
        ..new_card()
    };
    store.open_card(requested.clone()).await.unwrap();
    let card = store.card(requested.id).await.unwrap().unwrap();
    let request = new_play(card.key);
    let play = store.open_play(request.clone()).await.unwrap();
    let actions = [
        Action::Action1,
        Action::Action6 { x: 63, y: 0 },
        Action::Action7,
        Action::Reset,
    ];
    fixture.at(9_000).await;
    for (index, action) in (1..).zip(actions) {
        store
            .append(play, card.key, index, entry(action), 9_000)
            .await
            .unwrap();
    }

    let store = fixture.another().await;
    let found = store.card(requested.id).await.unwrap().unwrap();
    assert_eq!(
        (found.owner, &found.tags, &found.source_url),
        (requested.owner, &requested.tags, &requested.source_url)
    );
    assert_eq!(found.games, requested.games);
    assert_eq!(
        (
            &found.opaque,
            found.opened_ms,
            found.used_ms,
            found.closed_ms
        ),
        (&requested.opaque, 1_000, 9_000, None)
    );
    let stored = store.play(request.id).await.unwrap().unwrap();
    assert_eq!(
        (stored.key, stored.card, stored.owner),
        (play, found.key, requested.owner)
    );
    assert_eq!(
        (&stored.game_id, stored.seed, stored.rule, stored.win_levels),
        (&request.game_id, request.seed, request.rule, 8)
    );
    assert_eq!(stored.source_digest, request.source_digest);
    let expected: Vec<_> = [Action::Reset]
        .into_iter()
        .chain(actions)
        .map(entry)
        .collect();
    assert_eq!(store.log(play).await.unwrap(), expected);
    assert_eq!(store.head(play).await, Ok(5));
    let logs = store.card_log(found.key).await.unwrap();
    assert_eq!(
        (logs.len(), &logs[0].play, logs[0].entries.len()),
        (1, &stored, 5)
    );
    assert_eq!(logs[0].entries[2].details.reasoning, None);
}

async fn concurrent_appends_share_commits(fixture: &Fixture) {
    const APPENDERS: u32 = 64;
    const ACTIONS: u32 = 20;
    let store = &fixture.store;
    let mut plays = Vec::new();
    for _ in 0..APPENDERS {
        plays.push(card_with_play(store.as_ref()).await);
    }
    let before = fixture.commits();
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
    let commits = fixture.commits() - before;
    println!("{commits} commits for {} actions", APPENDERS * ACTIONS);
    assert!(
        commits < u64::from(APPENDERS * ACTIONS),
        "{commits} commits"
    );
    let store = fixture.another().await;
    for (_, play) in plays {
        assert_eq!(store.log(play).await.unwrap().len(), 1 + ACTIONS as usize);
    }
}

async fn subscribers_are_notified_of_appends(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let card = card(store).await;
    let request = new_play(card);
    let play = store.open_play(request.clone()).await.unwrap();
    let mut receivers = [store.subscribe(), store.subscribe()];
    store
        .append(play, card, 1, entry(Action::Action1), 3_000)
        .await
        .unwrap();
    for receiver in &mut receivers {
        // The notification of the opening may arrive first; it has the same id.
        assert_eq!(receiver.recv().await.unwrap(), request.id);
    }
    assert_eq!(
        store
            .append(play, card, 1, entry(Action::Action1), 3_000)
            .await,
        Err(StoreError::Conflict(1))
    );
}

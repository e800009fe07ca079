//! Two stores on one database, as two servers would use it.

use std::sync::Arc;

use rhae_engine::Action;
use rhae_store::StoreError;
use tokio::task::JoinSet;

use crate::fixture::{Fixture, on_both_stores};
use crate::{card_with_play, entry};

on_both_stores!(
    each_entry_is_appended_by_exactly_one_of_two_servers,
    closing_a_card_excludes_concurrent_appends
);

async fn each_entry_is_appended_by_exactly_one_of_two_servers(fixture: &Fixture) {
    const ENTRIES: u32 = 40;
    let stores = [Arc::clone(&fixture.store), fixture.another().await];
    let mut plays = Vec::new();
    for _ in 0..4 {
        plays.push(card_with_play(fixture.store.as_ref()).await);
    }
    let mut servers = JoinSet::new();
    for (store, order) in stores.iter().zip([1, -1]) {
        for turn in 0..plays.len() {
            // The servers visit the plays in opposite orders, to provoke deadlocks.
            let (card, play) = if order == 1 {
                plays[turn]
            } else {
                plays[plays.len() - 1 - turn]
            };
            let store = Arc::clone(store);
            servers.spawn(async move {
                let mut appended = 0;
                loop {
                    let index = store.head(play).await.unwrap();
                    if index > ENTRIES {
                        return appended;
                    }
                    match store
                        .append(play, card, index, entry(Action::Action1), 3_000)
                        .await
                    {
                        Ok(()) => appended += 1,
                        Err(error) => assert_eq!(error, StoreError::Conflict(index)),
                    }
                }
            });
        }
    }
    let appended: u32 = servers.join_all().await.into_iter().sum();
    assert_eq!(appended, 4 * ENTRIES);
    for (_, play) in plays {
        assert_eq!(
            fixture.store.log(play).await.unwrap().len(),
            1 + ENTRIES as usize
        );
    }
}

async fn closing_a_card_excludes_concurrent_appends(fixture: &Fixture) {
    let other = fixture.another().await;
    for _ in 0..10 {
        let (card, play) = card_with_play(fixture.store.as_ref()).await;
        let store = Arc::clone(&fixture.store);
        let player = tokio::spawn(async move {
            let mut index = 1;
            loop {
                match store
                    .append(play, card, index, entry(Action::Action1), 3_000)
                    .await
                {
                    Ok(()) => index += 1,
                    Err(error) => return (index, error),
                }
            }
        });
        while fixture.store.head(play).await.unwrap() < 4 {}
        other.close_card(card, 5_000).await.unwrap();
        // From here on no entry is appended, and every acknowledged entry is stored.
        let closed_at = other.head(play).await.unwrap();
        assert_eq!(player.await.unwrap(), (closed_at, StoreError::CardNotOpen));
    }
}

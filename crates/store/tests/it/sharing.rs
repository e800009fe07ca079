//! Two stores on one database, as two servers have it.

use std::sync::Arc;

use rhae_engine::Action;
use rhae_store::StoreError;
use tokio::task::JoinSet;

use crate::bench::{Bench, on_both_stores};
use crate::{card_with_play, entry};

on_both_stores!(
    of_two_servers_one_appends_each_entry,
    closing_excludes_actions_under_way
);

async fn of_two_servers_one_appends_each_entry(bench: &Bench) {
    const ENTRIES: u32 = 40;
    let stores = [Arc::clone(&bench.store), bench.another().await];
    let mut plays = Vec::new();
    for _ in 0..4 {
        plays.push(card_with_play(bench.store.as_ref()).await);
    }
    let mut servers = JoinSet::new();
    for (store, order) in stores.iter().zip([1, -1]) {
        for turn in 0..plays.len() {
            // The servers come upon the plays in opposite orders.
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
                        Err(refused) => assert_eq!(refused, StoreError::Conflict(index)),
                    }
                }
            });
        }
    }
    let appended: u32 = servers.join_all().await.into_iter().sum();
    assert_eq!(appended, 4 * ENTRIES);
    for (_, play) in plays {
        assert_eq!(
            bench.store.log(play).await.unwrap().len(),
            1 + ENTRIES as usize
        );
    }
}

async fn closing_excludes_actions_under_way(bench: &Bench) {
    let other = bench.another().await;
    for _ in 0..10 {
        let (card, play) = card_with_play(bench.store.as_ref()).await;
        let store = Arc::clone(&bench.store);
        let player = tokio::spawn(async move {
            let mut index = 1;
            loop {
                match store
                    .append(play, card, index, entry(Action::Action1), 3_000)
                    .await
                {
                    Ok(()) => index += 1,
                    Err(refused) => return (index, refused),
                }
            }
        });
        while bench.store.head(play).await.unwrap() < 4 {}
        other.close_card(card, 5_000).await.unwrap();
        // From here on nothing is added, and what was acknowledged is there.
        let closed_at = other.head(play).await.unwrap();
        assert_eq!(player.await.unwrap(), (closed_at, StoreError::CardNotOpen));
    }
}

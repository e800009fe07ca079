//! Snapshots of plays, and the news of what was appended.

use rhae_engine::Action;
use rhae_store::{NewPlay, PlayKey, Snapshot, StoreError};
use tokio::sync::broadcast::error::TryRecvError;

use crate::bench::{Bench, on_both_stores};
use crate::{card, card_with_play, entry, new_play};

on_both_stores!(
    the_newest_two_snapshots_of_a_play_are_kept,
    what_was_appended_is_announced_after_its_commit
);

fn snapshot(entries: u32) -> Snapshot {
    Snapshot {
        entries,
        bytes: entries.to_le_bytes().repeat(1_000),
    }
}

async fn the_newest_two_snapshots_of_a_play_are_kept(bench: &Bench) {
    let store = bench.store.as_ref();
    let (_, play) = card_with_play(store).await;
    let (_, other) = card_with_play(store).await;
    store.keep_snapshot(other, snapshot(5)).await.unwrap();
    for entries in [1_000, 2_000, 3_000, 3_000] {
        store.keep_snapshot(play, snapshot(entries)).await.unwrap();
    }
    let store = bench.another().await;
    assert_eq!(
        store.snapshots(play).await.unwrap(),
        [snapshot(3_000), snapshot(2_000)]
    );
    store.drop_snapshots(play).await.unwrap();
    assert_eq!(store.snapshots(play).await.unwrap(), []);
    assert_eq!(store.snapshots(other).await.unwrap(), [snapshot(5)]);
    assert!(matches!(
        store.keep_snapshot(PlayKey(99), snapshot(1)).await,
        Err(StoreError::Unavailable(_))
    ));
}

async fn what_was_appended_is_announced_after_its_commit(bench: &Bench) {
    let store = bench.store.as_ref();
    let mut advanced = store.advanced();
    let card = card(store).await;
    let order = new_play(card);
    let play = store.open_play(order.clone()).await.unwrap();
    assert_eq!(advanced.recv().await, Ok(order.id));
    store
        .append(play, card, 1, entry(Action::Action1), 3_000)
        .await
        .unwrap();
    assert_eq!(advanced.recv().await, Ok(order.id));
    assert_eq!(
        store
            .append(play, card, 1, entry(Action::Action1), 3_000)
            .await,
        Err(StoreError::Conflict(1))
    );
    store.touch_card(card, 9_000).await.unwrap();
    assert_eq!(advanced.try_recv(), Err(TryRecvError::Empty));
    // A play that the writer does not remember.
    let store = bench.another().await;
    let mut advanced = store.advanced();
    store
        .append(play, card, 2, entry(Action::Action1), 3_000)
        .await
        .unwrap();
    assert_eq!(advanced.recv().await, Ok(order.id));
    let second = NewPlay { ..new_play(card) };
    store.open_play(second.clone()).await.unwrap();
    assert_eq!(advanced.recv().await, Ok(second.id));
    store.close_card(card, 9_000).await.unwrap();
    assert_eq!(
        (advanced.recv().await, advanced.recv().await),
        (Ok(order.id), Ok(second.id))
    );
}

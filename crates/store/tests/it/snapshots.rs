//! Snapshots of plays, and notifications of appends.

use rhae_engine::Action;
use rhae_store::{NewPlay, PlayKey, Snapshot, StoreError};
use tokio::sync::broadcast::error::TryRecvError;

use crate::fixture::{Fixture, on_both_stores};
use crate::{card, card_with_play, entry, new_play};

on_both_stores!(
    only_the_newest_two_snapshots_are_kept,
    appends_and_closing_are_notified_after_commit
);

fn snapshot(entries: u32) -> Snapshot {
    Snapshot {
        entries,
        bytes: entries.to_le_bytes().repeat(1_000),
    }
}

async fn only_the_newest_two_snapshots_are_kept(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let (_, play) = card_with_play(store).await;
    let (_, other) = card_with_play(store).await;
    store.save_snapshot(other, snapshot(5)).await.unwrap();
    for entries in [1_000, 2_000, 3_000, 3_000] {
        store.save_snapshot(play, snapshot(entries)).await.unwrap();
    }
    let store = fixture.another().await;
    assert_eq!(
        store.snapshots(play).await.unwrap(),
        [snapshot(3_000), snapshot(2_000)]
    );
    store.drop_snapshots(play).await.unwrap();
    assert_eq!(store.snapshots(play).await.unwrap(), []);
    assert_eq!(store.snapshots(other).await.unwrap(), [snapshot(5)]);
    assert!(matches!(
        store.save_snapshot(PlayKey(99), snapshot(1)).await,
        Err(StoreError::Unavailable(_))
    ));
}

async fn appends_and_closing_are_notified_after_commit(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let mut receiver = store.subscribe();
    let card = card(store).await;
    let request = new_play(card);
    let play = store.open_play(request.clone()).await.unwrap();
    assert_eq!(receiver.recv().await, Ok(request.id));
    store
        .append(play, card, 1, entry(Action::Action1), 3_000)
        .await
        .unwrap();
    assert_eq!(receiver.recv().await, Ok(request.id));
    assert_eq!(
        store
            .append(play, card, 1, entry(Action::Action1), 3_000)
            .await,
        Err(StoreError::Conflict(1))
    );
    store.touch_card(card, 9_000).await.unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    // The writer of the second store has not cached the play.
    let store = fixture.another().await;
    let mut receiver = store.subscribe();
    store
        .append(play, card, 2, entry(Action::Action1), 3_000)
        .await
        .unwrap();
    assert_eq!(receiver.recv().await, Ok(request.id));
    let second = NewPlay { ..new_play(card) };
    store.open_play(second.clone()).await.unwrap();
    assert_eq!(receiver.recv().await, Ok(second.id));
    store.close_card(card, 9_000).await.unwrap();
    assert_eq!(
        (receiver.recv().await, receiver.recv().await),
        (Ok(request.id), Ok(second.id))
    );
}

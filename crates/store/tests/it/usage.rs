//! The bytes that an owner has stored.

use rhae_engine::Action;
use rhae_protocol::{Details, Entry};
use rhae_store::{NewCard, Owner, Store, card_bytes, opening_bytes, reasoning_bytes};
use serde_json::{Value, json};

use crate::fixture::{Fixture, on_both_stores};
use crate::{entry, new_card, new_play, open};

on_both_stores!(
    stored_bytes_grow_with_cards_plays_and_entries,
    rejected_entry_is_not_counted
);

fn with_reasoning(reasoning: Option<Value>, action: Action) -> Entry {
    Entry {
        details: Details {
            reasoning,
            ..Details::default()
        },
        ..entry(action)
    }
}

async fn stored_bytes_grow_with_cards_plays_and_entries(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let (owner, other) = (Owner([7; 32]), Owner([8; 32]));
    assert_eq!(store.stored_bytes(owner).await.unwrap(), 0);
    let card = NewCard {
        tags: vec!["agent".to_owned(), "x".repeat(1000)],
        ..new_card()
    };
    store.open_card(card.clone()).await.unwrap();
    let with_card = store.stored_bytes(owner).await.unwrap();
    // The estimate may differ by the punctuation of the stored JSON.
    assert!(with_card.abs_diff(card_bytes(&card)) < 16, "{with_card}");
    let key = store.card(card.id).await.unwrap().unwrap().key;
    let play = store.open_play(new_play(key)).await.unwrap();
    let reasoning = json!({"why": "probe"});
    let mut expected = with_card + opening_bytes(Some(&reasoning));
    assert_eq!(store.stored_bytes(owner).await.unwrap(), expected);
    let entries = [
        (None, Action::Action1),
        (Some(json!("ä".repeat(5000))), Action::Action2),
        // A full reset starts another run.
        (None, Action::Reset),
        (Some(json!([1, 2])), Action::Action3),
    ];
    for (index, (reasoning, action)) in (1..).zip(entries) {
        expected += reasoning_bytes(reasoning.as_ref());
        if action == Action::Reset {
            expected += opening_bytes(None) - reasoning_bytes(None);
        }
        let entry = with_reasoning(reasoning, action);
        store.append(play, key, index, entry, 3_000).await.unwrap();
        assert_eq!(store.stored_bytes(owner).await.unwrap(), expected);
    }
    assert_eq!(store.stored_bytes(other).await.unwrap(), 0);
}

async fn rejected_entry_is_not_counted(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let (card, play) = crate::card_with_play(store).await;
    let before = store.stored_bytes(Owner([7; 32])).await.unwrap();
    let large = with_reasoning(Some(json!("x".repeat(5000))), Action::Action1);
    store.append(play, card, 5, large, 3_000).await.unwrap_err();
    assert_eq!(store.stored_bytes(Owner([7; 32])).await.unwrap(), before);
}

#[tokio::test]
async fn migration_counts_the_entries_of_older_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rhae.db");
    let store = open(&path).await;
    let (card, play) = crate::card_with_play(&store).await;
    for (index, action) in [(1, Action::Action1), (2, Action::Reset)] {
        let entry = with_reasoning(Some(json!("x".repeat(500))), action);
        store.append(play, card, index, entry, 3_000).await.unwrap();
    }
    let counted = store.stored_bytes(Owner([7; 32])).await.unwrap();
    store.close().await;
    crate::files::sql(
        &path,
        "DROP TABLE study_events; DROP TABLE study_files; DROP TABLE board_events; DROP TABLE board_files; DROP TABLE work_events; DROP TABLE shares; DROP INDEX api_keys_by_hash;
         ALTER TABLE api_keys DROP COLUMN expires_ms; ALTER TABLE api_keys DROP COLUMN requests_per_minute;
         ALTER TABLE api_keys DROP COLUMN open_cards; ALTER TABLE api_keys DROP COLUMN plays_per_card;
         ALTER TABLE api_keys DROP COLUMN stored_bytes; ALTER TABLE api_keys DROP COLUMN key_lifetime_ms;
         ALTER TABLE plays DROP COLUMN source_digest; ALTER TABLE runs DROP COLUMN bytes;
         PRAGMA user_version = 5",
    );
    let store = open(&path).await;
    assert_eq!(store.stored_bytes(Owner([7; 32])).await.unwrap(), counted);
    store.close().await;
}

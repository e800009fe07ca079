//! API keys.

use rhae_store::{GameSet, GameSets, Key, KeyId, KeyLimits, Owner, Scopes, StoreError};

use crate::fixture::{Fixture, on_both_stores};

on_both_stores!(
    keys_are_stored_and_revoked_once,
    key_changes_are_visible_to_other_processes,
    keys_are_found_by_the_owners_of_cards
);

fn key(id: u64) -> Key {
    let sets = GameSets::from_iter([GameSet::Public, GameSet::Private]);
    Key {
        id: KeyId(id),
        hash: [9; 32],
        name: "lab ä\"'".to_owned(),
        scopes: Scopes {
            sets,
            sources: true,
            admin: false,
            visitor: true,
        },
        created_ms: 1_000 + u64::from(id.count_ones()),
        revoked_ms: None,
        expires_ms: Some(5_000),
        limits: KeyLimits {
            requests_per_minute: Some(u32::MAX),
            open_cards: Some(0),
            plays_per_card: None,
            stored_bytes: Some(1 << 40),
        },
        invitation: None,
    }
}

async fn keys_are_stored_and_revoked_once(fixture: &Fixture) {
    let store = fixture.keys.as_ref();
    let none = Key {
        scopes: Scopes {
            sets: GameSets::default(),
            sources: false,
            admin: true,
            visitor: false,
        },
        expires_ms: None,
        limits: KeyLimits::default(),
        ..key(1)
    };
    for key in [key(u64::MAX), none.clone()] {
        store.create_key(key).await.unwrap();
    }
    assert!(matches!(
        store.create_key(key(1)).await,
        Err(StoreError::Unavailable(_))
    ));
    assert_eq!(store.keys().await.unwrap(), [none, key(u64::MAX)]);
    assert!(store.revoke_key(KeyId(1), 7_000).await.unwrap());
    assert!(!store.revoke_key(KeyId(1), 8_000).await.unwrap());
    assert!(!store.revoke_key(KeyId(5), 8_000).await.unwrap());
    let store = fixture.other_keys().await;
    assert_eq!(
        store.key(KeyId(1)).await.unwrap().unwrap().revoked_ms,
        Some(7_000)
    );
    assert_eq!(
        store.key(KeyId(u64::MAX)).await.unwrap(),
        Some(key(u64::MAX))
    );
    assert_eq!(store.key(KeyId(5)).await.unwrap(), None);
}

async fn key_changes_are_visible_to_other_processes(fixture: &Fixture) {
    let (server, operator) = (fixture.keys.as_ref(), fixture.other_keys().await);
    assert_eq!(server.key(KeyId(3)).await.unwrap(), None);
    operator.create_key(key(3)).await.unwrap();
    assert_eq!(server.key(KeyId(3)).await.unwrap(), Some(key(3)));
    operator.revoke_key(KeyId(3), 2_000).await.unwrap();
    assert_eq!(
        server.key(KeyId(3)).await.unwrap().unwrap().revoked_ms,
        Some(2_000)
    );
}

async fn keys_are_found_by_the_owners_of_cards(fixture: &Fixture) {
    let store = fixture.keys.as_ref();
    let with_hash = |id: u64, byte| Key {
        hash: [byte; 32],
        ..key(id)
    };
    for key in [with_hash(1, 1), with_hash(2, 2), with_hash(3, 3)] {
        store.create_key(key).await.unwrap();
    }
    store.revoke_key(KeyId(3), 2_000).await.unwrap();
    let owners = [1, 3, 4].map(|byte| Owner([byte; 32])).to_vec();
    let mut found = store.owner_keys(owners).await.unwrap();
    found.sort_by_key(|key| key.id);
    let ids: Vec<KeyId> = found.iter().map(|key| key.id).collect();
    assert_eq!(ids, [KeyId(1), KeyId(3)]);
    assert!(found[0].is_valid(4_999) && !found[0].is_valid(5_000));
    assert!(!found[1].is_valid(0), "a revoked key is not valid");
    assert_eq!(store.owner_keys(Vec::new()).await.unwrap(), []);
}

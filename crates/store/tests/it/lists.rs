//! Lists of plays and cards, and invitations.

use rhae_engine::Action;
use rhae_store::{
    CardId, GameSets, Invitation, Key, KeyId, KeyLimits, KeyStore, NewCard, NewPlay, Owner, PlayId,
    PostgresStore, Scopes, StaleCutoffs,
};
use rhae_testkit::Postgres;
use uuid::Uuid;

use crate::fixture::{Fixture, address};
use crate::{entry, new_card, new_play, open};

#[tokio::test]
async fn lists_in_sqlite_are_filtered_and_ordered() {
    lists(&Fixture::sqlite().await).await;
}

#[tokio::test]
async fn lists_in_postgres_are_filtered_and_ordered() {
    if let Some(fixture) = Fixture::postgres().await {
        lists(&fixture).await;
    }
}

async fn opened(fixture: &Fixture, owner: u8, lasting: bool, at_ms: u64) -> (CardId, PlayId) {
    let card = NewCard {
        owner: Owner([owner; 32]),
        lasting,
        id: CardId(Uuid::new_v4()),
        opened_ms: fixture.at(at_ms).await,
        ..new_card()
    };
    fixture.store.open_card(card.clone()).await.unwrap();
    let key = fixture.store.card(card.id).await.unwrap().unwrap().key;
    let play = NewPlay {
        at_ms,
        ..new_play(key)
    };
    fixture.store.open_play(play.clone()).await.unwrap();
    (card.id, play.id)
}

/// Checks that lists contain the owner's plays, the newest first, that active plays are recent and
/// on open cards, and that a lasting card does not expire.
async fn lists(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let (one, two) = (Owner([1; 32]), Owner([2; 32]));
    let first = opened(fixture, 1, true, 1_000).await;
    let second = opened(fixture, 2, false, 2_000).await;
    let third = opened(fixture, 1, false, 3_000).await;
    let play = store.play(first.1).await.unwrap().unwrap();
    store
        .append(
            play.key,
            play.card,
            1,
            entry(Action::Action1),
            fixture.at(9_000).await,
        )
        .await
        .unwrap();

    let ids = |facts: Vec<rhae_store::PlayFacts>| {
        facts
            .into_iter()
            .map(|facts| facts.play.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        ids(store.owner_plays(one, 10).await.unwrap()),
        [third.1, first.1]
    );
    assert_eq!(ids(store.owner_plays(one, 1).await.unwrap()), [third.1]);
    assert_eq!(ids(store.owner_plays(two, 10).await.unwrap()), [second.1]);
    assert_eq!(
        ids(store.owner_plays(Owner([3; 32]), 10).await.unwrap()),
        []
    );

    let now_ms = fixture.at(10_000).await;
    assert_eq!(
        ids(store.active_plays(None, 20_000, now_ms, 10).await.unwrap()),
        [first.1, third.1, second.1]
    );
    assert_eq!(
        ids(store.active_plays(None, 5_000, now_ms, 10).await.unwrap()),
        [first.1]
    );
    assert_eq!(
        ids(store
            .active_plays(Some(two), 20_000, now_ms, 10)
            .await
            .unwrap()),
        [second.1]
    );

    let cards =
        |cards: Vec<rhae_store::Card>| cards.into_iter().map(|card| card.id).collect::<Vec<_>>();
    assert_eq!(
        cards(store.cards_before(None, None, 10).await.unwrap()),
        [third.0, second.0, first.0]
    );
    let before = store.card(third.0).await.unwrap().unwrap().key;
    assert_eq!(
        cards(
            store
                .cards_before(Some(one), Some(before), 10)
                .await
                .unwrap()
        ),
        [first.0]
    );

    let everything = StaleCutoffs {
        used_before_ms: 10_000,
        opened_before_ms: 10_000,
        now_ms,
    };
    let mut closed = store.close_stale(everything).await.unwrap();
    closed.sort_unstable();
    let mut expected = [second.0, third.0];
    expected.sort_unstable();
    assert_eq!(closed, expected);
    assert_eq!(
        ids(store.active_plays(None, 20_000, now_ms, 10).await.unwrap()),
        [first.1]
    );
}

#[tokio::test]
async fn invitation_in_sqlite_creates_a_limited_number_of_keys() {
    let folder = tempfile::tempdir().unwrap();
    invitations(&open(&folder.path().join("rhae.db")).await).await;
}

#[tokio::test]
async fn invitation_in_postgres_creates_a_limited_number_of_keys() {
    if let Some(server) = Postgres::start() {
        invitations(&PostgresStore::open(&address(&server)).await.unwrap()).await;
    }
}

fn key(id: u64) -> Key {
    Key {
        id: KeyId(id),
        hash: [1; 32],
        name: "visitor".to_owned(),
        scopes: Scopes {
            sets: GameSets::PUBLIC,
            sources: false,
            admin: false,
            visitor: true,
        },
        created_ms: 1_000,
        revoked_ms: None,
        expires_ms: None,
        limits: KeyLimits::default(),
        invitation: None,
    }
}

async fn invitations(store: &dyn KeyStore) {
    let invitation = |id, left, until_ms| Key {
        invitation: Some(Invitation {
            left,
            until_ms,
            key_lifetime_ms: Some(id),
        }),
        ..key(id)
    };
    for made in [invitation(1, 2, 5_000), invitation(2, 9, 5_000)] {
        store.create_key(made.clone()).await.unwrap();
        assert_eq!(store.key(made.id).await.unwrap(), Some(made));
    }
    assert!(
        store
            .accept_invitation(KeyId(1), key(11), 4_999)
            .await
            .unwrap()
    );
    // These are rejected because the invitation is expired, used up, revoked, or not an invitation
    // at all.
    assert!(
        !store
            .accept_invitation(KeyId(1), key(12), 5_000)
            .await
            .unwrap()
    );
    assert!(
        store
            .accept_invitation(KeyId(1), key(13), 2_000)
            .await
            .unwrap()
    );
    assert!(
        !store
            .accept_invitation(KeyId(1), key(14), 2_000)
            .await
            .unwrap()
    );
    store.revoke_key(KeyId(2), 2_000).await.unwrap();
    assert!(
        !store
            .accept_invitation(KeyId(2), key(15), 3_000)
            .await
            .unwrap()
    );
    assert!(
        !store
            .accept_invitation(KeyId(11), key(16), 3_000)
            .await
            .unwrap()
    );
    let left = store
        .key(KeyId(1))
        .await
        .unwrap()
        .unwrap()
        .invitation
        .unwrap()
        .left;
    assert_eq!(left, 0);
    let made: Vec<bool> = [
        store.key(KeyId(11)).await,
        store.key(KeyId(12)).await,
        store.key(KeyId(13)).await,
    ]
    .into_iter()
    .map(|key| key.unwrap().is_some())
    .collect();
    assert_eq!(made, [true, false, true]);
}

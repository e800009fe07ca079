use rhae_engine::Action;
use rhae_store::{
    CardId, GameSets, Invitation, Key, KeyId, KeyStore, NewCard, NewPlay, Owner, PlayId,
    PostgresStore, Scopes, Stale,
};
use rhae_testkit::Postgres;
use uuid::Uuid;

use crate::bench::{Bench, address};
use crate::{entry, new_card, new_play, open};

#[tokio::test]
async fn lists_in_a_file() {
    lists(&Bench::sqlite().await).await;
}

#[tokio::test]
async fn lists_in_postgres() {
    if let Some(bench) = Bench::postgres().await {
        lists(&bench).await;
    }
}

async fn opened(bench: &Bench, owner: u8, lasting: bool, at_ms: u64) -> (CardId, PlayId) {
    let card = NewCard {
        owner: Owner([owner; 32]),
        lasting,
        id: CardId(Uuid::new_v4()),
        opened_ms: bench.at(at_ms).await,
        ..new_card()
    };
    bench.store.open_card(card.clone()).await.unwrap();
    let key = bench.store.card(card.id).await.unwrap().unwrap().key;
    let play = NewPlay {
        at_ms,
        ..new_play(key)
    };
    bench.store.open_play(play.clone()).await.unwrap();
    (card.id, play.id)
}

/// What is listed is the owner's, the last first; what is under way is recent and on an open card; a lasting card is left alone by the clock.
async fn lists(bench: &Bench) {
    let store = bench.store.as_ref();
    let (one, two) = (Owner([1; 32]), Owner([2; 32]));
    let first = opened(bench, 1, true, 1_000).await;
    let second = opened(bench, 2, false, 2_000).await;
    let third = opened(bench, 1, false, 3_000).await;
    let play = store.play(first.1).await.unwrap().unwrap();
    store
        .append(
            play.key,
            play.card,
            1,
            entry(Action::Action1),
            bench.at(9_000).await,
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

    let now_ms = bench.at(10_000).await;
    assert_eq!(
        ids(store
            .plays_under_way(None, 20_000, now_ms, 10)
            .await
            .unwrap()),
        [first.1, third.1, second.1]
    );
    assert_eq!(
        ids(store
            .plays_under_way(None, 5_000, now_ms, 10)
            .await
            .unwrap()),
        [first.1]
    );
    assert_eq!(
        ids(store
            .plays_under_way(Some(two), 20_000, now_ms, 10)
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

    let everything = Stale {
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
        ids(store
            .plays_under_way(None, 20_000, now_ms, 10)
            .await
            .unwrap()),
        [first.1]
    );
}

#[tokio::test]
async fn an_invitation_in_a_file_gives_so_many_keys() {
    let folder = tempfile::tempdir().unwrap();
    invitations(&open(&folder.path().join("rhae.db")).await).await;
}

#[tokio::test]
async fn an_invitation_in_postgres_gives_so_many_keys() {
    if let Some(server) = Postgres::start() {
        invitations(&PostgresStore::open(&address(&server)).await.unwrap()).await;
    }
}

async fn invitations(store: &dyn KeyStore) {
    let scopes = Scopes {
        sets: GameSets::PUBLIC,
        sources: false,
        admin: false,
        visitor: true,
    };
    let key = |id| Key {
        id: KeyId(id),
        hash: [1; 32],
        name: "visitor".to_owned(),
        scopes,
        created_ms: 1_000,
        revoked_ms: None,
        invitation: None,
    };
    let invitation = |id, left, until_ms| Key {
        invitation: Some(Invitation { left, until_ms }),
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
    // Too late, then used up, then revoked, then none at all.
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

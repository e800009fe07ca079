//! Links to published cards and plays.

use rhae_store::{CardId, Owner, PlayId, Share, ShareId, ShareTarget, StoreError};
use uuid::Uuid;

use crate::fixture::{Fixture, on_both_stores};

on_both_stores!(
    links_are_listed_by_owner_and_revoked_once,
    lists_of_links_continue_after_a_link,
    number_of_working_links_is_limited
);

fn share(id: u64, owner: u8, created_ms: u64) -> Share {
    let target = Uuid::from_u128(id.into());
    Share {
        id: ShareId(id),
        hash: [7; 32],
        owner: Owner([owner; 32]),
        target: if id.is_multiple_of(2) {
            ShareTarget::Card(CardId(target))
        } else {
            ShareTarget::Play(PlayId(target))
        },
        created_ms,
        revoked_ms: None,
    }
}

async fn links_are_listed_by_owner_and_revoked_once(fixture: &Fixture) {
    let store = fixture.shares.as_ref();
    for share in [share(1, 1, 10), share(2, 1, 20), share(u64::MAX, 2, 15)] {
        store.create_share(share.clone(), 9).await.unwrap();
        assert_eq!(store.share(share.id).await.unwrap(), Some(share));
    }
    assert_eq!(store.share(ShareId(9)).await.unwrap(), None);
    let (one, other) = (Some(Owner([1; 32])), Some(Owner([2; 32])));
    let listed = store.shares(one, None, 9).await.unwrap();
    assert_eq!(listed, [share(2, 1, 20), share(1, 1, 10)]);
    let all = store.shares(None, None, 2).await.unwrap();
    assert_eq!(all, [share(2, 1, 20), share(u64::MAX, 2, 15)]);
    // Only the owner can revoke a link, or a caller that stands for any owner.
    let revoke = |id, owner| store.revoke_share(ShareId(id), owner, 30);
    assert!(!revoke(1, other).await.unwrap());
    assert!(revoke(1, one).await.unwrap());
    assert!(!revoke(1, one).await.unwrap());
    assert!(revoke(2, None).await.unwrap());
    assert!(!revoke(5, None).await.unwrap());
    let listed = store.shares(one, None, 9).await.unwrap();
    let revoked: Vec<_> = listed.iter().map(|share| share.revoked_ms).collect();
    assert_eq!(revoked, [Some(30), Some(30)]);
}

async fn lists_of_links_continue_after_a_link(fixture: &Fixture) {
    let store = fixture.shares.as_ref();
    // Two links were created at the same time, one of another owner.
    for share in [
        share(1, 1, 10),
        share(2, 1, 20),
        share(3, 2, 20),
        share(4, 1, 30),
    ] {
        store.create_share(share, 9).await.unwrap();
    }
    for (owner, expected) in [
        (None, &[4, 2, 3, 1][..]),
        (Some(Owner([1; 32])), &[4, 2, 1]),
    ] {
        let (mut listed, mut after) = (Vec::new(), None);
        while let [share] = &store.shares(owner, after, 1).await.unwrap()[..] {
            listed.push(share.id.0);
            after = Some((share.created_ms, share.id));
        }
        assert_eq!(listed, expected);
    }
}

async fn number_of_working_links_is_limited(fixture: &Fixture) {
    let store = fixture.shares.as_ref();
    for id in [1, 2] {
        store.create_share(share(id, 1, 10), 2).await.unwrap();
    }
    let refused = store.create_share(share(3, 1, 10), 2).await;
    assert_eq!(refused, Err(StoreError::TooManyShares(2)));
    store.create_share(share(4, 2, 10), 2).await.unwrap();
    assert!(store.revoke_share(ShareId(1), None, 20).await.unwrap());
    store.create_share(share(3, 1, 10), 2).await.unwrap();
}

//! Identities of study participants, in databases of their own.

use std::path::Path;

use rhae_store::{IdentityRead, SealedIdentity, StoreError, default_identities, open_identities};
use rhae_testkit::Postgres;

fn identity(study: &str, participant: &str, sealed: &[u8]) -> SealedIdentity {
    SealedIdentity {
        study: study.into(),
        participant: participant.into(),
        sealed: sealed.to_vec(),
        stored_ms: 5,
    }
}

fn read(study: &str, participant: &str, at_ms: u64) -> IdentityRead {
    IdentityRead {
        study: study.into(),
        participant: participant.into(),
        by: "ada".to_owned(),
        reason: "payment".to_owned(),
        at_ms,
    }
}

async fn identities_are_stored_and_every_read_is_recorded(at: &Path) {
    let store = open_identities(at).await.unwrap();
    for (study, participant, sealed) in [
        ("lab", "p2", &[1_u8, 0, 255][..]),
        ("lab", "p1", &[2]),
        ("lab", "p1", &[3]),
        ("other", "p1", &[4]),
    ] {
        let stored = store.put_identity(identity(study, participant, sealed));
        stored.await.unwrap();
    }
    let lab = "lab".into();
    let expected = [("p1".into(), 5), ("p2".into(), 5)];
    assert_eq!(store.identified(&lab).await.unwrap(), expected);
    let found = store.read_identity(read("lab", "p1", 7)).await.unwrap();
    assert_eq!(found, Some(vec![3]));
    let missing = store.read_identity(read("lab", "p9", 8)).await.unwrap();
    assert_eq!(missing, None);

    let people = vec!["p1".into(), "p9".into()];
    assert_eq!(store.remove_identities(&lab, people).await.unwrap(), 1);
    // A second process sees the same, and the reads outlive the identity.
    let again = open_identities(at).await.unwrap();
    assert_eq!(again.read_identity(read("lab", "p1", 9)).await, Ok(None));
    assert_eq!(again.identified(&lab).await.unwrap(), expected[1..]);
    let reads = [
        read("lab", "p1", 7),
        read("lab", "p9", 8),
        read("lab", "p1", 9),
    ];
    assert_eq!(again.identity_reads(&lab).await.unwrap(), reads);
    assert_eq!(again.identity_reads(&"other".into()).await.unwrap(), []);
}

#[tokio::test]
async fn file_keeps_identities_and_reads() {
    let folder = tempfile::tempdir().unwrap();
    let at = default_identities(&folder.path().join("rhae.db"));
    identities_are_stored_and_every_read_is_recorded(&at).await;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&at).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[tokio::test]
async fn postgres_keeps_identities_and_reads() {
    if let Some(server) = Postgres::start() {
        identities_are_stored_and_every_read_is_recorded(Path::new(&server.url())).await;
    }
}

#[tokio::test]
async fn database_of_plays_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("rhae.db");
    crate::open(&at).await.close().await;
    let refused = open_identities(&at).await.err().unwrap();
    assert!(
        matches!(&refused, StoreError::Open { error, .. } if **error == StoreError::Foreign),
        "{refused}"
    );
}

//! The removal of contact data whose time has passed.

use rhae_protocol::{PaymentItem, PaymentLine};
use rhae_store::{SealedIdentity, default_identities, open_identities};
use rhae_study::{Command, EndRequest, MoneyCommand, Preset, RETENTION_MS, SittingCommand};
use rhae_study_service::{remove_expired_contacts, send_batch};

use crate::fixture::{Fixture, START_MS, arrive, lab, open_study, protocol, run};

#[tokio::test]
async fn contact_data_is_removed_90_days_after_the_payment() {
    let fixture = Fixture::sqlite().await;
    let service = fixture.server(0);
    open_study(service, protocol(Preset::Rhae1), &[("ab12-v1", 3)]).await;
    let identities = open_identities(&default_identities(&fixture.db()))
        .await
        .unwrap();
    for id in ["p1", "p2"] {
        let sitting = arrive(service, START_MS, id).await;
        let end = SittingCommand::End {
            request: EndRequest::Participant,
            counts: None,
        };
        run(service, START_MS, Command::Sitting(sitting, end)).await;
        let identity = SealedIdentity {
            study: lab(),
            participant: id.into(),
            sealed: vec![1],
            stored_ms: START_MS,
        };
        identities.put_identity(identity).await.unwrap();
    }
    let removed = async |at_ms| {
        let store = identities.as_ref();
        remove_expired_contacts(service, store, &lab(), at_ms)
            .await
            .unwrap()
    };
    let paid_ms = START_MS + RETENTION_MS;
    // Both are owed their fee.
    assert_eq!(removed(paid_ms).await, 0);
    let moment = rhae_study::Moment::at(paid_ms);
    send_batch(service, &lab(), moment, "monday").await.unwrap();
    // One of them gets an adjustment later.
    let adjust = MoneyCommand::Adjust(PaymentLine {
        key: "adjust".into(),
        participant: "p2".into(),
        item: PaymentItem::Adjustment,
        amount_minor: 500,
        currency: "USD".to_owned(),
        note: "the bus was late".to_owned(),
    });
    run(service, paid_ms, Command::Money(adjust)).await;
    assert_eq!(removed(paid_ms + RETENTION_MS - 1).await, 0);
    assert_eq!(removed(paid_ms + RETENTION_MS).await, 1);
    let left = identities.identified(&lab()).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].0, "p2".into());
}

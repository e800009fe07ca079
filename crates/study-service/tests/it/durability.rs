//! What a restart, another process, an erasure and a changed database leave behind.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::{join, join_all};
use rhae_protocol::StudyChain;
use rhae_study::{
    Command, EndRequest, Moment, Preset, SetupCommand, SittingCommand, Study, verify_study,
};
use rhae_study_service::{StudyError, check_study_id};

use crate::fixture::{
    Fixture, START_MS, arrive, assert_replayable, attempt, lab, on_both_databases, open_study,
    protocol, run, sql,
};

on_both_databases!(
    other_process_changes_what_is_decided,
    shared_reads_contain_what_was_appended_before_them,
    erasure_removes_records_and_leaves_the_rest_verifiable,
    study_is_created_once
);

async fn other_process_changes_what_is_decided(fixture: &Fixture) {
    open_study(
        fixture.server(0),
        protocol(Preset::Rhae1),
        &[("ab12-v1", 3)],
    )
    .await;
    let other = fixture.restarted();
    let pause = Command::Setup(SetupCommand::Pause {
        reason: "a fire alarm".to_owned(),
    });
    run(&other, START_MS + 1, pause.clone()).await;
    // The first server has not read the pause yet. It must not pause twice, and may open again.
    let refused = attempt(fixture.server(0), START_MS + 2, pause).await;
    assert!(
        matches!(refused, Err(StudyError::Rejected(_))),
        "{refused:?}"
    );
    let open = Command::Setup(SetupCommand::Open);
    run(fixture.server(0), START_MS + 3, open).await;
    assert_replayable(fixture).await;
}

async fn shared_reads_contain_what_was_appended_before_them(fixture: &Fixture) {
    open_study(
        fixture.server(0),
        protocol(Preset::Rhae1),
        &[("ab12-v1", 3)],
    )
    .await;
    let reader = fixture.restarted();
    let last_seq = AtomicU64::new(0);
    let append = async {
        for number in 0..20 {
            let pause = Command::Setup(SetupCommand::Pause {
                reason: "a fire alarm".to_owned(),
            });
            let open = Command::Setup(SetupCommand::Open);
            for command in [pause, open] {
                let records = run(fixture.server(0), START_MS + number, command).await;
                last_seq.store(records.last().unwrap().seq, Ordering::SeqCst);
            }
        }
    };
    let reads = (0..8).map(|_| async {
        let mut reads = 0;
        while reads < 50 {
            let appended = last_seq.load(Ordering::SeqCst);
            let found = reader.read(&lab(), Study::last_seq).await.unwrap();
            assert!(found >= appended, "{found} of {appended}");
            reads += 1;
        }
    });
    join(append, join_all(reads)).await;
    let found = reader.read(&lab(), Study::last_seq).await.unwrap();
    assert_eq!(found, last_seq.into_inner());
}

async fn erasure_removes_records_and_leaves_the_rest_verifiable(fixture: &Fixture) {
    let service = fixture.server(0);
    open_study(service, protocol(Preset::Rhae1), &[("ab12-v1", 3)]).await;
    for id in ["p1", "p2"] {
        let sitting = arrive(service, START_MS + 1, id).await;
        let end = SittingCommand::End {
            request: EndRequest::Participant,
            counts: None,
        };
        run(service, START_MS + 2, Command::Sitting(sitting, end)).await;
    }
    // The second server has not seen the sittings when they are erased.
    fixture.server(1).read(&lab(), |_| ()).await.unwrap();
    let before = service.records(&lab()).await.unwrap().len();
    run(service, START_MS + 3, Command::Erase("p1".into())).await;
    let records = service.records(&lab()).await.unwrap();
    assert!(records.len() < before);
    let of_person = |chain: &StudyChain| match chain {
        StudyChain::Participant(id) => id.as_str() == "p1",
        StudyChain::Sitting(id) => id.as_str() == "s-p1",
        StudyChain::Study | StudyChain::Memory(_) => false,
    };
    assert!(!records.iter().any(|record| of_person(&record.chain)));
    assert_eq!(verify_study(&records, &[]), []);
    assert_replayable(fixture).await;

    // Closing the study also removes what was remembered.
    run(service, START_MS + 4, Command::Setup(SetupCommand::Close)).await;
    let records = service.records(&lab()).await.unwrap();
    let memory = |chain: &StudyChain| matches!(chain, StudyChain::Memory(_));
    assert!(!records.iter().any(|record| memory(&record.chain)));
    assert_replayable(fixture).await;
}

async fn study_is_created_once(fixture: &Fixture) {
    let moment = Moment::at(START_MS);
    let create = |number: usize| async move {
        let service = fixture.server(number);
        service.create(moment, &lab(), "Title", 1).await
    };
    let (one, two) = tokio::join!(create(0), create(1));
    let exists = Err(StudyError::Exists(lab()));
    assert!(
        (one == Ok(()) && two == exists) || (two == Ok(()) && one == exists),
        "{one:?} {two:?}"
    );
    assert_eq!(fixture.server(1).list().await.unwrap(), [lab()]);
    let unknown = fixture.server(0).read(&"none".into(), |_| ()).await;
    assert_eq!(unknown, Err(StudyError::Unknown("none".into())));
}

#[test]
fn ids_are_plain() {
    assert_eq!(check_study_id("lab-1"), Ok("lab-1".into()));
    for id in ["", "Lab", "a b", "../x", "ä", &"x".repeat(41)] {
        assert_eq!(check_study_id(id), Err(StudyError::Id(id.to_owned())));
    }
}

#[tokio::test]
async fn changed_record_is_reported() {
    let fixture = Fixture::sqlite().await;
    open_study(
        fixture.server(0),
        protocol(Preset::Rhae1),
        &[("ab12-v1", 3)],
    )
    .await;
    sql(
        &fixture.db(),
        "UPDATE study_events SET record = replace(record, 'ab12-v1', 'ab12-v2')",
    );
    let refused = fixture.restarted().read(&lab(), |_| ()).await;
    assert!(
        matches!(refused, Err(StudyError::Log { .. })),
        "{refused:?}"
    );
}

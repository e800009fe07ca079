//! Many people arrive at the same moment.

use futures_util::future::join_all;
use rhae_protocol::{EnvironmentVersion, PaymentItem, StudyProtocol};
use rhae_study::{AssignmentState, Command, EndRequest, Preset, SittingCommand};
use rhae_study_service::StudyError;

use crate::fixture::{
    Fixture, START_MS, arrive, assert_replayable, attempt, lab, on_both_databases, open_study,
    protocol, run,
};

on_both_databases!(
    two_hundred_arrivals_reserve_exactly_the_overbooked_target,
    repeated_requests_take_effect_once,
    same_person_is_enrolled_once
);

const PEOPLE: usize = 200;

/// The target of ten with three of ten plays expected to fail: 10 · 10 − 7 · 15 is not positive.
async fn two_hundred_arrivals_reserve_exactly_the_overbooked_target(fixture: &Fixture) {
    let protocol = StudyProtocol {
        target: 10,
        ..protocol(Preset::Rhae1)
    };
    open_study(fixture.server(0), protocol, &[("ab12-v1", 3)]).await;
    let people = (0..PEOPLE).map(|number| async move {
        let service = fixture.server(number);
        let sitting = arrive(service, START_MS + 1, &format!("p{number:03}")).await;
        run(
            service,
            START_MS + 2,
            Command::Sitting(sitting, SittingCommand::Next),
        )
        .await;
    });
    join_all(people).await;
    let (reserved, ended, fees) = fixture
        .server(0)
        .read(&lab(), |study| {
            let state = study.state();
            let sittings = state.sittings.values();
            let reserved = sittings.clone().filter(|sitting| {
                let current = sitting.current().map(|(_, one)| &one.state);
                current == Some(&AssignmentState::Reserved)
            });
            let ended = sittings.clone().filter(|sitting| !sitting.is_open());
            let fees = state.ledger.entries();
            let fees = fees.filter(|entry| entry.line.item == PaymentItem::Fee);
            (reserved.count(), ended.count(), fees.count())
        })
        .await
        .unwrap();
    assert_eq!((reserved, ended), (15, PEOPLE - 15));
    // Nothing is left for the others, which is not their fault: all are paid.
    assert_eq!(fees, PEOPLE - 15);
    assert_replayable(fixture).await;
}

async fn repeated_requests_take_effect_once(fixture: &Fixture) {
    let environments = [("ab12-v1", 3), ("cd34-v1", 3)];
    open_study(fixture.server(0), protocol(Preset::Rhae1), &environments).await;
    let sitting = arrive(fixture.server(0), START_MS + 1, "p1").await;
    let next = Command::Sitting(sitting.clone(), SittingCommand::Next);
    let repeated =
        (0..20).map(|number| attempt(fixture.server(number), START_MS + 2, next.clone()));
    for result in join_all(repeated).await {
        result.unwrap();
    }
    let play = "play-1".to_owned();
    let start = Command::Sitting(sitting.clone(), SittingCommand::StartAttempt { play });
    let repeated =
        (0..20).map(|number| attempt(fixture.server(number), START_MS + 3, start.clone()));
    for result in join_all(repeated).await {
        result.unwrap();
    }
    let reserved: Vec<EnvironmentVersion> = fixture
        .server(1)
        .read(&lab(), |study| {
            let assignments = &study.state().sittings[&sitting].assignments;
            assignments
                .iter()
                .map(|one| one.environment.clone())
                .collect()
        })
        .await
        .unwrap();
    assert_eq!(reserved.len(), 1);
    let end = SittingCommand::End {
        request: EndRequest::Participant,
        counts: Some(Default::default()),
    };
    let end = Command::Sitting(sitting, end);
    let ends = (0..4).map(|number| attempt(fixture.server(number), START_MS + 4, end.clone()));
    let ends = join_all(ends).await;
    assert_eq!(ends.iter().filter(|result| result.is_ok()).count(), 1);
    assert_replayable(fixture).await;
}

async fn same_person_is_enrolled_once(fixture: &Fixture) {
    open_study(
        fixture.server(0),
        protocol(Preset::Rhae1),
        &[("ab12-v1", 3)],
    )
    .await;
    let enrol = |id: String| {
        Command::Person(
            id.as_str().into(),
            rhae_study::PersonCommand::Enrol {
                person_key: "the same".into(),
                site: "online".into(),
                source: "panel".to_owned(),
                stage: rhae_protocol::StudyStage::Live,
                families_seen: Default::default(),
            },
        )
    };
    let arrivals = (0..10).map(|number| {
        attempt(
            fixture.server(number),
            START_MS + 1,
            enrol(format!("p{number}")),
        )
    });
    let results = join_all(arrivals).await;
    let refused = results
        .iter()
        .filter(|result| matches!(result, Err(StudyError::Rejected(_))));
    assert_eq!(refused.count(), 9);
    let people = fixture
        .server(1)
        .read(&lab(), |study| study.state().participants.len())
        .await;
    assert_eq!(people, Ok(1));
}

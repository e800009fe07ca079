use std::collections::BTreeSet;

use rhae_protocol::{SittingEndReason, StudyEvent, StudyStage, WithdrawnData};
use rhae_study::{
    AssignmentState, Command, Completion, EndRequest, PersonCommand, Preset, Rejection,
    SetupCommand, SittingCommand, Study, completion,
};

use crate::lab::{Lab, MINUTE, protocol, solved, unsolved};

const POOL: [(&str, u32); 3] = [("aa11-v1", 2), ("bb22-v1", 1), ("cc33-v1", 1)];

#[test]
fn person_goes_from_enrolment_to_the_completion_code() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &POOL);
    let sitting = lab.sit("p1");
    assert_eq!(completion(lab.study.state(), &"p1".into()), None);
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let environment = lab.begin(&sitting);
        lab.wait(5 * MINUTE);
        let levels = lab.study.state().environments[&environment].levels;
        let counts = solved(&vec![40; levels as usize]);
        let end = SittingCommand::EndAttempt {
            leave: false,
            counts,
        };
        lab.sitting(&sitting, end);
        assert!(seen.insert(environment));
    }
    assert_eq!(completion(lab.study.state(), &"p1".into()), None);
    assert_eq!(lab.next(&sitting), None);
    let state = lab.study.state();
    let ending = state.sittings[&"s-p1".into()].ending.clone().unwrap();
    assert_eq!(
        (ending.reason, ending.clock_ms),
        (SittingEndReason::NothingLeft, 15 * MINUTE)
    );
    assert_eq!(completion(state, &"p1".into()), Some(Completion::Complete));
    assert_eq!(Study::replay(&lab.log).unwrap(), lab.study);
}

#[test]
fn code_is_withheld_while_another_sitting_is_open() {
    let mut protocol = protocol(Preset::Rhae1);
    protocol.sittings_per_person = 2;
    let mut lab = Lab::open(protocol, &POOL);
    let first = lab.sit("p1");
    lab.end(&first);
    assert_eq!(
        completion(lab.study.state(), &"p1".into()),
        Some(Completion::Complete)
    );
    let participant = "p1".into();
    lab.sitting(
        "second",
        SittingCommand::Start {
            participant,
            seat: None,
        },
    );
    assert_eq!(completion(lab.study.state(), &"p1".into()), None);
    lab.end("second");
    assert_eq!(
        completion(lab.study.state(), &"p1".into()),
        Some(Completion::Complete)
    );
}

#[test]
fn repeated_commands_change_nothing() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &POOL);
    let sitting = lab.sit("p1");
    let environment = lab.next(&sitting).unwrap();
    assert_eq!(lab.sitting(&sitting, SittingCommand::Next), []);
    let start = |play: &str| SittingCommand::StartAttempt {
        play: play.to_owned(),
    };
    lab.sitting(&sitting, start("play-1"));
    assert_eq!(lab.sitting(&sitting, start("play-1")), []);
    let other = Command::Sitting("s-p1".into(), start("play-2"));
    assert_eq!(lab.attempt(&other).unwrap_err(), Rejection::AttemptOpen);
    assert_eq!(lab.next(&sitting), Some(environment));
}

#[test]
fn person_is_enrolled_once() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &POOL);
    lab.enrol("p1", StudyStage::Live);
    let again = Command::Person(
        "p2".into(),
        PersonCommand::Enrol {
            person_key: "key-p1".into(),
            site: "room".into(),
            source: "other panel".to_owned(),
            stage: StudyStage::Live,
            families_seen: BTreeSet::new(),
        },
    );
    assert_eq!(
        lab.attempt(&again).unwrap_err(),
        Rejection::AlreadyEnrolled("p1".into())
    );
}

#[test]
fn sitting_needs_consent() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &POOL);
    lab.enrol("p1", StudyStage::Live);
    lab.person("p1", PersonCommand::DeclineConsent);
    let start = Command::Sitting(
        "s-p1".into(),
        SittingCommand::Start {
            participant: "p1".into(),
            seat: None,
        },
    );
    assert_eq!(lab.attempt(&start).unwrap_err(), Rejection::NoConsent);
    assert_eq!(
        completion(lab.study.state(), &"p1".into()),
        Some(Completion::NoConsent)
    );
}

#[test]
fn person_and_seat_have_one_open_sitting() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &POOL);
    let start = |sitting: &str, participant: &str, seat| {
        Command::Sitting(
            sitting.into(),
            SittingCommand::Start {
                participant: participant.into(),
                seat: Some(seat),
            },
        )
    };
    lab.enrol("p1", StudyStage::Live);
    lab.enrol("p2", StudyStage::Live);
    lab.run(&start("s1", "p1", 4));
    assert_eq!(
        lab.attempt(&start("s2", "p2", 4)).unwrap_err(),
        Rejection::Seat(4)
    );
    assert_eq!(
        lab.attempt(&start("s2", "p2", 21)).unwrap_err(),
        Rejection::Seat(21)
    );
    assert_eq!(
        lab.attempt(&start("s3", "p1", 5)).unwrap_err(),
        Rejection::SittingOpen("s1".into())
    );
    lab.end("s1");
    assert_eq!(
        lab.attempt(&start("s3", "p1", 5)).unwrap_err(),
        Rejection::NoSittingLeft(1)
    );
    lab.run(&start("s2", "p2", 4));
}

#[test]
fn withdrawal_closes_the_sitting_as_censored() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &POOL);
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    lab.wait(20 * MINUTE);
    let withdraw = |counts| PersonCommand::Withdraw {
        data: WithdrawnData::Keep,
        receipt: "r-1".to_owned(),
        counts,
    };
    let without = Command::Person("p1".into(), withdraw(None));
    assert_eq!(lab.attempt(&without).unwrap_err(), Rejection::NoCounts);
    lab.person("p1", withdraw(Some(unsolved(&[50]))));
    let state = lab.study.state();
    let ended = &state.sittings[&"s-p1".into()];
    assert_eq!(
        ended.ending.as_ref().unwrap().reason,
        SittingEndReason::Withdrawn
    );
    let AssignmentState::Ended(attempt) = &ended.assignments[0].state else {
        panic!("the attempt has ended")
    };
    assert!(attempt.outcome.is_censored());
    // 20 minutes are two of six quarters.
    assert_eq!(state.ledger.total_of(&"p1".into()), 4_334);
    let again = Command::Person("p1".into(), withdraw(None));
    assert_eq!(lab.attempt(&again).unwrap_err(), Rejection::Withdrawn);
}

#[test]
fn staff_ends_a_sitting_with_a_reason_and_full_pay() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &POOL);
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    lab.wait(3 * MINUTE);
    let end = |reason: &str| SittingCommand::End {
        request: EndRequest::Staff {
            by: "staff".to_owned(),
            reason: reason.to_owned(),
        },
        counts: Some(unsolved(&[50])),
    };
    let without = Command::Sitting("s-p1".into(), end(""));
    assert_eq!(lab.attempt(&without).unwrap_err(), Rejection::NoReason);
    lab.sitting(&sitting, end("fire alarm"));
    let state = lab.study.state();
    let ending = state.sittings[&"s-p1".into()].ending.clone().unwrap();
    assert_eq!(ending.note.as_deref(), Some("staff: fire alarm"));
    assert_eq!(state.ledger.total_of(&"p1".into()), 13_000);
}

#[test]
fn counts_that_contradict_themselves_are_refused() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 2)]);
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    let mut refused = |counts| {
        let end = SittingCommand::EndAttempt {
            leave: true,
            counts,
        };
        let command = Command::Sitting(sitting.as_str().into(), end);
        matches!(lab.attempt(&command), Err(Rejection::Counts(_)))
    };
    assert!(refused(solved(&[5])));
    assert!(refused(solved(&[5, 5, 5])));
    let mut skipped = solved(&[5, 5]);
    skipped.solved = false;
    skipped.levels[0].completed = false;
    assert!(refused(skipped));
    let mut effective = unsolved(&[5, 5]);
    effective.levels[0].effective = 6;
    assert!(refused(effective));
    let mut idle = unsolved(&[5, 5]);
    idle.levels[0].actions = 0;
    idle.levels[0].effective = 0;
    idle.levels[0].actions_last_try = 0;
    assert!(refused(idle));
}

#[test]
fn calendar_respects_capacity_and_seats() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &POOL);
    lab.setup(SetupCommand::ScheduleSession {
        session: "mon".into(),
        site: "room".into(),
        starts_ms: lab.now_ms + 1000,
        capacity: 2,
    });
    let book = |id: &str| {
        Command::Person(
            id.into(),
            PersonCommand::Book {
                session: "mon".into(),
            },
        )
    };
    let check_in = |id: &str, seat| {
        let session = "mon".into();
        Command::Person(id.into(), PersonCommand::CheckIn { session, seat })
    };
    for id in ["p1", "p2", "p3"] {
        lab.enrol(id, StudyStage::Live);
    }
    lab.run(&book("p1"));
    lab.run(&book("p2"));
    assert!(matches!(
        lab.attempt(&book("p1")),
        Err(Rejection::Duplicate(_))
    ));
    assert_eq!(
        lab.attempt(&book("p3")).unwrap_err(),
        Rejection::SessionFull(2)
    );
    lab.run(&check_in("p1", 7));
    assert_eq!(
        lab.attempt(&check_in("p2", 7)).unwrap_err(),
        Rejection::Seat(7)
    );
    lab.run(&check_in("p2", 8));
    assert_eq!(
        lab.attempt(&check_in("p3", 9)).unwrap_err(),
        Rejection::SessionFull(2)
    );
    let heads = lab
        .log
        .iter()
        .filter(|record| matches!(record.event, StudyEvent::HeadRecorded { .. }));
    assert!(heads.count() > 0);
}

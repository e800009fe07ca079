use std::collections::BTreeSet;

use rhae_protocol::{AssignmentDesign, StudyStage};
use rhae_study::{Completion, Preset, completion, environment_loads};

use crate::lab::{Lab, MINUTE, environment, protocol};

/// Lets people arrive at once and returns how many got the only environment.
fn reservations(lab: &mut Lab, people: usize, stage: StudyStage) -> usize {
    (0..people)
        .filter(|at| {
            let id = format!("p{at:03}");
            lab.enrol(&id, stage);
            let sitting = lab.start(&id);
            lab.next(&sitting).is_some()
        })
        .count()
}

#[test]
fn two_hundred_arrivals_get_fifteen_reservations() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("ab12-v1", 1)]);
    assert_eq!(reservations(&mut lab, 200, StudyStage::Live), 15);
    assert_eq!(
        completion(lab.study.state(), &"p199".into()),
        Some(Completion::ScreenedOut)
    );
    // People who are turned away are paid in full.
    assert_eq!(lab.study.state().ledger.total_of(&"p199".into()), 13_000);
}

#[test]
fn target_of_starts_is_never_exceeded() {
    let mut lab = Lab::open(protocol(Preset::Paper), &[("ab12-v1", 1)]);
    assert_eq!(reservations(&mut lab, 200, StudyStage::Live), 10);
}

#[test]
fn test_and_pilot_rows_never_count() {
    for stage in [StudyStage::Test, StudyStage::Pilot] {
        let mut lab = Lab::open(protocol(Preset::Paper), &[("ab12-v1", 1)]);
        assert_eq!(reservations(&mut lab, 30, stage), 30);
        assert!(environment_loads(lab.study.state()).is_empty());
        let sitting = lab.sit("live");
        assert!(lab.next(&sitting).is_some());
    }
}

#[test]
fn reservation_expires_without_contact_and_is_given_to_another_person() {
    let mut lab = Lab::open(protocol(Preset::Paper), &[("ab12-v1", 1)]);
    assert_eq!(reservations(&mut lab, 11, StudyStage::Live), 10);
    lab.wait(15 * MINUTE - 1);
    let early = lab.sit("early");
    assert_eq!(lab.next(&early), None);
    lab.wait(1);
    let late = lab.sit("late");
    assert!(lab.next(&late).is_some());
    let loads = environment_loads(lab.study.state());
    assert_eq!(loads[&environment("ab12-v1")].live, 1);
}

#[test]
fn interrupted_starts_are_replaced() {
    let mut lab = Lab::open(protocol(Preset::Paper), &[("ab12-v1", 1)]);
    for at in 0..10 {
        let sitting = lab.sit(&format!("p{at}"));
        lab.begin(&sitting);
    }
    let full = lab.sit("full");
    assert_eq!(lab.next(&full), None);
    let withdraw = rhae_study::PersonCommand::Withdraw {
        data: rhae_protocol::WithdrawnData::Keep,
        receipt: "r".to_owned(),
        counts: Some(crate::lab::unsolved(&[50])),
    };
    lab.person("p0", withdraw);
    let replacement = lab.sit("new");
    assert!(lab.next(&replacement).is_some());
}

#[test]
fn fixed_design_gives_each_sitting_its_block() {
    let mut protocol = protocol(Preset::Rhae1);
    protocol.design = AssignmentDesign::Fixed { per_sitting: 2 };
    let pool = ["aa11-v1", "bb22-v1", "cc33-v1", "dd44-v1"];
    let mut lab = Lab::open(protocol, &pool.map(|environment| (environment, 1)));
    let mut played = Vec::new();
    for id in ["p1", "p2"] {
        let sitting = lab.sit(id);
        played.push(lab.solve(&sitting, &[40], MINUTE));
        played.push(lab.solve(&sitting, &[40], MINUTE));
        assert_eq!(lab.next(&sitting), None);
    }
    let different: BTreeSet<_> = played.iter().collect();
    assert_eq!(
        different.len(),
        4,
        "two blocks of two cover four environments"
    );
}

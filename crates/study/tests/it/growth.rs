use rhae_protocol::{AttemptRule, ReleaseReason};
use rhae_study::{
    AssignmentState, Command, Preset, Rejection, Selection, SetupCommand, SittingCommand, Verdict,
    environment_counts, verdicts,
};

use crate::lab::{Lab, MINUTE, environment, protocol, unsolved};

fn withdraw(environment: &str) -> SetupCommand {
    SetupCommand::WithdrawEnvironment {
        environment: environment.into(),
        reason: "a level is broken".to_owned(),
    }
}

#[test]
fn environment_is_added_while_the_study_runs() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1)]);
    let sitting = lab.sit("p1");
    lab.solve(&sitting, &[40], MINUTE);
    lab.add_environment("bb22-v1", 1);
    assert_eq!(lab.next(&sitting), Some("bb22-v1".into()));
    assert_eq!(
        lab.study.state().frozen.len(),
        1,
        "growth is not an amendment"
    );
}

#[test]
fn new_version_starts_at_zero_and_is_for_people_who_have_not_seen_the_family() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1)]);
    let old = lab.sit("old");
    lab.solve(&old, &[40], MINUTE);
    lab.setup(withdraw("aa11-v1"));
    lab.add_environment("aa11-v2", 1);
    assert_eq!(lab.next(&old), None);
    let new = lab.sit("new");
    assert_eq!(lab.next(&new), Some("aa11-v2".into()));
    let selection = Selection {
        rule: AttemptRule::Rhae1,
        exclusions: true,
    };
    let counts = environment_counts(lab.study.state(), selection);
    assert_eq!(
        (
            counts[&environment("aa11-v1")].valid,
            counts[&environment("aa11-v2")].valid
        ),
        (1, 0)
    );
    let found = verdicts(lab.study.state());
    assert_eq!(found[&environment("aa11-v1")], Verdict::Stopped);
    assert_eq!(found[&environment("aa11-v2")], Verdict::Collecting);
}

#[test]
fn withdrawal_releases_reservations_but_not_attempts() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1)]);
    let (reserved, playing) = (lab.sit("p1"), lab.sit("p2"));
    lab.next(&reserved);
    lab.begin(&playing);
    lab.setup(withdraw("aa11-v1"));
    let state = lab.study.state();
    let assignment = |id: &str| state.sittings[&id.into()].assignments[0].state.clone();
    assert_eq!(
        assignment("s-p1"),
        AssignmentState::Released(ReleaseReason::EnvironmentWithdrawn)
    );
    assert!(matches!(assignment("s-p2"), AssignmentState::Started(_)));
    let start = SittingCommand::StartAttempt {
        play: "x".to_owned(),
    };
    let start = Command::Sitting("s-p1".into(), start);
    assert_eq!(lab.attempt(&start).unwrap_err(), Rejection::NoReservation);
    lab.wait(MINUTE);
    lab.sitting(
        &playing,
        SittingCommand::EndAttempt {
            leave: true,
            counts: unsolved(&[40]),
        },
    );
    let again = Command::Setup(withdraw("aa11-v1"));
    assert!(matches!(
        lab.attempt(&again),
        Err(Rejection::EnvironmentWithdrawn(_))
    ));
}

#[test]
fn family_seen_elsewhere_is_not_assigned() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1), ("bb22-v1", 1)]);
    lab.person(
        "p1",
        rhae_study::PersonCommand::Enrol {
            person_key: "key".into(),
            site: "room".into(),
            source: "panel".to_owned(),
            stage: rhae_protocol::StudyStage::Live,
            families_seen: ["aa11".to_owned()].into(),
        },
    );
    lab.consent("p1");
    let sitting = lab.start("p1");
    assert_eq!(lab.solve(&sitting, &[40], MINUTE), "bb22-v1".into());
    assert_eq!(lab.next(&sitting), None);
}

#[test]
fn environment_that_needs_a_pointer_is_not_given_to_a_keyboard() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1)]);
    lab.setup(SetupCommand::AddEnvironment {
        environment: "bb22-v1".into(),
        arm: "all".into(),
        levels: 1,
        needs: rhae_protocol::Devices {
            keyboard: false,
            pointer: true,
        },
    });
    lab.enrol("p1", rhae_protocol::StudyStage::Live);
    lab.person(
        "p1",
        rhae_study::PersonCommand::CheckDevice {
            devices: rhae_protocol::Devices {
                keyboard: true,
                pointer: false,
            },
            colours_distinguished: true,
        },
    );
    let sitting = lab.start("p1");
    assert_eq!(lab.solve(&sitting, &[40], MINUTE), "aa11-v1".into());
    assert_eq!(lab.next(&sitting), None);
}

#[test]
fn share_of_valid_plays_is_estimated_from_thirty_plays_on() {
    let mut protocol = protocol(Preset::Rhae1);
    protocol.target = 100;
    let mut lab = Lab::open(protocol, &[("aa11-v1", 1)]);
    for at in 0..30 {
        let sitting = lab.sit(&format!("p{at}"));
        // 26 of 30 plays are valid: 8.67 tenths.
        let actions = if at % 8 == 0 { 20 } else { 40 };
        lab.leave(&sitting, &[actions], 3 * MINUTE);
        lab.end(&sitting);
        if at == 28 {
            lab.setup(SetupCommand::EstimateShare);
            assert_eq!(lab.study.state().share_tenths, 7);
        }
    }
    lab.setup(SetupCommand::EstimateShare);
    assert_eq!(lab.study.state().share_tenths, 9);
}

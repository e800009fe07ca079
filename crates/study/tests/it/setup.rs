use rhae_protocol::{StudyEvent, StudyStage};
use rhae_study::{
    Command, PersonCommand, Preset, Rejection, SetupCommand, SittingCommand, Study, digest,
    text_digest,
};

use crate::lab::{Lab, protocol};

fn refused(lab: &mut Lab, command: SetupCommand) -> Rejection {
    lab.attempt(&Command::Setup(command)).unwrap_err()
}

#[test]
fn study_opens_only_with_a_frozen_protocol_and_environments() {
    let mut lab = Lab::draft(protocol(Preset::Rhae1), &[]);
    assert_eq!(refused(&mut lab, SetupCommand::Open), Rejection::NotFrozen);
    lab.setup(SetupCommand::Freeze);
    assert_eq!(refused(&mut lab, SetupCommand::Open), Rejection::EmptyPool);
    lab.add_environment("ab12-v1", 2);
    lab.setup(SetupCommand::Open);
    let set = SetupCommand::SetProtocol(Box::new(protocol(Preset::Paper)));
    assert_eq!(refused(&mut lab, set), Rejection::Frozen);
}

#[test]
fn protocol_without_consent_text_is_not_frozen() {
    let mut lab = Lab::draft(Preset::Rhae1.protocol(), &[("ab12-v1", 2)]);
    let error = refused(&mut lab, SetupCommand::Freeze);
    assert_eq!(
        error.to_string(),
        "the protocol is not valid: consent.en: expected a text, found none"
    );
}

#[test]
fn freezing_records_the_hash_of_the_protocol() {
    let lab = Lab::open(protocol(Preset::Rhae1), &[("ab12-v1", 2)]);
    let frozen = lab.log.iter().find_map(|record| match &record.event {
        StudyEvent::Frozen { protocol } => Some(protocol.clone()),
        _ => None,
    });
    assert_eq!(frozen, Some(digest(&protocol(Preset::Rhae1))));
    // The hash depends on the content, not on the order of fields in a file.
    let value = serde_json::to_value(protocol(Preset::Rhae1)).unwrap();
    assert_eq!(frozen, Some(digest(&value)));
}

#[test]
fn amendment_needs_a_reason_and_the_next_version() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("ab12-v1", 2)]);
    let amend = |version, reason: &str| {
        let mut amended = protocol(Preset::Rhae1);
        amended.version = version;
        amended.target = 12;
        SetupCommand::Amend {
            protocol: Box::new(amended),
            reason: reason.to_owned(),
        }
    };
    assert_eq!(refused(&mut lab, amend(2, " ")), Rejection::NoReason);
    assert_eq!(
        refused(&mut lab, amend(3, "more people")),
        Rejection::AmendmentVersion {
            found: 3,
            expected: 2
        }
    );
    let before = lab.sit("p1");
    lab.setup(amend(2, "more people"));
    let after = lab.sit("p2");
    let state = lab.study.state();
    let version = |id: &str| state.protocol_of(&state.sittings[&id.into()]).version;
    assert_eq!((version(&before), version(&after)), (1, 2));
    assert_eq!(state.frozen[1].reason.as_deref(), Some("more people"));
}

#[test]
fn changed_consent_text_asks_again() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("ab12-v1", 2)]);
    lab.enrol("p1", StudyStage::Live);
    let mut amended = protocol(Preset::Rhae1);
    amended.version = 2;
    amended.consent.get_mut("en").unwrap().text = "New text.".to_owned();
    lab.setup(SetupCommand::Amend {
        protocol: Box::new(amended),
        reason: "clearer".to_owned(),
    });
    let start = Command::Sitting(
        "s-p1".into(),
        SittingCommand::Start {
            participant: "p1".into(),
            seat: None,
        },
    );
    let current = text_digest("New text.");
    assert_eq!(
        lab.attempt(&start).unwrap_err(),
        Rejection::ConsentText {
            current: current.clone()
        }
    );
    let consent = PersonCommand::Consent {
        text: current,
        language: "en".to_owned(),
        publish_replays: false,
        later_contact: false,
    };
    lab.person("p1", consent);
    lab.run(&start);
}

#[test]
fn closed_study_stays_closed() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("ab12-v1", 2)]);
    let sitting = lab.sit("p1");
    assert_eq!(
        refused(&mut lab, SetupCommand::Close),
        Rejection::SittingOpen("s-p1".into())
    );
    lab.end(&sitting);
    lab.setup(SetupCommand::Close);
    let error = refused(&mut lab, SetupCommand::Open);
    assert_eq!(
        error.to_string(),
        "the study is closed: expected a study that is not closed"
    );
    assert_eq!(Study::replay(&lab.log).unwrap(), lab.study);
}

#[test]
fn environment_ids_and_names_are_checked() {
    let mut lab = Lab::draft(protocol(Preset::Rhae1), &[("ab12-v1", 2)]);
    let add = |environment: &str, arm: &str| SetupCommand::AddEnvironment {
        environment: environment.into(),
        arm: arm.into(),
        levels: 2,
        needs: Default::default(),
    };
    assert!(matches!(
        refused(&mut lab, add("ab12-v1", "all")),
        Rejection::Duplicate(_)
    ));
    assert!(matches!(
        refused(&mut lab, add("ab12", "all")),
        Rejection::EnvironmentId(_)
    ));
    assert!(matches!(
        refused(&mut lab, add("AB12-v1", "all")),
        Rejection::EnvironmentId(_)
    ));
    assert!(matches!(
        refused(&mut lab, add("cd34-v1", "none")),
        Rejection::UnknownArm(_)
    ));
}

#[test]
fn people_are_divided_among_arms_by_weight() {
    let mut lab = Lab::draft(protocol(Preset::Rhae1), &[("ab12-v1", 2)]);
    lab.setup(SetupCommand::AddArm {
        arm: "double".into(),
        weight: 2,
        max_participants: Some(3),
    });
    lab.setup(SetupCommand::Freeze);
    lab.setup(SetupCommand::Open);
    for at in 0..9 {
        lab.enrol(&format!("p{at}"), StudyStage::Live);
    }
    let arms = lab
        .study
        .state()
        .participants
        .values()
        .map(|person| person.arm.as_str());
    let arms: Vec<&str> = arms.collect();
    assert_eq!(arms.iter().filter(|&&arm| arm == "double").count(), 3);
    // Until the arm is full, it gets two of three people.
    assert_eq!(arms[..4], ["all", "double", "double", "all"]);
}

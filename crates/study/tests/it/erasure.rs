use std::collections::BTreeSet;

use rhae_protocol::{StudyChain, StudyRecord, StudyStage, WithdrawnData};
use rhae_study::{
    Command, PersonCommand, Preset, Rejection, ReplayError, SetupCommand, Study, books_balance,
    verify_study,
};

use crate::lab::{Lab, MINUTE, protocol};

fn two_people() -> Lab {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1), ("bb22-v1", 1)]);
    for id in ["p1", "p2"] {
        let sitting = lab.sit(id);
        lab.solve(&sitting, &[40], MINUTE);
        lab.end(&sitting);
    }
    lab
}

/// Removes the records of a person, as a store does after an erasure.
fn remaining(lab: &Lab, id: &str) -> Vec<StudyRecord> {
    let chains = lab.study.chains_of(&id.into());
    let keep = |record: &&StudyRecord| !chains.contains(&record.chain);
    lab.log.iter().filter(keep).cloned().collect()
}

#[test]
fn erasing_a_person_leaves_the_rest_verifiable() {
    let mut lab = two_people();
    lab.person(
        "p1",
        PersonCommand::Withdraw {
            data: WithdrawnData::Delete,
            receipt: "r-1".to_owned(),
            counts: None,
        },
    );
    lab.run(&Command::Erase("p1".into()));
    let log = remaining(&lab, "p1");
    assert!(log.len() < lab.log.len());
    let text = serde_json::to_string(&log).unwrap();
    assert!(!text.contains("s-p1-"), "the plays of the person are gone");
    let rebuilt = Study::replay(&log).unwrap();
    assert_eq!(rebuilt, lab.study);
    assert_eq!(verify_study(&log, &[]), []);
    assert!(books_balance(rebuilt.state()));
    // The payment remains for the books, under the pseudonym.
    assert_eq!(rebuilt.state().ledger.total_of(&"p1".into()), 2_167 + 500);
    // If the server stops before it removes the records, the log is still valid.
    assert_eq!(Study::replay(&lab.log).unwrap(), lab.study);
}

#[test]
fn study_continues_after_an_erasure() {
    let mut lab = two_people();
    lab.run(&Command::Erase("p1".into()));
    lab.log = remaining(&lab, "p1");
    let sitting = lab.sit("p3");
    lab.solve(&sitting, &[50], MINUTE);
    lab.end(&sitting);
    assert_eq!(Study::replay(&lab.log).unwrap(), lab.study);
}

#[test]
fn other_missing_records_are_detected_after_an_erasure() {
    let mut lab = two_people();
    lab.run(&Command::Erase("p1".into()));
    let log = remaining(&lab, "p1");
    let chain = StudyChain::Sitting("s-p2".into());
    let without_sitting: Vec<_> = log
        .iter()
        .filter(|one| one.chain != chain)
        .cloned()
        .collect();
    assert!(matches!(
        Study::replay(&without_sitting),
        Err(ReplayError::Chain(_))
    ));
    // The last record of the study's own chain is protected only by what follows it.
    let partly: Vec<_> = lab
        .log
        .iter()
        .filter(|one| one.chain != StudyChain::Sitting("s-p1".into()))
        .cloned()
        .collect();
    assert!(
        Study::replay(&partly).is_ok(),
        "one of the person's chains may be removed first"
    );
}

#[test]
fn erased_person_has_no_second_first_contact() {
    let mut lab = two_people();
    let seen: BTreeSet<String> = lab.study.state().families_seen(&"p1".into());
    assert_eq!(seen.len(), 1);
    lab.run(&Command::Erase("p1".into()));
    let enrol = |id: &str| {
        Command::Person(
            id.into(),
            PersonCommand::Enrol {
                person_key: "key-p1".into(),
                site: "room".into(),
                source: "panel".to_owned(),
                stage: StudyStage::Live,
                families_seen: BTreeSet::new(),
            },
        )
    };
    assert!(matches!(
        lab.attempt(&enrol("p1")),
        Err(Rejection::Duplicate(_))
    ));
    lab.run(&enrol("again"));
    assert_eq!(lab.study.state().families_seen(&"again".into()), seen);
}

#[test]
fn nothing_is_remembered_after_the_study_is_closed() {
    let mut lab = two_people();
    lab.run(&Command::Erase("p1".into()));
    lab.log = remaining(&lab, "p1");
    assert!(serde_json::to_string(&lab.log).unwrap().contains("key-p1"));
    let memory = StudyChain::Memory("p1".into());
    lab.enrol("p3", StudyStage::Live);
    let mut early = lab.log.clone();
    early.retain(|record| record.chain != memory);
    assert!(matches!(
        Study::replay(&early),
        Err(ReplayError::Missing { .. })
    ));
    lab.setup(SetupCommand::Close);
    assert_eq!(Study::replay(&lab.log).unwrap(), lab.study);
    lab.log.retain(|record| record.chain != memory);
    assert!(!serde_json::to_string(&lab.log).unwrap().contains("key-p1"));
    assert_eq!(Study::replay(&lab.log).unwrap(), lab.study);
    // A person can be erased after the end, and is not remembered then.
    lab.run(&Command::Erase("p2".into()));
    lab.log = remaining(&lab, "p2");
    assert!(!serde_json::to_string(&lab.log).unwrap().contains("key-p2"));
    assert_eq!(Study::replay(&lab.log).unwrap(), lab.study);
}

#[test]
fn person_with_an_open_sitting_is_not_erased() {
    let mut lab = two_people();
    lab.sit("p3");
    let erase = Command::Erase("p3".into());
    assert_eq!(
        lab.attempt(&erase).unwrap_err(),
        Rejection::SittingOpen("s-p3".into())
    );
    let unknown = Command::Erase("p9".into());
    assert_eq!(
        lab.attempt(&unknown).unwrap_err(),
        Rejection::UnknownParticipant("p9".into())
    );
}

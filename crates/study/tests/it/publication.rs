use rhae_protocol::BaselineFile;
use rhae_study::{
    Command, Finding, Preset, Rejection, ReviewCommand, publishable_baselines, verify_study,
};

use crate::lab::{Lab, MINUTE, protocol};

const COUNTS: [u32; 10] = [27, 12, 40, 18, 15, 90, 22, 15, 58, 31];

/// Ten people solve an environment with one level.
fn ten_people() -> Lab {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1)]);
    for (at, actions) in COUNTS.into_iter().enumerate() {
        let sitting = lab.sit(&format!("p{at}"));
        lab.solve(&sitting, &[actions], 3 * MINUTE);
        lab.end(&sitting);
    }
    lab
}

fn publish(lab: &mut Lab, revision: u32) -> BaselineFile {
    let file = publishable_baselines(lab.study.state(), revision).unwrap();
    lab.run(&Command::Publish(Box::new(file.clone())));
    file
}

#[test]
fn published_baselines_are_those_of_the_people() {
    let mut lab = ten_people();
    let file = publish(&mut lab, 1);
    let level = &file.environments[0].levels[0];
    assert_eq!(
        (level.people, level.completed, level.best),
        (10, 10, Some(12))
    );
    assert_eq!(level.attempts.len(), 10);
    let actions = |method: &str| level.methods[method].actions;
    assert_eq!(actions("draft-2025"), Some(15));
    assert_eq!(actions("paper-2026-03"), Some(15));
    assert_eq!(actions("docs-2026-04"), Some(27));
    let interval = level.methods["docs-2026-04"].interval.unwrap();
    assert_eq!((interval.low, interval.high), (15, 58));
    assert_eq!(format!("{:.4}", interval.coverage), "0.9785");
    // The file survives its serialised form bit for bit.
    let text = serde_json::to_string(&file).unwrap();
    let parsed: BaselineFile = serde_json::from_str(&text).unwrap();
    assert_eq!(parsed, file);
    assert_eq!(verify_study(&lab.log, &[parsed]), []);
}

#[test]
fn only_the_baselines_of_the_log_can_be_published() {
    let mut lab = ten_people();
    let mut file = publishable_baselines(lab.study.state(), 1).unwrap();
    file.environments[0].levels[0]
        .methods
        .get_mut("docs-2026-04")
        .unwrap()
        .actions = Some(26);
    let changed = Command::Publish(Box::new(file));
    assert_eq!(lab.attempt(&changed).unwrap_err(), Rejection::Baselines);
    let second = publishable_baselines(lab.study.state(), 2).unwrap();
    let second = Command::Publish(Box::new(second));
    assert_eq!(
        lab.attempt(&second).unwrap_err(),
        Rejection::Revision {
            found: 2,
            expected: 1
        }
    );
}

#[test]
fn each_revision_is_verified_against_the_log_at_its_time() {
    let mut lab = ten_people();
    let first = publish(&mut lab, 1);
    let exclude = ReviewCommand::Exclude {
        exclusion: "x1".into(),
        position: None,
        by: "ann".to_owned(),
        reason: "knew the game".to_owned(),
        evidence: "comment".to_owned(),
    };
    lab.run(&Command::Review("s-p1".into(), exclude));
    let second = publish(&mut lab, 2);
    assert_ne!(first.exclusions, second.exclusions);
    assert_eq!(second.environments[0].levels[0].completed, 9);
    assert_eq!(verify_study(&lab.log, &[first.clone(), second.clone()]), []);
    assert_eq!(
        verify_study(&lab.log, std::slice::from_ref(&second)),
        [Finding::MissingFile(1)]
    );
    let mut forged = first;
    forged.environments[0].solved = 11;
    assert_eq!(
        verify_study(&lab.log, &[forged, second]),
        [Finding::FileHash(1)]
    );
}

#[test]
fn erased_inputs_of_a_publication_are_counted() {
    let mut lab = ten_people();
    let first = publish(&mut lab, 1);
    lab.run(&Command::Erase("p4".into()));
    let chains = lab.study.chains_of(&"p4".into());
    lab.log.retain(|record| !chains.contains(&record.chain));
    let state = lab.study.state();
    assert_eq!(state.erased_inputs(&state.published[0]), 1);
    let findings = verify_study(&lab.log, std::slice::from_ref(&first));
    assert_eq!(
        findings,
        [Finding::ErasedInputs {
            revision: 1,
            erased: 1
        }]
    );
    let second = publish(&mut lab, 2);
    assert_eq!(second.environments[0].levels[0].completed, 9);
    assert!(verify_study(&lab.log, &[first, second]).len() == 1);
}

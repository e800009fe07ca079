use rhae_protocol::{AttemptRule, ExclusionBasis};
use rhae_study::{
    Command, EffortVerdict, Preset, Rejection, ReviewCommand, Selection, Verdict,
    environment_counts, exclusion_set, sitting_effort, verdicts, verify_study,
};

use crate::lab::{Lab, MINUTE, environment, protocol};

const RHAE: Selection = Selection {
    rule: AttemptRule::Rhae1,
    exclusions: true,
};

fn undo(exclusion: &str) -> ReviewCommand {
    ReviewCommand::Undo {
        exclusion: exclusion.into(),
        by: "ann".to_owned(),
        reason: "the games were broken".to_owned(),
    }
}

#[test]
fn low_effort_excludes_the_sitting_with_evidence() {
    let pool: Vec<(String, u32)> = (0..9).map(|at| (format!("ab{at:02}-v1"), 1)).collect();
    let pool: Vec<(&str, u32)> = pool
        .iter()
        .map(|(id, levels)| (id.as_str(), *levels))
        .collect();
    for (quick, verdict) in [(5, EffortVerdict::Excluded), (4, EffortVerdict::Flagged)] {
        let mut lab = Lab::open(protocol(Preset::Rhae1), &pool);
        let sitting = lab.sit("p1");
        for at in 0..9 {
            let actions = if at < quick { 12 } else { 60 };
            lab.leave(&sitting, &[actions], 3 * MINUTE);
        }
        assert_eq!(lab.next(&sitting), None);
        let state = lab.study.state();
        let rule = &state.protocol().unwrap().1.low_effort;
        let found = &state.sittings[&"s-p1".into()];
        assert_eq!(sitting_effort(rule, found).verdict, verdict);
        let excluded = verdict == EffortVerdict::Excluded;
        assert_eq!(found.exclusions.len(), usize::from(excluded));
        if excluded {
            let exclusion = &found.exclusions[0];
            assert_eq!(
                exclusion.evidence,
                "5 quick quits in 9 started environments"
            );
            assert!(matches!(
                exclusion.basis,
                ExclusionBasis::Rule { version: 1, .. }
            ));
        }
        assert_eq!(verify_study(&lab.log, &[]), []);
    }
}

#[test]
fn exclusion_changes_results_until_it_is_undone() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1)]);
    let sitting = lab.sit("p1");
    lab.solve(&sitting, &[40], 5 * MINUTE);
    lab.end(&sitting);
    let valid = |lab: &Lab, exclusions| {
        let selection = Selection { exclusions, ..RHAE };
        environment_counts(lab.study.state(), selection)[&environment("aa11-v1")].valid
    };
    let before = exclusion_set(lab.study.state());
    let exclude = |position| ReviewCommand::Exclude {
        exclusion: "x1".into(),
        position,
        by: "ann".to_owned(),
        reason: "knew the game".to_owned(),
        evidence: "comment".to_owned(),
    };
    let missing = Command::Review("s-p1".into(), exclude(Some(2)));
    assert_eq!(
        lab.attempt(&missing).unwrap_err(),
        Rejection::NoEndedAttempt(2)
    );
    lab.run(&Command::Review("s-p1".into(), exclude(Some(1))));
    assert_eq!((valid(&lab, true), valid(&lab, false)), (0, 1));
    assert_ne!(exclusion_set(lab.study.state()), before);
    let again = Command::Review("s-p1".into(), exclude(Some(1)));
    assert!(matches!(lab.attempt(&again), Err(Rejection::Duplicate(_))));
    lab.run(&Command::Review("s-p1".into(), undo("x1")));
    assert_eq!(valid(&lab, true), 1);
    assert_eq!(exclusion_set(lab.study.state()), before);
    let twice = Command::Review("s-p1".into(), undo("x1"));
    assert_eq!(
        lab.attempt(&twice).unwrap_err(),
        Rejection::AlreadyUndone("x1".into())
    );
    let unknown = Command::Review("s-p1".into(), undo("x2"));
    assert_eq!(
        lab.attempt(&unknown).unwrap_err(),
        Rejection::UnknownExclusion("x2".into())
    );
}

#[test]
fn excluded_attempt_makes_room_for_another_person() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1)]);
    for at in 0..10 {
        let sitting = lab.sit(&format!("p{at}"));
        lab.solve(&sitting, &[40], MINUTE);
        lab.end(&sitting);
    }
    let late = lab.sit("late");
    assert_eq!(lab.next(&late), None);
    let exclude = ReviewCommand::Exclude {
        exclusion: "x1".into(),
        position: None,
        by: "ann".to_owned(),
        reason: "a child played".to_owned(),
        evidence: "note of staff".to_owned(),
    };
    lab.run(&Command::Review("s-p3".into(), exclude));
    let next = lab.sit("next");
    assert!(lab.next(&next).is_some());
}

#[test]
fn helped_solve_does_not_accept_an_environment() {
    let mut protocol = protocol(Preset::Rhae1);
    protocol.target = 2;
    let mut lab = Lab::open(protocol, &[("aa11-v1", 1)]);
    for id in ["p1", "p2"] {
        let sitting = lab.sit(id);
        lab.solve(&sitting, &[40], MINUTE);
        lab.end(&sitting);
    }
    let verdict = |lab: &Lab| verdicts(lab.study.state())[&environment("aa11-v1")];
    assert_eq!(verdict(&lab), Verdict::Accepted);
    let helped = ReviewCommand::MarkHelped {
        position: 1,
        by: "staff".to_owned(),
        reason: "the neighbour pointed".to_owned(),
    };
    lab.run(&Command::Review("s-p2".into(), helped));
    assert_eq!(verdict(&lab), Verdict::Returned);
    // The attempt still counts for the solve rate.
    let counts = environment_counts(lab.study.state(), RHAE);
    assert_eq!(
        (
            counts[&environment("aa11-v1")].solved,
            counts[&environment("aa11-v1")].independent_solves
        ),
        (2, 1)
    );
}

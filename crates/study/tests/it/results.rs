use rhae_protocol::{AttemptRule, EnvironmentVersion, SittingEndReason};
use rhae_scoring::Method;
use rhae_study::{
    EndRequest, LEFT, Preset, SOLVED, Selection, SittingCommand, Verdict, demographic_counts,
    difficulty_report, environment_baselines, environment_report, own_scores, stopped_plays,
    study_report,
};

use crate::lab::{Lab, MINUTE, protocol, unsolved};

const RHAE: Selection = Selection {
    rule: AttemptRule::Rhae1,
    exclusions: true,
};

/// Lets a person play the only environment, which has six levels: `completed` levels with 10 actions
/// each, then the next level with 40 actions.
fn play(lab: &mut Lab, id: &str, completed: usize, minutes: u64, censored: bool) {
    let sitting = lab.sit(id);
    if completed == 6 {
        lab.solve(&sitting, &[10; 6], minutes * MINUTE);
        lab.end(&sitting);
        return;
    }
    let mut actions = vec![10; completed];
    actions.push(40);
    if censored {
        lab.begin(&sitting);
        lab.wait(minutes * MINUTE);
        let request = EndRequest::Staff {
            by: "staff".to_owned(),
            reason: "fire alarm".to_owned(),
        };
        let counts = Some(unsolved(&actions));
        lab.sitting(&sitting, SittingCommand::End { request, counts });
        let ending = &lab.study.state().sittings[&sitting.as_str().into()].ending;
        assert_eq!(ending.as_ref().unwrap().reason, SittingEndReason::Staff);
    } else {
        lab.leave(&sitting, &actions, minutes * MINUTE);
        lab.end(&sitting);
    }
}

/// The ten people of the worked drop-off, with the times of the worked competing risks.
fn ten_people() -> Lab {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 6)]);
    let people = [
        (1, 3, false),
        (2, 12, true),
        (2, 8, false),
        (3, 20, false),
        (3, 29, false),
        (5, 29, false),
        (6, 5, false),
        (6, 6, false),
        (6, 9, false),
        (6, 15, false),
    ];
    for (at, (completed, minutes, censored)) in people.into_iter().enumerate() {
        play(&mut lab, &format!("p{at}"), completed, minutes, censored);
    }
    lab
}

#[test]
fn drop_off_and_times_are_the_worked_ones() {
    let lab = ten_people();
    let environment: EnvironmentVersion = "aa11-v1".into();
    let report = environment_report(lab.study.state(), &environment, RHAE).unwrap();
    let survival: Vec<String> = report
        .drop_off
        .iter()
        .map(|point| format!("{:.4}", point.survival))
        .collect();
    assert_eq!(
        survival,
        ["1.0000", "0.9000", "0.7875", "0.5625", "0.5625", "0.4500"]
    );
    let last = report.time.last().unwrap();
    assert_eq!(last.time, 29 * MINUTE);
    assert!((last.incidence[SOLVED] - 0.425).abs() < 1e-12);
    assert!((last.incidence[LEFT] - 0.575).abs() < 1e-12);
    assert_eq!(
        (
            report.counts.valid,
            report.counts.solved,
            report.counts.censored
        ),
        (9, 4, 1)
    );
    let funnel: Vec<_> = report
        .levels
        .iter()
        .map(|level| {
            (
                level.reached,
                level.completed,
                level.stopped,
                level.censored,
            )
        })
        .collect();
    assert_eq!(
        funnel,
        [
            (10, 10, 0, 0),
            (10, 9, 1, 0),
            (9, 7, 1, 1),
            (7, 5, 2, 0),
            (5, 5, 0, 0),
            (5, 4, 1, 0)
        ]
    );
    let stopped: Vec<u32> = stopped_plays(lab.study.state(), &environment)
        .iter()
        .map(|play| play.level)
        .collect();
    assert_eq!(stopped, [2, 3, 3, 4, 4, 6]);
}

#[test]
fn interrupted_person_counts_only_for_completed_levels() {
    let lab = ten_people();
    let baselines = environment_baselines(lab.study.state(), RHAE);
    let environment = &baselines[0];
    assert_eq!(
        (environment.valid, environment.solved, environment.censored),
        (9, 4, 1)
    );
    let counts: Vec<_> = environment
        .levels
        .iter()
        .map(|level| (level.people, level.completed, level.attempts.len()))
        .collect();
    assert_eq!(
        counts,
        [
            (10, 10, 10),
            (10, 9, 9),
            (9, 7, 7),
            (9, 5, 5),
            (9, 5, 5),
            (9, 4, 4)
        ]
    );
}

#[test]
fn study_report_counts_people_times_and_verdicts() {
    let lab = ten_people();
    let report = study_report(lab.study.state(), RHAE);
    assert_eq!(
        (
            report.participants,
            report.sittings,
            report.starts,
            report.attempts
        ),
        (10, 10, 10, 9)
    );
    let medians = report.median_minutes;
    assert_eq!(medians.all, Some(9.0));
    assert_eq!(medians.solved, Some(7.5));
    assert_eq!(medians.unsolved, Some(20.0));
    assert_eq!(medians.unsolved_under_20, Some(5.5));
    assert!((report.hours - 124.0 / 60.0).abs() < 1e-12);
    assert_eq!(report.solved_share, Some(4.0 / 9.0));
    assert_eq!(report.environments[&Verdict::Passing], 1);
    assert!(report.books_balance);
    assert_eq!(report.left, 5);
}

#[test]
fn results_under_both_rules_differ_by_quick_solves_and_hard_limits() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1)]);
    let quick = lab.sit("quick");
    lab.solve(&quick, &[18], MINUTE);
    let slow = lab.sit("slow");
    lab.begin(&slow);
    lab.wait(30 * MINUTE);
    lab.sitting(
        &slow,
        SittingCommand::EndAttempt {
            leave: false,
            counts: unsolved(&[200]),
        },
    );
    let attempts = |rule| study_report(lab.study.state(), Selection { rule, ..RHAE }).attempts;
    assert_eq!(
        (attempts(AttemptRule::Paper), attempts(AttemptRule::Rhae1)),
        (0, 2)
    );
}

#[test]
fn own_scores_use_the_baselines_of_the_others() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1)]);
    for (id, actions) in [("p1", 10), ("p2", 20), ("p3", 30), ("p4", 40)] {
        let sitting = lab.sit(id);
        lab.solve(&sitting, &[actions], MINUTE);
    }
    let sitting = lab.sit("p5");
    lab.leave(&sitting, &[70], 5 * MINUTE);
    let scores = own_scores(
        lab.study.state(),
        &"aa11-v1".into(),
        Method::Docs202604,
        RHAE,
    );
    let shown: Vec<String> = scores
        .iter()
        .map(|one| format!("{:.4}", one.score))
        .collect();
    assert_eq!(shown, ["1.0000", "1.0000", "0.4444", "0.2500", "0.0000"]);
}

#[test]
fn difficulty_is_hidden_below_five_people() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1)]);
    for at in 0..5 {
        let report = difficulty_report(lab.study.state(), RHAE);
        assert!(report.environments.values().all(Option::is_none));
        let sitting = lab.sit(&format!("p{at}"));
        lab.solve(&sitting, &[40], MINUTE);
    }
    let report = difficulty_report(lab.study.state(), RHAE);
    assert!(report.environments[&"aa11-v1".into()].unwrap() < 0.0);
    assert!(report.people.values().all(|&ability| ability > 0.0));
}

#[test]
fn small_groups_are_hidden_in_demographics() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1)]);
    for at in 0..13 {
        let id = format!("p{at:02}");
        lab.enrol(&id, rhae_protocol::StudyStage::Live);
        let age = if at < 9 { "25-34" } else { "35-44" };
        lab.describe(&id, &[("age", age)]);
    }
    let counts = demographic_counts(lab.study.state(), "age");
    assert_eq!(counts[1], ("25-34".to_owned(), None));
    assert_eq!(counts[2], ("35-44".to_owned(), None));
    assert_eq!(counts[0], ("18-24".to_owned(), Some(0)));
    assert_eq!(demographic_counts(lab.study.state(), "height"), []);
}

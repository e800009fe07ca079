//! Every rule has a fixture that breaks it, and every fixture lists which others may fire.

use rhae_engine::Action;
use rhae_validate::{NativeSubject, Options, Rule, RuleReport, Subject, Verdict};

use crate::faulty::{Fault, faulty, hosted};
use crate::lock::*;
use crate::{Measured, options, validated};

/// The rules that are not kept.
fn fired(reports: &[RuleReport]) -> Vec<(Rule, Verdict)> {
    reports
        .iter()
        .filter(|report| report.verdict >= Warn)
        .map(|report| (report.rule, report.verdict))
        .collect()
}

/// Checks that a broken environment is caught by its rule, with evidence where plays can show it, and by no other than those listed.
fn caught(subject: &dyn Subject, watch: &Measured, rule: Rule, verdict: Verdict, others: &[Rule]) {
    let reports = validated(subject, &options(), watch);
    let fired = fired(&reports);
    assert!(
        fired.contains(&(rule, verdict)),
        "`{}` did not fire: {fired:?}",
        rule.name()
    );
    for (other, _) in &fired {
        // A tutorial may be won by accident.
        let may = *other == rule || others.contains(other) || *other == Rule::Start;
        let report = reports.iter().find(|report| report.rule == *other).unwrap();
        assert!(may, "`{}` is not listed: {}", other.name(), report.summary);
    }
    let report = reports.iter().find(|report| report.rule == rule).unwrap();
    for finding in report
        .findings
        .iter()
        .filter(|finding| finding.verdict == verdict)
    {
        for evidence in &finding.evidence {
            // What the opening of the first level shows needs no action.
            assert!(
                !evidence.actions.is_empty() || finding.level == Some(0),
                "`{}` shows nothing",
                rule.name()
            );
        }
    }
}

fn native<const F: u8>(rule: Rule, verdict: Verdict, others: &[Rule]) {
    caught(
        &NativeSubject::<Lock<F>>::new(0, Vec::new()),
        &Measured::default(),
        rule,
        verdict,
        others,
    );
}

fn spoiled(fault: Fault, rule: Rule, verdict: Verdict, others: &[Rule]) {
    caught(&faulty(fault), &Measured::default(), rule, verdict, others);
}

use Verdict::{Fail, Warn};

#[test]
fn a_sound_environment_breaks_no_rule() {
    let reports = validated(
        &NativeSubject::<Lock<SOUND>>::new(0, Vec::new()),
        &options(),
        &Measured::default(),
    );
    let fired: Vec<_> = fired(&reports)
        .into_iter()
        .filter(|&fired| fired != (Rule::Start, Warn))
        .collect();
    assert_eq!(fired, []);
    let open: Vec<&str> = reports
        .iter()
        .filter(|report| report.verdict == Verdict::Open)
        .map(|report| report.rule.name())
        .collect();
    assert_eq!(open, ["speed"], "a clock that stands still is no clock");
}

#[test]
fn the_verdict_is_the_same_each_time() {
    let once = || {
        validated(
            &NativeSubject::<Lock<SOUND>>::new(0, Vec::new()),
            &options(),
            &Measured::default(),
        )
    };
    let without_memory = |reports: Vec<RuleReport>| -> Vec<RuleReport> {
        reports
            .into_iter()
            .filter(|report| report.rule != Rule::Memory)
            .collect()
    };
    assert_eq!(without_memory(once()), without_memory(once()));
}

macro_rules! fixtures {
    ($($name:ident: $run:expr;)*) => { $(#[test] fn $name() { $run; })* };
}

fixtures! {
    a_level_that_begins_as_lost: spoiled(Fault::LostFromTheStart, Rule::Loads, Fail, &[Rule::FuzzFrames, Rule::AfterEnd, Rule::Solutions, Rule::Reset, Rule::Clicks, Rule::Wins]);
    no_tags: native::<NO_TAGS>(Rule::Metadata, Fail, &[]);
    three_levels: native::<THREE_LEVELS>(Rule::SixLevels, Warn, &[]);
    a_colour_too_many: native::<COLOUR_16>(Rule::Frames, Fail, &[Rule::FuzzFrames]);
    a_foreign_offer: spoiled(Fault::ForeignOffer, Rule::Actions, Fail, &[]);
    a_baseline_nobody_can_reach: native::<LOW_BASELINE>(Rule::Baselines, Fail, &[]);
    a_wrong_solution: native::<WRONG_SOLUTION>(Rule::Solutions, Fail, &[Rule::AfterEnd]);
    an_old_recording: spoiled(Fault::OldRecording, Rule::Recordings, Fail, &[]);
    another_world: caught(
        &NativeSubject::<Lock<SOUND>>::new(0, Vec::new()),
        &Measured { fresh: Some("entry 7: the frames differ".to_owned()), ..Measured::default() },
        Rule::Recordings, Fail, &[]);
    not_the_same_twice: spoiled(Fault::Random, Rule::SameTwice, Fail, &[Rule::Copies, Rule::Keys, Rule::Reset, Rule::Recordings, Rule::Drift, Rule::Undo, Rule::Clicks]);
    copies_that_share: spoiled(Fault::SharedCopies, Rule::Copies, Fail, &[Rule::Keys, Rule::Reset, Rule::Drift, Rule::NotOffered, Rule::Undo, Rule::Clicks, Rule::AfterEnd]);
    a_hidden_switch: native::<HIDDEN>(Rule::Keys, Fail, &[Rule::Wins, Rule::Baselines, Rule::Optimum, Rule::Proved]);
    a_mark_that_stays: spoiled(Fault::Dirt, Rule::Reset, Fail, &[Rule::Keys, Rule::Drift, Rule::Undo]);
    a_forgetful_undo: native::<FORGETFUL_UNDO>(Rule::Undo, Fail, &[]);
    an_eager_one: spoiled(Fault::Eager, Rule::NotOffered, Fail, &[]);
    a_restless_one: spoiled(Fault::Restless, Rule::AfterEnd, Fail, &[Rule::Drift]);
    a_secret_click: native::<SECRET_CLICK>(Rule::Clicks, Fail, &[]);
    mashing_from_the_start: native::<MASHABLE>(Rule::Start, Fail, &[Rule::Levels, Rule::Proved, Rule::Shortcuts]);
    mashing_a_level: native::<MASHABLE>(Rule::Levels, Fail, &[Rule::Proved, Rule::Shortcuts]);
    // Of 4,096 cells one matters: blind clicks hardly ever win, clicks on that cell always.
    mashing_the_one_cell: native::<ONE_CELL>(Rule::Proved, Fail, &[Rule::Idle, Rule::Still, Rule::Shortcuts, Rule::Levels]);
    mashing_proved: native::<MASHABLE>(Rule::Proved, Fail, &[Rule::Levels, Rule::Shortcuts]);
    a_panic_at_the_corner: native::<CORNER_PANIC>(Rule::Failures, Fail, &[]);
    a_colour_that_comes_late: native::<LATE_COLOUR>(Rule::FuzzFrames, Fail, &[]);
    a_picture_that_drifts: native::<DRIFT>(Rule::Drift, Fail, &[]);
    a_leak: native::<LEAK>(Rule::Memory, Fail, &[]);
    a_slow_one: caught(
        &NativeSubject::<Lock<SOUND>>::new(0, Vec::new()),
        &Measured { seconds_a_look: 1e6, ..Measured::default() },
        Rule::Speed, Warn, &[]);
    an_impossible_level: native::<UNSOLVABLE>(Rule::Wins, Fail, &[Rule::Solutions, Rule::DeadEnds]);
    a_detour: native::<DETOUR>(Rule::Optimum, Warn, &[]);
    a_soft_lock: native::<SOFT_LOCK>(Rule::DeadEnds, Warn, &[]);
    a_shortcut: native::<SHORTCUT>(Rule::Shortcuts, Warn, &[]);
    an_unused_action: native::<UNUSED_ACTION>(Rule::ActionsUsed, Warn, &[]);
    one_cell_that_matters: native::<ONE_CELL>(Rule::Idle, Warn, &[Rule::Still, Rule::Proved, Rule::Shortcuts, Rule::Levels]);
    a_still_picture: native::<STILL>(Rule::Still, Warn, &[]);
    twin_levels: native::<ALIKE>(Rule::Alike, Warn, &[]);
}

/// What is shown and what is reported as hidden tell states apart together.
#[test]
fn reporting_what_is_hidden_takes_nothing_from_what_is_shown() {
    let reports = validated(
        &hosted(Fault::NothingHidden, 1_500),
        &options(),
        &Measured::default(),
    );
    let fired = fired(&reports);
    assert!(
        !fired
            .iter()
            .any(|(rule, _)| [Rule::Keys, Rule::Drift].contains(rule)),
        "{fired:?}"
    );
}

/// A search that ends at once proves nothing, and what cannot be come to was not looked at.
#[test]
fn what_was_not_looked_at_does_not_pass() {
    let reports = validated(
        &hosted(Fault::NothingHidden, 2),
        &options(),
        &Measured::default(),
    );
    let report = |rule: Rule| reports.iter().find(|report| report.rule == rule).unwrap();
    for rule in [Rule::DeadEnds, Rule::Shortcuts, Rule::Optimum, Rule::Proved] {
        assert_eq!(
            report(rule).verdict,
            Verdict::Open,
            "{}: {}",
            rule.name(),
            report(rule).summary
        );
    }
    assert_eq!(
        report(Rule::Loads).summary,
        "level 1: starts; on 5 of 6 levels it is open"
    );
}

#[test]
fn a_win_by_luck_leads_on_where_search_finds_none() {
    assert_eq!(hosted(Fault::NothingHidden, 2).solution(0), None);
    let subject = hosted(Fault::NothingHidden, 2).with_luck(0, 20_000);
    let line = subject.solution(0).unwrap();
    assert!(!subject.has_stored_solution(0) && !line.contains(&Action::Reset));
    assert_eq!(
        subject
            .enter(0, 1)
            .unwrap()
            .unwrap()
            .observation()
            .levels_completed,
        1
    );
    let reports = validated(&subject, &options(), &Measured::default());
    let wins = reports
        .iter()
        .find(|report| report.rule == Rule::Wins)
        .unwrap();
    let text = format!("a line that was found wins in {} actions", line.len());
    assert_eq!(
        (wins.findings[0].verdict, wins.findings[0].text.as_str()),
        (Verdict::Pass, text.as_str())
    );
}

/// However short a check is, it has clicked there; and a search that keeps to listed clicks does not trip over it.
#[test]
fn a_corner_is_always_tried_and_hides_no_win() {
    let subject = hosted(Fault::Corner, 1_500);
    let reports = validated(
        &subject,
        &Options {
            steps: 100,
            ..options()
        },
        &Measured::default(),
    );
    let report = |rule: Rule| reports.iter().find(|report| report.rule == rule).unwrap();
    assert_eq!(
        report(Rule::Failures).verdict,
        Fail,
        "{}",
        report(Rule::Failures).summary
    );
    assert_eq!(
        report(Rule::Solutions).verdict,
        Verdict::Pass,
        "{}",
        report(Rule::Solutions).summary
    );
}

/// The table above leaves no rule out.
#[test]
fn every_rule_has_a_fixture() {
    let source = include_str!("broken.rs");
    let table = &source[source.find("fixtures! {\n    a_level").unwrap()..];
    for rule in Rule::ALL {
        assert!(
            table.contains(&format!("Rule::{rule:?}, Fail"))
                || table.contains(&format!("Rule::{rule:?}, Warn")),
            "{rule:?}"
        );
    }
}

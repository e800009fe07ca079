//! Every rule has a fixture that violates it, and every fixture lists the other rules that may
//! report it.

use rhae_engine::Action;
use rhae_validate::{NativeSubject, Options, Rule, RuleReport, Subject, Verdict};

use crate::faulty::{Fault, faulty, hosted};
use crate::lock::*;
use crate::{Measured, options, validate};

/// Returns the rules that warn or fail.
fn fired(reports: &[RuleReport]) -> Vec<(Rule, Verdict)> {
    reports
        .iter()
        .filter(|report| report.verdict >= Warn)
        .map(|report| (report.rule, report.verdict))
        .collect()
}

/// Asserts that a faulty environment is reported by its rule, with evidence where a play can show
/// the fault, and by no other rules than those listed.
fn assert_reported(
    subject: &dyn Subject,
    monitor: &Measured,
    rule: Rule,
    verdict: Verdict,
    others: &[Rule],
) {
    let reports = validate(subject, &options(), monitor);
    let fired = fired(&reports);
    assert!(
        fired.contains(&(rule, verdict)),
        "`{}` did not fire: {fired:?}",
        rule.name()
    );
    for (other, _) in &fired {
        // Random play may win the first level, which `Rule::Start` reports.
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
            // Evidence at the start of the first level needs no action.
            assert!(
                !evidence.actions.is_empty() || finding.level == Some(0),
                "the evidence of `{}` has no actions",
                rule.name()
            );
        }
    }
}

fn native<const F: u8>(rule: Rule, verdict: Verdict, others: &[Rule]) {
    assert_reported(
        &NativeSubject::<Lock<F>>::new(0, Vec::new()),
        &Measured::default(),
        rule,
        verdict,
        others,
    );
}

fn environment(fault: Fault, rule: Rule, verdict: Verdict, others: &[Rule]) {
    assert_reported(&faulty(fault), &Measured::default(), rule, verdict, others);
}

use Verdict::{Fail, Warn};

#[test]
fn sound_environment_violates_no_rule() {
    let reports = validate(
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
    assert_eq!(open, ["speed"], "the fake clock stands still");
}

#[test]
fn verdicts_are_reproducible() {
    let once = || {
        validate(
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
    level_starting_as_lost_is_reported: environment(Fault::LostAtStart, Rule::Loads, Fail, &[Rule::FuzzFrames, Rule::AfterEnd, Rule::Solutions, Rule::Reset, Rule::Clicks, Rule::Wins]);
    missing_tags_are_reported: native::<NO_TAGS>(Rule::Metadata, Fail, &[]);
    too_few_levels_are_reported: native::<THREE_LEVELS>(Rule::SixLevels, Warn, &[]);
    invalid_colour_is_reported: native::<COLOUR_16>(Rule::Frames, Fail, &[Rule::FuzzFrames]);
    unlisted_action_is_reported: environment(Fault::UnlistedOffer, Rule::Actions, Fail, &[]);
    unreachable_baseline_is_reported: native::<LOW_BASELINE>(Rule::Baselines, Fail, &[]);
    wrong_solution_is_reported: native::<WRONG_SOLUTION>(Rule::Solutions, Fail, &[Rule::AfterEnd]);
    outdated_recording_is_reported: environment(Fault::OutdatedRecording, Rule::Recordings, Fail, &[]);
    different_replay_in_a_new_process_is_reported: assert_reported(
        &NativeSubject::<Lock<SOUND>>::new(0, Vec::new()),
        &Measured { replay_error: Some("entry 7: the frames differ".to_owned()), ..Measured::default() },
        Rule::Recordings, Fail, &[]);
    nondeterminism_is_reported: environment(Fault::Nondeterministic, Rule::SameTwice, Fail, &[Rule::Copies, Rule::Keys, Rule::Reset, Rule::Recordings, Rule::Drift, Rule::Undo, Rule::Clicks]);
    forks_that_share_state_are_reported: environment(Fault::SharedForks, Rule::Copies, Fail, &[Rule::Keys, Rule::Reset, Rule::Drift, Rule::NotOffered, Rule::Undo, Rule::Clicks, Rule::AfterEnd]);
    hidden_state_missing_from_the_key_is_reported: native::<HIDDEN>(Rule::Keys, Fail, &[Rule::Wins, Rule::Baselines, Rule::Optimum, Rule::Proved]);
    incomplete_reset_is_reported: environment(Fault::IncompleteReset, Rule::Reset, Fail, &[Rule::Keys, Rule::Drift, Rule::Undo]);
    incomplete_undo_is_reported: native::<FORGETFUL_UNDO>(Rule::Undo, Fail, &[]);
    effect_of_an_action_not_offered_is_reported: environment(Fault::ActsOnUnoffered, Rule::NotOffered, Fail, &[]);
    effect_after_the_end_is_reported: environment(Fault::ActsAfterEnd, Rule::AfterEnd, Fail, &[Rule::Drift]);
    effective_unlisted_click_is_reported: native::<SECRET_CLICK>(Rule::Clicks, Fail, &[]);
    random_win_from_the_start_is_reported: native::<MASHABLE>(Rule::Start, Fail, &[Rule::Levels, Rule::Proved, Rule::Shortcuts]);
    random_wins_of_a_level_are_reported: native::<MASHABLE>(Rule::Levels, Fail, &[Rule::Proved, Rule::Shortcuts]);
    // Only one of 4,096 cells has an effect: blind clicks hardly ever win, clicks on that cell
    // always do.
    proved_luck_of_the_only_listed_click_is_reported: native::<ONE_CELL>(Rule::Proved, Fail, &[Rule::Idle, Rule::Still, Rule::Shortcuts, Rule::Levels]);
    proved_luck_is_reported: native::<MASHABLE>(Rule::Proved, Fail, &[Rule::Levels, Rule::Shortcuts]);
    panic_on_a_corner_click_is_reported: native::<CORNER_PANIC>(Rule::Failures, Fail, &[]);
    invalid_colour_found_by_fuzzing_is_reported: native::<LATE_COLOUR>(Rule::FuzzFrames, Fail, &[]);
    frame_that_does_not_follow_from_the_key_is_reported: native::<DRIFT>(Rule::Drift, Fail, &[]);
    memory_leak_is_reported: native::<LEAK>(Rule::Memory, Fail, &[]);
    slow_environment_is_reported: assert_reported(
        &NativeSubject::<Lock<SOUND>>::new(0, Vec::new()),
        &Measured { seconds_per_reading: 1e6, ..Measured::default() },
        Rule::Speed, Warn, &[]);
    unsolvable_level_is_reported: native::<UNSOLVABLE>(Rule::Wins, Fail, &[Rule::Solutions, Rule::DeadEnds]);
    solution_longer_than_the_optimum_is_reported: native::<DETOUR>(Rule::Optimum, Warn, &[]);
    soft_lock_is_reported: native::<SOFT_LOCK>(Rule::DeadEnds, Warn, &[]);
    solution_that_wins_two_levels_is_reported: native::<SHORTCUT>(Rule::Shortcuts, Warn, &[]);
    unused_action_is_reported: native::<UNUSED_ACTION>(Rule::ActionsUsed, Warn, &[]);
    mostly_ineffective_actions_are_reported: native::<ONE_CELL>(Rule::Idle, Warn, &[Rule::Still, Rule::Proved, Rule::Shortcuts, Rule::Levels]);
    static_frame_is_reported: native::<STILL>(Rule::Still, Warn, &[]);
    identical_levels_are_reported: native::<ALIKE>(Rule::Alike, Warn, &[]);
}

/// States are identified by the frame together with the reported hidden state.
#[test]
fn reported_hidden_state_does_not_replace_the_frame() {
    let reports = validate(
        &hosted(Fault::ConstantHiddenKey, 1_500),
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

/// A search that stops at once proves nothing, and unreachable levels are not checked.
#[test]
fn unchecked_rules_do_not_pass() {
    let reports = validate(
        &hosted(Fault::ConstantHiddenKey, 2),
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
        "level 1: starts; undecided on 5 of 6 levels"
    );
}

#[test]
fn random_win_opens_the_next_level_if_search_finds_none() {
    assert_eq!(hosted(Fault::ConstantHiddenKey, 2).solution(0), None);
    let subject = hosted(Fault::ConstantHiddenKey, 2).with_random_search(0, 20_000);
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
    let reports = validate(&subject, &options(), &Measured::default());
    let wins = reports
        .iter()
        .find(|report| report.rule == Rule::Wins)
        .unwrap();
    let text = format!("the solution that was found wins in {} actions", line.len());
    assert_eq!(
        (wins.findings[0].verdict, wins.findings[0].text.as_str()),
        (Verdict::Pass, text.as_str())
    );
}

/// Even a very short check clicks the corners, and a search that uses only listed clicks does not
/// fail there.
#[test]
fn corners_are_always_clicked_and_do_not_break_the_search() {
    let subject = hosted(Fault::CornerFailure, 1_500);
    let reports = validate(
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

#[test]
fn every_rule_has_a_fixture() {
    let source = include_str!("violations.rs");
    let table = &source[source.find("fixtures! {\n    level_").unwrap()..];
    for rule in Rule::ALL {
        assert!(
            table.contains(&format!("Rule::{rule:?}, Fail"))
                || table.contains(&format!("Rule::{rule:?}, Warn")),
            "{rule:?}"
        );
    }
}

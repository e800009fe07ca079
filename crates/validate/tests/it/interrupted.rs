//! Tests of checks that the monitor cancels.

use std::sync::atomic::{AtomicU32, Ordering};

use rhae_engine::Game;
use rhae_games::Visitor;
use rhae_validate::{Monitor, NativeSubject, Part, Rule, Subject, Verdict, check, parts};

use crate::options;

/// A monitor that cancels after a number of `should_continue` calls.
struct CancelAfter(AtomicU32);

impl Monitor for CancelAfter {
    fn should_continue(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .is_ok()
    }
}

struct ForEachPart(fn(&dyn Subject, Part));

impl Visitor for ForEachPart {
    type Output = ();

    fn visit<G: Game>(self) {
        let subject = NativeSubject::<G>::new(0, Vec::new());
        parts(&subject, &options())
            .into_iter()
            .for_each(|(part, _)| self.0(&subject, part));
    }
}

#[test]
fn interrupted_parts_leave_their_rules_open() {
    rhae_games::visit(
        "bx20-v1",
        ForEachPart(|subject, part| {
            for calls in [0, 1, 5, 100] {
                let findings = check(
                    subject,
                    part,
                    &options(),
                    &CancelAfter(AtomicU32::new(calls)),
                );
                // Some parts call `should_continue` only once, so they finish unless the first call
                // cancels them.
                let is_interrupted = findings
                    .iter()
                    .any(|finding| finding.text == "not checked: interrupted");
                assert!(is_interrupted || calls > 0, "{part:?} {calls}");
                assert!(
                    !is_interrupted
                        || findings
                            .iter()
                            .all(|finding| finding.verdict != Verdict::Pass),
                    "{part:?}: {findings:?}"
                );
                assert!(
                    findings
                        .iter()
                        .all(|finding| finding.verdict != Verdict::Fail),
                    "{part:?}: {findings:?}"
                );
            }
        }),
    )
    .unwrap();
}

#[test]
fn parts_report_only_their_own_rules() {
    rhae_games::visit(
        "bx20-v1",
        ForEachPart(|subject, part| {
            let named = part.rules();
            for finding in check(subject, part, &options(), &()) {
                assert!(named.contains(&finding.rule), "{part:?} {finding:?}");
            }
        }),
    )
    .unwrap();
    let all = [
        Part::Memory,
        Part::Structure,
        Part::Laws(0),
        Part::Start,
        Part::Luck(1),
        Part::Fuzz(0),
        Part::Graph(0),
        Part::Design,
    ];
    assert!(
        Rule::ALL
            .iter()
            .all(|rule| all.iter().any(|part| part.rules().contains(rule)))
    );
}

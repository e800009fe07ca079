//! Checks that somebody ends before they have come to their end.

use std::sync::atomic::{AtomicU32, Ordering};

use rhae_engine::Game;
use rhae_games::Visitor;
use rhae_validate::{NativeSubject, Part, Rule, Subject, Verdict, Watch, check, parts};

use crate::options;

/// Lets so many questions pass whether to go on.
struct Patient(AtomicU32);

impl Watch for Patient {
    fn goes_on(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .is_ok()
    }
}

struct Cut(fn(&dyn Subject, Part));

impl Visitor for Cut {
    type Output = ();

    fn visit<G: Game>(self) {
        let subject = NativeSubject::<G>::new(0, Vec::new());
        parts(&subject, &options())
            .into_iter()
            .for_each(|(part, _)| self.0(&subject, part));
    }
}

#[test]
fn what_was_not_seen_is_open() {
    rhae_games::visit(
        "bx20-v1",
        Cut(|subject, part| {
            for patience in [0, 1, 5, 100] {
                let findings = check(
                    subject,
                    part,
                    &options(),
                    &Patient(AtomicU32::new(patience)),
                );
                // Some parts ask but once.
                let is_cut_short = findings
                    .iter()
                    .any(|finding| finding.text == "not checked: interrupted");
                assert!(is_cut_short || patience > 0, "{part:?} {patience}");
                assert!(
                    !is_cut_short
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
fn parts_speak_about_the_rules_that_they_name() {
    rhae_games::visit(
        "bx20-v1",
        Cut(|subject, part| {
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

//! Tests that every shipped game passes, with limits that fit into continuous integration.

use rhae_engine::Game;
use rhae_games::Visitor;
use rhae_validate::{
    Candidate, EnvironmentVerdict, GraphLimits, NativeSubject, Options, Rule, Subject, Validated,
    Verdict, validate,
};

use crate::Measured;

/// The games in which a level can be lost.
const LOSABLE: [&str; 6] = [
    "kq19-v1", "ny40-v1", "pz19-v1", "mf73-v1", "xd08-v1", "zc67-v1",
];

struct Validate;

impl Visitor for Validate {
    type Output = Validated;

    fn visit<G: Game>(self) -> Validated {
        let subject = NativeSubject::<G>::new(0, Vec::new());
        let full = rhae_testkit::full("smaller state graphs and 50,000 instead of 1,000,000 steps");
        let limits = if full {
            GraphLimits::default()
        } else {
            GraphLimits {
                nodes: 40_000,
                boards: 40_000,
                ..GraphLimits::default()
            }
        };
        let options = Options {
            steps: if full { 1_000_000 } else { 50_000 },
            limits,
            ..Options::default()
        };
        let candidate = Candidate {
            info: subject.info().clone(),
            options,
            subject: Ok(Box::new(subject)),
        };
        let mut all = validate(&[candidate], 1, &Measured::default()).unwrap();
        all.remove(0)
    }
}

fn passes(id: &str) {
    let validated = rhae_games::visit(id, Validate).expect("the game is registered");
    let failed = validated
        .reports
        .iter()
        .filter(|report| report.verdict == Verdict::Fail);
    let failures: Vec<String> = failed
        .map(|report| format!("{id} {}: {}", report.rule.name(), report.summary))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(
        validated.verdict(),
        EnvironmentVerdict::Pass,
        "{id}: {:?}",
        validated.missing()
    );
    let has_lost = validated.reports.iter().any(|report| {
        let is_loss = |text: &str| text.starts_with("a loss of ");
        report.rule == Rule::Recordings && report.findings.iter().any(|one| is_loss(&one.text))
    });
    assert_eq!(has_lost, LOSABLE.contains(&id), "{id}");
}

macro_rules! shipped {
    ($($name:ident $id:literal)*) => {
        $(#[test] fn $name() { passes($id); })*

        #[test]
        fn every_registered_game_is_tested() {
            let ids: Vec<&str> = rhae_games::ALL.iter().map(|entry| entry.facts.id).collect();
            assert_eq!(ids, [$($id),*]);
        }
    };
}

shipped! {
    kq19_passes "kq19-v1"
    ny40_passes "ny40-v1"
    ym39_passes "ym39-v1"
    bx20_passes "bx20-v1"
    hk26_passes "hk26-v1"
    pz19_passes "pz19-v1"
    mf73_passes "mf73-v1"
    xe92_passes "xe92-v1"
    xd08_passes "xd08-v1"
    iv71_passes "iv71-v1"
    gr45_passes "gr45-v1"
    zc67_passes "zc67-v1"
    fm36_passes "fm36-v1"
    zg58_passes "zg58-v1"
    ur63_passes "ur63-v1"
}

//! Tests that every shipped game passes, with limits that fit into continuous integration.

use rhae_engine::Game;
use rhae_games::Visitor;
use rhae_validate::{GraphLimits, NativeSubject, Options, Verdict};

use crate::{Measured, validate};

struct Validate;

impl Visitor for Validate {
    type Output = Vec<String>;

    fn visit<G: Game>(self) -> Vec<String> {
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
        let reports = validate(&subject, &options, &Measured::default());
        let failed = reports
            .iter()
            .filter(|report| report.verdict == Verdict::Fail);
        failed
            .map(|report| format!("{} {}: {}", G::FACTS.id, report.rule.name(), report.summary))
            .collect()
    }
}

fn passes(id: &str) {
    let failures = rhae_games::visit(id, Validate).expect("the game is registered");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
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
}

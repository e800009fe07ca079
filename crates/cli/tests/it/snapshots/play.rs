//! JSON documents about environments: `games`, `score`, `explore` and `validate`.

use super::Bench;
use crate::hosted_games::fixtures;

#[test]
fn games_documents() {
    let bench = Bench::new();
    let hosted = fixtures("games");
    bench.document("games list", "", &[]);
    bench.document("games info", "", &["kq19"]);
    bench.document("games info", "hosted", &["wk31", "--games-dir", &hosted]);
}

#[test]
fn games_novelty_document() {
    let mut bench = Bench::new();
    // This share compares the source code of the rules, so it changes with every rename.
    bench.redactor.add_field("rules", "share");
    bench.document("games novelty", "", &["kq19", "ny40"]);
}

#[test]
fn score_levels_documents() {
    let bench = Bench::new();
    for (method, variant) in [
        ("docs-2026-04", ""),
        ("paper-2026-03", "paper"),
        ("draft-2025", "draft"),
    ] {
        let counts = ["--baselines", "10,20,30", "--actions", "10,45,-"];
        let flags = [&["--method", method], &counts[..]].concat();
        bench.document("score levels", variant, &flags);
    }
}

#[test]
fn score_humans_documents() {
    let bench = Bench::new();
    let whole = "participant,environment,level,actions,completed\na,ab12-v1,1,40,true\nb,ab12-v1,1,10,true\nc,ab12-v1,1,30,true\nd,ab12-v1,1,20,true\n";
    bench.write("whole.csv", whole);
    let gaps = format!("{whole}a,ab12-v1,1,5,true\ne,ab12-v1,2,20,no\n");
    bench.write("gaps.csv", &gaps);
    bench.document("score humans", "", &["whole.csv"]);
    bench.document("score humans", "missing_baselines", &["gaps.csv"]);
}

#[test]
fn explore_documents() {
    let bench = Bench::new();
    let checks = ["--checks", "100"];
    let explore = |variant: &str, flags: &[&str]| {
        bench.document("explore", variant, &[flags, &checks].concat());
    };
    explore("", &["ny40", "--level", "1"]);
    explore("levels", &["ny40", "--level", "1-2"]);
    explore("limit", &["kq19", "--level", "3", "--nodes", "2000"]);
    explore("all_clicks", &["ym39", "--nodes", "100", "--all-clicks"]);
}

#[test]
fn validate_documents() {
    let mut bench = Bench::new();
    bench.redactor.hide_verdicts_of_rules(&["speed", "memory"]);
    let flags = ["ny40", "--steps", "1000", "--nodes", "2000"];
    bench.document("validate", "", &flags);
    let strict = [&flags[..], &["--strict", "--evidence", "evidence"]].concat();
    bench.document("validate", "strict", &strict);
    bench.listing("validate_evidence", "evidence");
}

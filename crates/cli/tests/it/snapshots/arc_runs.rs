//! `rhae arc eval`: results and every file of its folder.

use std::fs;

use super::Bench;
use crate::hosted_games::fixtures;

const MODELS: &str = r#"[models.words]
provider = "mock"
replies = ["[[1,2],[3,4]]", "no grid"]
prices = { date = "2026-11-01", input = 1, output = 10 }
"#;

fn eval(bench: &Bench, variant: &str, flags: &[&str], out: &str) {
    let common = ["--concurrency", "1", "--out", out];
    bench.document("arc eval", variant, &[flags, &common].concat());
}

#[test]
fn arc_eval_folder() {
    let bench = Bench::new();
    let tasks = fixtures("arc/tasks");
    let flags = ["--solver", "search", "--work", "1", "--data", &tasks];
    eval(&bench, "", &flags, "out");
    bench.listing("arc_eval_listing", "out");
    bench.json_file("arc_eval_config", "out/config.json");
    bench.json_file("arc_eval_results", "out/results.json");
    bench.json_file("arc_eval_submission", "out/submission.json");
    bench.json_lines_file("arc_eval_journal", "out/journal.jsonl");
    bench.text_file("arc_eval_results_table", "out/results.md");
    bench.csv_file("arc_eval_results_csv", "out/results.csv", &["seconds"]);
    bench.document("arc show", "run", &["flip0001", "--run", "out"]);
    bench.document("arc eval", "resumed", &["--resume", "out"]);
}

#[test]
fn arc_eval_documents() {
    let bench = Bench::new();
    let (tasks, kaggle) = (fixtures("arc/tasks"), fixtures("arc/kaggle"));
    let good = fixtures("arc/submissions/good.json");
    let (first, second) = (format!("one={tasks}"), format!("two={tasks}"));
    let several = [
        "--solver", "random", "--seed", "3", "--data", &first, "--data", &second, "--set", "one",
        "--set", "two",
    ];
    eval(&bench, "several", &several, "several");
    let challenges = "challenges.json";
    fs::copy(
        format!("{kaggle}/own_challenges.json"),
        bench.path(challenges),
    )
    .unwrap();
    let unscored = [
        "--solver",
        "random",
        "--data",
        challenges,
        "--max-tasks",
        "1",
    ];
    eval(&bench, "unscored", &unscored, "unscored");
    let replay = format!("replay:{good}");
    let plan = ["--solver", &replay, "--data", &tasks, "--protocol", "plan"];
    eval(&bench, "replay", &plan, "replay");
}

#[test]
fn arc_eval_of_a_language_model() {
    let bench = Bench::new();
    bench.write("models.toml", MODELS);
    let tasks = fixtures("arc/tasks");
    let flags = ["--solver", "model:words", "--data", &tasks];
    eval(&bench, "model", &flags, "out");
    bench.json_file("arc_eval_model_config", "out/config.json");
    bench.json_lines_file("arc_eval_model_journal", "out/journal.jsonl");
    bench.csv_file(
        "arc_eval_model_results_csv",
        "out/results.csv",
        &["seconds"],
    );
    bench.document("arc contamination", "", &["out"]);
    let hard = [&flags[..], &["--failures", "hard"]].concat();
    eval(&bench, "stopped", &hard, "stopped");
}

//! `rhae run` and `rhae score`: the summary and every file of a run folder.

use super::Bench;
use crate::serve::process::ServerProcess;

const MODELS: &str = r#"[models.words]
provider = "mock"
replies = ["ACTION1", "up: ACTION1, or rather ACTION3", "no action"]
prices = { date = "2026-11-01", input = 1, output = 10 }
"#;

#[test]
fn run_folder_and_its_scores() {
    let bench = Bench::new();
    let run = [
        "--agent",
        "random",
        "--games",
        "kq19,ny40",
        "--seed",
        "7",
        "--budget",
        "30",
        "--repeat",
        "2",
        "--jobs",
        "1",
        "--name",
        "baseline",
        "--tag",
        "random",
        "--tag",
        "short",
        "--note",
        "two environments",
        "--out",
        "out",
    ];
    bench.document("run", "", &run);
    bench.listing("run_listing", "out");
    bench.json_file("run_config", "out/config.json");
    bench.json_file("run_summary", "out/summary.json");
    bench.json_file("run_scorecard", "out/scorecard-1.json");
    bench.json_lines_file("run_journal", "out/journal.jsonl");
    bench.json_lines_file("run_recording", "out/recordings/1-ny40-v1.jsonl");

    bench.document("run", "resumed", &["--resume", "out"]);
    bench.document("runs list", "", &["."]);
    bench.document("runs show", "", &["out"]);
    bench.document("score run", "", &["out"]);
    let recording = "out/recordings/1-ny40-v1.jsonl";
    bench.document("score recording", "", &[recording]);
    let paper = [recording, "--method", "paper-2026-03"];
    bench.document("score recording", "paper", &paper);

    for format in ["toolkit", "agents"] {
        let file = format!("{format}.jsonl");
        let convert = [
            "replay", "convert", recording, "--to", format, "--out", &file,
        ];
        bench.run(&convert).succeeded();
        bench.json_lines_file(&format!("recording_{format}"), &file);
    }
}

#[test]
fn run_that_completes_levels() {
    let bench = Bench::new();
    let run = [
        "--games", "ym39", "--seed", "1", "--jobs", "1", "--out", "out",
    ];
    bench.document("run", "explorer", &run);
    bench.json_file("run_explorer_scorecard", "out/scorecard.json");
    bench.document("score run", "explorer", &["out"]);
    for method in ["draft-2025", "paper-2026-03"] {
        bench.document("score run", method, &["out", "--method", method]);
    }
}

#[test]
fn run_of_an_agent_that_fails() {
    let bench = Bench::new();
    let run = [
        "--agent-cmd",
        "echo nonsense; cat > /dev/null",
        "--games",
        "ny40",
        "--jobs",
        "1",
        "--out",
        "out",
    ];
    bench.document("run", "failed", &run);
    bench.json_file("run_failed_scorecard", "out/scorecard.json");
    bench.json_lines_file("run_failed_journal", "out/journal.jsonl");
    bench.json_lines_file("run_failed_recording", "out/recordings/1-ny40-v1.jsonl");
}

#[test]
fn run_of_a_language_model() {
    let bench = Bench::new();
    bench.write("models.toml", MODELS);
    let run = [
        "--agent",
        "model:words",
        "--games",
        "ny40",
        "--budget",
        "5",
        "--jobs",
        "1",
        "--max-cost",
        "1",
        "--out",
        "out",
    ];
    bench.document("run", "model", &run);
    bench.listing("run_model_listing", "out");
    bench.json_file("run_model_config", "out/config.json");
    bench.json_file("run_model_scorecard", "out/scorecard.json");
    bench.json_lines_file("run_model_journal", "out/journal.jsonl");
    bench.json_lines_file("run_model_recording", "out/recordings/1-ny40-v1.jsonl");
    bench.json_lines_file("run_model_log", "out/recordings/1-ny40-v1.model.jsonl");
}

#[test]
fn run_on_a_server() {
    let mut bench = Bench::new();
    let serving = ServerProcess::start(bench.folder.path(), "127.0.0.1:0", &["--games", "ny40"]);
    bench.redactor.add_text(&serving.url, "[server]");
    let run = [
        "--server",
        &serving.url,
        "--agent",
        "random",
        "--games",
        "ny40",
        "--budget",
        "10",
        "--jobs",
        "1",
        "--out",
        "out",
    ];
    bench.document("run", "server", &run);
    bench.listing("run_server_listing", "out");
    bench.json_file("run_server_record", "out/server.json");
}

#[test]
fn merged_shards() {
    let bench = Bench::new();
    for index in ["0", "1"] {
        let (shard, out) = (format!("{index}/2"), format!("s{index}"));
        let run = [
            "run",
            "--agent",
            "random",
            "--games",
            "kq19,ny40",
            "--budget",
            "30",
            "--shard",
            &shard,
            "--out",
            &out,
        ];
        bench.run(&run).succeeded();
    }
    bench.json_file("run_shard", "s1/shard.json");
    bench.document("merge", "", &["s0", "s1", "--out", "merged"]);
    bench.document("merge", "missing", &["s1", "--out", "m", "--allow-missing"]);
}

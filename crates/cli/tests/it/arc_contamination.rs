//! `rhae arc contamination`: knowledge in transcripts, and the comparison with permuted colours.

use std::fs;

use serde_json::{Value, json};

use crate::arc::fixture;
use crate::rhae::rhae;

const MODELS: &str = r#"[models.remembers]
provider = "mock"
replies = ["Green (3) on red (2), and magenta (6) stays. [[1,2],[3,4]]", "An ARC-AGI task: flip0001. [[1]]"]

[models.plain]
provider = "mock"
replies = ["The rule mirrors each row. [[1,2],[3,4]]"]
"#;

#[test]
fn planted_knowledge_of_a_model_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("models.toml"), MODELS).unwrap();
    let data = fixture("tasks");
    for model in ["remembers", "plain"] {
        let solver = format!("model:{model}");
        let run = [
            "arc", "eval", "--solver", &solver, "--data", &data, "--jobs", "1", "--out", model,
        ];
        rhae(folder.path(), &run).succeeded();
    }
    let scan = |run: &str| {
        let command = ["arc", "contamination", run, "--json"];
        rhae(folder.path(), &command).succeeded().json()
    };
    let found = scan("remembers");
    assert_eq!(
        (&found["transcripts"], &found["flagged"], &found["rate"]),
        (&json!(8), &json!(8), &json!(1.0))
    );
    assert_eq!(
        found["by_knowledge"],
        json!({"colors": 4, "datasets": 4, "task_ids": 4})
    );
    assert_eq!(found["colors"]["named"], 12);
    assert_eq!(found["colors"]["p_one_mapping"], 1.0 / 504.0);
    assert_eq!(scan("plain")["flagged"], 0);
    let text = rhae(folder.path(), &["arc", "contamination", "remembers"]).succeeded();
    assert!(
        text.out.contains("8 of 8 transcripts flagged"),
        "{}",
        text.out
    );
}

#[test]
fn permuted_colours_separate_memory_from_rules() {
    let folder = tempfile::tempdir().unwrap();
    let data = fixture("tasks");
    let remembered = format!("replay:{}", fixture("submissions/perfect.json"));
    for (out, solver) in [("memory", remembered.as_str()), ("rules", "search")] {
        let run = [
            "arc", "eval", "--solver", solver, "--data", &data, "--out", out,
        ];
        rhae(folder.path(), &run).succeeded();
    }
    let probe = |run: &str, seed: &str| -> Value {
        let out = format!("{run}-permuted-{seed}");
        let command = [
            "arc",
            "contamination",
            run,
            "--probe",
            "--seed",
            seed,
            "--out",
            &out,
            "--json",
        ];
        let report = rhae(folder.path(), &command).succeeded().json();
        let config = fs::read_to_string(folder.path().join(&out).join("config.json")).unwrap();
        let config: Value = serde_json::from_str(&config).unwrap();
        assert_eq!(config["permuted_colors"].to_string(), seed);
        report["probe"].clone()
    };
    let memory = probe("memory", "1");
    assert_eq!(
        (&memory["tasks"], &memory["original"]),
        (&json!(3), &json!(100.0))
    );
    assert!(memory["difference"].as_f64().unwrap() > 0.0, "{memory}");
    let rules = probe("rules", "1");
    assert_eq!(rules["difference"], 0.0, "{rules}");
    assert_eq!(rules["p"], 1.0);

    // A permuted run is resumed with its permutation, and does not compare with the original.
    let results = folder.path().join("rules-permuted-1/results.json");
    let before = fs::read_to_string(&results).unwrap();
    let resume = ["arc", "eval", "--resume", "rules-permuted-1"];
    rhae(folder.path(), &resume).succeeded();
    let solved = |text: &str| serde_json::from_str::<Value>(text).unwrap()["tasks_solved"].clone();
    assert_eq!(
        solved(&fs::read_to_string(&results).unwrap()),
        solved(&before)
    );
    rhae(folder.path(), &["compare", "rules", "rules-permuted-1"])
        .failed_with("colours permuted with seed 1");
}

#[test]
fn probe_of_plays_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = [
        "run", "--agent", "random", "--games", "ym39", "--budget", "5", "--out", "plays",
    ];
    rhae(folder.path(), &run).succeeded();
    let report = rhae(folder.path(), &["arc", "contamination", "plays", "--json"]).succeeded();
    assert_eq!(report.json()["palette"], "arc-agi-3");
    rhae(folder.path(), &["arc", "contamination", "plays", "--probe"])
        .failed_with("it needs a run of `rhae arc eval`");
}

//! `rhae board` on a database file.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::rhae::{Outcome, rhae};

const SYSTEM: &str = r#"{"name": "Walker", "version": "1",
    "authors": [{"name": "Ada", "link": "https://example.org/ada"}],
    "description": "It walks at random.", "code_url": "https://example.org/walker",
    "models": ["none"]}"#;

fn board(folder: &Path, arguments: &[&str]) -> Outcome {
    rhae(folder, &[&["board"], arguments].concat())
}

#[test]
fn export_is_checked_and_a_changed_byte_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    board(at, &["show"]).failed_with("the database `rhae.db` does not exist");
    board(at, &["init", "Main"]).failed_with("is not an id");
    board(at, &["init", "main", "--games", "kq19"]).succeeded();
    board(at, &["init", "main", "--games", "kq19"]).failed_with("exists already");
    fs::write(at.join("system.json"), SYSTEM).unwrap();
    let run = [
        "run", "--agent", "random", "--games", "kq19", "--out", "run",
    ];
    rhae(at, &run).succeeded();
    let submit = [
        "submit",
        "main",
        "--entry",
        "a",
        "--system",
        "system.json",
        "--run",
        "run",
    ];
    let submitted = board(at, &submit).succeeded();
    assert!(submitted.out.contains("a is replayed"), "{}", submitted.out);
    board(at, &submit).failed_with("`a` is already in use (rule B4)");
    let shown = board(at, &["show", "main"]).succeeded();
    assert!(
        shown.out.contains("replayed does not prove: Who chose"),
        "{}",
        shown.out
    );
    assert!(
        shown.out.contains("Gemini 3.1 Pro Preview"),
        "{}",
        shown.out
    );
    board(at, &["plot", "main", "main.pdf"]).failed_with("is not the name of an SVG or PNG file");
    board(at, &["plot", "main", "main.svg"]).succeeded();
    for more in [&[][..], &["--over-time"]] {
        board(at, &[&["plot", "main", "main.png"], more].concat()).succeeded();
        assert!(
            fs::read(at.join("main.png"))
                .unwrap()
                .starts_with(b"\x89PNG")
        );
    }
    let rescore = ["release", "main", "--rescore", "an error"];
    board(at, &rescore).failed_with("no row changes");
    assert!(
        fs::read_to_string(at.join("main.svg"))
            .unwrap()
            .contains("Walker 1")
    );
    board(at, &["export", "main", "public"]).succeeded();
    let checked = board(at, &["check", "public"]).succeeded();
    assert!(
        checked.out.contains("everything could be rebuilt"),
        "{}",
        checked.out
    );
    let rows = fs::read_to_string(at.join("public/rows.csv")).unwrap();
    fs::write(at.join("public/rows.csv"), rows.replace("Walker", "Runner")).unwrap();
    let changed = board(at, &["check", "public"]);
    assert_eq!(changed.code, Some(1));
    assert!(
        changed.out.contains("rows.csv was changed"),
        "{}",
        changed.out
    );
    board(at, &["import", "public", "--db", "copy.db"]);
    board(at, &["show", "main", "--db", "copy.db"]).failed_with("there is no board `main`");
}

#[test]
fn names_are_erased_and_the_export_is_still_checked() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    board(at, &["init", "main", "--games", "kq19"]).succeeded();
    fs::write(at.join("system.json"), SYSTEM).unwrap();
    let system = ["--system", "system.json"];
    let register = ["register", "main", "--registration", "r1"];
    board(at, &[&register[..], &system].concat()).succeeded();
    let run = ["run", "--agent", "random", "--games", "kq19"];
    rhae(at, &[&run[..], &["--out", "run"]].concat()).succeeded();
    let submit = ["submit", "main", "--entry", "a", "--run", "run"];
    let submit = [&submit[..], &system, &["--registration", "r1"]].concat();
    board(at, &submit).succeeded();
    let contest = ["contest", "main", "--entry", "a", "--by", "Bo"];
    board(at, &[&contest[..], &["--text", "Is it?"]].concat()).succeeded();
    board(at, &["release", "main"]).succeeded();
    let retract = ["retract", "main", "--entry", "a", "--note", "n"];
    board(at, &[&retract[..], &["--by", "Eve"]].concat()).failed_with("is not an author");
    board(at, &["export", "main", "before"]).succeeded();
    let names = |export: &str| -> usize {
        let files = ["rows.json", "rows.csv", "events.jsonl"];
        let texts = files.map(|file| fs::read_to_string(at.join(export).join(file)).unwrap());
        let found = ["Ada", "example.org/ada", "Bo"];
        let is_in = |name: &&&str| texts.iter().any(|text| text.contains(**name));
        found.iter().filter(is_in).count()
    };
    assert_eq!(names("before"), 3);

    board(at, &["erase", "main", "--entry", "b"]).failed_with("unknown row `b`");
    board(at, &["erase", "main", "--entry", "a"]).succeeded();
    board(at, &["erase", "main", "--entry", "a"]).failed_with("no names of this row");
    board(at, &["export", "main", "after"]).succeeded();
    assert_eq!(names("after"), 0);
    // Readers of both exports find the same chain, the same release and the same rows.
    for export in ["before", "after"] {
        let checked = board(at, &["check", export]).succeeded();
        assert!(checked.out.contains("everything could be rebuilt"));
    }
    let table = fs::read_to_string(at.join("after/rows.csv")).unwrap();
    assert!(table.contains("(erased)"), "{table}");
    board(at, &["import", "after", "--db", "copy.db"]).succeeded();
}

/// Writes two tasks, of which the program search solves the first.
fn write_tasks(at: &Path) {
    let pair = |input: &str, output: &str| format!(r#"{{"input": {input}, "output": {output}}}"#);
    let same = pair("[[1, 2], [3, 0]]", "[[1, 2], [3, 0]]");
    let other = pair("[[5, 0], [7, 1]]", "[[5, 0], [7, 1]]");
    let odd = pair("[[5, 0], [7, 1]]", "[[4, 4, 4]]");
    let tasks = format!(
        r#"{{"t1": {{"train": [{same}, {other}], "test": [{same}]}},
            "t2": {{"train": [{same}, {other}], "test": [{odd}]}}}}"#
    );
    fs::write(at.join("arc-agi-2-two.json"), tasks).unwrap();
}

#[test]
fn evaluation_of_static_tasks_has_a_board() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_tasks(at);
    fs::write(at.join("system.json"), SYSTEM).unwrap();
    let data = "arc-agi-2-two.json";
    board(at, &["init", "arc", "--tasks", data, "--games", "kq19"]).failed_with("--games");
    board(
        at,
        &["init", "arc", "--tasks", data, "--title", "Two tasks"],
    )
    .succeeded();
    let eval = [
        "arc", "eval", "--solver", "search", "--data", data, "--out", "run",
    ];
    rhae(at, &eval).succeeded();
    let submit = [
        "submit",
        "arc",
        "--entry",
        "a",
        "--system",
        "system.json",
        "--run",
        "run",
    ];
    let submitted = board(at, &submit).succeeded();
    let proves = "a is replayed: These answers to these tasks give this score";
    assert!(submitted.out.contains(proves), "{}", submitted.out);
    let shown = board(at, &["show", "arc"]).succeeded().out;
    assert!(
        shown.contains("2 tasks), mean-task-score, protocol standard, 2 attempts"),
        "{shown}"
    );
    assert!(
        shown.contains("  50.00 ") && shown.contains(" 1.0/2 "),
        "{shown}"
    );
    board(at, &["tiers", "arc"]).failed_with("tiers need a budget such as `5x`");
    board(at, &["export", "arc", "public"]).succeeded();
    board(at, &["check", "public"]).succeeded();
    let yaml = ["export", "arc", "submission.yaml", "--entry", "a"];
    board(at, &yaml).succeeded();
    let text = fs::read_to_string(at.join("submission.yaml")).unwrap();
    assert!(
        text.contains("benchmark: arc-agi-2") && text.contains("score: 50.0"),
        "{text}"
    );
    // Another revision of the data needs another board.
    let changed = fs::read_to_string(at.join(data))
        .unwrap()
        .replace("[[4, 4, 4]]", "[[4, 4, 3]]");
    fs::write(at.join(data), changed).unwrap();
    let eval = [
        "arc", "eval", "--solver", "search", "--data", data, "--out", "other",
    ];
    rhae(at, &eval).succeeded();
    let submit = [
        "submit",
        "arc",
        "--entry",
        "b",
        "--system",
        "system.json",
        "--run",
        "other",
    ];
    board(at, &submit).failed_with("already in use");
    let verify = ["verify", "arc", "--entry", "a", "--run", "other"];
    board(at, &verify).failed_with("the revision of the data is");
}

#[test]
fn official_board_needs_a_hidden_set_and_baselines_of_people() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let write = [
        "init",
        "main",
        "--games",
        "kq19",
        "--write-definition",
        "d.json",
    ];
    board(at, &write).succeeded();
    let text = fs::read_to_string(at.join("d.json")).unwrap();
    let mut definition: Value = serde_json::from_str(&text).unwrap();
    let create = |definition: &Value| {
        fs::write(at.join("d.json"), definition.to_string()).unwrap();
        board(at, &["init", "main", "--definition", "d.json"])
    };
    definition["kind"] = "official".into();
    create(&definition).failed_with("an official board never has a public set (rule B2)");
    definition["set"]["visibility"] = "private".into();
    create(&definition).failed_with("`kq19-v1` is part of the public program");
    definition["set"]["environments"][0]["built_in"] = false.into();
    create(&definition).failed_with("the baselines of `kq19-v1` are provisional");
}

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
    board(at, &["plot", "main", "main.png"]).failed_with("is not the name of an SVG file");
    board(at, &["plot", "main", "main.svg"]).succeeded();
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

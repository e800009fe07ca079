//! The description that a server gives of itself, held against what it does: schemathesis makes requests from it, valid and not, and
//! every answer must be one that is described.

use std::process::Command;

use serde_json::{Value, json};

use super::official::program;
use super::process::Serving;

const HOOKS: &str = include_str!("openapi_hooks.py");
/// What is looked for: faults, and answers, media types, headers and bodies that are not described.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
                      response_schema_conformance,unsupported_method";

/// Who follows a play is answered until its card is closed.
const EVENTS: &str = "/api/plays/{guid}/events";

#[test]
fn every_answer_is_described() {
    let Some(schemathesis) = program("schemathesis-4.32.5", "schemathesis") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(folder.path(), "127.0.0.1:0", &["--games", "kq19,hk26"]);
    let (card, guid) = serving.remote().begin("kq19");
    std::fs::write(folder.path().join("hooks.py"), HOOKS).unwrap();
    let examples = if std::env::var_os("RHAE_FULL").is_some() {
        "1000"
    } else {
        "25"
    };
    let look = |which: [&str; 2]| {
        let mut run = Command::new(&schemathesis);
        run.args([
            "run",
            "--checks",
            CHECKS,
            "--seed",
            "1",
            "--max-examples",
            examples,
            "--phases",
            "examples,coverage,fuzzing",
        ]);
        run.args([
            "--request-timeout",
            "60",
            "--suppress-health-check",
            "all",
            "--generation-database",
            "none",
        ])
        .args(which);
        run.args(["--header", "X-API-Key:k"]);
        run.arg(format!("{}/api/openapi.json", serving.url))
            .current_dir(folder.path());
        run.env("SCHEMATHESIS_HOOKS", "hooks")
            .env("PYTHONPATH", folder.path());
        run.env("RHAE_GUID", &guid).env("RHAE_CARD", &card);
        let output = run.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    };
    look(["--exclude-path", EVENTS]);
    // The real play was really played.
    let play: Value = serving.remote().get(&format!("/api/plays/{guid}")).unwrap();
    assert!(play["entries"].as_u64().unwrap() > 3, "{play}");
    serving
        .remote()
        .post("/api/scorecard/close", &json!({"card_id": card}))
        .unwrap();
    look(["--include-path", EVENTS]);
}

#[test]
fn the_description_needs_no_key_and_names_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(folder.path(), "127.0.0.1:0", &["--auth", "keys"]);
    let document = serving.remote().get("/api/openapi.json").unwrap();
    let names = &document["paths"]["/api/cmd/{name}"]["post"]["parameters"][0]["schema"]["enum"];
    assert_eq!(
        *names,
        json!([
            "RESET", "ACTION1", "ACTION2", "ACTION3", "ACTION4", "ACTION5", "ACTION6", "ACTION7"
        ])
    );
}

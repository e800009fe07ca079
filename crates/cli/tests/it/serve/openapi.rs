//! Checks a server against its OpenAPI document: schemathesis generates valid and invalid requests
//! from it, and every response must be described there.

use std::process::Command;

use serde_json::{Value, json};

use super::official::program;
use super::process::ServerProcess;

const HOOKS: &str = include_str!("openapi_hooks.py");
/// Checks for server errors and for undocumented statuses, media types, headers and bodies.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
                      response_schema_conformance,unsupported_method";

/// The event stream of a play. It ends only when the play's card is closed, so it is tested last.
const EVENTS: &str = "/api/plays/{guid}/events";

#[test]
fn every_response_matches_the_openapi_document() {
    let Some(schemathesis) = program("schemathesis-4.32.5", "schemathesis") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &["--games", "kq19,hk26"]);
    let (card, guid) = serving.remote().start_play("kq19");
    std::fs::write(folder.path().join("hooks.py"), HOOKS).unwrap();
    let examples = if rhae_testkit::full("25 instead of 1,000 examples per operation") {
        "1000"
    } else {
        "25"
    };
    let check = |filter: [&str; 2]| {
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
        .args(filter);
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
    check(["--exclude-path", EVENTS]);
    // The hooks made requests act on the real play.
    let play: Value = serving.remote().get(&format!("/api/plays/{guid}")).unwrap();
    assert!(play["entries"].as_u64().unwrap() > 3, "{play}");
    serving
        .remote()
        .post("/api/scorecard/close", &json!({"card_id": card}))
        .unwrap();
    check(["--include-path", EVENTS]);
}

#[test]
fn openapi_document_needs_no_key_and_lists_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &["--auth", "keys"]);
    let document = serving.remote().get("/api/openapi.json").unwrap();
    let names = &document["paths"]["/api/cmd/{name}"]["post"]["parameters"][0]["schema"]["enum"];
    assert_eq!(
        *names,
        json!([
            "RESET", "ACTION1", "ACTION2", "ACTION3", "ACTION4", "ACTION5", "ACTION6", "ACTION7"
        ])
    );
}

//! `rhae llm` against a local server that implements a provider's API.

use std::fs;

use rhae_testkit::{Fault, Faults, ModelServer};

use crate::rhae::{Outcome, command};

const KEY: &str = "sk-cli-9876543210-do-not-print";

/// Runs `rhae llm` with a configuration of the model `good` on the server. Checks that the output
/// does not contain the key.
fn llm(server: &ModelServer, more: &str, arguments: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "[models.good]\nprovider = \"openai-chat\"\nmodel = \"test-model\"\nkey_env = \"RHAE_TEST_KEY\"\nbase_url = \"{}/v1\"
retries = {{ attempts = 2, first_pause_s = 0.01 }}\n{more}",
        server.url()
    );
    fs::write(folder.path().join("models.toml"), text).unwrap();
    let outcome: Outcome = command(folder.path(), &[&["llm"], arguments].concat())
        .env("RHAE_TEST_KEY", KEY)
        .env_remove("RHAE_MODELS")
        .output()
        .unwrap()
        .into();
    assert!(
        !outcome.out.contains(KEY) && !outcome.err.contains(KEY),
        "{}{}",
        outcome.out,
        outcome.err
    );
    outcome
}

fn server(faults: impl IntoIterator<Item = Fault>) -> ModelServer {
    ModelServer::start(Faults::first(faults), |_| "ready".to_owned())
}

#[test]
fn check_reports_reply_tokens_and_cost() {
    let outcome = llm(
        &server([]),
        "prices = { date = \"2026-11-01\", input = 1, output = 10 }\n",
        &["check", "good"],
    )
    .succeeded();
    assert!(
        outcome
            .out
            .starts_with("it works: `test-model` answered `ready`\n"),
        "{}",
        outcome.out
    );
    assert!(
        outcome.out.contains("(3 cached)") && outcome.out.contains("(7 reasoning), $0.0"),
        "{}",
        outcome.out
    );
    assert!(!outcome.out.contains("note:"), "{}", outcome.out);
    let json = llm(
        &server([Fault::Status(500, None)]),
        "",
        &["check", "good", "--json"],
    )
    .succeeded()
    .json();
    assert_eq!(
        (
            json["works"].as_bool(),
            json["attempts"].as_array().map(Vec::len)
        ),
        (Some(true), Some(2))
    );
    assert!(
        json["notes"][0].as_str().unwrap().contains("`prices`"),
        "{json}"
    );
}

#[test]
fn check_reports_the_cause_of_a_failure() {
    let cases = [
        (Fault::Echo(401), "RHAE_TEST_KEY"),
        (Fault::Status(404, None), "the name `test-model` in `model`"),
        (Fault::Status(400, None), "a parameter in `request`"),
    ];
    for (fault, expected) in cases {
        let outcome = llm(&server([fault]), "", &["check", "good"]);
        assert_eq!(outcome.code, Some(1));
        assert!(
            outcome.out.contains("it does not work") && outcome.out.contains(expected),
            "{}",
            outcome.out
        );
    }
    llm(&server([]), "", &["check", "better"])
        .failed_with("there is no model `better`; the file has `good`");
    llm(&server([]), "steam = true\n", &["check", "good"]).failed_with("unknown field `steam`");
    let folder = tempfile::tempdir().unwrap();
    crate::rhae::rhae(folder.path(), &["llm", "list"])
        .failed_with("cannot read the model configuration `models.toml`");
    fs::write(
        folder.path().join("models.toml"),
        "[models.m]\nprovider = \"openai-chat\"\nmodel = \"x\"\nkey_env = \"RHAE_NO_SUCH\"",
    )
    .unwrap();
    crate::rhae::rhae(folder.path(), &["llm", "check", "m"])
        .failed_with("`RHAE_NO_SUCH` must hold the API key");
}

#[test]
fn list_hides_keys_and_header_values() {
    let more = "headers = { X-Token = \"hidden-value\" }\n[models.words]\nprovider = \"mock\"\nreplies = [\"hi\"]\n";
    let outcome = llm(&server([]), more, &["list"]).succeeded();
    assert_eq!(
        outcome.out,
        "good: openai-chat test-model, key from RHAE_TEST_KEY, no prices\nwords: mock, no prices\n"
    );
    let json = llm(&server([]), more, &["list", "--json"]).succeeded();
    assert!(
        !json.out.contains("hidden-value") && json.out.contains("X-Token"),
        "{}",
        json.out
    );
    assert!(
        llm(&server([]), more, &["check", "words"])
            .succeeded()
            .out
            .contains("answered `hi`")
    );
}

#[test]
fn provider_and_model_need_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let server = ModelServer::start(Faults::default(), |_| "ACTION1".to_owned());
    let rhae = |arguments: &[&str]| -> Outcome {
        command(folder.path(), arguments)
            .env("OPENAI_API_KEY", KEY)
            .env("OPENAI_BASE_URL", format!("{}/v1", server.url()))
            .env_remove("ANTHROPIC_API_KEY")
            .env_remove("RHAE_MODELS")
            .output()
            .unwrap()
            .into()
    };
    let outcome = rhae(&["llm", "check", "openai/test-model"]).succeeded();
    assert!(
        outcome.out.contains("cost not known") && outcome.out.contains("has no `prices`"),
        "{}",
        outcome.out
    );
    rhae(&["llm", "check", "anthropic/test-model"])
        .failed_with("the environment variable `ANTHROPIC_API_KEY` must hold the API key");
    rhae(&["llm", "check", "oracle/test-model"]).failed_with("there is no provider `oracle`");
    let run = [
        "run",
        "--agent",
        "model:openai/test-model",
        "--games",
        "kq19",
    ];
    let flags = |more: &[&'static str]| [&run[..], more].concat();
    rhae(&flags(&["--max-cost", "1"])).failed_with("without them the cost is unknown");
    rhae(&flags(&["--budget", "3"])).succeeded();
    let folders: Vec<_> = fs::read_dir(folder.path().join("runs")).unwrap().collect();
    let name = folders[0].as_ref().unwrap().file_name();
    let name = name.to_string_lossy();
    assert!(name.ends_with("-model-openai-test-model"), "{name}");
}

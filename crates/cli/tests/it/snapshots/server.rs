//! JSON documents about servers and models: `keys`, `db` and `llm`.

use rhae_engine::Action;
use rhae_testkit::{Fault, Faults, ModelServer};

use super::Bench;
use crate::serve::process::ServerProcess;

#[test]
fn keys_documents() {
    let mut bench = Bench::new();
    for (field, placeholder) in [
        ("id", "id"),
        ("key", "key"),
        ("link", "link"),
        ("revoked_ms", "time"),
        ("until_ms", "time"),
    ] {
        bench.redactor.add_field(field, placeholder);
    }
    let create = ["--name", "lab one", "--sets", "public,private", "--sources"];
    bench.document("keys create", "", &create);
    bench.document("keys create", "admin", &["--name", "boss", "--admin"]);
    let invite = ["--name", "study", "--visitors", "20", "--days", "7"];
    bench.document("keys invite", "", &invite);

    let listed = bench.run(&["keys", "list", "--json"]).succeeded().json();
    let id = listed[0]["id"].as_str().unwrap();
    bench.redactor.add_text(id, "[id]");
    bench.document("keys revoke", "", &[id]);
    bench.document("keys list", "", &[]);
}

#[test]
fn db_check_documents() {
    let bench = Bench::new();
    let serving = ServerProcess::start(
        bench.folder.path(),
        "127.0.0.1:0",
        &["--snapshot-every", "5"],
    );
    let remote = serving.remote();
    let (_, guid) = remote.start_play("kq19");
    for turn in 0..12 {
        let action = [Action::Action1, Action::Action4, Action::Reset][turn % 3];
        remote.act("kq19", &guid, action).unwrap();
    }
    assert!(serving.terminate().success());
    bench.document("db check", "", &[]);
    let faults = "UPDATE log SET hash = hash + 1 WHERE entry = 7; UPDATE runs SET resets = resets + 1; UPDATE snapshots SET bytes = substr(bytes, 2) WHERE entries = 5";
    rusqlite::Connection::open(bench.path("rhae.db"))
        .unwrap()
        .execute_batch(faults)
        .unwrap();
    bench.document("db check", "faults", &[]);
}

/// Creates a bench with a configuration of two models: one on a server, and one that needs no
/// network.
fn with_models(server: &ModelServer) -> Bench {
    let mut bench = Bench::new();
    bench.redactor.add_text(server.url(), "[server]");
    bench.redactor.add_field("id", "id");
    let models = format!(
        "[models.good]\nprovider = \"openai-chat\"\nmodel = \"test-model\"\nkey_env = \"\"\nbase_url = \"{}/v1\"\n\
         retries = {{ attempts = 2, first_pause_s = 0.01 }}\nheaders = {{ X-Token = \"hidden\" }}\n\
         \n[models.words]\nprovider = \"mock\"\nreplies = [\"ready\"]\nprices = {{ date = \"2026-11-01\", input = 1, output = 10 }}\n",
        server.url()
    );
    bench.write("models.toml", &models);
    bench
}

#[test]
fn llm_documents() {
    let ready = |faults: &[Fault]| {
        ModelServer::start(Faults::first(faults.to_vec()), |_| "ready".to_owned())
    };
    let server = ready(&[]);
    let bench = with_models(&server);
    bench.document("llm list", "", &[]);
    bench.document("llm check", "mock", &["words"]);
    bench.document("llm check", "", &["good"]);
    let server = ready(&[Fault::Status(500, None)]);
    with_models(&server).document("llm check", "retried", &["good"]);
    let server = ready(&[Fault::Status(404, None)]);
    with_models(&server).document("llm check", "failed", &["good"]);
}

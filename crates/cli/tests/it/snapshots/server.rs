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
        ("expires_ms", "time"),
    ] {
        bench.redactor.add_field(field, placeholder);
    }
    let create = ["--name", "lab one", "--sets", "public,private", "--sources"];
    bench.document("keys create", "", &create);
    bench.document("keys create", "admin", &["--name", "boss", "--admin"]);
    let limited = [
        "--name",
        "course",
        "--days",
        "90",
        "--requests-per-minute",
        "60",
        "--stored-bytes",
        "0",
    ];
    bench.document("keys create", "limited", &limited);
    let invite = ["--name", "study", "--visitors", "20", "--days", "7"];
    bench.document("keys invite", "", &invite);
    let limited = [
        "--name",
        "class",
        "--key-days",
        "3",
        "--plays-per-card",
        "5",
    ];
    bench.document("keys invite", "limited", &limited);
    let table = bench.run(&["keys", "list"]).succeeded().out;
    for shown in [
        "60 requests/min, any bytes",
        "5 plays/card, keys for 3 days",
    ] {
        assert!(table.contains(shown), "{table}");
    }

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
    execute_sql(&bench, faults);
    bench.document("db check", "faults", &[]);
    bench.document("db backup", "", &["backup.db"]);
    let restore = ["backup.db", "--db", "restored.db"];
    bench.document("db restore", "faults", &restore);
    execute_sql(
        &bench,
        "DELETE FROM snapshots; DELETE FROM runs; DELETE FROM log WHERE entry >= 7",
    );
    bench.run(&["db", "backup", "sound.db"]).succeeded();
    let restore = ["sound.db", "--db", "sound-copy.db"];
    bench.document("db restore", "", &restore);
}

/// Executes statements on the database of a bench directly.
fn execute_sql(bench: &Bench, statements: &str) {
    rusqlite::Connection::open(bench.path("rhae.db"))
        .unwrap()
        .execute_batch(statements)
        .unwrap();
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

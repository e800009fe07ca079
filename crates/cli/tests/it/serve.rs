//! `rhae serve` as a process, with real clients, signals and crashes.

mod commit_failure;
mod crash;
pub(crate) mod official;
mod openapi;
mod operating;
pub(crate) mod process;
mod shared;
mod strace;

use std::path::Path;

use rhae_engine::Action;
use serde_json::json;

use crate::rhae::rhae;
use process::ServerProcess;

#[test]
fn server_without_keys_must_listen_on_loopback() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.7:8001"] {
        rhae(folder.path(), &["serve", "--addr", address])
            .failed_with("can be reached from other machines");
        let metrics = ["serve", "--addr", "127.0.0.1:0", "--metrics", address];
        rhae(folder.path(), &metrics).failed_with("can be reached from other machines");
    }
    let proxies = ["serve", "--trusted-proxies", "10.0.0.0/8,nonsense"];
    rhae(folder.path(), &proxies).failed_with("`nonsense` is not an address or a range");
    rhae(folder.path(), &["serve", "--addr", "nonsense"])
        .failed_with("is not an address such as 127.0.0.1:8001");
    rhae(
        folder.path(),
        &["serve", "--addr", "127.0.0.1:0", "--games", "zz99"],
    )
    .failed_with("there is no environment `zz99`");
    assert!(!folder.path().join("rhae.db").exists());
    rhae(
        folder.path(),
        &[
            "serve",
            "--addr",
            "127.0.0.1:0",
            "--db",
            "no/such/folder/rhae.db",
        ],
    )
    .failed_with("cannot open the database");
}

#[test]
fn plays_continue_after_a_graceful_restart() {
    let folder = tempfile::tempdir().unwrap();
    let start =
        |folder: &Path| ServerProcess::start(folder, "127.0.0.1:0", &["--games", "kq19,ny40"]);
    let serving = start(folder.path());
    let remote = serving.remote();
    assert_eq!(
        remote.get("/api/games").unwrap().as_array().unwrap().len(),
        2
    );
    let (card, guid) = remote.start_play("kq19");
    remote.act("kq19", &guid, Action::Action4).unwrap();
    assert!(serving.terminate().success());
    let serving = start(folder.path());
    serving
        .remote()
        .act("kq19", &guid, Action::Action1)
        .unwrap();
    let card = serving
        .remote()
        .post("/api/scorecard/close", &json!({"card_id": card}))
        .unwrap();
    assert_eq!(card["total_actions"], 2);
}

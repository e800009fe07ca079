//! `rhae serve` as a process: real clients, real signals, real crashes.

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
use process::Serving;

#[test]
fn only_this_machine_may_reach_an_open_server() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.7:8001"] {
        rhae(folder.path(), &["serve", "--addr", address])
            .failed_with("can be reached from other machines");
    }
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
fn a_server_that_is_asked_to_stop_stops_and_goes_on_later() {
    let folder = tempfile::tempdir().unwrap();
    let begin = |folder: &Path| Serving::start(folder, "127.0.0.1:0", &["--games", "kq19,ny40"]);
    let serving = begin(folder.path());
    let remote = serving.remote();
    assert_eq!(
        remote.get("/api/games").unwrap().as_array().unwrap().len(),
        2
    );
    let (card, guid) = remote.begin("kq19");
    remote.act("kq19", &guid, Action::Action4).unwrap();
    assert!(serving.terminate().success());
    let serving = begin(folder.path());
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

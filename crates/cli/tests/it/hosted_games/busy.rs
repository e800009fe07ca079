//! A hosted game that hangs while many clients send commands to it.

use std::collections::HashMap;
use std::fs;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rhae_engine::Action;
use serde_json::json;

use super::fixtures;
use super::server::start_server_with;
use crate::serve::official::python;

/// The default of `--hosted-calls`.
const MAX_COMMANDS: usize = 64;
const COMMANDS: usize = 100;
const PLAYS: usize = 10;
/// How long the server may take to exit on a busy machine, after which it counts as hanging. It
/// promises two seconds with the flags of this test.
const EXIT_LIMIT: Duration = Duration::from_secs(60);

/// The answer to a command: its status and `Retry-After`, or `None` if the connection was lost.
type Answer = Option<(u16, Option<String>)>;

/// Sends commands that never return, and passes on their answers as they arrive.
fn send_commands(url: &str, plays: &[(String, String)]) -> Receiver<Answer> {
    let (answers, received) = channel();
    for index in 0..COMMANDS {
        let (answers, url) = (answers.clone(), url.to_owned());
        let body = json!({"game_id": "loop", "guid": plays[index % PLAYS].1});
        std::thread::spawn(move || {
            let config = ureq::Agent::config_builder().http_status_as_error(false);
            let agent: ureq::Agent = config.build().into();
            let sent = agent
                .post(format!("{url}/api/cmd/ACTION1"))
                .header("X-API-Key", "k")
                .header("Content-Type", "application/json")
                .send(body.to_string());
            let answer = sent.ok().map(|response| {
                let retry = response.headers().get("retry-after");
                let retry = retry.map(|value| value.to_str().unwrap().to_owned());
                (response.status().as_u16(), retry)
            });
            // The test may have failed and dropped the receiver.
            let _ = answers.send(answer);
        });
    }
    received
}

/// Returns the processes that the process has started, directly or not.
fn descendants(process: u32) -> Vec<u32> {
    let parent = |id: u32| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        line.trim().parse::<u32>().ok()
    };
    let ids = fs::read_dir("/proc").unwrap();
    let ids = ids.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let parents: HashMap<u32, u32> = ids.filter_map(|id| Some((id, parent(id)?))).collect();
    let ancestors = |id: u32| std::iter::successors(Some(id), |id| parents.get(id).copied());
    let mut found: Vec<u32> = parents.keys().copied().collect();
    found.retain(|&id| id != process && ancestors(id).any(|ancestor| ancestor == process));
    found
}

fn is_running(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    status.is_ok_and(|status| !status.contains("State:\tZ"))
}

#[test]
fn hanging_game_refuses_surplus_commands_delays_no_read_and_does_not_survive_sigterm() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    // The game hangs for longer than this test may take, so no command of it ever completes.
    let serving = start_server_with(
        folder.path(),
        &fixtures("games-hostile"),
        &python,
        "600",
        &["--shutdown-seconds", "1"],
    );
    let remote = serving.remote();
    let plays: Vec<(String, String)> = (0..PLAYS).map(|_| remote.start_play("loop")).collect();
    let (_, native) = remote.start_play("kq19");
    let answers = send_commands(&serving.url, &plays);
    let refused = Some((503, Some("1".to_owned())));
    for _ in 0..COMMANDS - MAX_COMMANDS {
        assert_eq!(answers.recv().unwrap(), refused);
    }
    // All that may wait are waiting now. Reads and native plays do not wait with them.
    for (card, guid) in &plays {
        let card = remote.get(&format!("/api/scorecard/{card}")).unwrap();
        assert_eq!(card["environments"][0]["id"], "loop-v1");
        let play = remote.get(&format!("/api/plays/{guid}")).unwrap();
        assert_eq!(
            (&play["entries"], &play["frozen"]),
            (&json!(1), &json!(null))
        );
    }
    remote.act("kq19", &native, Action::Action4).unwrap();
    remote.get("/api/games").unwrap();
    // The calls in progress still hang, and the others were refused.
    let mut answered = COMMANDS - MAX_COMMANDS;
    for answer in answers.try_iter() {
        assert_eq!(answer, refused);
        answered += 1;
    }
    assert!(answered < COMMANDS, "every command was answered");
    let games = descendants(serving.id());
    assert!(!games.is_empty(), "the game has no process");
    let status = serving.terminate_within(EXIT_LIMIT);
    assert!(status.is_some_and(|status| status.success()), "{status:?}");
    for answer in answers.iter() {
        assert!(answer.is_none() || answer == refused, "{answer:?}");
    }
    // The kernel removes killed processes some time after the signal.
    while games.iter().any(|&game| is_running(game)) {
        std::thread::sleep(Duration::from_millis(10));
    }
}

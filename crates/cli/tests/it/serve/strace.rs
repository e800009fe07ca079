//! No answer leaves before its commit is on disk. A kill keeps what the system has not written yet, so this is shown by the system calls
//! of a server under load: the write of an entry to the log file, its `fdatasync`, and then the answer.

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::process::{Remote, Serving};

const CLIENTS: usize = 6;
const ACTIONS: usize = 25;
const CALLS: &str = "trace=write,writev,pwrite64,pwritev,sendto,sendmsg,fsync,fdatasync";

/// Whether system calls can be watched; if not, that must have been allowed.
fn may_trace() -> bool {
    let tried = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "true"])
        .stderr(Stdio::null())
        .status();
    if tried.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(
        std::env::var("RHAE_SKIP_MISSING").is_ok_and(|value| value == "1"),
        "this test needs strace, which `cargo xtask test` installs, and the right to trace; RHAE_SKIP_MISSING=1 leaves the test out"
    );
    eprintln!("left out: strace is missing or may not trace, and RHAE_SKIP_MISSING=1 is set");
    false
}

/// A server under strace. The server is ended with it.
struct Traced {
    serving: Serving,
    server: Pid,
}

impl Drop for Traced {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = kill_process(self.server, Signal::KILL);
    }
}

/// Where an entry was written to the log file, where that was first on disk, and where its answer left, as lines of a trace.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    written: Option<usize>,
    synced: Option<usize>,
    answered: Option<usize>,
}

impl Steps {
    fn are_in_order(&self) -> bool {
        matches!((self.written, self.synced, self.answered), (Some(written), Some(synced), Some(answered)) if written < synced && synced < answered)
    }
}

/// Reads a trace. A call that others interrupt has two lines: it begins at the first and ends at the second.
fn steps(trace: &str, tokens: &[String]) -> HashMap<String, Steps> {
    let mut steps: HashMap<String, Steps> = tokens
        .iter()
        .map(|token| (token.clone(), Steps::default()))
        .collect();
    // Threads that are in a sync, with the line where it began.
    let mut syncing: HashMap<&str, usize> = HashMap::new();
    for (number, line) in trace.lines().enumerate() {
        let Some((thread, call)) = line
            .split_once(char::is_whitespace)
            .map(|(thread, call)| (thread, call.trim_start()))
        else {
            continue;
        };
        let begins_sync = (call.starts_with("fdatasync(") || call.starts_with("fsync("))
            && call.contains("rhae.db-wal>");
        if begins_sync {
            syncing.insert(thread, number);
        }
        let ends_sync = begins_sync && !call.contains("<unfinished")
            || call.starts_with("<... fdatasync")
            || call.starts_with("<... fsync");
        if ends_sync && let Some(begun) = syncing.remove(thread) {
            assert!(call.ends_with("= 0"), "{call}");
            for steps in steps
                .values_mut()
                .filter(|steps| steps.written.is_some_and(|written| written < begun))
            {
                steps.synced.get_or_insert(number);
            }
        }
        let to_log = call.starts_with("pwrite") && call.contains("rhae.db-wal>");
        let to_client = ["write(", "writev(", "sendto(", "sendmsg("]
            .iter()
            .any(|name| call.starts_with(name))
            && call.contains("HTTP/1.1 200");
        if to_log || to_client {
            for (token, steps) in steps
                .iter_mut()
                .filter(|(token, _)| call.contains(token.as_str()))
            {
                let step = if to_log {
                    &mut steps.written
                } else {
                    &mut steps.answered
                };
                assert!(to_log || step.is_none(), "`{token}` was answered twice");
                step.get_or_insert(number);
            }
        }
    }
    steps
}

#[test]
fn no_answer_leaves_before_its_commit_is_on_disk() {
    if !may_trace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "-y",
        "-s",
        "1000000",
        "-o",
        "trace",
        "-e",
        CALLS,
        env!("CARGO_BIN_EXE_rhae"),
        "serve",
        "--addr",
        "127.0.0.1:0",
    ]);
    command.current_dir(folder.path());
    let serving = Serving::run(command);
    let children =
        fs::read_to_string(format!("/proc/{0}/task/{0}/children", serving.id())).unwrap();
    let server =
        Pid::from_raw(children.split_whitespace().next().unwrap().parse().unwrap()).unwrap();
    let mut traced = Traced { serving, server };
    let token = |client: usize, turn: usize| format!("token-{client}-{turn}-end");
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let remote: Remote = traced.serving.remote();
            scope.spawn(move || {
                let (_, guid) = remote.begin("kq19");
                for turn in 0..ACTIONS {
                    let body =
                        json!({"game_id": "kq19", "guid": guid, "reasoning": token(client, turn)});
                    remote
                        .post(["/api/cmd/ACTION1", "/api/cmd/ACTION3"][turn % 2], &body)
                        .unwrap();
                }
            });
        }
    });
    kill_process(traced.server, Signal::TERM).unwrap();
    assert!(traced.serving.wait().success());
    let trace = fs::read_to_string(folder.path().join("trace")).unwrap();
    let tokens: Vec<String> = (0..CLIENTS)
        .flat_map(|client| (0..ACTIONS).map(move |turn| token(client, turn)))
        .collect();
    let found = steps(&trace, &tokens);
    for (token, steps) in &found {
        assert!(steps.are_in_order(), "{token}: {steps:?}");
    }
    assert_eq!(found.len(), CLIENTS * ACTIONS);
    // The judgement depends on the syncs: without them it is the opposite.
    let without: Vec<&str> = trace
        .lines()
        .filter(|line| !line.contains("sync"))
        .collect();
    assert!(
        !steps(&without.join("\n"), &tokens)
            .values()
            .any(Steps::are_in_order)
    );
}

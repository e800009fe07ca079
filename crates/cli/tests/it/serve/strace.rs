//! Checks that no answer is sent before its commit is on disk.
//!
//! Killing the server cannot show this, because the operating system still writes its cached pages.
//! The test instead traces the system calls of a server under load: an entry must be written to the
//! write-ahead log, then synced with `fdatasync`, then answered.

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::process::{Remote, ServerProcess};

const CLIENTS: usize = 6;
const ACTIONS: usize = 25;
const CALLS: &str = "trace=write,writev,pwrite64,pwritev,sendto,sendmsg,fsync,fdatasync";

/// Returns whether strace works. Panics if it does not, unless `RHAE_SKIP_MISSING=1` allows
/// skipping the test.
fn can_trace() -> bool {
    let status = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "true"])
        .stderr(Stdio::null())
        .status();
    if status.is_ok_and(|status| status.success()) {
        return true;
    }
    rhae_testkit::skip("strace is missing or has no permission to trace");
    false
}

/// A server under strace, killed on drop.
struct TracedServer {
    serving: ServerProcess,
    server: Pid,
}

impl Drop for TracedServer {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = kill_process(self.server, Signal::KILL);
    }
}

/// The lines of a trace where an entry was first written to the write-ahead log, first synced, and
/// answered.
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

/// Parses a trace. A call that is interleaved with others has two lines, one for its start and one
/// for its end.
fn steps(trace: &str, tokens: &[String]) -> HashMap<String, Steps> {
    let mut steps: HashMap<String, Steps> = tokens
        .iter()
        .map(|token| (token.clone(), Steps::default()))
        .collect();
    // Threads that are in a sync call, with the line where it started.
    let mut syncing: HashMap<&str, usize> = HashMap::new();
    for (number, line) in trace.lines().enumerate() {
        let Some((thread, call)) = line
            .split_once(char::is_whitespace)
            .map(|(thread, call)| (thread, call.trim_start()))
        else {
            continue;
        };
        let starts_sync = (call.starts_with("fdatasync(") || call.starts_with("fsync("))
            && call.contains("rhae.db-wal>");
        if starts_sync {
            syncing.insert(thread, number);
        }
        let ends_sync = starts_sync && !call.contains("<unfinished")
            || call.starts_with("<... fdatasync")
            || call.starts_with("<... fsync");
        // A call that the end of the process interrupts has no result.
        let is_interrupted = call.ends_with("= ?");
        if ends_sync
            && !is_interrupted
            && let Some(started) = syncing.remove(thread)
        {
            assert!(call.ends_with("= 0"), "{call}");
            for steps in steps
                .values_mut()
                .filter(|steps| steps.written.is_some_and(|written| written < started))
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
fn answer_is_sent_after_its_commit_is_synced() {
    if !can_trace() {
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
    let serving = ServerProcess::run(command);
    let children =
        fs::read_to_string(format!("/proc/{0}/task/{0}/children", serving.id())).unwrap();
    let server =
        Pid::from_raw(children.split_whitespace().next().unwrap().parse().unwrap()).unwrap();
    let mut traced = TracedServer { serving, server };
    let token = |client: usize, turn: usize| format!("token-{client}-{turn}-end");
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let remote: Remote = traced.serving.remote();
            scope.spawn(move || {
                let (_, guid) = remote.start_play("kq19");
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
    // Check the test itself: the same trace without its sync calls must not pass.
    let without_syncs: Vec<&str> = trace
        .lines()
        .filter(|line| !line.contains("sync"))
        .collect();
    assert!(
        !steps(&without_syncs.join("\n"), &tokens)
            .values()
            .any(Steps::are_in_order)
    );
}

//! Tests of `rhae run --on local:N`: equal results, killed workers and a killed coordinator.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::rhae::{Outcome, command, rhae};
use crate::shards::{assert_same_run, without_volatile};

/// An agent that writes the id of its parent process, the worker, and waits until `hold` is removed.
const HOLDING: &str = "echo $PPID >> parents; while test -e hold; do sleep 0.02; done; \
    while read -r line; do case \"$line\" in *observation*) echo '{\"action\":\"ACTION1\"}';; \
    *'\"end\"'*) exit;; esac; done";

const HELD: [&str; 11] = [
    "run",
    "--agent-cmd",
    HOLDING,
    "--games",
    "kq19,ny40,ym39",
    "--budget",
    "12",
    "--out",
    "r",
    "--on",
    "local:2",
];

fn leases(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("r/leases.jsonl")).unwrap();
    // The last line may be incomplete while the coordinator writes.
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Starts a run whose workers wait, and returns it with the ids of the workers.
fn held(folder: &Path) -> (std::process::Child, Vec<String>) {
    fs::write(folder.join("hold"), "").unwrap();
    let mut run = command(folder, &HELD)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    loop {
        assert!(run.try_wait().unwrap().is_none(), "the run ended");
        let parents = fs::read_to_string(folder.join("parents")).unwrap_or_default();
        let parents: Vec<String> = parents.lines().map(str::to_owned).collect();
        if parents.len() == 2 {
            return (run, parents);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns whether a process exists. One that has ended but was not waited for is a zombie.
fn is_running(process: &str) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(process).join("status"));
    status.is_ok_and(|status| !status.contains("State:\tZ"))
}

fn kill(process: &str) {
    let killed = Command::new("kill").args(["-KILL", process]).status();
    assert!(killed.unwrap().success());
}

#[test]
fn distributed_run_equals_a_local_run() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let run = |extra: &[&str]| {
        let run = [
            "run",
            "--agent",
            "random",
            "--seed",
            "7",
            "--games",
            "kq19,ny40,ym39",
            "--repeat",
            "2",
            "--budget",
            "60",
            "--json",
        ];
        rhae(folder, &[&run[..], extra].concat()).succeeded()
    };
    let local = run(&["--out", "local"]);
    let distributed = run(&["--out", "r", "--on", "local:2"]);
    let [mut one, mut other] = [local.json(), distributed.json()];
    without_volatile(&mut one);
    without_volatile(&mut other);
    assert_eq!(one, other);
    let of = |event: &str| {
        let leases = leases(folder);
        leases.iter().filter(|line| line["event"] == event).count()
    };
    assert_eq!((of("leased"), of("committed"), of("lost")), (6, 6, 0));
    assert!(!folder.join("r/work-token").exists());
    fs::remove_file(folder.join("r/leases.jsonl")).unwrap();
    assert_same_run(&folder.join("local"), &folder.join("r"));
}

#[test]
fn play_of_a_killed_worker_is_leased_again() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let (run, workers) = held(folder);
    let token = fs::metadata(folder.join("r/work-token")).unwrap();
    assert_eq!(token.permissions().mode() & 0o777, 0o600);
    kill(&workers[0]);
    while !leases(folder)
        .iter()
        .any(|line| line["reason"] == "worker-ended")
    {
        std::thread::sleep(Duration::from_millis(10));
    }
    fs::remove_file(folder.join("hold")).unwrap();
    let outcome: Outcome = run.wait_with_output().unwrap().into();
    outcome.succeeded();
    let committed = leases(folder);
    let committed = committed.iter().filter(|line| line["event"] == "committed");
    let mut epochs: Vec<u64> = committed
        .map(|line| line["epoch"].as_u64().unwrap())
        .collect();
    epochs.sort_unstable();
    assert_eq!(epochs, [1, 1, 2]);
}

#[test]
fn killed_coordinator_is_resumed() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let (mut run, workers) = held(folder);
    run.kill().unwrap();
    run.wait().unwrap();
    // The workers notice that their parent has ended.
    for worker in &workers {
        while is_running(worker) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    fs::remove_file(folder.join("hold")).unwrap();
    rhae(folder, &["run", "--resume", "r", "--on", "local:1"]).succeeded();
    let summary = fs::read(folder.join("r/summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["finished"], true);
    let leases = leases(folder);
    let epochs = leases.iter().filter(|line| line["event"] == "committed");
    assert_eq!(epochs.filter(|line| line["epoch"] == 2).count(), 2);
}

#[test]
fn flags_that_do_not_fit_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    for engine in ["local", "local:0", "cloud"] {
        rhae(folder, &["run", "--on", engine]).failed_with("expected `local:N`");
    }
    fs::write(folder.join("token"), "wrong\n").unwrap();
    let work = ["work", "--join", "http://127.0.0.1:1", "--token-file"];
    rhae(folder, &[&work[..], &["missing"]].concat()).failed_with("cannot read the token");
}

/// Sends a signal to a process.
fn signal(process: &std::process::Child, signal: &str) {
    let id = process.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn preempted_worker_returns_its_play_and_ends() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    fs::write(folder.join("hold"), "").unwrap();
    let joined = [&HELD[..HELD.len() - 1], &["join", "--json"]].concat();
    let run = command(folder, &joined)
        .stdout(Stdio::piped())
        .stderr(fs::File::create(folder.join("log")).unwrap())
        .spawn()
        .unwrap();
    let wait_for = |what: &str, is_there: &dyn Fn() -> bool| {
        for _ in 0..6000 {
            if is_there() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("no {what} within a minute");
    };
    let log = || fs::read_to_string(folder.join("log")).unwrap();
    wait_for("address", &|| log().contains("--token-file"));
    let text = log();
    let words: Vec<&str> = text.split_whitespace().collect();
    let url = words
        .iter()
        .find(|word| word.starts_with("http://"))
        .unwrap();
    let of = |event: &str| {
        let leases = leases(folder);
        leases.iter().filter(|line| line["event"] == event).count()
    };
    let work = ["work", "--join", url, "--token-file", "r/work-token"];
    let start = || {
        let mut work = command(folder, &work);
        work.stdout(Stdio::piped()).stderr(Stdio::piped());
        work.spawn().unwrap()
    };
    // Slurm sends SIGUSR1 before a time limit and SIGTERM when another job needs the node.
    for (preempted, name) in [(1, "-USR1"), (2, "-TERM")] {
        let worker = start();
        wait_for("lease", &|| of("leased") == preempted);
        wait_for("agent", &|| {
            let parents = fs::read_to_string(folder.join("parents")).unwrap_or_default();
            parents.lines().count() == preempted
        });
        signal(&worker, name);
        let ended: Outcome = worker.wait_with_output().unwrap().into();
        assert!(ended.succeeded().out.contains("0 units reported"));
        assert_eq!(of("released"), preempted);
    }
    assert_eq!(of("lost"), 0);
    fs::remove_file(folder.join("hold")).unwrap();
    let worker: Outcome = start().wait_with_output().unwrap().into();
    assert!(worker.succeeded().out.contains("3 units reported"));
    let outcome: Outcome = run.wait_with_output().unwrap().into();
    let mut summary = outcome.succeeded().json();
    let mut local = rhae(
        folder,
        &[&HELD[..7], &["--out", "local", "--json"]].concat(),
    )
    .json();
    without_volatile(&mut local);
    without_volatile(&mut summary);
    assert_eq!(local, summary);
    let committed = leases(folder);
    let committed = committed.iter().filter(|line| line["event"] == "committed");
    let epochs: Vec<u64> = committed
        .map(|line| line["epoch"].as_u64().unwrap())
        .collect();
    // The play that was returned twice has its third lease.
    assert_eq!(epochs, [3, 1, 1]);
}

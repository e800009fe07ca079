//! Tests of `rhae run --on ray` with a real Ray cluster on this machine.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::rhae::{command, rhae};
use crate::shards::without_volatile;

/// An agent that writes the id of its worker and waits while a file `hold` exists.
const AGENT: &str = "echo $PPID >> parents; while test -e hold; do sleep 0.05; done; \
    while read -r line; do case \"$line\" in *observation*) echo '{\"action\":\"ACTION1\"}';; \
    *'\"end\"'*) exit;; esac; done";

const RUN: [&str; 10] = [
    "run",
    "--agent-cmd",
    AGENT,
    "--games",
    "kq19,ny40,ym39",
    "--repeat",
    "4",
    "--budget",
    "12",
    "--json",
];

/// A Ray cluster. Dropping it ends its processes.
struct Cluster {
    process: Child,
    answers: BufReader<ChildStdout>,
    python: PathBuf,
    address: String,
}

impl Cluster {
    /// Starts a cluster, or reports the test as skipped if Ray cannot start on this machine.
    fn start(folder: &Path) -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        let python = root.unwrap().join("target/python/ray-2.60.0/bin/python");
        if !python.exists() {
            rhae_testkit::skip("the Python package ray is missing");
            return None;
        }
        let mut process = Command::new(&python)
            .args(["-c", include_str!("ray_cluster.py")])
            .current_dir(folder)
            .env("RAY_TMPDIR", folder)
            .env("RAY_USAGE_STATS_ENABLED", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.join("cluster.log")).unwrap())
            .spawn()
            .unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        let mut cluster = Self {
            process,
            answers,
            python,
            address: String::new(),
        };
        cluster.address = cluster.answer();
        if cluster.address.is_empty() {
            let log = fs::read_to_string(folder.join("cluster.log")).unwrap();
            rhae_testkit::skip(&format!("Ray does not start here: {log}"));
            return None;
        }
        Some(cluster)
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn change(&mut self, change: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{change}").unwrap();
        assert_eq!(self.answer(), "done");
    }

    /// Starts a command of `rhae` that uses the cluster.
    fn spawn(&self, folder: &Path, arguments: &[&str]) -> Child {
        let engine = format!("ray:{}", self.address);
        let python = self.python.to_str().unwrap();
        let cluster = ["--on", &engine, "--workers", "2", "--python", python];
        command(folder, &[arguments, &cluster].concat())
            .env("RAY_USAGE_STATS_ENABLED", "0")
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.join("rhae.log")).unwrap())
            .spawn()
            .unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn wait_for(folder: &Path, what: &str, mut is_there: impl FnMut() -> bool) {
    for _ in 0..2400 {
        if is_there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let log = fs::read_to_string(folder.join("rhae.log")).unwrap_or_default();
    panic!("no {what} within two minutes: {log}");
}

fn leases(folder: &Path, event: &str) -> usize {
    let text = fs::read_to_string(folder.join("r/leases.jsonl")).unwrap_or_default();
    let event = format!("\"event\":\"{event}\"");
    text.lines().filter(|line| line.contains(&event)).count()
}

fn workers(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("parents")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn run_survives_lost_nodes_workers_and_its_driver() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let Some(mut cluster) = Cluster::start(folder) else {
        return;
    };
    let hold = folder.join("hold");
    fs::write(&hold, "").unwrap();
    let mut run = cluster.spawn(folder, &[&RUN[..], &["--out", "r"]].concat());
    wait_for(folder, "two workers", || workers(folder).len() == 2);
    // A worker is killed, and replaced.
    let killed = Command::new("kill")
        .args(["-KILL", &workers(folder)[0]])
        .status();
    assert!(killed.unwrap().success());
    wait_for(folder, "replaced worker", || workers(folder).len() == 3);
    assert_eq!(leases(folder, "lost"), 1);
    // A node is lost, and another joins the cluster.
    cluster.change("remove");
    // The processes of the node still have time to return their play.
    wait_for(folder, "lost node", || {
        leases(folder, "lost") + leases(folder, "released") == 2
    });
    cluster.change("add");
    wait_for(folder, "worker on the new node", || {
        workers(folder).len() == 4
    });
    // The coordinator is killed, and its run resumed.
    run.kill().unwrap();
    run.wait().unwrap();
    fs::remove_file(&hold).unwrap();
    let resumed = cluster.spawn(folder, &["run", "--resume", "r", "--json"]);
    let output = resumed.wait_with_output().unwrap();
    let log = fs::read_to_string(folder.join("rhae.log")).unwrap();
    assert!(output.status.success(), "{log}");
    assert_eq!(leases(folder, "committed"), 12);
    assert!(leases(folder, "leased") >= 16);

    let local = rhae(folder, &[&RUN[..], &["--out", "local"]].concat()).succeeded();
    let mut one = local.json();
    let mut other: Value = serde_json::from_slice(&output.stdout).unwrap();
    without_volatile(&mut one);
    without_volatile(&mut other);
    assert_eq!(one, other);
}

//! Tests of `rhae run --on ray` with a real Ray cluster on this machine.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::rhae::{Outcome, command, rhae};
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
        Self::start_with(folder, include_str!("ray_cluster.py"), &[])
    }

    /// Starts a cluster with a Python program and its arguments.
    fn start_with(folder: &Path, program: &str, arguments: &[&str]) -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        let python = root.unwrap().join("target/python/ray-2.60.0/bin/python");
        if !python.exists() {
            rhae_testkit::skip("the Python package ray is missing");
            return None;
        }
        let mut process = Command::new(&python)
            .args(["-c", program])
            .args(arguments)
            .current_dir(folder)
            .env("RAY_AUTH_MODE", "disabled")
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

    /// Returns the number of nodes of an autoscaling cluster besides its head.
    fn nodes(&mut self) -> usize {
        writeln!(self.process.stdin.as_mut().unwrap(), "nodes").unwrap();
        self.answer().parse().unwrap()
    }

    /// Starts a command of `rhae` that uses the cluster.
    fn spawn(&self, folder: &Path, workers: &str, arguments: &[&str]) -> Child {
        let engine = format!("ray:{}", self.address);
        let python = self.python.to_str().unwrap();
        let cluster = ["--on", &engine, "--workers", workers, "--python", python];
        command(folder, &[arguments, &cluster].concat())
            .env("RAY_USAGE_STATS_ENABLED", "0")
            .env("RAY_AUTH_MODE", "disabled")
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
    for _ in 0..4800 {
        if is_there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let log = fs::read_to_string(folder.join("rhae.log")).unwrap_or_default();
    panic!("no {what} within four minutes: {log}");
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
    let mut run = cluster.spawn(folder, "2", &[&RUN[..], &["--out", "r"]].concat());
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
    let resumed = cluster.spawn(folder, "2", &["run", "--resume", "r", "--json"]);
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

/// All plays wait while a file `all` exists, and one of them also while `hold` exists.
const FIRST_HOLDS: &str = "while test -e all; do sleep 0.05; done; mkdir first 2>/dev/null && while test -e hold; do sleep 0.05; done; \
    while read -r line; do case \"$line\" in *observation*) echo '{\"action\":\"ACTION1\"}';; \
    *'\"end\"'*) exit;; esac; done";

#[test]
fn autoscaler_follows_the_open_units() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let unused = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = unused.local_addr().unwrap().port().to_string();
    drop(unused);
    let arguments = [port.as_str(), folder.to_str().unwrap()];
    let program = include_str!("ray_autoscaling.py");
    let Some(mut cluster) = Cluster::start_with(folder, program, &arguments) else {
        return;
    };
    assert_eq!(cluster.nodes(), 0);
    let hold = folder.join("hold");
    fs::write(&hold, "").unwrap();
    fs::write(folder.join("all"), "").unwrap();
    let run = [
        "run",
        "--agent-cmd",
        FIRST_HOLDS,
        "--games",
        "kq19,ny40,ym39",
        "--budget",
        "12",
        "--step-timeout",
        "600",
        "--json",
    ];
    // There are more workers than plays, but each play has one node.
    let distributed = cluster.spawn(folder, "9", &[&run[..], &["--out", "r"]].concat());
    wait_for(folder, "three leases", || leases(folder, "leased") == 3);
    fs::remove_file(folder.join("all")).unwrap();
    let mut most = 0;
    wait_for(folder, "node that was removed", || {
        let nodes = cluster.nodes();
        most = nodes.max(most);
        nodes < most && leases(folder, "committed") == 2
    });
    assert_eq!(most, 3);
    // One node has the last play, and one waits in case it is lost.
    fs::remove_file(&hold).unwrap();
    let output = distributed.wait_with_output().unwrap();
    let log = fs::read_to_string(folder.join("rhae.log")).unwrap();
    assert!(output.status.success(), "{log}");
    let local = rhae(folder, &[&run[..], &["--out", "local"]].concat()).succeeded();
    let mut one = local.json();
    let mut other: Value = serde_json::from_slice(&output.stdout).unwrap();
    without_volatile(&mut one);
    without_volatile(&mut other);
    assert_eq!(one, other);
}

#[test]
fn bench_has_a_row_for_ray() {
    let temp = tempfile::tempdir().unwrap();
    let Some(cluster) = Cluster::start(temp.path()) else {
        return;
    };
    let engine = format!("ray:{}", cluster.address);
    let python = cluster.python.to_str().unwrap();
    let bench = [
        "bench",
        "work",
        "--short-units",
        "4",
        "--units",
        "2",
        "--unit-seconds",
        "0.2",
        "--json",
        "--on",
        &engine,
        "--python",
        python,
        "--on",
        "slurm:nonexistent",
    ];
    let outcome: Outcome = command(temp.path(), &bench)
        .env("RAY_USAGE_STATS_ENABLED", "0")
        .env("RAY_AUTH_MODE", "disabled")
        // Slurm is not found, but a shell is.
        .env("PATH", "/bin")
        .env("SLURM_CONF", "/nonexistent")
        .output()
        .unwrap()
        .into();
    let bench = outcome.succeeded().json();
    let rows = bench["rows"].as_array().unwrap();
    let engines: Vec<Option<&str>> = rows.iter().map(|row| row["engine"].as_str()).collect();
    assert_eq!(engines, [None, Some(engine.as_str())]);
    assert!(rows[1]["efficiency"].as_f64().unwrap() > 0.0, "{bench}");
    let skipped = bench["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 1, "{bench}");
    assert_eq!(skipped[0]["engine"], "slurm:nonexistent");
    assert!(
        !skipped[0]["reason"].as_str().unwrap().is_empty(),
        "{bench}"
    );
}

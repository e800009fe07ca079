//! Tests of `rhae run --on slurm` with a real Slurm cluster: a controller and two nodes on the
//! loopback address.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::arc::fixture;
use crate::rhae::{Outcome, command, rhae};
use crate::shards::{assert_same_run, without_volatile};

const RUN: [&str; 14] = [
    "run",
    "--agent-cmd",
    AGENT,
    "--games",
    "kq19,ny40,ym39",
    "--seed",
    "7",
    "--repeat",
    "2",
    "--budget",
    "12",
    "--jobs",
    "1",
    "--json",
];

/// An agent that says that it has started, and acts when the file `hold` is removed.
const AGENT: &str = "echo started >> started; while test -e hold; do sleep 0.05; done; \
    while read -r line; do case \"$line\" in *observation*) echo '{\"action\":\"ACTION1\"}';; \
    *'\"end\"'*) exit;; esac; done";

/// A Slurm cluster. Dropping it ends its processes.
struct Cluster {
    folder: PathBuf,
    processes: Vec<Child>,
}

impl Cluster {
    /// Starts a cluster, or reports the test as skipped if Slurm is not installed or cannot start on
    /// this machine.
    fn start(folder: &Path) -> Option<Self> {
        for program in ["munged", "slurmctld", "slurmd", "sbatch"] {
            if !on_path(program) {
                rhae_testkit::skip(&format!("`{program}` is not installed"));
                return None;
            }
        }
        if !rustix::process::geteuid().is_root() {
            rhae_testkit::skip("only root can start the daemons of Slurm");
            return None;
        }
        let mut cluster = Self {
            folder: folder.to_owned(),
            processes: Vec::new(),
        };
        cluster.write_files();
        let key = |name: &str| format!("--{name}={}", folder.join(name).display());
        let munged = ["key-file", "socket", "pid-file", "log-file", "seed-file"].map(key);
        cluster.spawn(
            Command::new("munged")
                .args(["--foreground", "--force"])
                .args(munged),
        );
        wait_for("munged", || folder.join("socket").exists());
        cluster.spawn(Command::new("slurmctld").args(["-D", "-i"]));
        for node in ["n1", "n2"] {
            cluster.spawn(Command::new("slurmd").args(["-D", "-N", node]));
        }
        let idle = ["--noheader", "--states=idle", "--format=%D"];
        for _ in 0..1200 {
            if cluster.output("sinfo", &idle).trim() == "2" {
                return Some(cluster);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = fs::read_to_string(folder.join("slurmctld.log")).unwrap_or_default();
        rhae_testkit::skip(&format!("Slurm does not start here: {log}"));
        None
    }

    fn write_files(&self) {
        let folder = self.folder.display();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap();
        // Ports that other tests of this machine do not use at the same time.
        let port = 20_000 + std::process::id() % 10_000 * 3;
        let [controller, one, two] = [port, port + 1, port + 2];
        let config = format!(
            "ClusterName=rhae
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={folder}/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_min_interval=0,sched_interval=1
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MaxArraySize=3
KillWait=5
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={one} CPUs=1
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={two} CPUs=1
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"
        );
        fs::write(self.folder.join("slurm.conf"), config).unwrap();
        for name in ["state", "spool.n1", "spool.n2"] {
            fs::create_dir(self.folder.join(name)).unwrap();
        }
        let key = self.folder.join("key-file");
        fs::write(&key, self.folder.display().to_string().repeat(64)).unwrap();
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(&key, private).unwrap();
    }

    fn spawn(&mut self, command: &mut Command) {
        let log = fs::File::create(self.folder.join(format!("out{}", self.processes.len())));
        let process = command
            .env("SLURM_CONF", self.folder.join("slurm.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.unwrap())
            .spawn()
            .unwrap();
        self.processes.push(process);
    }

    /// Runs a program of Slurm and returns its output.
    fn output(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .args(arguments)
            .env("SLURM_CONF", self.folder.join("slurm.conf"))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Creates a command that runs `rhae` in the folder `work` of the cluster.
    fn rhae(&self, arguments: &[&str]) -> Command {
        let mut command = command(&self.folder.join("work"), arguments);
        command
            .env("SLURM_CONF", self.folder.join("slurm.conf"))
            .env("SECRET_API_KEY", "hidden");
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.output("scancel", &["--state=pending"]);
        let _ = self.output("scancel", &["--state=running"]);
        for process in self.processes.iter_mut().rev() {
            // Slurm's processes end their own children when they are asked to end.
            let id = process.id().to_string();
            let _ = Command::new("kill").args(["-TERM", &id]).status();
            let _ = process.wait();
        }
    }
}

fn on_path(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    for _ in 0..2400 {
        if is_there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("no {what} within two minutes");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn array_with_requeued_tasks_equals_a_local_run() {
    let temp = tempfile::tempdir().unwrap();
    let Some(cluster) = Cluster::start(temp.path()) else {
        return;
    };
    let work = temp.path().join("work");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("hold"), "").unwrap();
    let slurm = [
        &RUN[..],
        &["--out", "r", "--on", "slurm:main", "--workers", "9"],
    ]
    .concat();
    let run = cluster
        .rhae(&slurm)
        // Slurm sends the signal 90 seconds before this limit, in minutes.
        .env("SBATCH_TIMELIMIT", "2")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = || {
        let text = fs::read_to_string(work.join("started")).unwrap_or_default();
        text.lines().count()
    };
    // Two of the three tasks run, because each node has one processor.
    wait_for("two tasks", || started() == 2);
    let tasks = cluster.output("squeue", &["--noheader", "--states=running", "--format=%i"]);
    let tasks: Vec<&str> = tasks.lines().collect();
    let [first, second] = tasks[..] else {
        panic!("{tasks:?}")
    };
    // The environment of the jobs, which Slurm stores, has no secrets.
    let stored = files_below(&temp.path().join("state"));
    let has = |file: &PathBuf, text: &str| {
        let content = fs::read(file).unwrap_or_default();
        content
            .windows(text.len())
            .any(|bytes| bytes == text.as_bytes())
    };
    assert!(stored.iter().any(|file| has(file, "SLURM_CONF=")));
    assert!(!stored.iter().any(|file| has(file, "hidden")));
    // One task is requeued by the site, the other gets the signal that precedes its time limit.
    cluster.output("scontrol", &["requeue", first]);
    let job = |task: &str| {
        let job = cluster.output("scontrol", &["show", "job", task]);
        job.contains("JobState=PENDING") && job.contains("Restarts=1")
    };
    wait_for("requeued tasks", || job(first) && job(second));
    fs::remove_file(work.join("hold")).unwrap();
    let pending = [
        "--noheader",
        "--array",
        "--states=pending",
        "--name=rhae",
        "--format=%i",
    ];
    for task in cluster.output("squeue", &pending).lines() {
        // By default, Slurm starts a requeued task after two minutes. In the second of its requeue, a node
        // refuses it.
        let job = format!("JobId={task}");
        cluster.output("scontrol", &["update", &job, "StartTime=now+2"]);
    }
    let distributed: Outcome = run.wait_with_output().unwrap().into();
    let distributed = distributed.succeeded();

    let local = rhae(&work, &[&RUN[..], &["--out", "local"]].concat()).succeeded();
    let [mut one, mut other] = [local.json(), distributed.json()];
    without_volatile(&mut one);
    without_volatile(&mut other);
    assert_eq!(one, other);
    assert_same_run(&work.join("local"), &work.join("r"));
}

#[test]
fn evaluation_and_bench_by_an_array_of_workers() {
    let temp = tempfile::tempdir().unwrap();
    let Some(cluster) = Cluster::start(temp.path()) else {
        return;
    };
    let work = temp.path().join("work");
    fs::create_dir(&work).unwrap();
    let data = fixture("tasks");
    let eval = [
        "arc", "eval", "--solver", "random", "--seed", "7", "--data", &data, "--out",
    ];
    let slurm = [&eval[..], &["r", "--on", "slurm:main", "--workers", "2"]].concat();
    let distributed: Outcome = cluster.rhae(&slurm).output().unwrap().into();
    distributed.succeeded();
    rhae(&work, &[&eval[..], &["local"]].concat()).succeeded();
    let submission = |run: &str| fs::read(work.join(run).join("submission.json")).unwrap();
    assert_eq!(submission("local"), submission("r"));
    let leases = fs::read_to_string(work.join("r/leases.jsonl")).unwrap();
    assert!(leases.contains("\"worker\":\"slurm-"), "{leases}");
    let bench = [
        "bench",
        "work",
        "--on",
        "slurm:main",
        "--short-units",
        "4",
        "--units",
        "2",
        "--unit-seconds",
        "0.2",
        "--json",
    ];
    let bench: Outcome = cluster.rhae(&bench).output().unwrap().into();
    let bench = bench.succeeded().json();
    assert_eq!(bench["rows"][1]["engine"], "slurm:main");
    assert!(bench["rows"][1]["efficiency"].as_f64().unwrap() > 0.0);
    assert_eq!(bench["skipped"].as_array().unwrap().len(), 0);
    // The array is cancelled, and its token is deleted.
    wait_for("the end of the array", || {
        cluster
            .output("squeue", &["--noheader", "--format=%i"])
            .is_empty()
    });
    assert!(!work.join("r/work-token").exists());
}

#[test]
fn slurm_that_is_not_installed_is_an_error() {
    let temp = tempfile::tempdir().unwrap();
    let run = [&RUN[..], &["--out", "r", "--on", "slurm"]].concat();
    let outcome: Outcome = command(temp.path(), &run)
        .env("PATH", "/nonexistent")
        .output()
        .unwrap()
        .into();
    outcome.failed_with("`scontrol` is not installed here");
    assert!(!temp.path().join("r").exists());
}

//! A temporary PostgreSQL server for a single test. It keeps its data and its Unix socket in a
//! temporary folder and uses the default durability settings. The server and the folder are removed
//! when the test ends.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::skip;

const USER: &str = "rhae";
const PASSWORD: &str = "Secret-7391";
/// The folders, outside `PATH`, in which distributions install the server programs.
const FOLDERS: [&str; 2] = ["/usr/lib/postgresql", "/usr/local/lib/postgresql"];
/// The user accounts under which the server runs if the test runs as root: PostgreSQL refuses to
/// run as root. The first account that exists is used.
const ACCOUNTS: [&str; 2] = ["postgres", "nobody"];
/// The interval at which the server is checked for readiness.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A running database server. Dropping it stops the server.
pub struct Postgres {
    server: Child,
    folder: TempDir,
}

impl Postgres {
    /// Starts a server with an empty database. Returns `None` if PostgreSQL is not installed and
    /// `RHAE_SKIP_MISSING=1` is set.
    ///
    /// # Panics
    ///
    /// Panics if PostgreSQL is not installed and `RHAE_SKIP_MISSING=1` is not set, or if the server
    /// does not start.
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            skip("PostgreSQL is not installed");
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let account = account();
        if let Some((_, id)) = &account {
            chown(folder.path(), Some(*id), None).expect("root may change the owner of a folder");
        }
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755))
            .expect("the permissions of an own folder can be changed");
        let secret = folder.path().join("secret");
        fs::write(&secret, PASSWORD).expect("a file can be written in a temporary folder");
        let [data, path] = ["data", ""].map(|name| folder.path().join(name).display().to_string());
        let command = |program: &str| {
            let program = programs.join(program);
            let mut command = match &account {
                Some((name, _)) => {
                    let mut command = Command::new("setpriv");
                    command
                        .args(["--reuid", name, "--clear-groups", "--"])
                        .arg(program);
                    command
                }
                None => Command::new(program),
            };
            command
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::piped());
            command
        };
        create_cluster(command("initdb"), &data, &secret);
        let mut postgres = command("postgres");
        postgres.args([
            "-D",
            &data,
            "-c",
            "listen_addresses=",
            "-c",
            &format!("unix_socket_directories={path}"),
        ]);
        let mut server = postgres
            .stderr(Stdio::null())
            .spawn()
            .expect("postgres can be run");
        while !command("pg_isready")
            .args(["-q", "-h", &path])
            .status()
            .is_ok_and(|status| status.success())
        {
            assert!(
                server.try_wait().is_ok_and(|ended| ended.is_none()),
                "PostgreSQL did not start"
            );
            std::thread::sleep(POLL_INTERVAL);
        }
        Some(Self { server, folder })
    }

    /// Returns the URL of the database, including the password.
    pub fn url(&self) -> String {
        let host = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://{USER}:{PASSWORD}@{host}/postgres")
    }

    /// Suspends all processes of the server: connections stay open, but nothing is answered.
    ///
    /// # Panics
    ///
    /// Panics if a process cannot be signalled.
    pub fn suspend(&self) {
        self.signal(Signal::STOP);
    }

    /// Resumes a suspended server.
    ///
    /// # Panics
    ///
    /// Panics if a process cannot be signalled.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Sends a signal to the server's first process and then to all its children.
    fn signal(&self, signal: Signal) {
        let server = Pid::from_child(&self.server);
        kill_process(server, signal).expect("the server is running");
        let children = format!("/proc/{0}/task/{0}/children", server.as_raw_nonzero());
        let children = fs::read_to_string(children).expect("the server has a list of its children");
        for child in children.split_whitespace() {
            let child = child.parse().ok().and_then(Pid::from_raw);
            // A child that has ended needs no signal.
            let _ = kill_process(child.expect("a process id"), signal);
        }
    }

    /// Returns the password in the URL, so that tests can check that it is never printed.
    pub const fn password(&self) -> &'static str {
        PASSWORD
    }
}

/// Creates the files of an empty database in the folder `data`, with the password in `secret`.
fn create_cluster(mut initdb: Command, data: &str, secret: &Path) {
    initdb.args([
        "-D",
        data,
        "-U",
        USER,
        "-A",
        "scram-sha-256",
        "-E",
        "UTF8",
        "--locale=C",
        "--no-sync",
        "--pwfile",
    ]);
    let created = initdb.arg(secret).output().expect("initdb can be run");
    assert!(
        created.status.success(),
        "{}",
        String::from_utf8_lossy(&created.stderr)
    );
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // A suspended server would not react to the next signal.
        self.resume();
        // SIGQUIT stops the server immediately but lets it remove its shared memory. The signal
        // fails if the server has already exited.
        let _ = kill_process(Pid::from_child(&self.server), Signal::QUIT);
        let _ = self.server.wait();
    }
}

/// Returns the folder with the programs of the newest installed version.
fn programs() -> Option<PathBuf> {
    let versions = FOLDERS
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .flatten();
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|version| Some((number(&version.path())?, version.path())))
        .collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).collect::<Vec<_>>();
    let candidates = found
        .into_iter()
        .rev()
        .map(|(_, version)| version.join("bin"))
        .chain(on_path);
    candidates
        .into_iter()
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

/// Returns the account to run the server as, with its user id, or `None` if the test does not run
/// as root.
fn account() -> Option<(&'static str, u32)> {
    let number = |name: &str| {
        let output = Command::new("id").args(["-u", name]).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    if !geteuid().is_root() {
        return None;
    }
    let found = ACCOUNTS
        .iter()
        .find_map(|name| Some((*name, number(name)?)));
    Some(found.expect("there is an account besides root"))
}

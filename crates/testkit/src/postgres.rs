//! A real PostgreSQL for one test: private, in a temporary folder, reached through a socket in it, with its durability settings as
//! they come. It is gone when the test is.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

const USER: &str = "rhae";
const PASSWORD: &str = "Secret-7391";
/// Where distributions put the server's programs, which are not on the path.
const FOLDERS: [&str; 2] = ["/usr/lib/postgresql", "/usr/local/lib/postgresql"];
/// Who runs the server when the test runs as root, which PostgreSQL refuses to do.
const ACCOUNTS: [&str; 2] = ["postgres", "nobody"];
/// Between two looks at whether it is ready.
const PAUSE: Duration = Duration::from_millis(20);

/// A running database server.
pub struct Postgres {
    server: Child,
    folder: TempDir,
}

impl Postgres {
    /// Starts a server with an empty database; `None` if PostgreSQL is not installed and that was allowed.
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            assert!(
                std::env::var("RHAE_SKIP_MISSING").is_ok_and(|value| value == "1"),
                "this test needs PostgreSQL, which `cargo xtask test` installs; RHAE_SKIP_MISSING=1 leaves the test out"
            );
            eprintln!("left out: PostgreSQL is not installed, and RHAE_SKIP_MISSING=1 is set");
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let account = account();
        if let Some((_, id)) = &account {
            chown(folder.path(), Some(*id), None).expect("root may give a folder away");
        }
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755))
            .expect("a folder of ours can be opened to others");
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
        let mut initdb = command("initdb");
        initdb.args([
            "-D",
            &data,
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
        let made = initdb.arg(&secret).output().expect("initdb can be run");
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
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
            std::thread::sleep(PAUSE);
        }
        Some(Self { server, folder })
    }

    /// The address of its database, with the password.
    pub fn url(&self) -> String {
        let host = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://{USER}:{PASSWORD}@{host}/postgres")
    }

    /// The password in the address, which nobody else may show.
    pub const fn password(&self) -> &'static str {
        PASSWORD
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // At once, but so that it removes its shared memory. It may have ended already.
        let _ = kill_process(Pid::from_child(&self.server), Signal::QUIT);
        let _ = self.server.wait();
    }
}

/// The folder with the newest version's programs.
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

/// The account to run the server as, with its number, if we are root.
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

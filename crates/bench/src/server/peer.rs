//! The official server with a small game for the official engine.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::process::{Process, scratch_folder};
use super::{Measurement, run_clients, summarize};
use crate::BenchError;

const SERVE: &str = include_str!("../../../../fixtures/peer/serve.py");
const GAME: &str = include_str!("../../../../fixtures/peer/pk10.py");
const METADATA: &str = include_str!("../../../../fixtures/peer/metadata.json");

/// The interpreter for which `cargo xtask test` installs the official packages.
const DEFAULT_PYTHON: &str = "target/python/arc-agi-0.9.9/bin/python";
/// The time limit for the server to start.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the absolute path of a Python interpreter that has the official packages: `path`, or the
/// one that `cargo xtask test` creates.
///
/// # Errors
///
/// Returns an error that says how to create such an interpreter if the path is not one.
pub fn python(path: Option<&Path>) -> Result<PathBuf, BenchError> {
    let python = path.map_or_else(|| PathBuf::from(DEFAULT_PYTHON), Path::to_owned);
    let found = Command::new(&python)
        .args(["-c", "import arc_agi"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !found.is_ok_and(|status| status.success()) {
        return Err(BenchError::Process(format!(
            "`{}` is not a Python interpreter with the package arc-agi; create one with \
             `python3 -m venv peer && peer/bin/pip install arc-agi==0.9.9` and pass \
             `--python peer/bin/python`",
            python.display()
        )));
    }
    // The server is started in another folder, where a relative path would be invalid.
    std::path::absolute(&python).map_err(BenchError::io(format!(
        "cannot find `{}`",
        python.display()
    )))
}

/// Measures the official server.
pub(crate) fn measure(
    python: &Path,
    clients: usize,
    time: Duration,
) -> Result<Measurement, BenchError> {
    let folder = scratch_folder()?;
    let game = folder.join("games/pk10/v1");
    std::fs::create_dir_all(&game)
        .and_then(|()| std::fs::write(game.join("pk10.py"), GAME))
        .and_then(|()| std::fs::write(game.join("metadata.json"), METADATA))
        .map_err(BenchError::io(format!("cannot write `{}`", game.display())))?;
    let process = start(python, &folder)?;
    let (load, cpu) = run_clients(&process, "pk10", clients, time)?;
    drop(process);
    std::fs::remove_dir_all(&folder).map_err(BenchError::io(format!(
        "cannot remove `{}`",
        folder.display()
    )))?;
    Ok(summarize(clients, load, cpu))
}

fn start(python: &Path, folder: &Path) -> Result<Process, BenchError> {
    // Pick a port that is free at this moment, because the official server cannot choose one
    // itself.
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_err(BenchError::io("cannot find a free port"))?
        .port();
    let address = format!("127.0.0.1:{port}");
    let mut command = Command::new(python);
    command
        .args(["-c", SERVE, "games", &port.to_string()])
        .current_dir(folder);
    for variable in [
        "ARC_API_KEY",
        "ARC_BASE_URL",
        "OPERATION_MODE",
        "ENVIRONMENTS_DIR",
    ] {
        command.env_remove(variable);
    }
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut process = Process::from_child(
        command
            .spawn()
            .map_err(BenchError::io("cannot start the official server"))?,
        address,
    );
    let started = Instant::now();
    while TcpStream::connect(process.address()).is_err() {
        if process.has_ended() || started.elapsed() > START_TIMEOUT {
            return Err(BenchError::Process(
                "the official server did not start".to_owned(),
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(process)
}

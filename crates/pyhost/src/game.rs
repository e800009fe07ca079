//! A game from outside and how its process is started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use rhae_engine::GameInfo;

use crate::python::Python;
use crate::sandbox::{Layers, Order};
use crate::{GameFolder, HostError, Limits};

/// What a game's process finds in its environment: nothing of the user's, and what makes it reproducible.
const ENVIRONMENT: [(&str, &str); 8] = [
    ("PATH", "/usr/bin:/bin"),
    ("LANG", "C.UTF-8"),
    ("TZ", "UTC"),
    ("PYTHONHASHSEED", "0"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("OMP_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
];
/// A process that has used this much is ended; its plays go on in another.
const CPU_SECONDS: u64 = 10 * 60 * 60;

/// A game from outside.
#[derive(Clone, Debug)]
pub(crate) struct Game {
    pub(crate) info: GameInfo,
    pub(crate) folder: GameFolder,
}

/// How processes of games are started.
#[derive(Debug)]
pub(crate) struct Setup {
    /// The program that enters the sandbox, with its first arguments.
    pub(crate) launcher: Vec<OsString>,
    /// The interpreter, if one was named.
    pub(crate) python: Option<PathBuf>,
    /// Whether games are run without the layers that the system lacks.
    pub(crate) unsafe_host: bool,
    pub(crate) limits: Limits,
    found: OnceLock<Result<Python, String>>,
    layers: OnceLock<Result<Layers, String>>,
}

impl Setup {
    pub(crate) fn new(
        launcher: Vec<OsString>,
        python: Option<PathBuf>,
        unsafe_host: bool,
        limits: Limits,
    ) -> Self {
        Self {
            launcher,
            python,
            unsafe_host,
            limits,
            found: OnceLock::new(),
            layers: OnceLock::new(),
        }
    }

    /// The interpreter, looked for once.
    fn python(&self) -> Result<&Python, HostError> {
        let found = self
            .found
            .get_or_init(|| Python::find(self.python.as_deref()));
        found
            .as_ref()
            .map_err(|reason| HostError::NoPython(reason.clone()))
    }

    /// The layers of the sandbox that this system has, tried once.
    pub(crate) fn layers(&self) -> Result<Layers, HostError> {
        let order = Order {
            program: Vec::new(),
            ..self.order(Vec::new(), Vec::new())
        };
        let layers = self.layers.get_or_init(|| {
            let output = self
                .launcher(&order)
                .output()
                .map_err(|error| error.to_string())?;
            let told = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
            serde_json::from_slice(&output.stdout).map_err(|_| told())
        });
        layers.clone().map_err(HostError::Launcher)
    }

    /// The interpreter, if it has an engine that games run on.
    pub(crate) fn with_engine(&self) -> Result<&Python, HostError> {
        let python = self.python()?;
        if python.engine.is_none() {
            return Err(HostError::NoPython(format!(
                "`{}` has neither of the packages `rhae` and `arcengine`, on which games run: install one, as with `pip install \
                 arcengine`, or name another Python with --python",
                python.executable.display()
            )));
        }
        Ok(python)
    }

    /// Whether the sandbox holds, or the user does without it.
    pub(crate) fn sandboxed(&self) -> Result<(), HostError> {
        match self.layers()?.missing() {
            missing if missing.is_empty() || self.unsafe_host => Ok(()),
            missing => Err(HostError::Unsafe(missing.join(", "))),
        }
    }

    /// The command that starts a game's process.
    pub(crate) fn command(&self, game: &Game) -> Result<Command, HostError> {
        self.sandboxed()?;
        let folder = &game.folder;
        let (program, read) = match (&folder.source, &folder.metadata.command) {
            (Some(source), _) => {
                let python = self.with_engine()?;
                let mut program = vec![python.executable.clone().into_os_string()];
                // The host ends itself a little later than Rhae would end it, in case Rhae is gone.
                program.extend(python.arguments(
                    source,
                    &folder.metadata.class_name,
                    self.limits.action.as_secs_f64() + 1.0,
                ));
                (program, python.folders())
            }
            (None, Some(words)) => self.program(folder, words)?,
            (None, None) => unreachable!("a folder has a source or a command"),
        };
        let mut command = self.launcher(&self.order(
            program,
            read.into_iter().chain([folder.path.clone()]).collect(),
        ));
        command
            .env_clear()
            .envs(ENVIRONMENT)
            .current_dir(&folder.path);
        Ok(command)
    }

    /// A program that speaks the protocol itself, and what it needs to be read.
    fn program(
        &self,
        folder: &GameFolder,
        words: &[String],
    ) -> Result<(Vec<OsString>, Vec<PathBuf>), HostError> {
        let (name, rest) = words.split_first().expect("the metadata has been checked");
        let rest = rest.iter().map(OsString::from);
        if name == "python" {
            let python = self.python()?;
            let options = Python::OPTIONS.map(OsString::from);
            let program = [python.executable.clone().into_os_string()]
                .into_iter()
                .chain(options)
                .chain(rest)
                .collect();
            return Ok((program, python.folders()));
        }
        let file = if name.contains('/') {
            Some(folder.path.join(name))
        } else {
            on_path(name)
        };
        let file = file.filter(|file| file.is_file());
        let file = file.ok_or_else(|| HostError::NoSource {
            folder: folder.path.clone(),
            expected: name.clone(),
        })?;
        Ok((
            [file.clone().into_os_string()]
                .into_iter()
                .chain(rest)
                .collect(),
            vec![file],
        ))
    }

    fn order(&self, program: Vec<OsString>, read: Vec<PathBuf>) -> Order {
        Order {
            read,
            memory_mb: self.limits.memory_mb,
            cpu_seconds: CPU_SECONDS,
            partial: self.unsafe_host,
            program,
        }
    }

    fn launcher(&self, order: &Order) -> Command {
        let (program, first) = self
            .launcher
            .split_first()
            .expect("a launcher is a program");
        let mut command = Command::new(program);
        command.args(first).args(order.to_arguments());
        command
    }
}

/// A program that the user could start by its name.
fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|file| Path::is_file(file))
}

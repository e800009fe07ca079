//! A hosted game and the command that starts its process.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use rhae_engine::GameInfo;
use rhae_sandbox::{Launcher, Layers, ResourceLimits, SandboxError, SandboxSpec};

use crate::python::Python;
use crate::{GameFolder, HostError, Limits};

/// The environment variables of a game's process. None of them comes from the user's environment.
/// The settings help to make games reproducible.
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
/// The CPU time after which a process is killed. Its plays continue in another process.
const CPU_SECONDS: u64 = 10 * 60 * 60;

/// A hosted game.
#[derive(Debug)]
pub(crate) struct Game {
    /// The facts that are known before the first play; see [`current_info`](Self::current_info).
    pub(crate) info: GameInfo,
    pub(crate) folder: GameFolder,
    /// The number of levels, which the game states when its first play is opened.
    levels: OnceLock<u8>,
}

impl Game {
    pub(crate) fn new(folder: GameFolder) -> Self {
        Self {
            info: GameInfo {
                source_digest: Some(folder.digest()),
                ..folder.metadata.info()
            },
            folder,
            levels: OnceLock::new(),
        }
    }

    /// Returns the facts with the number of levels, if the game has stated it.
    pub(crate) fn current_info(&self) -> GameInfo {
        GameInfo {
            levels: self.levels.get().copied(),
            ..self.info.clone()
        }
    }

    /// Remembers the number of levels that the game states when a play is opened.
    pub(crate) fn state_levels(&self, levels: u8) {
        if levels > 0 {
            // Every play states it; the first one counts.
            let _ = self.levels.set(levels);
        }
    }
}

/// How the processes of games are started.
#[derive(Debug)]
pub(crate) struct HostConfig {
    launcher: Launcher,
    /// The interpreter that the user selected.
    pub(crate) python: Option<PathBuf>,
    /// Whether games run even if required layers of the sandbox are missing.
    pub(crate) unsafe_host: bool,
    pub(crate) limits: Limits,
    found: OnceLock<Result<Python, String>>,
    layers: OnceLock<Result<Layers, SandboxError>>,
}

impl HostConfig {
    pub(crate) fn new(
        launcher: Vec<OsString>,
        python: Option<PathBuf>,
        unsafe_host: bool,
        limits: Limits,
    ) -> Self {
        Self {
            launcher: Launcher::new(launcher),
            python,
            unsafe_host,
            limits,
            found: OnceLock::new(),
            layers: OnceLock::new(),
        }
    }

    /// Returns the interpreter. The first call searches for it.
    fn python(&self) -> Result<&Python, HostError> {
        let found = self
            .found
            .get_or_init(|| Python::find(self.python.as_deref()));
        found
            .as_ref()
            .map_err(|reason| HostError::NoPython(reason.clone()))
    }

    /// Returns the layers of the sandbox that this system provides. The launcher is run once to
    /// find out.
    pub(crate) fn layers(&self) -> Result<Layers, HostError> {
        let layers = self
            .layers
            .get_or_init(|| self.launcher.layers(self.resource_limits()));
        layers
            .clone()
            .map_err(|SandboxError::NoReport(reason)| HostError::Launcher(reason))
    }

    /// Returns the interpreter if it has an engine for games.
    pub(crate) fn python_with_engine(&self) -> Result<&Python, HostError> {
        let python = self.python()?;
        if python.engine.is_none() {
            return Err(HostError::NoPython(format!(
                "`{}` has neither the package `rhae` nor `arcengine`, which hosted games need: install one, for example with \
                 `pip install arcengine`, or select another Python with --python",
                python.executable.display()
            )));
        }
        Ok(python)
    }

    /// Checks that all required layers are available, unless the user waived them.
    pub(crate) fn check_sandbox(&self) -> Result<(), HostError> {
        match self.layers()?.missing() {
            missing if missing.is_empty() || self.unsafe_host => Ok(()),
            missing => Err(HostError::SandboxIncomplete(missing.join(", "))),
        }
    }

    /// Builds the command that starts a game's process through the launcher.
    pub(crate) fn command(&self, game: &Game) -> Result<Command, HostError> {
        self.check_sandbox()?;
        let folder = &game.folder;
        folder.check_unchanged()?;
        let (program, mut read, system) = match (&folder.source, &folder.metadata.command) {
            (Some(source), _) => {
                let python = self.python_with_engine()?;
                let mut program = vec![python.executable.clone().into_os_string()];
                // The game's process ends itself one second after Rhae would kill it, in case Rhae
                // is no longer running.
                program.extend(python.arguments(
                    source,
                    &folder.metadata.class_name,
                    self.limits.action.as_secs_f64() + 1.0,
                ));
                (program, python.folders(), false)
            }
            (None, Some(words)) => self.program(folder, words)?,
            (None, None) => unreachable!("a folder has a source or a command"),
        };
        read.push(folder.path.clone());
        let mut command = self.launcher.command(&SandboxSpec {
            read,
            system,
            limits: self.resource_limits(),
            partial: self.unsafe_host,
            program,
            ..SandboxSpec::default()
        });
        command
            .env_clear()
            .envs(ENVIRONMENT)
            .current_dir(&folder.path);
        Ok(command)
    }

    /// Returns the command line of a program that implements the protocol itself, the files that
    /// it must be able to read, and whether it also needs the system's programs and libraries.
    fn program(
        &self,
        folder: &GameFolder,
        words: &[String],
    ) -> Result<(Vec<OsString>, Vec<PathBuf>, bool), HostError> {
        let (name, rest) = words
            .split_first()
            .expect("the metadata parser rejects an empty command");
        let rest = rest.iter().map(OsString::from);
        if name == "python" {
            let python = self.python()?;
            let options = Python::OPTIONS.map(OsString::from);
            let program = [python.executable.clone().into_os_string()]
                .into_iter()
                .chain(options)
                .chain(rest)
                .collect();
            return Ok((program, python.folders(), false));
        }
        let file = if name.contains('/') {
            in_folder(&folder.path, name)
        } else {
            on_path(name)
        };
        let file = file.ok_or_else(|| HostError::NoSource {
            folder: folder.path.clone(),
            expected: name.clone(),
        })?;
        let program = [file.clone().into_os_string()].into_iter().chain(rest);
        Ok((program.collect(), vec![file], true))
    }

    const fn resource_limits(&self) -> ResourceLimits {
        ResourceLimits {
            memory_mb: self.limits.memory_mb,
            cpu_seconds: CPU_SECONDS,
        }
    }
}

/// Finds a program in a game's folder. The process may read its program, so a path that leaves the
/// folder, directly or by a link, is not accepted.
fn in_folder(folder: &Path, name: &str) -> Option<PathBuf> {
    let inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let file = folder.join(name).canonicalize().ok().filter(|_| inside)?;
    (file.starts_with(folder) && file.is_file()).then_some(file)
}

/// Searches the user's `PATH` for a program.
fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|file| Path::is_file(file))
}

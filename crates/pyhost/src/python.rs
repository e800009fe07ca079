//! The interpreter that hosts games: a Python that is new enough and has an engine, and the folders that it needs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

/// The host's script, which the interpreter is given as text: nothing need be installed for it.
const SCRIPT: &str = include_str!("../../../python/rhae/host.py");
/// Asks an interpreter about itself.
const PROBE: &str = r#"
import importlib.util, json, os, sys
def origin(name):
    try:
        spec = importlib.util.find_spec(name)
    except ImportError:
        return None
    return spec and spec.origin and os.path.dirname(os.path.realpath(spec.origin))
ours, official = origin("rhae.arcengine"), origin("arcengine")
print(json.dumps({
    "version": sys.version_info[:2],
    "executable": sys.executable,
    "path": [entry for entry in sys.path if entry],
    "prefixes": [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix],
    "packages": [found for found in [ours, official, origin("numpy"), origin("pydantic")] if found],
    "engine": "rhae.arcengine" if ours else "arcengine" if official else None,
}))
"#;

/// An interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Python {
    version: (u8, u8),
    pub(crate) executable: PathBuf,
    path: Vec<PathBuf>,
    prefixes: Vec<PathBuf>,
    packages: Vec<PathBuf>,
    /// The engine that games would run on.
    pub(crate) engine: Option<String>,
}

impl Python {
    /// How an interpreter is started. Not isolated: it would ignore the variable that pins hashing, and the environment is ours.
    pub(crate) const OPTIONS: [&str; 4] = ["-P", "-s", "-B", "-u"];
    /// The oldest that the engines run on.
    const OLDEST: (u8, u8) = (3, 12);

    /// The interpreter named, or else the first one found that has an engine, or else the first that is new enough.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, String> {
        if let Some(named) = named {
            // A program in a folder is meant from where Rhae was started, and its own links are no matter.
            let place = if named.components().count() > 1 {
                std::path::absolute(named).ok()
            } else {
                None
            };
            let python = Self::probe(place.as_deref().unwrap_or(named))
                .ok_or_else(|| format!("`{}` is not a Python that answers", named.display()))?;
            let (major, minor) = python.version;
            if python.version < Self::OLDEST {
                return Err(format!(
                    "`{}` is Python {major}.{minor}; games need 3.12 or newer",
                    named.display()
                ));
            }
            return Ok(python);
        }
        let active =
            std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join("bin/python"));
        let names = [
            "python3",
            "python",
            "python3.14",
            "python3.13",
            "python3.12",
        ]
        .map(PathBuf::from);
        let mut found: Option<Self> = None;
        for candidate in active.into_iter().chain(names) {
            match Self::probe(&candidate).filter(|python| python.version >= Self::OLDEST) {
                Some(python) if python.engine.is_some() => return Ok(python),
                python => found = found.or(python),
            }
        }
        found.ok_or_else(|| {
            "no Python 3.12 or newer was found; install one, or name one with --python".to_owned()
        })
    }

    fn probe(program: &Path) -> Option<Self> {
        // What an interpreter says must not depend on the folder that Rhae was started in, nor on variables that games do not get.
        let mut command = Command::new(program);
        command
            .args(["-E", "-P", "-c", PROBE])
            .current_dir("/")
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        let output = command
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        serde_json::from_slice(&output.stdout).ok()
    }

    /// The arguments that host a class of a source file.
    pub(crate) fn arguments(&self, source: &Path, class_name: &str, seconds: f64) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Self::OPTIONS.map(OsString::from).to_vec();
        arguments.extend(["-c", SCRIPT].map(OsString::from));
        arguments.extend([
            source.as_os_str().to_owned(),
            class_name.into(),
            seconds.to_string().into(),
        ]);
        arguments.extend(self.path.iter().map(|path| path.clone().into_os_string()));
        arguments
    }

    /// What the interpreter reads. A folder that holds somebody's home is not opened whole, only what belongs to Python in it.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let home = std::env::home_dir();
        let holds_home = |path: &Path| home.as_ref().is_some_and(|home| home.starts_with(path));
        let narrow = |path: &PathBuf| match holds_home(path) {
            true => vec![
                path.join("lib"),
                path.join("lib64"),
                path.join("bin"),
                path.join("pyvenv.cfg"),
            ],
            false => vec![path.clone()],
        };
        let mut folders: Vec<PathBuf> = self.prefixes.iter().flat_map(narrow).collect();
        folders.extend(
            self.path
                .iter()
                .chain(&self.packages)
                .filter(|path| !holds_home(path))
                .cloned(),
        );
        folders.extend(self.executable.canonicalize().ok());
        folders.sort();
        folders.dedup();
        folders
    }
}

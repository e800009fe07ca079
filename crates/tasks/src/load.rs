//! Loads data sets. The format of a file is determined by its content, never by its name.
//!
//! File names only determine task ids and set names. If a file contains a single task, its stem is
//! the id of the task and its folder is the name of the set. If it contains several tasks, its stem
//! is the name of the set, and `x_solutions.json` contains the solutions of `x_challenges.json`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::Value;

use crate::error::TasksError;
use crate::grid::{CellRule, Grid, kind};
use crate::json::{Document, read};
use crate::sample::MANIFEST_FORMAT;
use crate::set::TaskSet;
use crate::task::{Pair, Task, TaskId, Test};

/// The `format` of the file that records the origin of downloaded data. It is stored next to the
/// data and contains no tasks, so [`load()`] skips it.
pub const FETCH_RECORD_FORMAT: &str = "rhae-fetched";

/// A file that the caller has read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path with `/` as separator. It determines ids and set names, and appears in errors.
    pub name: String,
    pub text: String,
}

/// The result of [`load()`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// At least one set, ordered by name.
    pub sets: Vec<TaskSet>,
    /// One message for each file or solution that was skipped.
    pub notes: Vec<String>,
}

/// The content of one file.
enum Content {
    Task(Task),
    /// The sets in the file, each with the name that the file gives it; `None` if the file is a
    /// single set without a name.
    Sets(Vec<(Option<String>, Tasks)>),
    Solutions(Vec<(TaskId, Vec<Grid>)>),
    /// A known format without tasks, with its description.
    Skipped(&'static str),
}

/// Tasks in file order.
type Tasks = Vec<(TaskId, Task)>;

/// Tasks by id, each with the name of its file.
type TasksWithFile = BTreeMap<TaskId, (Task, String)>;

/// Loads the data sets of any number of files.
///
/// The files may have different formats:
///
/// | format | content |
/// | --- | --- |
/// | task | an object with `train` and `test` |
/// | set | tasks by id; for Kaggle, the challenges |
/// | combined sets | sets by name |
/// | solutions | lists of output grids by task id |
///
/// Solutions are added to the set of the same name, or to the only set if there is one solutions
/// file and one set. Submissions, sample manifests and download records are skipped with a note.
///
/// # Errors
///
/// Returns an error if a file is not valid JSON, has none of these formats, contains an invalid
/// task, or contradicts another file. Returns [`TasksError::NoTasks`] if no file contains a task.
///
/// # Examples
///
/// ```
/// use rhae_tasks::{SourceFile, load};
///
/// let files = [
///     SourceFile {
///         name: "data/demo_challenges.json".to_owned(),
///         text: r#"{"aa": {"train": [{"input": [[1]], "output": [[2]]}],
///                          "test": [{"input": [[3]]}]}}"#
///             .to_owned(),
///     },
///     SourceFile {
///         name: "data/demo_solutions.json".to_owned(),
///         text: r#"{"aa": [[[4]]]}"#.to_owned(),
///     },
/// ];
/// let loaded = load(&files)?;
/// let set = &loaded.sets[0];
/// let task = set.task(&"aa".parse()?)?;
/// assert_eq!(set.name, "demo");
/// assert_eq!(task.test[0].output.as_ref().unwrap().to_string(), "[[4]]");
/// # Ok::<(), rhae_tasks::TasksError>(())
/// ```
pub fn load(files: &[SourceFile]) -> Result<Loaded, TasksError> {
    let mut sets: BTreeMap<String, TasksWithFile> = BTreeMap::new();
    let (mut solutions, mut notes) = (Vec::new(), Vec::new());
    for file in files {
        match content(file)? {
            Content::Task(task) => {
                let id = stem(&file.name).parse().map_err(|error: TasksError| {
                    TasksError::at(&file.name, "file name", error.to_string())
                })?;
                add(
                    sets.entry(folder_set_name(&file.name)).or_default(),
                    id,
                    task,
                    &file.name,
                )?;
            }
            Content::Sets(found) => {
                for (inner, tasks) in found {
                    let outer = file_set_name(&file.name);
                    let name = inner.map_or(outer.clone(), |inner| {
                        format!("{outer}-{}", kebab_case(&inner))
                    });
                    let set = sets.entry(name).or_default();
                    for (id, task) in tasks {
                        add(set, id, task, &file.name)?;
                    }
                }
            }
            Content::Solutions(found) => solutions.push((file, found)),
            Content::Skipped(what) => {
                notes.push(format!("`{}` is {what} and was left out", file.name));
            }
        }
    }
    for (file, found) in &solutions {
        add_solutions(&mut sets, file, found, solutions.len(), &mut notes)?;
    }
    if sets.is_empty() {
        return Err(TasksError::NoTasks);
    }
    let task_set = |(name, tasks): (String, TasksWithFile)| TaskSet {
        name,
        tasks: tasks
            .into_iter()
            .map(|(id, (task, _))| (id, task))
            .collect(),
    };
    Ok(Loaded {
        sets: sets.into_iter().map(task_set).collect(),
        notes,
    })
}

fn add(set: &mut TasksWithFile, id: TaskId, task: Task, file: &str) -> Result<(), TasksError> {
    match set.entry(id) {
        Entry::Vacant(place) => {
            place.insert((task, file.to_owned()));
            Ok(())
        }
        Entry::Occupied(place) if place.get().0 == task => Ok(()),
        Entry::Occupied(place) => {
            let (task, other) = (place.key().to_string(), place.get().1.clone());
            Err(TasksError::ConflictingTask {
                task,
                file: file.to_owned(),
                other,
            })
        }
    }
}

/// Adds solutions to the set of the same name, or to the only set if there is one set and one
/// solutions file.
fn add_solutions(
    sets: &mut BTreeMap<String, TasksWithFile>,
    file: &SourceFile,
    solutions: &[(TaskId, Vec<Grid>)],
    files: usize,
    notes: &mut Vec<String>,
) -> Result<(), TasksError> {
    let name = file_set_name(&file.name);
    let only = if sets.len() == 1 && files == 1 {
        sets.keys().next().cloned()
    } else {
        None
    };
    let Some(set) = only.or(Some(name)).and_then(|name| sets.get_mut(&name)) else {
        return Err(TasksError::at(
            &file.name,
            "file name",
            "the file contains solutions, but the files contain no challenges for them",
        ));
    };
    for (id, grids) in solutions {
        let Some((task, other)) = set.get_mut(id) else {
            notes.push(format!(
                "`{}` contains a solution of the task `{id}`, which is not in the challenges",
                file.name
            ));
            continue;
        };
        if task.test.len() != grids.len() {
            let reason = format!(
                "{} solutions, but `{other}` has {} tests",
                grids.len(),
                task.test.len()
            );
            return Err(TasksError::at(&file.name, id.as_str(), reason));
        }
        for (index, (test, grid)) in task.test.iter_mut().zip(grids).enumerate() {
            match &test.output {
                Some(known) if known != grid => {
                    let reason = format!("the solution differs from the one in `{other}`");
                    return Err(TasksError::at(&file.name, format!("{id}[{index}]"), reason));
                }
                _ => test.output = Some(grid.clone()),
            }
        }
    }
    Ok(())
}

fn content(file: &SourceFile) -> Result<Content, TasksError> {
    let unknown = |found: &str| TasksError::UnknownFormat {
        file: file.name.clone(),
        found: found.to_owned(),
    };
    let entries = match read(&file.name, &file.text)? {
        Document::Object(entries) => entries,
        Document::Other(value) => return Err(unknown(kind(&value))),
    };
    let field = |wanted: &str| {
        entries
            .iter()
            .find(|(key, _)| key == wanted)
            .map(|(_, value)| value)
    };
    if field("format").and_then(Value::as_str) == Some(MANIFEST_FORMAT) {
        return Ok(Content::Skipped("the manifest of a sample"));
    }
    if field("format").and_then(Value::as_str) == Some(FETCH_RECORD_FORMAT) {
        return Ok(Content::Skipped("the record of where data came from"));
    }
    if let (Some(train @ Value::Array(_)), Some(test)) = (field("train"), field("test")) {
        return Ok(Content::Task(task(&file.name, "", train, test)?));
    }
    let Some((_, first)) = entries.first() else {
        return Err(unknown("an empty object"));
    };
    let is_task = |value: &Value| {
        value.get("train").is_some_and(Value::is_array) && value.get("test").is_some()
    };
    let is_set = |value: &Value| {
        value
            .as_object()
            .is_some_and(|set| set.values().next().is_some_and(is_task))
    };
    if is_task(first) {
        Ok(Content::Sets(vec![(
            None,
            tasks(
                &file.name,
                "",
                entries.iter().map(|(id, value)| (id, value)),
            )?,
        )]))
    } else if is_set(first) {
        // Other keys of a combined file are metadata.
        let sets = entries
            .iter()
            .filter(|(_, value)| is_set(value))
            .map(|(name, value)| {
                let inner = value.as_object().into_iter().flatten();
                Ok((
                    Some(name.clone()),
                    tasks(&file.name, &format!("{name}."), inner)?,
                ))
            });
        Ok(Content::Sets(sets.collect::<Result<_, TasksError>>()?))
    } else if is_answers(first) {
        Ok(Content::Skipped("a submission"))
    } else if first.is_array() {
        let all = entries
            .iter()
            .map(|(id, value)| Ok((task_id(&file.name, "", id)?, grids(&file.name, id, value)?)));
        Ok(Content::Solutions(all.collect::<Result<_, TasksError>>()?))
    } else {
        Err(unknown(&format!(
            "an object whose first value is {}",
            kind(first)
        )))
    }
}

/// Parses the solutions of a task.
fn grids(file: &str, id: &str, value: &Value) -> Result<Vec<Grid>, TasksError> {
    let Value::Array(list) = value else {
        let reason = format!("expected a list of grids, found {}", kind(value));
        return Err(TasksError::at(file, id, reason));
    };
    let one = |(index, value)| grid(file, &format!("{id}[{index}]"), value);
    list.iter().enumerate().map(one).collect()
}

fn is_answers(value: &Value) -> bool {
    value
        .as_array()
        .and_then(|list| list.first())
        .is_some_and(|answer| answer.get("attempt_1").is_some())
}

fn tasks<'a>(
    file: &str,
    place: &str,
    entries: impl Iterator<Item = (&'a String, &'a Value)>,
) -> Result<Tasks, TasksError> {
    let one = |(id, value): (&String, &Value)| {
        let place = format!("{place}{id}.");
        let part = |name: &str| {
            value.get(name).ok_or_else(|| {
                TasksError::at(
                    file,
                    place.trim_end_matches('.'),
                    format!("a task needs `{name}`"),
                )
            })
        };
        Ok((
            task_id(file, &place, id)?,
            task(file, &place, part("train")?, part("test")?)?,
        ))
    };
    entries.map(one).collect()
}

fn task_id(file: &str, place: &str, id: &str) -> Result<TaskId, TasksError> {
    id.parse().map_err(|error: TasksError| {
        TasksError::at(file, format!("{place}{id}"), error.to_string())
    })
}

/// Reads a task from its two lists; keys other than `input` and `output` are ignored.
fn task(file: &str, place: &str, train: &Value, test: &Value) -> Result<Task, TasksError> {
    let list = |name: &str, value: &Value| match value {
        Value::Array(list) if !list.is_empty() => Ok(list.clone()),
        Value::Array(_) => Err(TasksError::at(
            file,
            format!("{place}{name}"),
            "the list is empty",
        )),
        other => Err(TasksError::at(
            file,
            format!("{place}{name}"),
            format!("expected a list, found {}", kind(other)),
        )),
    };
    let part = |value: &Value, place: &str, name: &str| match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => grid(file, &format!("{place}.{name}"), value).map(Some),
    };
    let needed = |value: &Value, place: &str, name: &str| {
        part(value, place, name)?
            .ok_or_else(|| TasksError::at(file, place, format!("`{name}` is missing")))
    };
    let mut loaded = Task {
        train: Vec::new(),
        test: Vec::new(),
    };
    for (index, pair) in list("train", train)?.iter().enumerate() {
        let place = format!("{place}train[{index}]");
        loaded.train.push(Pair {
            input: needed(pair, &place, "input")?,
            output: needed(pair, &place, "output")?,
        });
    }
    for (index, pair) in list("test", test)?.iter().enumerate() {
        let place = format!("{place}test[{index}]");
        loaded.test.push(Test {
            input: needed(pair, &place, "input")?,
            output: part(pair, &place, "output")?,
        });
    }
    Ok(loaded)
}

fn grid(file: &str, place: &str, value: &Value) -> Result<Grid, TasksError> {
    Grid::from_json(value, CellRule::Exact)
        .map_err(|fault| TasksError::at(file, place, fault.to_string()))
}

fn stem(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.strip_suffix(".json").unwrap_or(last)
}

/// Returns the set name of a file with a single task: the name of its folder.
fn folder_set_name(name: &str) -> String {
    let parent = name
        .rsplit('/')
        .nth(1)
        .filter(|parent| !parent.is_empty() && *parent != "." && *parent != "..");
    kebab_case(parent.unwrap_or("tasks"))
}

/// Returns the set name of a file with several tasks: its stem without `_challenges` or
/// `_solutions`.
fn file_set_name(name: &str) -> String {
    let name = kebab_case(stem(name));
    for half in ["-challenges", "-solutions"] {
        if let Some(name) = name.strip_suffix(half) {
            return name.to_owned();
        }
    }
    name
}

/// Converts a name to lower case and joins its words with `-`.
pub(crate) fn kebab_case(name: &str) -> String {
    name.to_lowercase().replace(['_', ' '], "-")
}

#[cfg(test)]
mod tests;

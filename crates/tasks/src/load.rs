//! Loading data sets: what a file is follows from its content, never from its name.
//!
//! Names only say what belongs together: the id of a task that has a file of its own is the file's stem, its set is the folder,
//! and `x_solutions.json` solves `x_challenges.json`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::Value;

use crate::error::TasksError;
use crate::grid::{Cells, Grid, kind};
use crate::json::{Top, read};
use crate::sample::MANIFEST_FORMAT;
use crate::set::TaskSet;
use crate::task::{Pair, Task, TaskId, Test};

/// The format of the file that says where data came from; it stands beside them and holds no tasks.
pub const FETCHED_FORMAT: &str = "rhae-fetched";

/// A file: its name, with `/` between folders, and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name, for errors, ids and the names of sets.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// What was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The sets, by name.
    pub sets: Vec<TaskSet>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// What one file holds.
enum Content {
    Task(Task),
    /// Sets by the name they have within the file; `None` where the file is one set.
    Sets(Vec<(Option<String>, Tasks)>),
    Solutions(Vec<(TaskId, Vec<Grid>)>),
    /// JSON that belongs beside tasks but holds none.
    Aside(&'static str),
}

/// Tasks in a file's order.
type Tasks = Vec<(TaskId, Task)>;

/// A task with the file it came from.
type Sourced = BTreeMap<TaskId, (Task, String)>;

/// Loads files of any mixture of formats.
pub fn load(files: &[SourceFile]) -> Result<Loaded, TasksError> {
    let mut sets: BTreeMap<String, Sourced> = BTreeMap::new();
    let (mut solutions, mut notes) = (Vec::new(), Vec::new());
    for file in files {
        match content(file)? {
            Content::Task(task) => {
                let id = stem(&file.name).parse().map_err(|error: TasksError| {
                    TasksError::at(&file.name, "its name", error.to_string())
                })?;
                add(
                    sets.entry(folder(&file.name)).or_default(),
                    id,
                    task,
                    &file.name,
                )?;
            }
            Content::Sets(found) => {
                for (inner, tasks) in found {
                    let outer = set_name(&file.name);
                    let name = inner.map_or(outer.clone(), |inner| {
                        format!("{outer}-{}", plain_name(&inner))
                    });
                    let set = sets.entry(name).or_default();
                    for (id, task) in tasks {
                        add(set, id, task, &file.name)?;
                    }
                }
            }
            Content::Solutions(found) => solutions.push((file, found)),
            Content::Aside(what) => {
                notes.push(format!("`{}` is {what} and was left out", file.name))
            }
        }
    }
    for (file, found) in &solutions {
        solve(&mut sets, file, found, solutions.len(), &mut notes)?;
    }
    if sets.is_empty() {
        return Err(TasksError::NoTasks);
    }
    let plain = |(name, tasks): (String, Sourced)| TaskSet {
        name,
        tasks: tasks
            .into_iter()
            .map(|(id, (task, _))| (id, task))
            .collect(),
    };
    Ok(Loaded {
        sets: sets.into_iter().map(plain).collect(),
        notes,
    })
}

fn add(set: &mut Sourced, id: TaskId, task: Task, file: &str) -> Result<(), TasksError> {
    match set.entry(id) {
        Entry::Vacant(place) => {
            place.insert((task, file.to_owned()));
            Ok(())
        }
        Entry::Occupied(place) if place.get().0 == task => Ok(()),
        Entry::Occupied(place) => {
            let (task, other) = (place.key().to_string(), place.get().1.clone());
            Err(TasksError::Twice {
                task,
                file: file.to_owned(),
                other,
            })
        }
    }
}

/// Puts solutions into the set of the same name, or into the only set where names say nothing.
fn solve(
    sets: &mut BTreeMap<String, Sourced>,
    file: &SourceFile,
    solutions: &[(TaskId, Vec<Grid>)],
    files: usize,
    notes: &mut Vec<String>,
) -> Result<(), TasksError> {
    let name = set_name(&file.name);
    let only = if sets.len() == 1 && files == 1 {
        sets.keys().next().cloned()
    } else {
        None
    };
    let Some(set) = only.or(Some(name)).and_then(|name| sets.get_mut(&name)) else {
        return Err(TasksError::at(
            &file.name,
            "its name",
            "these are solutions, but their challenges are not among the files",
        ));
    };
    for (id, grids) in solutions {
        let Some((task, other)) = set.get_mut(id) else {
            notes.push(format!(
                "`{}` solves the task `{id}`, which is not among the challenges",
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
                    let reason = format!("another solution than the one in `{other}`");
                    return Err(TasksError::at(&file.name, format!("{id}[{index}]"), reason));
                }
                _ => test.output = Some(grid.clone()),
            }
        }
    }
    Ok(())
}

fn content(file: &SourceFile) -> Result<Content, TasksError> {
    let unknown = |found: &str| TasksError::Unknown {
        file: file.name.clone(),
        found: found.to_owned(),
    };
    let entries = match read(&file.name, &file.text)? {
        Top::Object(entries) => entries,
        Top::Other(value) => return Err(unknown(kind(&value))),
    };
    let field = |wanted: &str| {
        entries
            .iter()
            .find(|(key, _)| key == wanted)
            .map(|(_, value)| value)
    };
    if field("format").and_then(Value::as_str) == Some(MANIFEST_FORMAT) {
        return Ok(Content::Aside("the manifest of a sample"));
    }
    if field("format").and_then(Value::as_str) == Some(FETCHED_FORMAT) {
        return Ok(Content::Aside("the record of where data came from"));
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
        // Other keys of a combined file are remarks about it.
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
        Ok(Content::Aside("a submission"))
    } else if first.is_array() {
        let grids = |id: &str, value: &Value| {
            let Value::Array(list) = value else {
                return Err(TasksError::at(
                    &file.name,
                    id,
                    format!("expected a list of grids, found {}", kind(value)),
                ));
            };
            let one = |(index, value)| grid(&file.name, &format!("{id}[{index}]"), value);
            list.iter()
                .enumerate()
                .map(one)
                .collect::<Result<Vec<_>, _>>()
        };
        let all = entries
            .iter()
            .map(|(id, value)| Ok((task_id(&file.name, "", id)?, grids(id, value)?)));
        Ok(Content::Solutions(all.collect::<Result<_, TasksError>>()?))
    } else {
        Err(unknown(&format!(
            "an object whose first value is {}",
            kind(first)
        )))
    }
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

/// A task from its two lists; keys beside `input` and `output` are remarks.
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
    Grid::from_json(value, Cells::Exact)
        .map_err(|fault| TasksError::at(file, place, fault.to_string()))
}

fn stem(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.strip_suffix(".json").unwrap_or(last)
}

/// The set of a task that has its own file: the folder's name.
fn folder(name: &str) -> String {
    let above = name
        .rsplit('/')
        .nth(1)
        .filter(|above| !above.is_empty() && *above != "." && *above != "..");
    plain_name(above.unwrap_or("tasks"))
}

/// The set of a file with many tasks: its stem without the word that says which half of a pair it is.
fn set_name(name: &str) -> String {
    let name = plain_name(stem(name));
    for half in ["-challenges", "-solutions"] {
        if let Some(name) = name.strip_suffix(half) {
            return name.to_owned();
        }
    }
    name
}

/// Words joined by `-`, in lower case.
pub(crate) fn plain_name(name: &str) -> String {
    name.to_lowercase().replace(['_', ' '], "-")
}

#[cfg(test)]
mod tests;

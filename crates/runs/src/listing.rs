//! The runs in a folder: what they are, whether they are finished, and their removal.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use rhae_protocol::{EvalEnd, EvalLine, JournalLine, RunIdentity, RunKind, RunListing, RunStatus};
use serde::Deserialize as _;
use serde_json::Value;

use crate::journal::parse_line;
use crate::{CONFIG, JOURNAL, RunsError};

/// Lists the runs directly below a folder, the newest first. Other folders and files are skipped.
///
/// # Errors
///
/// Returns an error if the folder cannot be read.
pub fn list_runs(folder: &Path) -> Result<Vec<RunListing>, RunsError> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(folder).map_err(RunsError::file("read", folder))? {
        let path = entry.map_err(RunsError::file("read", folder))?.path();
        if let Ok(run) = describe_run(&path) {
            runs.push(run);
        }
    }
    runs.sort_by(|one, other| {
        (other.started_ms, &other.folder).cmp(&(one.started_ms, &one.folder))
    });
    Ok(runs)
}

/// Describes the run in a folder from its configuration, its journal and its results.
///
/// # Errors
///
/// Returns [`RunsError::NotARun`] if the folder is not a run folder.
pub fn describe_run(folder: &Path) -> Result<RunListing, RunsError> {
    let config = read_config(folder)?;
    let kind = kind_of(&config).ok_or_else(|| not_a_run(folder, "its config.json is of no run"))?;
    let lines = journal_lines(folder);
    let at_ms = |line: &Value| line["at_ms"].as_u64();
    let last = lines.last();
    let status = if is_locked(folder) {
        RunStatus::Running
    } else if last.is_some_and(|line| is_finish(kind, line)) {
        RunStatus::Finished
    } else {
        RunStatus::Interrupted
    };
    let results = read_json(&folder.join(match kind {
        RunKind::Plays => "summary.json",
        RunKind::Evaluation => "results.json",
    }));
    let results = results.unwrap_or_default();
    let text = |name: &str| config[name].as_str().map(str::to_owned);
    let agent = ["agent", "agent_cmd", "solver"];
    Ok(RunListing {
        folder: folder.display().to_string(),
        kind,
        run_id: text("run_id").unwrap_or_default(),
        agent: agent.into_iter().find_map(text).unwrap_or_default(),
        software: text("software").unwrap_or_default(),
        status,
        started_ms: lines.first().and_then(at_ms),
        ended_ms: last
            .and_then(at_ms)
            .filter(|_| status != RunStatus::Running),
        score: score_of(kind, &results),
        cost_usd: results["spent"]["cost_usd"]
            .as_f64()
            .or(results["cost_usd"].as_f64()),
        identity: serde_json::from_value::<RunIdentity>(config).unwrap_or_default(),
    })
}

/// Removes a run folder with all its files.
///
/// # Errors
///
/// Returns [`RunsError::NotARun`] if the folder is not a run folder, and [`RunsError::InUse`] if a
/// process is working on the run.
pub fn remove_run(folder: &Path) -> Result<(), RunsError> {
    let config = read_config(folder)?;
    if kind_of(&config).is_none() {
        return Err(not_a_run(folder, "its config.json is of no run"));
    }
    // The lock is held until the files are removed, so that no process can resume the run before.
    let journal = folder.join(JOURNAL);
    let _lock = match File::open(&journal) {
        Ok(file) => match file.try_lock() {
            Ok(()) => Some(file),
            Err(TryLockError::WouldBlock) => return Err(RunsError::InUse(journal)),
            Err(TryLockError::Error(error)) => {
                return Err(RunsError::file("lock", &journal)(error));
            }
        },
        Err(_) => None,
    };
    fs::remove_dir_all(folder).map_err(RunsError::file("remove", folder))
}

fn not_a_run(folder: &Path, reason: &str) -> RunsError {
    RunsError::NotARun {
        folder: folder.to_owned(),
        kind: RunKind::Plays,
        reason: reason.to_owned(),
    }
}

fn read_config(folder: &Path) -> Result<Value, RunsError> {
    let path = folder.join(CONFIG);
    let text = fs::read_to_string(path)
        .map_err(|error| not_a_run(folder, &format!("cannot read its config.json: {error}")))?;
    serde_json::from_str(&text)
        .map_err(|error| not_a_run(folder, &format!("cannot parse its config.json: {error}")))
}

fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Returns the kind of a run by the fields of its configuration.
fn kind_of(config: &Value) -> Option<RunKind> {
    config["run_id"].as_str()?;
    if config["games"].is_array() {
        Some(RunKind::Plays)
    } else if config["solver"].is_string() {
        Some(RunKind::Evaluation)
    } else {
        None
    }
}

/// Returns the first and the last complete line of a journal.
fn journal_lines(folder: &Path) -> Vec<Value> {
    let text = fs::read(folder.join(JOURNAL)).unwrap_or_default();
    let complete = text.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
    let mut lines = text[..complete].split(|&byte| byte == b'\n');
    let parse = |line: &[u8]| parse_line(line).ok();
    let first = lines.next().and_then(parse);
    let last = lines.next_back().and_then(parse);
    first.into_iter().chain(last).collect()
}

fn is_locked(folder: &Path) -> bool {
    File::open(folder.join(JOURNAL))
        .is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Returns whether a line of a journal says that the run is finished.
fn is_finish(kind: RunKind, line: &Value) -> bool {
    match kind {
        RunKind::Plays => {
            matches!(
                JournalLine::deserialize(line),
                Ok(JournalLine::Finished { .. })
            )
        }
        RunKind::Evaluation => matches!(
            EvalLine::deserialize(line),
            Ok(EvalLine::Ended {
                reason: EvalEnd::Finished,
                ..
            })
        ),
    }
}

/// Returns the headline score in percent.
fn score_of(kind: RunKind, results: &Value) -> Option<f64> {
    match kind {
        RunKind::Plays => results["score"].as_f64(),
        RunKind::Evaluation => {
            let headline = results["headline"].as_str()?;
            let share = results[headline]["value"]
                .as_f64()
                .or(results["average"].as_f64())?;
            Some(100.0 * share)
        }
    }
}

/// Returns the run folder that `name` selects: a path, or the name of a folder below `folder`.
pub fn find_run(folder: &Path, name: &str) -> PathBuf {
    let path = PathBuf::from(name);
    if path.join(CONFIG).is_file() {
        path
    } else {
        folder.join(name)
    }
}

#[cfg(test)]
mod tests {
    use rhae_protocol::JournalLine;
    use serde_json::json;

    use super::*;
    use crate::{Journal, RunFolder};

    fn run_in(parent: &Path, name: &str, at_ms: u64) -> RunFolder {
        let config = json!({
            "run_id": name, "software": "rhae 0", "agent": "random", "games": ["ab12-v1"],
            "name": "baseline", "tags": ["a", "b"],
        });
        let folder = RunFolder::create(&parent.join(name), &config).unwrap();
        let (journal, _) = Journal::open(&folder).unwrap();
        let started = JournalLine::Started {
            at_ms,
            resumed: false,
        };
        journal.append(&started).unwrap();
        folder
    }

    #[test]
    fn runs_are_listed_with_their_status() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("other")).unwrap();
        fs::write(temp.path().join("file"), "text").unwrap();
        let old = run_in(temp.path(), "old", 5);
        run_in(temp.path(), "new", 9);
        let (journal, _) = Journal::open(&old).unwrap();
        let running = list_runs(temp.path()).unwrap();
        assert_eq!(
            running.iter().map(|run| run.status).collect::<Vec<_>>(),
            [RunStatus::Interrupted, RunStatus::Running]
        );
        journal
            .append(&JournalLine::Finished { at_ms: 20 })
            .unwrap();
        drop(journal);
        old.write_json("summary.json", &json!({"score": 12.5}))
            .unwrap();
        let run = describe_run(old.path()).unwrap();
        assert_eq!(
            (run.status, run.started_ms, run.ended_ms, run.score),
            (RunStatus::Finished, Some(5), Some(20), Some(12.5))
        );
        assert_eq!(run.identity.tags, ["a", "b"]);
        assert_eq!(find_run(temp.path(), "old"), old.path());
    }

    #[test]
    fn only_unlocked_runs_are_removed() {
        let temp = tempfile::tempdir().unwrap();
        let folder = run_in(temp.path(), "run", 5);
        let (journal, _) = Journal::<JournalLine>::open(&folder).unwrap();
        assert!(matches!(
            remove_run(folder.path()),
            Err(RunsError::InUse(_))
        ));
        drop(journal);
        remove_run(folder.path()).unwrap();
        assert!(!folder.path().exists());
        let other = temp.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("config.json"), "{\"games\": []}").unwrap();
        assert!(matches!(remove_run(&other), Err(RunsError::NotARun { .. })));
        assert!(other.exists());
    }
}

//! Reading and writing submissions, and writing tasks.

use std::fs;
use std::path::{Path, PathBuf};

use rhae_tasks::{Rules, Submission, TaskSet};
use serde::Serialize;

use crate::DatasetsError;
use crate::data::{collect_json_files, read_source};

/// The formats in which a submission can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmissionFormat {
    /// Kaggle's `submission.json`. An unreadable answer becomes `[[0,0],[0,0]]`.
    Kaggle,
    /// A folder of the official harness with one file for each task. An unreadable answer becomes
    /// `null`.
    Official,
}

/// The files of a submission that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrittenSubmission {
    /// The number of tasks in the set.
    pub tasks: usize,
    pub files: Vec<PathBuf>,
}

/// Loads a submission from a file, from a folder with one file for each task, or from the run folder
/// of `rhae arc eval`.
///
/// # Errors
///
/// Returns an error if the files cannot be read or are not in a known format.
pub fn load_submission(path: &Path) -> Result<Submission, DatasetsError> {
    let mut files = Vec::new();
    let run_submission = path.join("submission.json");
    if path.join("journal.jsonl").is_file() && run_submission.is_file() {
        files.push(read_source(&run_submission)?);
    } else if path.is_dir() {
        collect_json_files(path, 1, &mut files)?;
        if files.is_empty() {
            return Err(DatasetsError::Selection(format!(
                "there are no JSON files in `{}`",
                path.display()
            )));
        }
    } else {
        files.push(read_source(path)?);
    }
    Ok(Submission::read(&files)?)
}

/// Writes a submission with every task and test of `set` to the file or folder `out`.
///
/// # Errors
///
/// Returns an error if a file cannot be written, or if the format cannot represent the submission.
pub fn write_submission(
    submission: &Submission,
    set: &TaskSet,
    rules: Rules,
    format: SubmissionFormat,
    out: &Path,
) -> Result<WrittenSubmission, DatasetsError> {
    let contents: Vec<(PathBuf, String)> = match format {
        SubmissionFormat::Kaggle => {
            vec![(out.to_owned(), submission.to_kaggle(set, rules).to_string())]
        }
        SubmissionFormat::Official => {
            fs::create_dir_all(out).map_err(DatasetsError::file("create", out))?;
            submission
                .to_official(set, rules)?
                .into_iter()
                .map(|(id, value)| (out.join(format!("{id}.json")), value.to_string()))
                .collect()
        }
    };
    let mut files = Vec::new();
    for (path, text) in contents {
        fs::write(&path, text).map_err(DatasetsError::file("write", &path))?;
        files.push(path);
    }
    Ok(WrittenSubmission {
        tasks: set.tasks.len(),
        files,
    })
}

/// Writes each task of a set to its own file in `folder`, which is created if it does not exist.
///
/// # Errors
///
/// Returns an error if the folder or a file cannot be written.
pub fn write_tasks(set: &TaskSet, folder: &Path) -> Result<(), DatasetsError> {
    fs::create_dir_all(folder).map_err(DatasetsError::file("create", folder))?;
    for (id, task) in &set.tasks {
        let path = folder.join(format!("{id}.json"));
        fs::write(&path, task.to_json().to_string() + "\n")
            .map_err(DatasetsError::file("write", &path))?;
    }
    Ok(())
}

//! The programs of Slurm.
//!
//! **Invariant:** no variable whose name looks like that of a secret is passed to Slurm, which stores
//! the environment of a job.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rhae_runs::RunsError;

use crate::DistributeError;

/// The interval between two questions to Slurm.
pub const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The time that a task has to end its work before its time limit, in seconds.
const NOTICE_S: u32 = 90;
/// The number of times that a task queues itself again, so that a unit that takes longer than the time
/// limit does not do so forever.
const MAX_RESTARTS: u32 = 50;
/// Parts of the names of variables that may be secrets.
const SECRETS: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];

/// A job to be submitted.
#[derive(Clone, Copy, Debug)]
pub struct Submission<'a> {
    /// The partition; that of the site if absent.
    pub partition: Option<&'a str>,
    /// Options of `sbatch`.
    pub options: &'a [&'a str],
    pub log: &'a Path,
    pub script: &'a Path,
}

/// Returns the options of an array whose tasks queue themselves again before their time limit, see
/// [`restarting_script`].
pub fn array_options(tasks: u32) -> [String; 4] {
    [
        format!("--array=0-{}", tasks - 1),
        "--requeue".to_owned(),
        "--open-mode=append".to_owned(),
        format!("--signal=B:USR1@{NOTICE_S}"),
    ]
}

/// Returns the script of a task that runs `command`. Slurm sends SIGUSR1 before the time limit, after
/// which the task queues itself again. It sends SIGTERM if the user cancels the task or another job
/// needs its node; in the second case Slurm itself queues the task again.
pub fn restarting_script(comment: &str, command: &str) -> String {
    format!(
        r#"#!/bin/sh
# Written by rhae. {comment}
stop() {{
    kill -TERM "$child"
    wait "$child"
}}
again() {{
    stop
    [ "${{SLURM_RESTART_COUNT:-0}}" -lt {MAX_RESTARTS} ] || exit 1
    scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
    exit 0
}}
trap again USR1
trap 'stop; exit 143' TERM
{command} &
child=$!
wait "$child"
"#
    )
}

/// Submits a job and returns its id.
///
/// # Errors
///
/// Returns an error if Slurm is missing or refuses the job.
pub fn submit(submission: &Submission<'_>) -> Result<String, DistributeError> {
    let mut command = Command::new("sbatch");
    command.arg("--parsable").args(submission.options);
    if let Some(partition) = submission.partition {
        command.arg(format!("--partition={partition}"));
    }
    command
        .arg("--output")
        .arg(submission.log)
        .arg(submission.script);
    for (name, _) in std::env::vars_os() {
        if is_secret(&name) {
            command.env_remove(name);
        }
    }
    let answer = output(&mut command)?;
    // In a federation, the name of the cluster follows.
    let id = answer.trim().split(';').next().unwrap_or_default();
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!(
            "sbatch answered `{}` instead of the id of a job",
            answer.trim()
        );
        return Err(DistributeError::Workers(message));
    }
    Ok(id.to_owned())
}

/// Cancels a job. A job that has ended is no error.
///
/// # Errors
///
/// Returns an error if Slurm refuses.
pub fn cancel(job: &str) -> Result<(), DistributeError> {
    output(Command::new("scancel").arg(job)).map(drop)
}

/// Returns whether a job is waiting or running. A controller that does not answer is asked again.
pub fn is_queued(job: &str) -> bool {
    let mut command = Command::new("squeue");
    command.args(["--noheader", "--format=%T", "--jobs", job]);
    match command.output() {
        Ok(output) if output.status.success() => !output.stdout.trim_ascii().is_empty(),
        // Slurm forgets a job some minutes after its end.
        Ok(output) => !String::from_utf8_lossy(&output.stderr).contains("Invalid job id"),
        Err(_) => true,
    }
}

/// Returns the maximum number of tasks of an array.
///
/// # Errors
///
/// Returns an error if Slurm is missing or does not answer.
pub fn max_array_size() -> Result<u32, DistributeError> {
    let value = setting("MaxArraySize")?.and_then(|value| value.parse().ok());
    Ok(value.unwrap_or(1001))
}

/// Returns the address of the controller.
///
/// # Errors
///
/// Returns an error if Slurm is missing or does not answer.
pub fn controller() -> Result<String, DistributeError> {
    // For example `head(10.0.0.1)` or `head`.
    let host = setting("SlurmctldHost[0]")?.unwrap_or_default();
    let address = host
        .split_once('(')
        .map_or(host.as_str(), |(_, rest)| rest.trim_end_matches(')'));
    let port = setting("SlurmctldPort")?.unwrap_or_default();
    let port = port.split('-').next().unwrap_or_default();
    Ok(format!("{address}:{port}"))
}

fn setting(name: &str) -> Result<Option<String>, DistributeError> {
    let config = output(Command::new("scontrol").args(["show", "config"]))?;
    let mut settings = config.lines().filter_map(|line| line.split_once('='));
    let found = settings.find(|(key, _)| key.trim() == name);
    Ok(found.map(|(_, value)| value.trim().to_owned()))
}

/// Runs a program of Slurm and returns its output.
fn output(command: &mut Command) -> Result<String, DistributeError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => DistributeError::Workers(format!(
            "`{name}` is not installed here; start the command on a machine from which jobs can be submitted"
        )),
        _ => DistributeError::Workers(format!("cannot start `{name}`: {error}")),
    })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(DistributeError::Workers(format!(
            "{name} failed: {}",
            message.trim()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Writes a script and returns its path.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub fn write_script(folder: &Path, name: &str, text: &str) -> Result<PathBuf, RunsError> {
    let path = folder.join(name);
    fs::write(&path, text).map_err(RunsError::file("write", &path))?;
    Ok(path)
}

fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    SECRETS.iter().any(|part| name.contains(part))
}

/// Quotes words for a shell.
pub fn quoted_all(words: &[OsString]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// Quotes a word for a shell.
pub fn quoted(word: &OsStr) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["a b", "it's", "$HOME", ""];
        let quoted = quoted_all(&words.map(OsString::from));
        let script = format!("for word in {quoted}; do echo \"<$word>\"; done");
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text, "<a b>\n<it's>\n<$HOME>\n<>\n");
    }

    #[test]
    fn secrets_are_recognised_by_their_names() {
        for name in ["ARC_API_KEY", "hf_token", "AWS_SECRET", "PGPASSWORD"] {
            assert!(is_secret(name.as_ref()), "{name}");
        }
        assert!(!is_secret("PATH".as_ref()));
    }
}

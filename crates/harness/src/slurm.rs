//! A run as a Slurm array: one task for each shard, and a job that merges them.
//!
//! **Invariant:** everything can be repeated. A task that Slurm starts again continues its shard, and
//! the same command continues the run.
//!
//! **Invariant:** no variable whose name looks like that of a secret is passed to Slurm, which stores
//! the environment of a job.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rhae_protocol::JournalLine;
use rhae_runs::{CONFIG, RunsError, load_lines};

use crate::journal::plays;
use crate::run::progress_of;
use crate::{HarnessError, Progress};

/// The interval between two questions to Slurm.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The interval at which an interruption is noticed.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);
/// The time that a task has to write partial results before its time limit, in seconds.
const NOTICE_S: u32 = 90;
/// The number of times that a task queues itself again, so that a play that takes longer than the time
/// limit does not do so forever.
const MAX_RESTARTS: u32 = 50;
/// Parts of the names of variables that may be secrets.
const SECRETS: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];

/// A run that Slurm is to execute.
#[derive(Clone, Debug)]
pub struct SlurmRequest {
    /// The partition; that of the site if absent.
    pub partition: Option<String>,
    /// The number of shards, which is reduced to the maximum size of an array.
    pub shards: u32,
    /// The program and the arguments that describe the run, without its folder.
    pub command: Vec<OsString>,
    /// The folder of the complete run.
    pub out: PathBuf,
    /// The number of plays of the run, for its progress.
    pub plays: usize,
}

/// The jobs of a run.
#[derive(Clone, Debug)]
pub struct SlurmRun {
    /// The id of the array.
    pub array: String,
    /// The id of the job that merges the shards.
    pub merge: String,
    /// The folder with the shards, the scripts and the logs.
    pub folder: PathBuf,
    request: SlurmRequest,
}

impl SlurmRequest {
    /// Submits the jobs.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder of the run exists, a script cannot be written, or Slurm refuses
    /// a job.
    pub fn submit(mut self) -> Result<SlurmRun, HarnessError> {
        if fs::read_dir(&self.out).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(RunsError::FolderInUse(self.out).into());
        }
        self.out = std::path::absolute(&self.out).map_err(RunsError::file("find", &self.out))?;
        self.shards = self.shards.min(max_array_size()?).max(1);
        let folder = self.folder();
        fs::create_dir_all(&folder).map_err(RunsError::file("create", &folder))?;
        let shard = write_script(&folder, "shard.sh", &self.shard_script(&folder))?;
        let merge = write_script(&folder, "merge.sh", &self.merge_script(&folder))?;
        let tasks = format!("--array=0-{}", self.shards - 1);
        let signal = format!("--signal=B:USR1@{NOTICE_S}");
        let array = self.sbatch(
            &[
                "--job-name=rhae",
                &tasks,
                "--requeue",
                "--open-mode=append",
                &signal,
            ],
            &folder.join("shard-%a.log"),
            &shard,
        )?;
        let dependency = format!("--dependency=afterany:{array}");
        let merge = self.sbatch(
            &["--job-name=rhae-merge", &dependency],
            &folder.join("merge.log"),
            &merge,
        )?;
        Ok(SlurmRun {
            array,
            merge,
            folder,
            request: self,
        })
    }

    /// Returns the folder of the shards, next to the folder of the run.
    fn folder(&self) -> PathBuf {
        let mut name = self.out.clone().into_os_string();
        name.push(".shards");
        PathBuf::from(name)
    }

    fn sbatch(&self, options: &[&str], log: &Path, script: &Path) -> Result<String, HarnessError> {
        let mut command = Command::new("sbatch");
        command.arg("--parsable").args(options);
        if let Some(partition) = &self.partition {
            command.arg(format!("--partition={partition}"));
        }
        command.arg("--output").arg(log).arg(script);
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
            return Err(HarnessError::Work(message));
        }
        Ok(id.to_owned())
    }

    /// Returns the script of a task. Slurm sends SIGUSR1 before the time limit, after which the task
    /// queues itself again. It sends SIGTERM if the user cancels the task or another job needs its
    /// node; in the second case Slurm itself queues the task again.
    fn shard_script(&self, folder: &Path) -> String {
        format!(
            r#"#!/bin/sh
# Written by rhae. Plays one shard of a run; starting it again continues the shard.
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
{} --shard "$SLURM_ARRAY_TASK_ID/{}" --out {}/"$SLURM_ARRAY_TASK_ID" &
child=$!
wait "$child"
"#,
            quoted_all(&self.command),
            self.shards,
            quoted(folder.as_os_str())
        )
    }

    fn merge_script(&self, folder: &Path) -> String {
        let shards: Vec<OsString> = (0..self.shards)
            .map(|index| folder.join(index.to_string()).into_os_string())
            .collect();
        format!(
            r#"#!/bin/sh
# Written by rhae. Joins the shards of a run.
exec {} merge {} --out {}
"#,
            quoted(&self.command[0]),
            quoted_all(&shards),
            quoted(self.out.as_os_str())
        )
    }
}

impl SlurmRun {
    /// Waits until the shards are merged. Returns false if `interrupt` became true before; the jobs
    /// then continue.
    ///
    /// # Errors
    ///
    /// Returns an error, with the end of its log, if the job that merges the shards failed.
    pub fn wait(
        &self,
        interrupt: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<bool, HarnessError> {
        while self.is_queued() {
            let asked = Instant::now();
            progress(self.progress());
            while asked.elapsed() < POLL_INTERVAL {
                if interrupt.load(Ordering::Relaxed) {
                    return Ok(false);
                }
                std::thread::sleep(WATCH_INTERVAL);
            }
        }
        if self.request.out.join(CONFIG).exists() {
            return Ok(true);
        }
        let log = self.folder.join("merge.log");
        let text = fs::read_to_string(&log).unwrap_or_default();
        let last = text.trim_end().lines().last().unwrap_or("it has no output");
        Err(HarnessError::Work(format!(
            "the shards are not merged: {last}; the logs are in `{}`, and the same command continues the run",
            self.folder.display()
        )))
    }

    /// Returns whether the job that merges the shards is waiting or running. A controller that does
    /// not answer is asked again.
    fn is_queued(&self) -> bool {
        let mut command = Command::new("squeue");
        command.args(["--noheader", "--format=%T", "--jobs", &self.merge]);
        match command.output() {
            Ok(output) if output.status.success() => !output.stdout.trim_ascii().is_empty(),
            // Slurm forgets a job some minutes after its end.
            Ok(output) => !String::from_utf8_lossy(&output.stderr).contains("Invalid job id"),
            Err(_) => true,
        }
    }

    fn progress(&self) -> Progress {
        let lines = |index: u32| {
            let lines = load_lines::<JournalLine>(&self.folder.join(index.to_string()));
            lines.unwrap_or_default()
        };
        let done = (0..self.request.shards).flat_map(|index| plays(lines(index)));
        progress_of(&done.collect::<Vec<_>>(), self.request.plays)
    }
}

/// Returns the maximum number of tasks of an array.
fn max_array_size() -> Result<u32, HarnessError> {
    let config = output(Command::new("scontrol").args(["show", "config"]))?;
    let line = config.lines().find(|line| line.starts_with("MaxArraySize"));
    let value = line.and_then(|line| line.split('=').nth(1)?.trim().parse().ok());
    Ok(value.unwrap_or(1001))
}

/// Runs a program of Slurm and returns its output.
fn output(command: &mut Command) -> Result<String, HarnessError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => HarnessError::Work(format!(
            "`{name}` is not installed here; start the command on a machine from which jobs can be submitted"
        )),
        _ => HarnessError::Work(format!("cannot start `{name}`: {error}")),
    })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(HarnessError::Work(format!(
            "{name} failed: {}",
            message.trim()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn write_script(folder: &Path, name: &str, text: &str) -> Result<PathBuf, HarnessError> {
    let path = folder.join(name);
    fs::write(&path, text).map_err(RunsError::file("write", &path))?;
    Ok(path)
}

fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    SECRETS.iter().any(|part| name.contains(part))
}

fn quoted_all(words: &[OsString]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// Quotes a word for a shell.
fn quoted(word: &OsStr) -> String {
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

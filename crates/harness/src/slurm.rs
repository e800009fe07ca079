//! A run as a Slurm array: one task for each shard, and a job that merges them.
//!
//! **Invariant:** everything can be repeated. A task that Slurm starts again continues its shard, and
//! the same command continues the run.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rhae_protocol::JournalLine;
use rhae_runs::{CONFIG, RunsError, load_lines};
use rhae_work_service::slurm::{
    POLL_INTERVAL, Submission, array_options, is_queued, max_array_size, quoted, quoted_all,
    restarting_script, submit, write_script,
};

use crate::journal::plays;
use crate::run::progress_of;
use crate::{HarnessError, Progress};

/// The interval at which an interruption is noticed.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

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
        let partition = self.partition.as_deref();
        let mut options = array_options(self.shards).to_vec();
        options.push("--job-name=rhae".to_owned());
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let array = submit(&Submission {
            partition,
            options: &options,
            log: &folder.join("shard-%a.log"),
            script: &shard,
        })?;
        let dependency = format!("--dependency=afterany:{array}");
        let merge = submit(&Submission {
            partition,
            options: &["--job-name=rhae-merge", &dependency],
            log: &folder.join("merge.log"),
            script: &merge,
        })?;
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

    /// Returns the script of a task.
    fn shard_script(&self, folder: &Path) -> String {
        let command = format!(
            r#"{} --shard "$SLURM_ARRAY_TASK_ID/{}" --out {}/"$SLURM_ARRAY_TASK_ID""#,
            quoted_all(&self.command),
            self.shards,
            quoted(folder.as_os_str())
        );
        let comment = "Plays one shard of a run; starting it again continues the shard.";
        restarting_script(comment, &command)
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
        while is_queued(&self.merge) {
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

    fn progress(&self) -> Progress {
        let lines = |index: u32| {
            let lines = load_lines::<JournalLine>(&self.folder.join(index.to_string()));
            lines.unwrap_or_default()
        };
        let done = (0..self.request.shards).flat_map(|index| plays(lines(index)));
        progress_of(&done.collect::<Vec<_>>(), self.request.plays)
    }
}

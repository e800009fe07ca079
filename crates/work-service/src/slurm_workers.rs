//! Workers as the tasks of a Slurm array, for work that is not divided into shards.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::slurm::{
    POLL_INTERVAL, Submission, array_options, cancel, is_queued, max_array_size, quoted_all,
    restarting_script, submit, write_script,
};
use crate::{Coordinator, DistributeError, WorkerCommand, Workload};

/// The interval at which the coordinator is checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// Workers on a Slurm cluster.
#[derive(Clone, Debug)]
pub struct SlurmWorkers {
    /// The partition; that of the site if absent.
    pub partition: Option<String>,
    /// The number of workers, which is reduced to the maximum size of an array.
    pub workers: u32,
    /// The command of a worker, without its name. Its files must be in a folder that nodes share.
    pub command: WorkerCommand,
    /// A folder that the nodes share, for the script and the logs.
    pub folder: PathBuf,
}

/// Executes the units of a coordinator with the tasks of a Slurm array, like
/// [`run_local_workers`](crate::run_local_workers). The array is cancelled at the end. `notify` receives
/// its id.
///
/// # Errors
///
/// Returns an error if Slurm refuses the array, or all tasks end before the work is over.
pub fn run_slurm_workers<W: Workload>(
    coordinator: &Coordinator<W>,
    request: &SlurmWorkers,
    interrupt: &AtomicBool,
    notify: &dyn Fn(&str),
    progress: &mut dyn FnMut(),
) -> Result<(), DistributeError> {
    let tasks = request.workers.min(max_array_size()?).max(1);
    let folder = std::path::absolute(&request.folder)
        .map_err(rhae_runs::RunsError::file("find", &request.folder))?;
    let script = write_script(&folder, ".slurm_worker.sh", &script(&request.command))?;
    let mut options = array_options(tasks).to_vec();
    options.push("--job-name=rhae-work".to_owned());
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let log = folder.join("worker-%a.log");
    let array = submit(&Submission {
        partition: request.partition.as_deref(),
        options: &options,
        log: &log,
        script: &script,
    })?;
    notify(&array);
    let result = wait(coordinator, &array, &log, interrupt, progress);
    // Workers that have nothing to do have ended; the others return their units.
    cancel(&array)?;
    let _ = std::fs::remove_file(script);
    result?;
    coordinator.end_all_workers()
}

fn wait<W: Workload>(
    coordinator: &Coordinator<W>,
    array: &str,
    log: &Path,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(),
) -> Result<(), DistributeError> {
    let mut asked = Instant::now();
    loop {
        if coordinator.is_over() || interrupt.load(Ordering::Relaxed) {
            return Ok(());
        }
        progress();
        if asked.elapsed() >= POLL_INTERVAL {
            if !is_queued(array) && !coordinator.is_over() {
                return Err(DistributeError::Workers(format!(
                    "all tasks of the array {array} have ended; their messages are in `{}`",
                    log.display()
                )));
            }
            asked = Instant::now();
        }
        std::thread::sleep(WATCH_INTERVAL);
    }
}

/// Returns the script of a task. A task that starts again is another worker.
fn script(command: &WorkerCommand) -> String {
    let mut words: Vec<OsString> = vec![command.program.clone()];
    words.extend(command.arguments.iter().cloned());
    let name = r#""slurm-${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}-${SLURM_RESTART_COUNT:-0}""#;
    restarting_script(
        "Executes units of work until the coordinator has no more.",
        &format!("{} --name {name}", quoted_all(&words)),
    )
}

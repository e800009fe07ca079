//! A worker: leases plays from a coordinator, executes them and reports the results.
//!
//! **Invariant:** a worker that loses its coordinator or its lease stops its play. What it reports
//! under an old lease is refused by the coordinator.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rhae_engine::Catalog;
use rhae_protocol::{
    LeaseName, LeaseReply, LeaseRequest, PlayResult, RunConfig, SOFTWARE, WorkErrorCode, WorkJob,
    WorkLease, WorkRefusal, WorkReport, WorkerHello,
};
use rhae_runs::{RunFolder, RunsError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::coordinator::is_file_of;
use crate::location::{open_local, source_digests};
use crate::request::agent_of;
use crate::run::play_unit;
use crate::software::software_digest;
use crate::{HarnessError, RunSpec};

/// The pause before a worker asks again for a unit, and before it repeats a request.
const PAUSE: Duration = Duration::from_millis(200);
/// The time limit of one request. The coordinator replays a recording before it answers.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(600);
/// The time after which a worker gives up a coordinator that does not answer.
const RETRY_LIMIT: Duration = Duration::from_secs(60);

/// How a worker reaches its coordinator.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The address of the coordinator, such as `http://127.0.0.1:4000`.
    pub url: String,
    /// The token of the coordinator.
    pub token: String,
    /// A name that no other process has.
    pub name: String,
    /// A folder for the files of plays in progress.
    pub scratch: PathBuf,
    /// The folders of hosted games; by default those of the run.
    pub games_dirs: Vec<PathBuf>,
}

/// Executes plays until the coordinator has no more, or `interrupt` becomes true: then the play in
/// progress is returned to the coordinator. `load` returns the built-in environments and the games of
/// folders. Returns the number of results that the coordinator accepted.
///
/// # Errors
///
/// Returns an error if the coordinator refuses the worker or does not answer, or a file cannot be
/// written.
pub fn work<E: From<HarnessError>>(
    options: &WorkerOptions,
    load: impl Fn(&[PathBuf]) -> Result<Arc<dyn Catalog>, E>,
    interrupt: &AtomicBool,
) -> Result<u64, E> {
    let client = Client::new(options, interrupt);
    let hello = WorkerHello {
        software: SOFTWARE.to_owned(),
        software_digest: software_digest()?,
    };
    let job: WorkJob = client.post("job", &hello).map_err(HarnessError::from)?;
    let games = open_local(&job.config, &options.games_dirs, load)?;
    let worker = Worker {
        client,
        job,
        games,
        options,
    };
    Ok(worker.run(interrupt)?)
}

struct Worker<'a> {
    client: Client<'a>,
    job: WorkJob,
    games: Arc<dyn Catalog>,
    options: &'a WorkerOptions,
}

impl Worker<'_> {
    fn run(&self, interrupt: &AtomicBool) -> Result<u64, HarnessError> {
        let request = LeaseRequest {
            worker: self.options.name.clone(),
            source_digests: source_digests(self.games.as_ref()),
        };
        let mut accepted = 0;
        while !interrupt.load(Ordering::Relaxed) {
            match self.client.post("lease", &request)? {
                LeaseReply::Leased(lease) => accepted += u64::from(self.play(&lease, interrupt)?),
                LeaseReply::Wait => std::thread::sleep(PAUSE),
                LeaseReply::Finished => break,
            }
        }
        Ok(accepted)
    }

    /// Executes a play and reports it. Returns whether the coordinator accepted the result.
    fn play(&self, lease: &WorkLease, interrupt: &AtomicBool) -> Result<bool, HarnessError> {
        let name = LeaseName {
            unit: lease.unit.clone(),
            epoch: lease.epoch,
        };
        let scratch = self
            .options
            .scratch
            .join(format!("{}-{}", lease.unit, lease.epoch));
        let folder = RunFolder::create(&scratch, &self.job.config)?;
        let result = self.play_renewing(lease, &name, folder, interrupt);
        let accepted = match result? {
            Some(result) => {
                let report = report(&name, result, &scratch)?;
                self.is_accepted(self.client.post("result", &report))?
            }
            // A lease that cannot be returned expires.
            None => {
                drop(self.client.post::<()>("release", &name));
                false
            }
        };
        fs::remove_dir_all(&scratch).map_err(RunsError::file("remove", &scratch))?;
        Ok(accepted)
    }

    /// Returns whether a request succeeded. A stale lease is no error of the worker.
    fn is_accepted(&self, answer: Result<(), WorkError>) -> Result<bool, HarnessError> {
        match answer {
            Ok(()) => Ok(true),
            Err(WorkError::Refused(WorkRefusal {
                error: WorkErrorCode::StaleLease,
                ..
            })) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Executes a play and renews its lease in the meantime. Returns `None` if the play was stopped.
    fn play_renewing(
        &self,
        lease: &WorkLease,
        name: &LeaseName,
        folder: RunFolder,
        interrupt: &AtomicBool,
    ) -> Result<Option<PlayResult>, HarnessError> {
        let spec = RunSpec {
            agent: agent_of(&self.job.config)?,
            config: RunConfig {
                // The coordinator enforces the time limit of the run.
                run_timeout_ms: None,
                ..self.job.config.clone()
            },
            folder,
            jobs: 1,
            resumed: false,
        };
        let stop = AtomicBool::new(false);
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| self.renew_until(name, &ended, &stop, interrupt));
            let result = play_unit(&spec, &self.games, lease.repeat, &lease.game_id, &stop);
            ended.store(true, Ordering::Relaxed);
            result
        })
    }

    /// Renews a lease until the play has ended. Stops the play if the lease is lost, the coordinator
    /// does not answer, or the worker is interrupted.
    fn renew_until(
        &self,
        name: &LeaseName,
        ended: &AtomicBool,
        stop: &AtomicBool,
        interrupt: &AtomicBool,
    ) {
        let heartbeat = Duration::from_millis(self.job.heartbeat_ms);
        let mut renewed = Instant::now();
        while !ended.load(Ordering::Relaxed) {
            let is_lost =
                renewed.elapsed() >= heartbeat && self.client.post::<()>("renew", name).is_err();
            if is_lost || interrupt.load(Ordering::Relaxed) {
                return stop.store(true, Ordering::Relaxed);
            }
            if renewed.elapsed() >= heartbeat {
                renewed = Instant::now();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Reads the files of a play.
fn report(
    name: &LeaseName,
    result: PlayResult,
    scratch: &Path,
) -> Result<WorkReport, HarnessError> {
    let path = scratch.join(&result.recording);
    let recording = if path.exists() {
        Some(fs::read_to_string(&path).map_err(RunsError::file("read", &path))?)
    } else {
        None
    };
    let mut files = BTreeMap::new();
    for folder in ["recordings", "outputs"] {
        add_files(scratch, &scratch.join(folder), &result, &mut files)?;
    }
    Ok(WorkReport {
        unit: name.unit.clone(),
        epoch: name.epoch,
        result,
        recording,
        files,
    })
}

/// Adds the files of a folder that belong to a play, in base64. Symbolic links are not followed.
fn add_files(
    scratch: &Path,
    folder: &Path,
    play: &PlayResult,
    files: &mut BTreeMap<String, String>,
) -> Result<(), HarnessError> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for entry in entries {
        let entry = entry.map_err(RunsError::file("read", folder))?;
        let (path, kind) = (entry.path(), entry.file_type());
        let kind = kind.map_err(RunsError::file("read", folder))?;
        if kind.is_dir() {
            add_files(scratch, &path, play, files)?;
            continue;
        }
        let name = path.strip_prefix(scratch).expect("the folder is below");
        if let Some(text) = name
            .to_str()
            .filter(|_| kind.is_file() && is_file_of(play, name))
        {
            let content = fs::read(&path).map_err(RunsError::file("read", &path))?;
            files.insert(text.to_owned(), BASE64_STANDARD.encode(content));
        }
    }
    Ok(())
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
enum WorkError {
    #[error("{}", .0.message)]
    Refused(WorkRefusal),
    #[error("the coordinator at {url} does not answer: {reason}")]
    Unreachable { url: String, reason: String },
}

impl From<WorkError> for HarnessError {
    fn from(error: WorkError) -> Self {
        Self::Work(error.to_string())
    }
}

/// Sends requests to the coordinator, and repeats those that got no answer. All of them can be
/// repeated: a repeated lease ends when it is not renewed.
struct Client<'a> {
    agent: ureq::Agent,
    options: &'a WorkerOptions,
    /// A worker that is interrupted sends a request once.
    interrupt: &'a AtomicBool,
}

impl<'a> Client<'a> {
    fn new(options: &'a WorkerOptions, interrupt: &'a AtomicBool) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(REQUEST_TIMEOUT))
            .max_redirects(0)
            .build();
        Self {
            agent: config.into(),
            options,
            interrupt,
        }
    }

    fn post<T: DeserializeOwned>(&self, name: &str, body: &impl Serialize) -> Result<T, WorkError> {
        let started = Instant::now();
        loop {
            match self.post_once(name, body) {
                Ok(answer) => return answer,
                Err(reason)
                    if started.elapsed() >= RETRY_LIMIT
                        || self.interrupt.load(Ordering::Relaxed) =>
                {
                    return Err(WorkError::Unreachable {
                        url: self.options.url.clone(),
                        reason,
                    });
                }
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Sends a request once. The outer error says why there is no answer.
    fn post_once<T: DeserializeOwned>(
        &self,
        name: &str,
        body: &impl Serialize,
    ) -> Result<Result<T, WorkError>, String> {
        let url = format!("{}/work/{name}", self.options.url.trim_end_matches('/'));
        let body = serde_json::to_vec(body).map_err(|error| error.to_string())?;
        let mut response = self
            .agent
            .post(&url)
            .header("Authorization", format!("Bearer {}", self.options.token))
            .header("Content-Type", "application/json")
            .send(&body[..])
            .map_err(|error| error.to_string())?;
        let status = response.status().as_u16();
        let text = response
            .body_mut()
            .read_to_string()
            .map_err(|error| error.to_string())?;
        if status == 200 {
            let answer = serde_json::from_str(&text);
            return answer.map(Ok).map_err(|error| error.to_string());
        }
        serde_json::from_str(&text)
            .map(|refusal| Err(WorkError::Refused(refusal)))
            .map_err(|_| format!("it answered with the status {status}"))
    }
}

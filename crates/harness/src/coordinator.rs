//! The coordinator of a run whose plays other processes execute.
//!
//! It answers the requests of workers. `rhae-work` decides which worker has which play; the
//! coordinator stores what was decided, and what workers report.
//!
//! **Invariant:** a result is written to the journal of the run only after its recording was replayed
//! here with the same counts, under the current lease of its play, and after the recording is synced.
//!
//! **Invariant:** a decision is synced to `leases.jsonl` before a worker learns it, so a coordinator
//! that is killed and resumed issues no epoch twice.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rhae_agents::{AgentSpec, log_path};
use rhae_engine::Catalog;
use rhae_protocol::{
    Digest, JournalLine, LeaseName, LeaseReply, LeaseRequest, PlayResult, RunConfig, SOFTWARE,
    UnitKey, WorkErrorCode, WorkEvent, WorkJob, WorkLease, WorkRefusal, WorkReport, WorkerHello,
};
use rhae_runs::{Journal, RunFolder, RunsError, now_ms};
use rhae_work::{Job, LeasePolicy, Phase, Rejection, Unit, units};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::conclusion::{EarlierProcesses, Times, conclude};
use crate::first_request::recording_name;
use crate::journal::plays;
use crate::run::progress_of;
use crate::software::software_digest;
use crate::verified_play::verify_play;
use crate::{HarnessError, LocatedRun, Progress, Results};

/// The log of leases in a run folder.
const LEASES: &str = "leases.jsonl";
/// The maximum number of repeated results that differed from the accepted ones, of which the user is
/// told.
const MAX_NOTES: usize = 20;

/// The coordinator of a run. All functions can be called from several threads.
pub struct Coordinator {
    config: RunConfig,
    folder: RunFolder,
    games: Arc<dyn Catalog>,
    units: BTreeMap<UnitKey, Unit>,
    software_digest: Digest,
    earlier: EarlierProcesses,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    job: Job,
    leases: Journal<WorkEvent>,
    journal: Journal<JournalLine>,
    done: Vec<PlayResult>,
    notes: Vec<String>,
}

/// The response to a request of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkAnswer {
    /// The HTTP status.
    pub status: u16,
    /// A JSON document.
    pub body: String,
}

/// Why a request is refused.
struct Refused(WorkErrorCode, String);

impl From<Rejection> for Refused {
    fn from(rejection: Rejection) -> Self {
        let code = match rejection {
            Rejection::UnknownUnit(_) => WorkErrorCode::InvalidRequest,
            _ => WorkErrorCode::StaleLease,
        };
        Self(code, rejection.to_string())
    }
}

impl From<RunsError> for Refused {
    fn from(error: RunsError) -> Self {
        Self(WorkErrorCode::Failed, error.to_string())
    }
}

impl Coordinator {
    /// Opens the coordinator of a run, which may be a new one or one that an earlier process started.
    ///
    /// # Errors
    ///
    /// Returns an error if the run uses a server or a model, another process uses the folder, or the
    /// log of leases is damaged.
    pub fn open(run: &LocatedRun, policy: LeasePolicy) -> Result<Self, HarnessError> {
        let spec = &run.spec;
        let invalid = |message: &str| HarnessError::Request(message.to_owned());
        let games = run.local_games();
        let games =
            games.ok_or_else(|| invalid("--on is for local environments; remove --server"))?;
        if matches!(spec.agent, AgentSpec::Model(_) | AgentSpec::External(_)) {
            return Err(invalid(
                "--on does not distribute agents with a model; use --shard, which divides --max-cost among the shards",
            ));
        }
        if spec.config.tiers.is_some() {
            return Err(invalid(
                "which plays of a run with --tiers take place depends on earlier ones; remove --on",
            ));
        }
        spec.folder.create_subfolder("recordings")?;
        if spec.config.agent_cmd.is_some() {
            spec.folder.create_subfolder("outputs")?;
        }
        let (journal, lines) = Journal::open(&spec.folder)?;
        let earlier = EarlierProcesses::of(&lines);
        let (leases, events) = Journal::<WorkEvent>::open_named(&spec.folder, LEASES)?;
        let all = units(&spec.config);
        let mut job = Job::new(policy, all.iter().map(|unit| unit.key.clone()), None);
        let damaged = |error: rhae_work::LogError| HarnessError::Config(error.to_string());
        for event in &events {
            job.apply(event).map_err(damaged)?;
        }
        let done = plays(lines);
        let now = now_ms();
        let adopted = all.iter().filter(|unit| {
            let of_unit =
                |play: &PlayResult| play.repeat == unit.repeat && play.game_id == unit.game_id;
            done.iter().any(of_unit)
        });
        // Of the workers of an earlier coordinator, none knows the address of this one.
        let adopted = adopted.filter_map(|unit| job.adopt(&unit.key));
        let events: Vec<WorkEvent> = adopted.collect();
        let coordinator = Self {
            config: spec.config.clone(),
            folder: spec.folder.clone(),
            games: Arc::clone(games),
            units: all
                .into_iter()
                .map(|unit| (unit.key.clone(), unit))
                .collect(),
            software_digest: software_digest()?,
            earlier,
            started: Instant::now(),
            state: Mutex::new(State {
                job,
                leases,
                journal,
                done,
                notes: Vec::new(),
            }),
        };
        {
            let mut state = coordinator.state();
            state.append(events)?;
            let lost = state.job.expire(u64::MAX);
            state.append(lost)?;
            if coordinator.earlier.finished_ms.is_none() || !state.job.is_finished() {
                state.journal.append(&JournalLine::Started {
                    at_ms: now,
                    resumed: spec.resumed,
                })?;
            }
        }
        Ok(coordinator)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Events are applied one by one, and each application is complete or has no effect.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request of a worker. The caller has checked its token.
    pub fn answer(&self, path: &str, body: &[u8]) -> WorkAnswer {
        let answer = match path {
            "/work/job" => parse(body).and_then(|hello| to_json(&self.job(&hello)?)),
            "/work/lease" => parse(body).and_then(|request| to_json(&self.lease(&request)?)),
            "/work/renew" => parse(body).and_then(|lease| to_json(&self.renew(&lease)?)),
            "/work/release" => parse(body).and_then(|lease| to_json(&self.release(&lease)?)),
            "/work/result" => parse(body).and_then(|report| to_json(&self.report(&report)?)),
            _ => Err(Refused(
                WorkErrorCode::InvalidRequest,
                "a coordinator has no such path".to_owned(),
            )),
        };
        match answer {
            Ok(body) => WorkAnswer { status: 200, body },
            Err(Refused(error, message)) => Self::refusal(error, message),
        }
    }

    /// Returns the response to a refused request.
    pub fn refusal(error: WorkErrorCode, message: String) -> WorkAnswer {
        let refusal = WorkRefusal { error, message };
        WorkAnswer {
            status: error.status(),
            body: serde_json::to_string(&refusal).expect("a refusal is valid JSON"),
        }
    }

    fn job(&self, hello: &WorkerHello) -> Result<WorkJob, Refused> {
        if hello.software != SOFTWARE || hello.software_digest != self.software_digest {
            return Err(Refused(
                WorkErrorCode::OtherSoftware,
                format!(
                    "the worker is another build of `{}` than the coordinator, `{SOFTWARE}`; start both from the same file",
                    hello.software
                ),
            ));
        }
        let policy = self.state().job.policy();
        Ok(WorkJob {
            config: self.config.clone(),
            heartbeat_ms: policy.heartbeat_ms,
            lease_ms: policy.duration_ms,
        })
    }

    fn lease(&self, request: &LeaseRequest) -> Result<LeaseReply, Refused> {
        for (id, digest) in &self.config.identity.source_digests {
            if request.source_digests.get(id) != Some(digest) {
                return Err(Refused(
                    WorkErrorCode::OtherSoftware,
                    format!("the worker has another source of `{id}` than the coordinator"),
                ));
            }
        }
        let now = now_ms();
        let mut state = self.state();
        let expired = state.job.expire(now);
        state.append(expired)?;
        let Some(event) = state.job.lease(&request.worker, now) else {
            return Ok(if state.job.is_finished() {
                LeaseReply::Finished
            } else {
                LeaseReply::Wait
            });
        };
        let WorkEvent::Leased { unit, epoch, .. } = &event else {
            unreachable!("a decision about a lease is a lease")
        };
        let play = &self.units[unit];
        let lease = WorkLease {
            unit: unit.clone(),
            epoch: *epoch,
            repeat: play.repeat,
            game_id: play.game_id.clone(),
        };
        state.append([event])?;
        Ok(LeaseReply::Leased(lease))
    }

    fn renew(&self, lease: &LeaseName) -> Result<(), Refused> {
        let mut state = self.state();
        let event = state.job.renew(&lease.unit, lease.epoch, now_ms())?;
        Ok(state.append([event])?)
    }

    fn release(&self, lease: &LeaseName) -> Result<(), Refused> {
        let mut state = self.state();
        let event = state.job.release(&lease.unit, lease.epoch)?;
        Ok(state.append([event])?)
    }

    /// Verifies and stores a result.
    fn report(&self, report: &WorkReport) -> Result<(), Refused> {
        let unverified = |reason: String| Refused(WorkErrorCode::NotVerified, reason);
        let WorkReport { unit, epoch, .. } = report;
        let result = &report.result;
        let play = self
            .units
            .get(unit)
            .filter(|play| play.repeat == result.repeat && play.game_id == result.game_id);
        if play.is_none() {
            return Err(unverified("the result is of another play".to_owned()));
        }
        let recording = report.recording.as_deref();
        // The replay takes as long as the play did, so it happens outside the lock.
        let digest = verify_play(&self.config, self.games.as_ref(), result, recording)
            .map_err(|reason| unverified(format!("the result is not accepted: {reason}")))?;
        let files = files(report).map_err(unverified)?;
        let mut state = self.state();
        let event = match state.job.commit(unit, *epoch, &digest) {
            Ok(Some(event)) => event,
            Ok(None) => return Ok(()),
            Err(rejection) => {
                if let Some(event) = state.job.discard(unit, *epoch, &digest) {
                    state.note_difference(&event, play);
                    state.append([event])?;
                }
                return Err(rejection.into());
            }
        };
        for (name, content) in files {
            self.folder.write_path(&name, &content)?;
        }
        state.journal.append(&JournalLine::Play {
            at_ms: now_ms(),
            result: result.clone(),
        })?;
        state.done.push(result.clone());
        Ok(state.append([event])?)
    }

    /// Ends the leases of a worker whose process has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the log of leases cannot be written.
    pub fn end_worker(&self, worker: &str) -> Result<(), HarnessError> {
        let mut state = self.state();
        let events = state.job.end_worker(worker);
        Ok(state.append(events)?)
    }

    /// Ends all leases, because no worker is left.
    ///
    /// # Errors
    ///
    /// Returns an error if the log of leases cannot be written.
    pub fn end_all_workers(&self) -> Result<(), HarnessError> {
        let mut state = self.state();
        let events = state.job.expire(u64::MAX);
        Ok(state.append(events)?)
    }

    /// Returns whether every play has its result or is given up.
    pub fn is_finished(&self) -> bool {
        self.state().job.is_finished()
    }

    /// Returns whether the time limit of the run has passed.
    pub fn is_timed_out(&self) -> bool {
        let limit = self.config.run_timeout_ms;
        limit.is_some_and(|limit| {
            let left = limit.saturating_sub(self.earlier.working_ms);
            self.started.elapsed() >= Duration::from_millis(left)
        })
    }

    pub fn progress(&self) -> Progress {
        progress_of(&self.state().done, self.units.len())
    }

    /// Returns notes for the user: plays that were given up, and agents that are not reproducible.
    pub fn notes(&self) -> Vec<String> {
        let state = self.state();
        let mut notes = state.notes.clone();
        for (key, unit) in state.job.units() {
            if unit.phase == Phase::GivenUp {
                let play = &self.units[key];
                notes.push(format!(
                    "{} in repeat {} is given up: {} workers ended while they played it",
                    play.game_id, play.repeat, unit.losses
                ));
            }
        }
        notes
    }

    /// Writes the results of the run.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub fn conclude(&self) -> Result<Results, HarnessError> {
        let state = self.state();
        let finished_ms = self.earlier.finished_ms.filter(|_| state.job.is_finished());
        let own_time = finished_ms.map_or(self.started.elapsed(), |_| Duration::ZERO);
        let now = now_ms();
        let times = Times {
            working: Duration::from_millis(self.earlier.working_ms) + own_time,
            started_ms: self.earlier.started_ms.unwrap_or_else(|| {
                now.saturating_sub(u64::try_from(own_time.as_millis()).unwrap_or(u64::MAX))
            }),
            ended_ms: finished_ms.unwrap_or(now),
        };
        let done = state.done.clone();
        let results = conclude(&self.folder, &self.config, &self.games, done, &times)?;
        if results.summary.finished && finished_ms.is_none() {
            state
                .journal
                .append(&JournalLine::Finished { at_ms: now })?;
        }
        Ok(results)
    }
}

impl State {
    /// Appends decisions to the log and applies them.
    fn append(&mut self, events: impl IntoIterator<Item = WorkEvent>) -> Result<(), RunsError> {
        for event in events {
            self.leases.append(&event)?;
            self.job
                .apply(&event)
                .expect("a decision follows from the state");
        }
        Ok(())
    }

    /// Keeps a note if a discarded result differs from the accepted one.
    fn note_difference(&mut self, event: &WorkEvent, play: Option<&Unit>) {
        let differs = matches!(
            event,
            WorkEvent::Discarded {
                same: Some(false),
                ..
            }
        );
        if let Some(play) = play.filter(|_| differs && self.notes.len() < MAX_NOTES) {
            self.notes.push(format!(
                "the agent is not reproducible: two workers played {} in repeat {} with different results; the first is used",
                play.game_id, play.repeat
            ));
        }
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|error| {
        let message = format!("the body of the request is not valid: {error}");
        Refused(WorkErrorCode::InvalidRequest, message)
    })
}

fn to_json(value: &impl Serialize) -> Result<String, Refused> {
    serde_json::to_string(value).map_err(|error| Refused(WorkErrorCode::Failed, error.to_string()))
}

/// Returns the files of a report: the recording, and the files that [`is_file_of`] allows.
fn files(report: &WorkReport) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let name = recording_name(report.result.repeat, &report.result.game_id);
    let mut files = Vec::new();
    for (path, content) in &report.files {
        let path = PathBuf::from(path);
        if !is_file_of(&report.result, &path) {
            return Err(format!("`{}` is not a file of the play", path.display()));
        }
        let content = BASE64_STANDARD.decode(content);
        files.push((path, content.map_err(|error| error.to_string())?));
    }
    let recording = report
        .recording
        .as_ref()
        .map(|text| text.clone().into_bytes());
    files.extend(recording.map(|text| (PathBuf::from(name), text)));
    Ok(files)
}

/// Returns whether a relative path is that of the standard error or the log of a play, or of a file
/// that its agent wrote.
pub(crate) fn is_file_of(play: &PlayResult, path: &Path) -> bool {
    let recording = PathBuf::from(recording_name(play.repeat, &play.game_id));
    let is_normal = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let outputs = Path::new("outputs").join(&play.guid);
    path == recording.with_extension("stderr.txt")
        || path == log_path(&recording)
        || (is_normal && path.starts_with(&outputs) && path != outputs)
}

#[cfg(test)]
mod tests;

//! The plays of a run as units that other processes execute.
//!
//! **Invariant:** a play is written to the journal of the run only after its recording was replayed
//! here with the same counts, and after the recording is synced.

use std::collections::{BTreeMap, VecDeque};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rhae_agents::log_path;
use rhae_engine::Catalog;
use rhae_protocol::{
    Digest, JournalLine, PlayReport, PlayResult, PlayTask, RunConfig, UnitKey, WorkCost, WorkKind,
};
use rhae_runs::{Journal, RunFolder, RunsError, nano_usd_up, now_ms};
use rhae_work::{Unit, units};
use rhae_work_service::{
    Coordinator, CoordinatorOptions, FolderLog, NamedUnit, WorkLimit, Workload,
};

use crate::conclusion::{EarlierProcesses, Times, conclude};
use crate::first_request::{check_resumed, recording_name};
use crate::journal::plays;
use crate::model_player::logged_usage;
use crate::run::progress_of;
use crate::verified_play::verify_play;
use crate::{HarnessError, LocatedRun, Progress, Results};

/// The plays of a run that workers execute.
pub struct RunWork {
    config: RunConfig,
    folder: RunFolder,
    games: Arc<dyn Catalog>,
    units: BTreeMap<UnitKey, Unit>,
    named: Vec<NamedUnit>,
    earlier: EarlierProcesses,
    started: Instant,
    journal: Journal<JournalLine>,
    done: Mutex<Vec<PlayResult>>,
}

/// A play that was verified, with its files.
pub struct VerifiedPlay {
    result: PlayResult,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl RunWork {
    /// Opens the coordinator of a run, which may be a new one or one that an earlier process started.
    /// The spend limit of the run applies to all workers together. `options` says how units are
    /// leased.
    ///
    /// # Errors
    ///
    /// Returns an error if the run uses a server or tiers, another process uses the folder, its log of
    /// leases is damaged, or no play can send its next request to a model.
    pub fn coordinate(
        run: &LocatedRun,
        options: CoordinatorOptions,
    ) -> Result<Coordinator<Self>, HarnessError> {
        let spec = &run.spec;
        let work = Self::open(run)?;
        if spec.resumed {
            let done = work.done();
            let is_open = |unit: &&Unit| !is_among(&done, unit);
            let waiting = work.units.values().filter(is_open);
            let waiting: VecDeque<(u32, String)> = waiting
                .map(|unit| (unit.repeat, unit.game_id.clone()))
                .collect();
            check_resumed(spec, &work.games, &waiting)?;
        }
        let model = spec.config.model.as_ref();
        let options = match model {
            None => options,
            Some(model) => CoordinatorOptions {
                limit: WorkLimit {
                    // A limit is rounded down, costs are rounded up.
                    nano_usd: model.max_cost_usd.map(|usd| (usd * 1e9 + 1e-3) as u64),
                    tokens: None,
                },
                spent: spent(&spec.folder)?,
                ..options
            },
        };
        let log = FolderLog::open(&spec.folder)?;
        Ok(Coordinator::open(work, Box::new(log), &options)?)
    }

    fn open(run: &LocatedRun) -> Result<Self, HarnessError> {
        let spec = &run.spec;
        let invalid = |message: &str| HarnessError::Request(message.to_owned());
        let games = run.local_games();
        let games =
            games.ok_or_else(|| invalid("--on is for local environments; remove --server"))?;
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
        let done = plays(lines);
        let all = units(&spec.config);
        if earlier.finished_ms.is_none() || !all.iter().all(|unit| is_among(&done, unit)) {
            journal.append(&JournalLine::Started {
                at_ms: now_ms(),
                resumed: spec.resumed,
            })?;
        }
        let named = all.iter().map(|unit| NamedUnit {
            key: unit.key.clone(),
            name: format!("{} in repeat {}", unit.game_id, unit.repeat),
        });
        Ok(Self {
            config: spec.config.clone(),
            folder: spec.folder.clone(),
            games: Arc::clone(games),
            named: named.collect(),
            units: all
                .into_iter()
                .map(|unit| (unit.key.clone(), unit))
                .collect(),
            earlier,
            started: Instant::now(),
            journal,
            done: Mutex::new(done),
        })
    }

    fn done(&self) -> MutexGuard<'_, Vec<PlayResult>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
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
        progress_of(&self.done(), self.units.len())
    }

    /// Writes the results of the run.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub fn conclude(&self) -> Result<Results, HarnessError> {
        let done = self.done().clone();
        let is_finished = self.units.values().all(|unit| is_among(&done, unit));
        let finished_ms = self.earlier.finished_ms.filter(|_| is_finished);
        let own_time = finished_ms.map_or(self.started.elapsed(), |_| Duration::ZERO);
        let now = now_ms();
        let times = Times {
            working: Duration::from_millis(self.earlier.working_ms) + own_time,
            started_ms: self.earlier.started_ms.unwrap_or_else(|| {
                now.saturating_sub(u64::try_from(own_time.as_millis()).unwrap_or(u64::MAX))
            }),
            ended_ms: finished_ms.unwrap_or(now),
        };
        let results = conclude(&self.folder, &self.config, &self.games, done, &times)?;
        if results.summary.finished && finished_ms.is_none() {
            self.journal.append(&JournalLine::Finished { at_ms: now })?;
        }
        Ok(results)
    }

    /// Returns the path of the model log of a unit.
    fn log_of(&self, unit: &Unit) -> PathBuf {
        log_path(
            &self
                .folder
                .file(&recording_name(unit.repeat, &unit.game_id)),
        )
    }
}

impl Workload for RunWork {
    type Task = PlayTask;
    type Report = PlayReport;
    type Verified = VerifiedPlay;

    fn kind(&self) -> WorkKind {
        WorkKind::Play(Box::new(self.config.clone()))
    }

    fn source_digests(&self) -> &BTreeMap<String, String> {
        &self.config.identity.source_digests
    }

    fn units(&self) -> &[NamedUnit] {
        &self.named
    }

    fn is_stored(&self, unit: &UnitKey) -> bool {
        self.units
            .get(unit)
            .is_some_and(|unit| is_among(&self.done(), unit))
    }

    fn task(&self, unit: &UnitKey) -> Result<PlayTask, RunsError> {
        let unit = &self.units[unit];
        let model_log = match self.config.model {
            Some(_) => complete_lines(&self.log_of(unit))?,
            None => String::new(),
        };
        Ok(PlayTask {
            repeat: unit.repeat,
            game_id: unit.game_id.clone(),
            model_log,
        })
    }

    fn verify(&self, unit: &UnitKey, report: PlayReport) -> Result<(Digest, VerifiedPlay), String> {
        let result = &report.result;
        let play = self.units.get(unit);
        play.filter(|play| play.repeat == result.repeat && play.game_id == result.game_id)
            .ok_or("it is of another play")?;
        let recording = report.recording.as_deref();
        let digest = verify_play(&self.config, self.games.as_ref(), result, recording)?;
        let mut files = files(&report)?;
        if self.config.model.is_some() {
            // Its lines are already stored.
            let log = log_path(Path::new(&result.recording));
            files.retain(|(path, _)| *path != log);
        }
        let result = report.result;
        Ok((digest, VerifiedPlay { result, files }))
    }

    fn store(&self, _: &UnitKey, verified: VerifiedPlay) -> Result<(), RunsError> {
        let VerifiedPlay { result, files } = verified;
        for (name, content) in files {
            self.folder.write_path(&name, &content)?;
        }
        self.journal.append(&JournalLine::Play {
            at_ms: now_ms(),
            result: result.clone(),
        })?;
        self.done().push(result);
        Ok(())
    }

    fn append_log(&self, unit: &UnitKey, _: u64, lines: &[String]) -> Result<(), String> {
        if self.config.model.is_none() {
            return Err("the agent of the run has no model".to_owned());
        }
        if lines.iter().any(|line| line.contains('\n')) {
            return Err("a line of a log has no line break".to_owned());
        }
        let path = self.log_of(&self.units[unit]);
        let mut text = lines.join("\n");
        text.push('\n');
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_data()
            })
            .map_err(|error| RunsError::file("write", &path)(error).to_string())
    }
}

fn is_among(done: &[PlayResult], unit: &Unit) -> bool {
    let is_of_unit = |play: &PlayResult| play.repeat == unit.repeat && play.game_id == unit.game_id;
    done.iter().any(is_of_unit)
}

/// Returns what the model logs of a run contain: what was spent, and what was possibly paid.
fn spent(folder: &RunFolder) -> Result<WorkCost, HarnessError> {
    let usage = logged_usage(&folder.file("recordings"))?;
    let usd = usage.cost_usd.unwrap_or(0.0) + usage.possibly_paid_usd.unwrap_or(0.0);
    Ok(WorkCost {
        nano_usd: nano_usd_up(usd),
        tokens: usage.input_tokens.saturating_add(usage.output_tokens),
    })
}

/// Returns the complete lines of a log, and removes a last line that a crash left incomplete.
fn complete_lines(path: &Path) -> Result<String, RunsError> {
    let mut text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(RunsError::file("read", path)(error)),
    };
    let complete = text.rfind('\n').map_or(0, |end| end + 1);
    if complete < text.len() {
        text.truncate(complete);
        OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|file| file.set_len(complete as u64))
            .map_err(RunsError::file("write", path))?;
    }
    Ok(text)
}

/// Returns the files of a report: the recording, and the files that [`is_file_of`] allows.
fn files(report: &PlayReport) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
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

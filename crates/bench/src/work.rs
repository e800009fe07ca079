//! The cost of distributing plays: what a unit costs besides its work, and how well workers are used.
//!
//! Every row starts `rhae run` as a child process and reads the times at which plays ended from its
//! journal. The time before the first play ended, in which workers start, is replaced by the duration
//! of one play.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rhae_protocol::{JournalLine, SOFTWARE};
use rhae_runs::load_lines;
use serde::Serialize;

use crate::BenchError;

/// How plays are distributed.
#[derive(Clone, Debug)]
pub struct WorkOptions {
    /// The program `rhae`.
    pub program: PathBuf,
    /// The engines, such as `local:2`. The first row has no engine.
    pub engines: Vec<String>,
    /// Further arguments of runs with an engine, such as `--python`.
    pub arguments: Vec<OsString>,
    /// The number of workers of every engine, and of parallel plays without one.
    pub workers: u32,
    /// The number of plays that take no time.
    pub short_units: u32,
    /// The number of plays that take `unit_seconds`.
    pub units: u32,
    pub unit_seconds: f64,
}

/// The cost of distributing plays.
#[derive(Serialize)]
pub struct WorkBench {
    pub software: &'static str,
    pub workers: u32,
    pub unit_seconds: f64,
    pub rows: Vec<WorkRow>,
    /// The engines that cannot start on this machine.
    pub skipped: Vec<SkippedEngine>,
}

/// An engine that cannot start on this machine, so that nothing was measured.
#[derive(Serialize)]
pub struct SkippedEngine {
    pub engine: String,
    pub reason: String,
}

/// One engine.
#[derive(Serialize)]
pub struct WorkRow {
    /// The engine; absent for one process with parallel plays.
    pub engine: Option<String>,
    /// The time of a worker for a play that takes no time, in milliseconds.
    pub ms_per_unit: f64,
    /// The same without that of one process.
    pub overhead_ms: f64,
    /// The duration of the plays that take [`WorkBench::unit_seconds`].
    pub seconds: f64,
    /// The share of their duration in one process.
    pub efficiency: f64,
}

impl WorkBench {
    /// Measures all engines. `progress` gets the name of what is measured next.
    ///
    /// # Errors
    ///
    /// Returns an error if a run fails.
    pub fn measure(
        options: &WorkOptions,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, BenchError> {
        let mut rows: Vec<WorkRow> = Vec::new();
        let mut skipped = Vec::new();
        let engines = options.engines.iter().map(Some);
        for engine in [None].into_iter().chain(engines) {
            let name = engine.map_or("one process", |engine| engine.as_str());
            progress(&format!("{name}: short plays"));
            let workers = f64::from(options.workers);
            let short = match (duration(options, engine, options.short_units, 0.0)?, engine) {
                (Measured::Seconds(seconds), _) => seconds,
                (Measured::NotStarted(reason), Some(engine)) if !engine.starts_with("local") => {
                    skipped.push(SkippedEngine {
                        engine: engine.clone(),
                        reason,
                    });
                    continue;
                }
                (Measured::NotStarted(reason), _) => return Err(run_failed(&reason)),
            };
            let ms_per_unit = 1000.0 * short * workers / f64::from(options.short_units);
            progress(&format!("{name}: plays of {} s", options.unit_seconds));
            let seconds = match duration(options, engine, options.units, options.unit_seconds)? {
                Measured::Seconds(seconds) => seconds,
                Measured::NotStarted(reason) => return Err(run_failed(&reason)),
            };
            let first = rows.first();
            rows.push(WorkRow {
                engine: engine.cloned(),
                ms_per_unit,
                overhead_ms: ms_per_unit - first.map_or(ms_per_unit, |row| row.ms_per_unit),
                seconds,
                efficiency: first.map_or(1.0, |row| row.seconds / seconds),
            });
        }
        Ok(Self {
            software: SOFTWARE,
            workers: options.workers,
            unit_seconds: options.unit_seconds,
            rows,
            skipped,
        })
    }
}

impl fmt::Display for WorkBench {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:<24} {:>11} {:>12} {:>9} {:>12}",
            "engine", "ms per unit", "overhead ms", "seconds", "efficiency %"
        )?;
        for row in &self.rows {
            writeln!(
                out,
                "{:<24} {:>11.1} {:>12.1} {:>9.1} {:>12.1}",
                row.engine.as_deref().unwrap_or("one process"),
                row.ms_per_unit,
                row.overhead_ms,
                row.seconds,
                100.0 * row.efficiency
            )?;
        }
        for SkippedEngine { engine, reason } in &self.skipped {
            writeln!(out, "skipped: {engine}: {reason}")?;
        }
        Ok(())
    }
}

/// The result of a run.
enum Measured {
    Seconds(f64),
    /// No play has ended, for this reason.
    NotStarted(String),
}

fn run_failed(message: &str) -> BenchError {
    BenchError::Process(format!("`rhae run` failed: {message}"))
}

/// Plays `units` plays that take `unit_seconds` each, and returns their duration.
fn duration(
    options: &WorkOptions,
    engine: Option<&String>,
    units: u32,
    unit_seconds: f64,
) -> Result<Measured, BenchError> {
    // Nodes of a cluster share the current folder, not the one for temporary files.
    let folder = std::env::current_dir().and_then(|folder| {
        tempfile::Builder::new()
            .prefix(".rhae-bench-")
            .tempdir_in(folder)
    });
    let folder = folder.map_err(BenchError::io(
        "cannot create a folder for the run".to_owned(),
    ))?;
    let out = folder.path().join("run");
    let mut command = Command::new(&options.program);
    command.args(["run", "--games", "kq19", "--budget", "1", "--json", "--out"]);
    command.arg(&out).arg("--repeat").arg(units.to_string());
    if unit_seconds > 0.0 {
        // An agent that waits uses no processor, so other load on the machine matters less.
        command.arg("--agent-cmd").arg(format!(
            "sleep {unit_seconds}; while read -r line; do case \"$line\" in *observation*) \
             echo '{{\"action\":\"ACTION1\"}}';; *'\"end\"'*) exit;; esac; done"
        ));
        command.args(["--step-timeout", &(unit_seconds + 60.0).to_string()]);
    } else {
        command.args(["--agent", "random"]);
    }
    match engine {
        None => drop(command.args(["--jobs", &options.workers.to_string()])),
        Some(engine) => {
            command.args(["--on", engine]);
            if !engine.starts_with("local:") {
                command.args(["--workers", &options.workers.to_string()]);
            }
            if engine.starts_with("slurm") {
                command.args(["--jobs", "1"]);
            }
            command.args(&options.arguments);
        }
    }
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(BenchError::io(format!(
            "cannot start `{}`",
            options.program.display()
        )))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        if has_plays(&out) {
            return Err(run_failed(message.trim()));
        }
        let reason = message.trim().lines().last().unwrap_or_default();
        let reason = reason.strip_prefix("error: ").unwrap_or(reason);
        return Ok(Measured::NotStarted(reason.to_owned()));
    }
    Ok(Measured::Seconds(ended(&out, unit_seconds)?))
}

/// Returns whether a play of the run has ended.
fn has_plays(run: &Path) -> bool {
    let lines = load_lines::<JournalLine>(run).unwrap_or_default();
    let is_play = |line: &JournalLine| matches!(line, JournalLine::Play { .. });
    lines.iter().any(is_play)
}

/// Returns the time from the first play that ended to the last one, and that of one play before.
fn ended(run: &Path, unit_seconds: f64) -> Result<f64, BenchError> {
    let lines: Vec<JournalLine> = load_lines(run)?;
    let times = lines.iter().filter_map(|line| match line {
        JournalLine::Play { at_ms, .. } => Some(*at_ms),
        _ => None,
    });
    let times: Vec<u64> = times.collect();
    let (Some(first), Some(last)) = (times.iter().min(), times.iter().max()) else {
        return Err(BenchError::Process("the run has no plays".to_owned()));
    };
    Ok((last - first) as f64 / 1000.0 + unit_seconds)
}

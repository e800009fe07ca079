//! The tasks of an evaluation as units that other processes execute.
//!
//! Workers send the lines of their journals while they work. The coordinator gives the requests the
//! numbers of the run, and writes the lines to its journal.
//!
//! **Invariant:** the journal of a distributed evaluation is one that a single process could have
//! written: results, costs and `--resume` do not depend on who sent the requests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rhae_protocol::{
    Digest, EvalConfig, EvalEnd, EvalLimits, EvalLine, EvalTarget, EvaluationReport,
    EvaluationTask, EvaluationWork, UnitKey, WorkCost, WorkKind,
};
use rhae_runs::{Journal, RunFolder, RunsError, nano_usd_up, now_ms};
use rhae_tasks::Parser;
use rhae_work::text_digest;
use rhae_work_service::{
    Coordinator, CoordinatorOptions, FolderLog, NamedUnit, WorkLimit, Workload,
};

use crate::ledger::Ledger;
use crate::plan::{Job, Plan};
use crate::results::Tally;
use crate::{EvalError, EvalResults, PreparedEval, Progress, assemble, write_results};

/// The tasks of an evaluation that workers execute.
pub struct EvalWork {
    folder: RunFolder,
    config: EvalConfig,
    limits: EvalLimits,
    retry_failed: bool,
    plan: Plan,
    parser: Parser,
    named: Vec<NamedUnit>,
    units: BTreeMap<UnitKey, TaskUnit>,
    source_digests: BTreeMap<String, String>,
    journal: Journal<EvalLine>,
    started: Instant,
    /// The working time of earlier processes.
    earlier_seconds: f64,
    state: Mutex<State>,
}

/// A task of the plan.
struct TaskUnit {
    set: String,
    task: String,
    targets: BTreeSet<EvalTarget>,
}

struct State {
    ledger: Ledger,
    tally: Tally,
    /// The number of requests that have ended.
    done: usize,
    /// The lines about each task.
    lines: BTreeMap<UnitKey, Vec<EvalLine>>,
    /// The tasks whose attempts are all closed.
    stored: BTreeSet<UnitKey>,
    /// The numbers in the run of the requests of workers.
    numbers: BTreeMap<(UnitKey, u64, u64), u64>,
    next_request: u64,
}

impl EvalWork {
    /// Opens the coordinator of an evaluation. The limits of money and tokens apply to all workers
    /// together. `options` says how units are leased.
    ///
    /// # Errors
    ///
    /// Returns an error if another process uses the folder, or a file in it is damaged.
    pub fn coordinate(
        prepared: PreparedEval,
        parser: Parser,
        retry_failed: bool,
        resumed: bool,
        options: CoordinatorOptions,
    ) -> Result<Coordinator<Self>, EvalError> {
        let limits = prepared.limits;
        let log = FolderLog::open(&prepared.folder)?;
        let work = Self::open(prepared, parser, retry_failed, resumed)?;
        let spent = work.state().ledger.spent();
        let options = CoordinatorOptions {
            limit: WorkLimit {
                // A limit is rounded down, costs are rounded up.
                nano_usd: limits.cost_usd.map(|usd| (usd * 1e9 + 1e-3) as u64),
                tokens: limits.tokens,
            },
            spent: WorkCost {
                nano_usd: nano_usd_up(spent.cost_usd + spent.possibly_paid_usd),
                tokens: spent.tokens().saturating_add(spent.possibly_used_tokens),
            },
            ..options
        };
        let coordinator = Coordinator::open(work, Box::new(log), &options);
        coordinator.map_err(|error| EvalError::Config(error.to_string()))
    }

    fn open(
        prepared: PreparedEval,
        parser: Parser,
        retry_failed: bool,
        resumed: bool,
    ) -> Result<Self, EvalError> {
        let PreparedEval {
            folder,
            config,
            plan,
            limits,
            ..
        } = prepared;
        let (journal, lines) = Journal::<EvalLine>::open(&folder)?;
        let mut ledger = Ledger::from_lines(&lines);
        let started = EvalLine::Started {
            at_ms: now_ms(),
            resumed,
            limits,
        };
        journal.append(&started)?;
        let (units, named) = units_of(&plan, &config);
        let open = plan.open(&ledger, retry_failed);
        let is_open = |unit: &TaskUnit| open.iter().any(|job| unit.targets.contains(&job.target));
        let stored = units.iter().filter(|(_, unit)| !is_open(unit));
        let state = State {
            tally: Tally::new(&plan, parser, &ledger),
            done: plan.requests() - open.len(),
            stored: stored.map(|(key, _)| key.clone()).collect(),
            lines: lines_by_unit(&units, lines),
            numbers: BTreeMap::new(),
            next_request: ledger.next_request(),
            ledger: {
                ledger.add(&started);
                ledger
            },
        };
        let earlier_seconds = state.ledger.seconds();
        Ok(Self {
            folder,
            config,
            limits,
            retry_failed,
            plan,
            parser,
            named,
            units,
            source_digests: BTreeMap::new(),
            journal,
            started: Instant::now(),
            earlier_seconds,
            state: Mutex::new(state),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the time limit of the run has passed.
    pub fn is_timed_out(&self) -> bool {
        let seconds = self.earlier_seconds + self.started.elapsed().as_secs_f64();
        self.limits
            .run_seconds
            .is_some_and(|limit| seconds >= limit)
    }

    pub fn progress(&self) -> Progress {
        let state = self.state();
        let (tasks_done, solved) = state.tally.counts();
        Progress {
            done: state.done,
            total: self.plan.requests(),
            in_flight: state.ledger.in_flight().count(),
            solved,
            tasks_done,
            tasks: self.units.len(),
            spent: state.ledger.known(),
        }
    }

    /// Returns the configuration and the folder of the run.
    pub const fn run(&self) -> (&EvalConfig, &RunFolder) {
        (&self.config, &self.folder)
    }

    /// Ends the run for a reason and writes its results.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub fn conclude(&self, reason: EvalEnd) -> Result<EvalResults, EvalError> {
        let ended = EvalLine::Ended {
            at_ms: now_ms(),
            reason,
        };
        self.journal.append(&ended)?;
        let mut state = self.state();
        state.ledger.add(&ended);
        let results = assemble(&self.config, &self.plan.sets, &state.ledger, self.parser)?;
        write_results(&self.folder, &self.config, &self.plan.sets, &results)?;
        Ok(results)
    }

    /// Gives the request of a line its number in the run, and checks its target.
    fn renumber(
        unit: &TaskUnit,
        state: &mut State,
        key: (&UnitKey, u64),
        mut line: EvalLine,
    ) -> Result<EvalLine, String> {
        let starts = match &line {
            EvalLine::Sent { target, .. }
            | EvalLine::Answered { target, .. }
            | EvalLine::Failed { target, .. } => {
                if !unit.targets.contains(target) {
                    return Err("a line is about another task".to_owned());
                }
                true
            }
            _ => false,
        };
        let Some(request) = request_of(&mut line) else {
            return Err("a line is not about a request".to_owned());
        };
        let own = (key.0.clone(), key.1, *request);
        let known = state.numbers.get(&own).copied();
        *request = match known {
            Some(number) => number,
            None if starts => {
                let number = state.next_request;
                state.next_request += 1;
                state.numbers.insert(own, number);
                number
            }
            None => return Err(format!("the request {} was not sent", own.2)),
        };
        Ok(line)
    }
}

impl Workload for EvalWork {
    type Task = EvaluationTask;
    type Report = EvaluationReport;
    type Verified = ();

    fn kind(&self) -> WorkKind {
        WorkKind::Evaluation(Box::new(EvaluationWork {
            config: self.config.clone(),
            limits: self.limits,
            retry_failed: self.retry_failed,
        }))
    }

    fn source_digests(&self) -> &BTreeMap<String, String> {
        &self.source_digests
    }

    fn units(&self) -> &[NamedUnit] {
        &self.named
    }

    fn is_stored(&self, unit: &UnitKey) -> bool {
        self.state().stored.contains(unit)
    }

    fn task(&self, key: &UnitKey) -> Result<EvaluationTask, RunsError> {
        let unit = &self.units[key];
        let state = self.state();
        let lines = state.lines.get(key).into_iter().flatten();
        let lines = lines.map(|line| serde_json::to_string(line).expect("a line is valid JSON"));
        Ok(EvaluationTask {
            set: unit.set.clone(),
            task: unit.task.clone(),
            journal: lines.collect(),
        })
    }

    /// The answers are the lines that the worker has sent, so nothing of the report is trusted.
    fn verify(&self, key: &UnitKey, report: EvaluationReport) -> Result<(Digest, ()), String> {
        if report.ended != EvalEnd::Finished {
            return Err(format!("it ended early: {}", report.ended.text()));
        }
        let state = self.state();
        let mut text = String::new();
        for line in state.lines.get(key).into_iter().flatten() {
            match line {
                EvalLine::Answered { target, answer, .. } => {
                    let answer =
                        serde_json::to_string(answer).map_err(|error| error.to_string())?;
                    text += &format!("{:?} {:?} {answer}\n", target.tests, target.attempts);
                }
                EvalLine::Failed { target, kind, .. } => {
                    text += &format!("{:?} {:?} {kind:?}\n", target.tests, target.attempts);
                }
                _ => {}
            }
        }
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        Ok((text_digest(&lines.join("\n")), ()))
    }

    fn store(&self, key: &UnitKey, (): ()) -> Result<(), RunsError> {
        self.state().stored.insert(key.clone());
        Ok(())
    }

    fn append_log(&self, key: &UnitKey, epoch: u64, lines: &[String]) -> Result<(), String> {
        let unit = &self.units[key];
        let mut state = self.state();
        for text in lines {
            let line = serde_json::from_str(text).map_err(|error| error.to_string())?;
            let line = Self::renumber(unit, &mut state, (key, epoch), line)?;
            self.journal
                .append(&line)
                .map_err(|error| error.to_string())?;
            let has_ended = matches!(line, EvalLine::Answered { .. } | EvalLine::Failed { .. });
            state.done += usize::from(has_ended);
            state.ledger.add(&line);
            state.tally.add(&line);
            state.lines.entry(key.clone()).or_default().push(line);
        }
        Ok(())
    }
}

/// Returns the number of the request of a line.
const fn request_of(line: &mut EvalLine) -> Option<&mut u64> {
    match line {
        EvalLine::Sent { request, .. }
        | EvalLine::Try { request, .. }
        | EvalLine::TryFailed { request, .. }
        | EvalLine::Reply { request, .. }
        | EvalLine::Effect { request, .. }
        | EvalLine::Answered { request, .. }
        | EvalLine::Failed { request, .. } => Some(request),
        EvalLine::Started { .. } | EvalLine::Ended { .. } => None,
    }
}

/// Returns the tasks of a plan with their keys, and the keys in the order of the plan.
fn units_of(plan: &Plan, config: &EvalConfig) -> (BTreeMap<UnitKey, TaskUnit>, Vec<NamedUnit>) {
    let settings = serde_json::json!({
        "solver": config.solver,
        "settings": config.solver_settings,
        "attempts": config.attempts,
        "permuted_colors": config.permuted_colors,
    });
    let mut units: BTreeMap<UnitKey, TaskUnit> = BTreeMap::new();
    let mut named = Vec::new();
    for Job { set, target, .. } in &plan.jobs {
        let revision = &config.sets[*set].revision;
        let EvalTarget { set, task, .. } = target;
        let key = text_digest(&format!("{settings}\n{set}\n{revision}\n{task}\n"));
        let key = UnitKey(key.0);
        let unit = units.entry(key.clone()).or_insert_with(|| {
            let name = format!("the task {task} of {set}");
            named.push(NamedUnit { key, name });
            TaskUnit {
                set: set.clone(),
                task: task.clone(),
                targets: BTreeSet::new(),
            }
        });
        unit.targets.insert(target.clone());
    }
    (units, named)
}

/// Assigns the lines of a journal to the tasks that they are about.
fn lines_by_unit(
    units: &BTreeMap<UnitKey, TaskUnit>,
    lines: Vec<EvalLine>,
) -> BTreeMap<UnitKey, Vec<EvalLine>> {
    let mut owners: BTreeMap<u64, UnitKey> = BTreeMap::new();
    let mut by_unit: BTreeMap<UnitKey, Vec<EvalLine>> = BTreeMap::new();
    for mut line in lines {
        let target = match &line {
            EvalLine::Sent { target, .. }
            | EvalLine::Answered { target, .. }
            | EvalLine::Failed { target, .. } => Some(target.clone()),
            _ => None,
        };
        let Some(request) = request_of(&mut line).map(|request| *request) else {
            continue;
        };
        if let Some(target) = target {
            let owner = units
                .iter()
                .find(|(_, unit)| unit.targets.contains(&target));
            owners.extend(owner.map(|(key, _)| (request, key.clone())));
        }
        if let Some(key) = owners.get(&request) {
            by_unit.entry(key.clone()).or_default().push(line);
        }
    }
    by_unit
}

//! The run: worker threads send requests and journal the results, and a supervising thread reports
//! progress and stops the run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rhae_llm::{Attempt, CostBound, SpendGuard, SpendRefusal};
use rhae_protocol::{EvalEnd, EvalFailureKind, EvalLimits, EvalLine, EvalUsage};
use rhae_runs::{Journal, RunFolder, RunsError, SpendLimit, SpendLimits, Spent, now_ms};
use rhae_tasks::Parser;
use rhae_throttle::Rate;
use serde_json::Value;

use crate::EvalError;
use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::results::Tally;
use crate::scheduler::{AdmittedRequest, Scheduler, SchedulerStatus};
use crate::solver::{
    Outcome, Question, RequestContext, Solver, SolverFailure, TransmissionLog, is_permanent,
};

/// The description of a run.
pub struct EvalSpec<'a> {
    /// The folder with the configuration and the journal.
    pub folder: &'a RunFolder,
    /// The requests of the run.
    pub plan: &'a Plan,
    pub solver: &'a dyn Solver,
    /// The parser of answers, for the count of solved tasks in [`Progress`].
    pub parser: Parser,
    /// The limits of this process.
    pub limits: EvalLimits,
    /// Whether the first attempt without a grid stops the run.
    pub stop_at_failure: bool,
    /// Whether attempts that failed in earlier processes are repeated.
    pub retry_failed: bool,
    /// Whether an earlier process started the run.
    pub resumed: bool,
}

/// The progress of a run. All fields except `spent` are counts.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// The requests that have ended, including those of earlier processes.
    pub done: usize,
    /// All requests of the plan.
    pub total: usize,
    pub in_flight: usize,
    /// The tasks whose tests are all solved.
    pub solved: usize,
    /// The tasks without open attempts.
    pub tasks_done: usize,
    /// All tasks of the plan.
    pub tasks: usize,
    /// The usage so far, including that of earlier processes.
    pub spent: EvalUsage,
}

/// Runs the open requests of a plan and returns the final state of the journal.
///
/// The run ends when every attempt is answered or has failed permanently. It stops early when a
/// limit is reached, a failure affects all requests, an attempt has no grid and `stop_at_failure`
/// is set, or `interrupt` becomes true. It then sends no further requests, waits for billed
/// requests in flight, and cancels all others. `show` is called about every 100 milliseconds.
///
/// # Errors
///
/// Returns an error if another process uses the folder or the journal cannot be written. Failures
/// of the solver are journalled.
pub fn run(
    spec: &EvalSpec<'_>,
    interrupt: &AtomicBool,
    show: &mut dyn FnMut(&Progress),
) -> Result<Ledger, EvalError> {
    run_with(spec, None, interrupt, show)
}

/// Like [`run()`]. If there is an `uplink`, money is reserved from it, and it stores the lines of the
/// journal about requests too.
pub(crate) fn run_with(
    spec: &EvalSpec<'_>,
    uplink: Option<&dyn SpendGuard>,
    interrupt: &AtomicBool,
    show: &mut dyn FnMut(&Progress),
) -> Result<Ledger, EvalError> {
    let rate = rate_limit(&spec.limits)?;
    let (journal, lines) = Journal::open(spec.folder)?;
    let mut ledger = Ledger::from_lines(&lines);
    let started = EvalLine::Started {
        at_ms: now_ms(),
        resumed: spec.resumed,
        limits: spec.limits,
    };
    journal.append(&started)?;
    let jobs = spec.plan.open(&ledger, spec.retry_failed);
    let before = spec.plan.requests() - jobs.len();
    let threads = spec.limits.concurrency.clamp(1, jobs.len().max(1));
    let (seconds, next_request) = (ledger.seconds(), ledger.next_request());
    let scheduler = Scheduler::new(
        jobs,
        spec.limits,
        rate,
        seconds,
        next_request,
        spec.solver.is_conversation(),
    );
    let spend_limit = spend_limit(&spec.limits, &ledger);
    let tally = Tally::new(spec.plan, spec.parser, &ledger);
    ledger.add(&started);
    let shared = Shared {
        spec,
        uplink,
        journal: &journal,
        scheduler: &scheduler,
        cancelled: AtomicBool::new(false),
        tally: Mutex::new(tally),
        ledger: Mutex::new(ledger),
        spend_limit,
        fault: Mutex::new(None),
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| shared.work()))
            .collect();
        loop {
            let status = scheduler.wait(Duration::from_millis(100));
            show(&shared.progress(before, &status));
            if interrupt.load(Ordering::Relaxed) {
                scheduler.stop(EvalEnd::Interrupted);
            }
            if workers.iter().all(|worker| worker.is_finished()) {
                break;
            }
            // When the run stops, requests that are not billed are cancelled. Billed requests may
            // finish until their deadlines.
            if status.stop.is_some() && !spec.solver.is_billed() {
                shared.cancelled.store(true, Ordering::Relaxed);
            }
        }
    });
    let stop = scheduler.wait(Duration::ZERO).stop;
    let ended = EvalLine::Ended {
        at_ms: now_ms(),
        reason: stop.unwrap_or(EvalEnd::Finished),
    };
    if let Some(fault) = shared
        .fault
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
    {
        return Err(fault.into());
    }
    journal.append(&ended)?;
    let mut ledger = shared
        .ledger
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    ledger.add(&ended);
    Ok(ledger)
}

/// The state that the worker threads share.
struct Shared<'a> {
    spec: &'a EvalSpec<'a>,
    uplink: Option<&'a dyn SpendGuard>,
    journal: &'a Journal<EvalLine>,
    scheduler: &'a Scheduler,
    /// Whether requests in flight must stop.
    cancelled: AtomicBool,
    tally: Mutex<Tally>,
    ledger: Mutex<Ledger>,
    spend_limit: SpendLimit,
    /// The first error of a write to the journal.
    fault: Mutex<Option<RunsError>>,
}

impl Shared<'_> {
    fn work(&self) {
        while let Some(admitted) = self.scheduler.admit() {
            self.request(&admitted);
        }
    }

    fn request(&self, admitted: &AdmittedRequest) {
        let AdmittedRequest { request, job, .. } = admitted;
        let (request, target) = (*request, job.target.clone());
        let started = Instant::now();
        let outcome = if !admitted.may_send {
            Outcome::failure(
                EvalFailureKind::TaskTimeout,
                "the time limit of the task had passed",
            )
        } else if self.write(&EvalLine::Sent {
            request,
            at_ms: now_ms(),
            target: target.clone(),
        }) {
            let context = self.context(admitted);
            let (task, set) = (self.spec.plan.task(job), target.set.as_str());
            let question = Question {
                set,
                id: &job.id,
                task,
                tests: &target.tests,
                attempts: &target.attempts,
            };
            // If the solver panics, only this request fails, not the run.
            catch_unwind(AssertUnwindSafe(|| {
                self.spec.solver.answer(&question, &context)
            }))
            .unwrap_or_else(|_| Outcome::failure(EvalFailureKind::Panicked, "the solver panicked"))
        } else {
            Outcome::failure(EvalFailureKind::Stopped, "cannot write the journal")
        };
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (at_ms, spent) = (now_ms(), outcome.spent);
        let mut ends_run = None;
        let line = match outcome.result {
            Ok(answer) => EvalLine::Answered {
                request,
                at_ms,
                ms,
                target,
                answer,
                spent,
            },
            Err(SolverFailure {
                kind,
                message,
                ends_run: ends,
            }) => {
                ends_run = ends.then(|| message.clone());
                // A failure that affects every request is not the fault of this attempt, so the
                // attempt stays open.
                let lasting = is_permanent(kind) && !ends;
                EvalLine::Failed {
                    request,
                    at_ms,
                    ms,
                    target,
                    kind,
                    message,
                    lasting,
                    spent,
                }
            }
        };
        self.write(&line);
        let readable = self.lock_tally().add(&line);
        if self.spec.stop_at_failure && !readable {
            self.scheduler.stop(format!(
                "an attempt at `{}` has no grid, and `--failures hard` stops the run",
                job.target.task
            ));
        }
        if let Some(reason) = ends_run {
            self.scheduler.stop(reason);
        }
        self.scheduler.end();
    }

    /// Returns the context of a request, with what earlier processes did in its conversation.
    fn context(&self, admitted: &AdmittedRequest) -> RequestContext<'_> {
        let request_seconds = self.spec.limits.request_seconds;
        RequestContext {
            request: admitted.request,
            deadline: admitted.deadline,
            request_timeout: request_seconds.map(crate::scheduler::duration),
            earlier: self.lock_ledger().conversation(&admitted.job.target),
            cancelled: &self.cancelled,
            log: self,
        }
    }

    /// Journals a line. If the line cannot be written, stops the run and returns false.
    fn write(&self, line: &EvalLine) -> bool {
        match self.journal.append(line) {
            Ok(()) => {
                self.lock_ledger().add(line);
                self.keep(line)
            }
            Err(error) => {
                self.scheduler.stop(error.to_string());
                self.fault
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(error);
                false
            }
        }
    }

    /// Passes a line to the uplink. If it cannot be stored there, stops the run and returns false.
    fn keep(&self, line: &EvalLine) -> bool {
        let Some(uplink) = self.uplink else {
            return true;
        };
        let text = serde_json::to_string(line).expect("a line is valid JSON");
        let kept = uplink.keep(&text);
        kept.map_err(|reason| self.scheduler.stop(reason)).is_ok()
    }

    /// Journals a line, and returns an error that ends the request if it cannot be written.
    fn journal_event(&self, line: &EvalLine) -> Result<(), String> {
        if self.write(line) {
            Ok(())
        } else {
            Err("cannot write the journal".to_owned())
        }
    }

    fn lock_ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self, before: usize, status: &SchedulerStatus) -> Progress {
        let (tasks_done, solved) = self.lock_tally().counts();
        Progress {
            done: before + status.ended,
            total: self.spec.plan.requests(),
            in_flight: status.in_flight,
            solved,
            tasks_done,
            tasks: self
                .spec
                .plan
                .sets
                .iter()
                .map(|planned| planned.selection.len())
                .sum(),
            spent: self.lock_ledger().known(),
        }
    }
}

impl TransmissionLog for Shared<'_> {
    fn reserve(
        &self,
        request: u64,
        id: &str,
        worst: &CostBound,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), SpendRefusal> {
        let limit: &dyn SpendGuard = self.uplink.unwrap_or(&self.spend_limit);
        limit.reserve(worst, cancelled)?;
        let line = EvalLine::Try {
            request,
            id: id.to_owned(),
            at_ms: now_ms(),
            max_cost_usd: worst.usd(),
            max_tokens: worst.tokens(),
        };
        if self.write(&line) {
            return Ok(());
        }
        limit.settle(worst, None);
        Err(SpendRefusal::Limit("cannot write the journal".to_owned()))
    }

    fn settle(&self, worst: &CostBound, attempt: &Attempt) {
        let limit: &dyn SpendGuard = self.uplink.unwrap_or(&self.spend_limit);
        limit.settle(worst, Some(attempt));
    }

    fn admit(&self, cancelled: &dyn Fn() -> bool) -> Result<(), String> {
        self.scheduler.admit_transmission(cancelled)
    }

    fn replied(
        &self,
        request: u64,
        id: &str,
        fingerprint: &str,
        reply: Value,
        spent: &EvalUsage,
    ) -> Result<(), String> {
        self.journal_event(&EvalLine::Reply {
            request,
            id: id.to_owned(),
            at_ms: now_ms(),
            fingerprint: fingerprint.to_owned(),
            reply,
            spent: *spent,
        })
    }

    fn effect(&self, request: u64, key: &str, value: &Value) -> Result<(), String> {
        self.journal_event(&EvalLine::Effect {
            request,
            at_ms: now_ms(),
            key: key.to_owned(),
            value: value.clone(),
        })
    }

    fn failed(
        &self,
        request: u64,
        id: &str,
        message: &str,
        spent: &EvalUsage,
    ) -> Result<(), String> {
        let (id, message) = (id.to_owned(), message.to_owned());
        let line = EvalLine::TryFailed {
            request,
            id,
            at_ms: now_ms(),
            message,
            spent: *spent,
        };
        self.journal_event(&line)
    }
}

/// Checks, before anything is sent, whether the first open request fits into the limits of money and
/// tokens. Returns a warning if the cost of the requests has no bound, so that the limits may be
/// exceeded.
///
/// # Errors
///
/// Returns [`EvalError::SpendLimit`] with the smallest workable limit if the request does not fit.
pub fn check_limits(
    plan: &Plan,
    solver: &dyn Solver,
    limits: &EvalLimits,
    ledger: &Ledger,
    retry_failed: bool,
) -> Result<Option<String>, EvalError> {
    let open = plan.open(ledger, retry_failed);
    let Some(worst) = open.first().and_then(|job| {
        let question = Question {
            set: &job.target.set,
            id: &job.id,
            task: plan.task(job),
            tests: &job.target.tests,
            attempts: &job.target.attempts,
        };
        solver.cost_bound(&question)
    }) else {
        return Ok(None);
    };
    let limit = spend_limit(limits, ledger);
    limit.check_first(&worst).map_err(EvalError::SpendLimit)?;
    Ok(limit.warning(&worst))
}

/// Returns the rate limit of a run, which its configuration stores as requests per minute.
pub(crate) fn rate_limit(limits: &EvalLimits) -> Result<Option<Rate>, EvalError> {
    let rate = limits.requests_per_minute.map(Rate::per_minute);
    rate.transpose()
        .map_err(|error| EvalError::Config(error.to_string()))
}

/// Creates the limit of money and tokens of a process. What earlier processes spent or possibly paid
/// counts towards it.
fn spend_limit(limits: &EvalLimits, ledger: &Ledger) -> SpendLimit {
    let limits = SpendLimits {
        usd: limits.cost_usd,
        tokens: limits.tokens,
    };
    let spent = ledger.spent();
    SpendLimit::new(
        limits,
        Spent {
            usd: spent.cost_usd + spent.possibly_paid_usd,
            tokens: spent.tokens().saturating_add(spent.possibly_used_tokens),
        },
    )
}

//! The run: threads that send requests, a journal that they write to, and a thread that watches.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rhae_protocol::{EvalLimits, EvalLine, EvalSpent};
use rhae_tasks::Parser;

use crate::EvalError;
use crate::folder::EvalFolder;
use crate::gate::{Admitted, Gate, Standing};
use crate::journal::Journal;
use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::results::Tally;
use crate::solver::{Failure, FailureKind, Outcome, Question, Scribe, Solver, Watch};

/// What is to be run.
pub struct Order<'a> {
    /// The folder with its configuration.
    pub folder: &'a EvalFolder,
    /// The requests.
    pub plan: &'a Plan,
    /// Who answers.
    pub solver: &'a dyn Solver,
    /// How answers are read, for the count of what is solved.
    pub parser: Parser,
    /// The limits of this process.
    pub limits: EvalLimits,
    /// Whether the first attempt without a grid ends the run.
    pub stop_at_failure: bool,
    /// Whether attempts that failed are made again.
    pub retry_failed: bool,
    /// Whether this goes on with what others began.
    pub resumed: bool,
}

/// How far a run is.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Requests that have ended, those of earlier processes included.
    pub done: usize,
    /// All requests.
    pub total: usize,
    /// Requests under way.
    pub in_flight: usize,
    /// Tasks with all tests solved so far.
    pub solved: usize,
    /// Tasks with an answer to every attempt.
    pub tasks_done: usize,
    /// All tasks.
    pub tasks: usize,
    /// What was spent so far, in earlier processes as well.
    pub spent: EvalSpent,
}

/// Runs until everything is answered, a limit is reached or `interrupt` is raised: then nothing more is sent, and what is in flight
/// is waited for. Gives what the journal says in the end.
pub fn run(
    order: &Order<'_>,
    interrupt: &AtomicBool,
    show: &mut dyn FnMut(&Progress),
) -> Result<Ledger, EvalError> {
    let (journal, lines) = Journal::open(&order.folder.file("journal.jsonl"))?;
    let mut ledger = Ledger::of_lines(&lines);
    let begun = EvalLine::Begun {
        at_ms: now_ms(),
        resumed: order.resumed,
        limits: order.limits,
    };
    journal.append(&begun)?;
    let jobs = order.plan.open(&ledger, order.retry_failed);
    let before = order.plan.requests() - jobs.len();
    let threads = order.limits.concurrency.clamp(1, jobs.len().max(1));
    let gate = Gate::new(
        jobs,
        order.limits,
        ledger.spent(),
        ledger.seconds(),
        ledger.next_request(),
    );
    let tally = Tally::new(order.plan, order.parser, &ledger);
    ledger.add(&begun);
    let shared = Shared {
        order,
        journal: &journal,
        gate: &gate,
        cut: AtomicBool::new(false),
        tally: Mutex::new(tally),
        ledger: Mutex::new(ledger),
        charged: Mutex::new(BTreeMap::new()),
        fault: Mutex::new(None),
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| shared.work()))
            .collect();
        loop {
            let standing = gate.wait(Duration::from_millis(100));
            show(&shared.progress(before, &standing));
            if interrupt.load(Ordering::Relaxed) {
                gate.stop("interrupted");
            }
            if workers.iter().all(|worker| worker.is_finished()) {
                break;
            }
            // A search that nobody waits for is cut off; an answer under way, which is paid for, is waited for until its deadline.
            if standing.stop.is_some() && !order.solver.costs() {
                shared.cut.store(true, Ordering::Relaxed);
            }
        }
    });
    let stop = gate.wait(Duration::ZERO).stop;
    let ended = EvalLine::Ended {
        at_ms: now_ms(),
        reason: stop.unwrap_or_else(|| "finished".to_owned()),
    };
    if let Some(fault) = shared
        .fault
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
    {
        return Err(fault);
    }
    journal.append(&ended)?;
    let mut ledger = shared
        .ledger
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    ledger.add(&ended);
    Ok(ledger)
}

/// What the threads share.
struct Shared<'a> {
    order: &'a Order<'a>,
    journal: &'a Journal,
    gate: &'a Gate,
    /// Raised when requests under way are to be given up.
    cut: AtomicBool,
    tally: Mutex<Tally>,
    ledger: Mutex<Ledger>,
    /// What failed transmissions of requests under way cost, charged already.
    charged: Mutex<BTreeMap<u64, EvalSpent>>,
    /// The first failure to write.
    fault: Mutex<Option<EvalError>>,
}

impl Shared<'_> {
    fn work(&self) {
        while let Some(admitted) = self.gate.admit() {
            self.request(&admitted);
        }
    }

    fn request(&self, admitted: &Admitted) {
        let Admitted { request, job, .. } = admitted;
        let (request, asked) = (*request, job.asked.clone());
        let started = Instant::now();
        let outcome = if !admitted.may_send {
            Outcome::failure(FailureKind::TaskTime, "the time for the task was over")
        } else if self.write(&EvalLine::Sent {
            request,
            at_ms: now_ms(),
            asked: asked.clone(),
        }) {
            let watch = Watch {
                request,
                deadline: admitted.deadline,
                cut: &self.cut,
                scribe: self,
            };
            let (task, set) = (self.order.plan.task(job), asked.set.as_str());
            let question = Question {
                set,
                id: &job.id,
                task,
                tests: &asked.tests,
                attempts: &asked.attempts,
            };
            // A faulty solver costs its own attempt, not the run.
            catch_unwind(AssertUnwindSafe(|| {
                self.order.solver.answer(&question, &watch)
            }))
            .unwrap_or_else(|_| Outcome::failure(FailureKind::Panicked, "the solver panicked"))
        } else {
            Outcome::failure(FailureKind::Stopped, "the journal cannot be written")
        };
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (at_ms, spent) = (now_ms(), outcome.spent);
        let mut ends_run = None;
        let line = match outcome.result {
            Ok(answer) => EvalLine::Answered {
                request,
                at_ms,
                ms,
                asked,
                answer,
                spent,
            },
            Err(Failure {
                kind,
                message,
                ends_run: ends,
            }) => {
                ends_run = ends.then(|| message.clone());
                // What would fail for every request says nothing about this attempt.
                let lasting = kind.is_lasting() && !ends;
                EvalLine::Failed {
                    request,
                    at_ms,
                    ms,
                    asked,
                    kind: kind.name().to_owned(),
                    message,
                    lasting,
                    spent,
                }
            }
        };
        self.write(&line);
        let readable = self.lock_tally().add(&line);
        if self.order.stop_at_failure && !readable {
            self.gate.stop(format!(
                "attempt without a grid at `{}`, and failures are hard",
                job.asked.task
            ));
        }
        if let Some(reason) = ends_run {
            self.gate.stop(reason);
        }
        let charged = self
            .charged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&request)
            .unwrap_or_default();
        let rest = EvalSpent {
            input_tokens: spent.input_tokens.saturating_sub(charged.input_tokens),
            output_tokens: spent.output_tokens.saturating_sub(charged.output_tokens),
            cost_usd: (spent.cost_usd - charged.cost_usd).max(0.0),
            unpriced: spent.unpriced.saturating_sub(charged.unpriced),
            ..EvalSpent::default()
        };
        self.gate.end(&rest, &spent);
    }

    /// Writes a line; if that fails, nothing more is sent.
    fn write(&self, line: &EvalLine) -> bool {
        match self.journal.append(line) {
            Ok(()) => {
                self.ledger
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .add(line);
                true
            }
            Err(error) => {
                self.gate.stop(error.to_string());
                self.fault
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(error);
                false
            }
        }
    }

    fn written(&self, line: &EvalLine) -> Result<(), String> {
        if self.write(line) {
            Ok(())
        } else {
            Err("the journal cannot be written".to_owned())
        }
    }

    fn lock_tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self, before: usize, standing: &Standing) -> Progress {
        let (tasks_done, solved) = self.lock_tally().counts();
        Progress {
            done: before + standing.ended,
            total: self.order.plan.requests(),
            in_flight: standing.in_flight,
            solved,
            tasks_done,
            tasks: self
                .order
                .plan
                .sets
                .iter()
                .map(|planned| planned.selection.len())
                .sum(),
            spent: standing.spent,
        }
    }
}

impl Scribe for Shared<'_> {
    fn sending(&self, request: u64, id: &str) -> Result<(), String> {
        // The first transmission was admitted with its request; further ones must not pass a limit either.
        if let Some(reason) = self.gate.used_up_now() {
            return Err(reason);
        }
        self.written(&EvalLine::Try {
            request,
            id: id.to_owned(),
            at_ms: now_ms(),
        })
    }

    fn failed(
        &self,
        request: u64,
        id: &str,
        message: &str,
        spent: &EvalSpent,
    ) -> Result<(), String> {
        self.charged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(request)
            .or_default()
            .add(spent);
        self.gate.charge(spent);
        let (id, message) = (id.to_owned(), message.to_owned());
        self.written(&EvalLine::TryFailed {
            request,
            id,
            at_ms: now_ms(),
            message,
            spent: *spent,
        })
    }
}

fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
}

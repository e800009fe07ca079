//! A worker's part of an evaluation: sends the requests of one task.

use rhae_llm::SpendGuard;
use rhae_protocol::{EvalEnd, EvalLimits, EvaluationReport, EvaluationTask, EvaluationWork};
use rhae_runs::RunFolder;
use rhae_tasks::{Parser, Selection, TaskSet};
use rhae_work_service::{DistributeError, Executor, UnitContext, UnitEnd};

use crate::request::planned_sets;
use crate::run::run_with;
use crate::solver::{Solver, SolverHost, create_solver};
use crate::{EvalError, EvalSpec, Plan, PlannedSet, parser_of};

/// Executes the tasks of an evaluation in a worker.
pub struct TaskExecutor {
    work: EvaluationWork,
    sets: Vec<PlannedSet>,
    solver: Box<dyn Solver>,
    parser: Parser,
    limits: EvalLimits,
}

impl TaskExecutor {
    /// Opens the solver of an evaluation. `sets` are the data of this machine, and `workers` is the
    /// number of workers that share the limits of rate and concurrency.
    ///
    /// # Errors
    ///
    /// Returns an error if the data or the settings of the solver differ from those of the
    /// coordinator.
    pub fn open(
        work: EvaluationWork,
        sets: &[TaskSet],
        workers: u32,
        host: &SolverHost<'_>,
    ) -> Result<Self, EvalError> {
        let config = &work.config;
        let sets = planned_sets(config, sets)?;
        let (solver, settings) =
            create_solver(&config.solver, config.solver_settings.clone(), host)?;
        if settings != config.solver_settings {
            return Err(EvalError::Config(format!(
                "the settings of the solver `{}` differ between this worker and the coordinator",
                config.solver
            )));
        }
        let workers = workers.max(1);
        let limits = EvalLimits {
            concurrency: (work.limits.concurrency / workers as usize).max(1),
            requests_per_minute: work
                .limits
                .requests_per_minute
                .map(|rate| rate / f64::from(workers)),
            // The coordinator enforces the limits of the whole run.
            run_seconds: None,
            tokens: None,
            cost_usd: None,
            ..work.limits
        };
        let parser = parser_of(config.parser);
        Ok(Self {
            work,
            sets,
            solver,
            parser,
            limits,
        })
    }

    /// Returns the plan of one task.
    fn plan(&self, task: &EvaluationTask) -> Result<Plan, EvalError> {
        let unknown = || {
            EvalError::Config(format!(
                "the data have no task `{}` in `{}`",
                task.task, task.set
            ))
        };
        let planned = self
            .sets
            .iter()
            .find(|planned| planned.set.name == task.set);
        let planned = planned.ok_or_else(unknown)?;
        let found = planned
            .selection
            .iter()
            .find(|(id, _)| id.to_string() == task.task);
        let (id, tests) = found.ok_or_else(unknown)?;
        let data = planned.set.tasks.get(id).ok_or_else(unknown)?;
        let one = PlannedSet {
            set: TaskSet {
                name: planned.set.name.clone(),
                tasks: [(id.clone(), data.clone())].into(),
            },
            selection: Selection::from([(id.clone(), tests.clone())]),
        };
        let attempts = self.work.config.attempts;
        Ok(Plan::new(vec![one], attempts, self.solver.unit()))
    }

    fn evaluate(
        &self,
        task: &EvaluationTask,
        context: &UnitContext<'_>,
    ) -> Result<UnitEnd<EvaluationReport>, EvalError> {
        let folder = RunFolder::create(context.scratch, &self.work.config)?;
        if !task.journal.is_empty() {
            let mut text = task.journal.join("\n");
            text.push('\n');
            folder.write(rhae_runs::JOURNAL, text.as_bytes())?;
        }
        let plan = self.plan(task)?;
        let spec = EvalSpec {
            folder: &folder,
            plan: &plan,
            solver: self.solver.as_ref(),
            parser: self.parser,
            limits: self.limits,
            stop_at_failure: self.work.config.stop_at_failure,
            retry_failed: self.work.retry_failed,
            resumed: false,
        };
        let guard: &dyn SpendGuard = context.link.as_ref();
        let ledger = run_with(&spec, Some(guard), &context.stop, &mut |_| {})?;
        Ok(match ledger.ended {
            Some(EvalEnd::Finished) => UnitEnd::Finished {
                report: EvaluationReport {
                    ended: EvalEnd::Finished,
                },
                stop: None,
            },
            Some(EvalEnd::Stopped(reason)) if !context.is_stopped() => {
                UnitEnd::Stopped { stop: Some(reason) }
            }
            _ => UnitEnd::Stopped { stop: None },
        })
    }
}

impl Executor for TaskExecutor {
    type Task = EvaluationTask;
    type Report = EvaluationReport;

    fn execute(
        &self,
        task: EvaluationTask,
        context: &UnitContext<'_>,
    ) -> Result<UnitEnd<EvaluationReport>, DistributeError> {
        self.evaluate(&task, context).map_err(|error| match error {
            EvalError::Runs(error) => error.into(),
            other => DistributeError::Executor(other.to_string()),
        })
    }
}

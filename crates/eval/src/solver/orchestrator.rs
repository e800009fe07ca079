//! A solver that lets a model write a program for each task, which is executed on the training pairs
//! before its outputs are the answer.

use std::sync::Arc;

use rhae_agents::{LoggedCalls, ModelPlayer};
use rhae_agents_llm::{Engine, Limits, TaskOutcome, TaskSolver};
use rhae_llm::{CostBound, Request};
use rhae_protocol::{EvalAnswer, EvalGrid};
use rhae_tasks::Grid;
use serde_json::{Value, json};

use super::conversation_log::{ConversationLog, Spending, failed};
use super::model::{estimate, prompt_text};
use super::{CostEstimate, Outcome, Question, RequestContext, Solver, Unit};

/// The sample numbers of one attempt, which distinguish attempts in recordings of answers.
const SAMPLES: u32 = 64;

/// A solver that lets a model and its agents write a program for a whole task. Every reply and every
/// output of code is in the journal, so that a resumed run continues a conversation where it
/// stopped.
pub struct OrchestratorSolver {
    pub solver: TaskSolver,
    /// The model. Its own limits are not used, but those of the run.
    pub player: Arc<ModelPlayer>,
    /// The requests of an agent, and the depth of agents.
    pub limits: Limits,
}

impl OrchestratorSolver {
    fn first_request(&self, question: &Question<'_>) -> Request {
        let depth = self.limits.max_depth;
        let task = task_json(question);
        self.solver.first_request(&task, depth, sample(question))
    }
}

/// Returns the training pairs and the inputs of the selected tests.
fn task_json(question: &Question<'_>) -> Value {
    let rows = |grid: &Grid| grid.rows().map(|row| json!(row)).collect::<Value>();
    let pair =
        |pair: &rhae_tasks::Pair| json!({"input": rows(&pair.input), "output": rows(&pair.output)});
    let tests = question.tests.iter();
    let inputs = tests.filter_map(|&test| Some(rows(&question.task.test.get(test)?.input)));
    json!({
        "train": question.task.train.iter().map(pair).collect::<Vec<_>>(),
        "test": inputs.collect::<Vec<_>>(),
    })
}

fn sample(question: &Question<'_>) -> u32 {
    let attempt = question.attempts.first().map_or(0, |attempt| attempt - 1);
    u32::try_from(attempt).unwrap_or(0).saturating_mul(SAMPLES)
}

impl Solver for OrchestratorSolver {
    fn unit(&self) -> Unit {
        Unit::Task
    }

    fn is_billed(&self) -> bool {
        true
    }

    fn is_conversation(&self) -> bool {
        true
    }

    fn answer(&self, question: &Question<'_>, context: &RequestContext<'_>) -> Outcome {
        let spending = Spending::default();
        let result = {
            let log = ConversationLog::new(context, &spending);
            let calls = LoggedCalls::with_log(&self.player, Box::new(log));
            let engine = Engine::new(calls, self.limits);
            let mut engine = engine.with_first_sample(sample(question));
            self.solver.solve(&task_json(question), &mut engine)
        };
        let result = match result {
            Ok(outcome) => Ok(answer(outcome, question)),
            Err(error) => Err(failed(error, context, spending.is_expired())),
        };
        Outcome {
            result,
            spent: spending.usage(),
        }
    }

    fn prompt(&self, question: &Question<'_>) -> Option<String> {
        Some(prompt_text(&self.first_request(question)))
    }

    fn cost_bound(&self, question: &Question<'_>) -> Option<CostBound> {
        let request = self.first_request(question);
        Some(self.player.model.cost_bound(&request))
    }

    fn estimate_cost(&self, question: &Question<'_>) -> Option<CostEstimate> {
        let request = self.first_request(question);
        Some(estimate(&self.player.model, &request, question))
    }
}

/// Returns the outputs of the program as the answer.
fn answer(outcome: TaskOutcome, question: &Question<'_>) -> EvalAnswer {
    let pairs = question.task.train.len();
    let agents = outcome.agents;
    let noun = if agents == 1 { "agent" } else { "agents" };
    let note = format!(
        "a program that solves {} of {pairs} training pairs, by {agents} {noun}",
        outcome.train_solved
    );
    let attempt = question.attempts.first().copied().unwrap_or(1);
    let tests = question.tests.iter().zip(outcome.grids);
    let grids = tests.map(|(&test, grid)| EvalGrid {
        test,
        attempt,
        grid,
        note: Some(note.clone()),
    });
    EvalAnswer {
        grids: grids.collect(),
        reasoning: Some(outcome.texts.join("\n\n")),
        finish: outcome.limit.map(|limit| limit.to_string()),
        ..EvalAnswer::default()
    }
}

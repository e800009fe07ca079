//! A solver that lets a recursive language model work on a whole task with JavaScript code.

use std::sync::Arc;

use rhae_agents::{LoggedCalls, ModelPlayer};
use rhae_agents_llm::{Engine, Limits, Rlm, RlmEnd, RlmOutcome};
use rhae_llm::{CostBound, Request};
use rhae_protocol::EvalAnswer;
use rhae_tasks::Task;
use serde_json::{Value, json};

use super::conversation_log::{ConversationLog, Spending, failed};
use super::model::{estimate, prompt_text};
use super::{CostEstimate, Outcome, Question, RequestContext, Solver, Unit};

/// A solver that invokes a recursive language model with a task as its context. Every reply and every
/// output of code is in the journal, so that a resumed run continues a conversation where it
/// stopped.
pub struct RlmSolver {
    pub rlm: Rlm,
    /// The model. Its own limits are not used, but those of the run.
    pub player: Arc<ModelPlayer>,
    /// The iterations of an invocation, and the depth of calls.
    pub limits: Limits,
}

impl RlmSolver {
    /// Returns the query and the context of a question: the selected tests of the task, as JSON.
    fn invocation(&self, question: &Question<'_>) -> (String, Value) {
        let test = question
            .tests
            .iter()
            .filter_map(|&test| question.task.test.get(test).cloned())
            .collect();
        let task = Task {
            train: question.task.train.clone(),
            test,
        };
        let query = self.rlm.task_query(question.tests.len());
        (query, Value::String(task.to_json().to_string()))
    }

    fn first_request(&self, question: &Question<'_>) -> Request {
        let (query, context) = self.invocation(question);
        let iterations = self.limits.max_iterations;
        self.rlm.first_request(&query, &context, iterations)
    }
}

impl Solver for RlmSolver {
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
        let attempt = question.attempts.first().map_or(0, |attempt| attempt - 1);
        let sample = u32::try_from(attempt).unwrap_or(0).saturating_mul(64);
        let (query, task) = self.invocation(question);
        let result = {
            let log = ConversationLog::new(context, &spending);
            let calls = LoggedCalls::with_log(&self.player, Box::new(log));
            let mut engine = Engine::new(calls, self.limits).with_first_sample(sample);
            self.rlm.run(&query, &task, &mut engine)
        };
        let result = match result {
            Ok(outcome) => Ok(answer(outcome)),
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

/// Returns the answer of a conversation that has ended. Its reasoning is what the model wrote.
fn answer(outcome: RlmOutcome) -> EvalAnswer {
    let (text, finish) = match outcome.end {
        RlmEnd::Returned(Value::String(text)) => (Some(text), None),
        RlmEnd::Returned(value) => (Some(json!(value).to_string()), None),
        RlmEnd::Limit(limit) => (None, Some(limit.to_string())),
    };
    EvalAnswer {
        text,
        reasoning: Some(outcome.texts.join("\n\n")),
        finish,
        ..EvalAnswer::default()
    }
}

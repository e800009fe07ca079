//! A solver that asks a language model and journals every transmission.

use std::ops::Add as _;

use rhae_llm::{
    Attempt, AttemptStart, CancelToken, CostBound, Failure, FailureKind, Finish, Halt, Model, Part,
    Reply, Request, SpendRefusal, Usage,
};
use rhae_protocol::{EvalAnswer, EvalFailureKind, EvalUsage};
use rhae_tasks::{Grid, Prompt, Task};

use super::{CostEstimate, Outcome, Question, RequestContext, Solver, SolverFailure, Unit};

/// A solver that asks a language model. Attempts are independent samples of the same prompt.
pub struct ModelSolver {
    /// The model, opened once and shared by all requests.
    pub model: Model,
    pub prompt: Prompt,
}

impl ModelSolver {
    /// Creates the request for a question. The sample number in the request is not sent to the
    /// provider; it distinguishes attempts in recordings.
    fn request(&self, question: &Question<'_>) -> Request {
        let sample = question
            .attempts
            .first()
            .map_or(0, |&attempt| u32::try_from(attempt - 1).unwrap_or(u32::MAX));
        let text = if self.prompt.is_whole_task() {
            // The prompt contains only the selected tests.
            let test = question
                .tests
                .iter()
                .filter_map(|&test| question.task.test.get(test).cloned())
                .collect();
            self.prompt.whole_task(&Task {
                train: question.task.train.clone(),
                test,
            })
        } else {
            question
                .tests
                .first()
                .and_then(|&test| self.prompt.test(question.task, test))
                .unwrap_or_default()
        };
        Request {
            sample,
            system: self.prompt.system().map(str::to_owned),
            ..Request::text(text)
        }
    }
}

impl Solver for ModelSolver {
    fn unit(&self) -> Unit {
        if self.prompt.is_whole_task() {
            Unit::Task
        } else {
            Unit::Attempt
        }
    }

    fn is_billed(&self) -> bool {
        true
    }

    fn answer(&self, question: &Question<'_>, context: &RequestContext<'_>) -> Outcome {
        let deadline = context.deadline.map(|(deadline, _)| deadline);
        let request = self.request(question);
        let mut recorder = TransmissionRecorder {
            context,
            worst: self.model.cost_bound(&request),
            expired: false,
        };
        let outcome = self
            .model
            .ask(&request, &CancelToken::default(), deadline, &mut recorder);
        let possibly = |attempt| recorder.worst.possibly_paid_usd(attempt);
        let possibly_tokens = |attempt| recorder.worst.possibly_used_tokens(attempt);
        let spent = EvalUsage {
            cost_usd: outcome.cost_usd(),
            unpriced: outcome.unpriced() as u64,
            unmeasured: outcome.uncounted() as u64,
            // `sum` of an empty iterator is -0.
            possibly_paid_usd: outcome.attempts.iter().map(possibly).fold(0.0, f64::add),
            possibly_used_tokens: outcome.attempts.iter().map(possibly_tokens).sum(),
            ..tokens(outcome.usage())
        };
        let result = match outcome.reply {
            Ok(reply) => Ok(answer(reply)),
            Err(failure) => Err(failed(&failure, context, recorder.expired)),
        };
        Outcome { result, spent }
    }

    fn prompt(&self, question: &Question<'_>) -> Option<String> {
        Some(prompt_text(&self.request(question)))
    }

    fn cost_bound(&self, question: &Question<'_>) -> Option<CostBound> {
        Some(self.model.cost_bound(&self.request(question)))
    }

    fn estimate_cost(&self, question: &Question<'_>) -> Option<CostEstimate> {
        Some(estimate(&self.model, &self.request(question), question))
    }
}

/// Returns all texts of a request.
pub(super) fn prompt_text(request: &Request) -> String {
    let parts = request.turns.iter().flat_map(|turn| &turn.parts);
    let texts = parts.filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let texts: Vec<&str> = request.system.as_deref().into_iter().chain(texts).collect();
    texts.join("\n\n")
}

/// Estimates the minimum cost of a request whose answer contains only grids.
pub(super) fn estimate(model: &Model, request: &Request, question: &Question<'_>) -> CostEstimate {
    let input_tokens = request.estimated_tokens();
    let outputs = question.task.train.iter().map(|pair| &pair.output);
    let largest = outputs
        .max_by_key(|grid| grid.cells().len())
        .map_or(0, |grid| rhae_llm::estimate_tokens(&Grid::to_string(grid)));
    let answer_tokens = largest * question.tests.len() as u64;
    let usd = model.cost_usd(&Usage {
        input_tokens,
        output_tokens: answer_tokens,
        ..Usage::default()
    });
    CostEstimate {
        input_tokens,
        answer_tokens,
        usd,
    }
}

/// Returns the usage of one transmission.
pub(super) fn transmission_usage(attempt: &Attempt, worst: &CostBound) -> EvalUsage {
    let failure = attempt.failure.as_ref();
    EvalUsage {
        cost_usd: attempt.cost_usd.unwrap_or(0.0),
        unpriced: u64::from(attempt.is_unpriced()),
        unmeasured: u64::from(
            attempt.usage.is_none() && failure.is_none_or(Failure::may_have_consumed_tokens),
        ),
        possibly_paid_usd: worst.possibly_paid_usd(attempt),
        possibly_used_tokens: worst.possibly_used_tokens(attempt),
        ..tokens(attempt.usage.unwrap_or_default())
    }
}

const fn tokens(usage: Usage) -> EvalUsage {
    EvalUsage {
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        cache_write_tokens: usage.cache_write_tokens,
        output_tokens: usage.output_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        cost_usd: 0.0,
        unpriced: 0,
        unmeasured: 0,
        possibly_paid_usd: 0.0,
        possibly_used_tokens: 0,
    }
}

fn answer(reply: Reply) -> EvalAnswer {
    let finish = match reply.finish {
        Finish::Done => None,
        Finish::Length => Some("the limit of tokens".to_owned()),
        Finish::Refused(words) => Some(format!("a refusal: {words}")),
        Finish::Other(word) => Some(word),
    };
    EvalAnswer {
        text: Some(reply.text),
        grids: Vec::new(),
        reasoning: reply.reasoning,
        finish,
    }
}

/// Converts the failure of a call. `expired` means that the request was halted because it expired
/// while it waited for the spend limit.
fn failed(failure: &Failure, context: &RequestContext<'_>, expired: bool) -> SolverFailure {
    // Only the context knows which limit set the deadline.
    let time = context
        .deadline
        .map_or(EvalFailureKind::RequestTimeout, |(_, kind)| kind);
    let kind = match failure.kind {
        FailureKind::NotSent | FailureKind::Lost => {
            context.expired().unwrap_or(EvalFailureKind::Lost)
        }
        FailureKind::TimedOut => context.expired().unwrap_or(time),
        FailureKind::Halted if expired => context.expired().unwrap_or(time),
        FailureKind::Status => EvalFailureKind::Status,
        FailureKind::Garbled => EvalFailureKind::Garbled,
        FailureKind::NoAnswer => EvalFailureKind::NotRecorded,
        FailureKind::Cancelled | FailureKind::Halted | FailureKind::CircuitOpen => {
            EvalFailureKind::Stopped
        }
    };
    SolverFailure {
        kind,
        message: failure.message.clone(),
        ends_run: failure.affects_all_calls() && !expired,
    }
}

/// Reserves the worst case of every transmission, journals its start, and its end if it failed. The
/// end of a successful transmission needs no line, because the line of its request contains the
/// answer.
struct TransmissionRecorder<'a> {
    context: &'a RequestContext<'a>,
    worst: CostBound,
    /// Whether the request expired while it waited for the spend limit.
    expired: bool,
}

impl rhae_llm::CallObserver for TransmissionRecorder<'_> {
    fn before(&mut self, start: &AttemptStart) -> Result<(), Halt> {
        self.context
            .reserve(&start.id, &self.worst)
            .map_err(|refusal| {
                self.expired = refusal == SpendRefusal::Cancelled;
                Halt(refusal.to_string())
            })
    }

    fn after(&mut self, attempt: &Attempt, reply: Option<&Reply>) -> Result<(), Halt> {
        self.context.settle(&self.worst, attempt);
        if reply.is_some() {
            return Ok(());
        }
        let spent = transmission_usage(attempt, &self.worst);
        let failure = attempt.failure.as_ref();
        let message = failure.map_or("no answer", |failure| failure.message.as_str());
        self.context
            .failed(&attempt.id, message, &spent)
            .map_err(Halt)
    }
}

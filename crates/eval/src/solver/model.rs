//! A language model: a prompt for each request, and every transmission in the journal.

use rhae_llm::{
    Attempt, Cancel, Failure as LlmFailure, FailureKind as LlmKind, Finish, Halt, Model, Part,
    Reply, Request, Sending, Usage,
};
use rhae_protocol::{EvalAnswer, EvalSpent};
use rhae_tasks::{Grid, Prompt, Task};

use super::{Failure, FailureKind, Foreseen, Outcome, Question, Solver, Unit, Watch};

/// Asks a model. Attempts are independent samples of the same prompt.
pub struct Ask {
    /// The model, opened once and shared by all requests.
    pub model: Model,
    /// The prompt.
    pub prompt: Prompt,
}

impl Ask {
    /// What a question is as a request. The sample is not sent; recordings keep attempts apart by it.
    fn request(&self, question: &Question<'_>) -> Request {
        let sample = question
            .attempts
            .first()
            .map_or(0, |&attempt| u32::try_from(attempt - 1).unwrap_or(u32::MAX));
        let text = if self.prompt.is_whole_task() {
            // Only the tests that count are asked for.
            let test = question
                .tests
                .iter()
                .filter_map(|&test| question.task.test.get(test).cloned())
                .collect();
            self.prompt.whole(&Task {
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

impl Solver for Ask {
    fn unit(&self) -> Unit {
        if self.prompt.is_whole_task() {
            Unit::Task
        } else {
            Unit::Attempt
        }
    }

    fn costs(&self) -> bool {
        true
    }

    fn answer(&self, question: &Question<'_>, watch: &Watch<'_>) -> Outcome {
        let deadline = watch.deadline.map(|(deadline, _)| deadline);
        let mut book = Book(watch);
        let outcome = self.model.ask(
            &self.request(question),
            &Cancel::default(),
            deadline,
            &mut book,
        );
        let spent = EvalSpent {
            cost_usd: outcome.cost_usd(),
            unpriced: outcome.unpriced() as u64,
            unmeasured: outcome.uncounted() as u64,
            ..tokens(outcome.usage())
        };
        let result = match outcome.reply {
            Ok(reply) => Ok(answer(reply)),
            Err(failure) => Err(failed(&failure, watch)),
        };
        Outcome { result, spent }
    }

    fn prompt(&self, question: &Question<'_>) -> Option<String> {
        let request = self.request(question);
        let parts = request.turns.iter().flat_map(|turn| &turn.parts);
        let texts = parts.filter_map(|part| {
            if let Part::Text { text } = part {
                Some(text.as_str())
            } else {
                None
            }
        });
        Some(
            request
                .system
                .as_deref()
                .into_iter()
                .chain(texts)
                .collect::<Vec<_>>()
                .join("\n\n"),
        )
    }

    fn foresee(&self, question: &Question<'_>) -> Option<Foreseen> {
        let input_tokens = self.request(question).estimated_tokens();
        let outputs = question.task.train.iter().map(|pair| &pair.output);
        let largest = outputs
            .max_by_key(|grid| grid.cells().len())
            .map_or(0, |grid| rhae_llm::estimate_tokens(&Grid::to_string(grid)));
        let answer_tokens = largest * question.tests.len() as u64;
        let usd = self.model.cost_usd(&Usage {
            input_tokens,
            output_tokens: answer_tokens,
            ..Usage::default()
        });
        Some(Foreseen {
            input_tokens,
            answer_tokens,
            usd,
        })
    }
}

const fn tokens(usage: Usage) -> EvalSpent {
    EvalSpent {
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        cache_write_tokens: usage.cache_write_tokens,
        output_tokens: usage.output_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        cost_usd: 0.0,
        unpriced: 0,
        unmeasured: 0,
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

fn failed(failure: &LlmFailure, watch: &Watch<'_>) -> Failure {
    // Which of our limits it was is known here only.
    let time = watch
        .deadline
        .map_or(FailureKind::RequestTime, |(_, kind)| kind);
    let kind = match failure.kind {
        LlmKind::NotSent | LlmKind::Lost => watch.over().unwrap_or(FailureKind::Lost),
        LlmKind::TimedOut => watch.over().unwrap_or(time),
        LlmKind::Status => FailureKind::Status,
        LlmKind::Garbled => FailureKind::Garbled,
        LlmKind::NoAnswer => FailureKind::NotRecorded,
        LlmKind::Cancelled | LlmKind::Halted | LlmKind::CircuitOpen => FailureKind::Stopped,
    };
    Failure {
        kind,
        message: failure.message.clone(),
        ends_run: failure.concerns_every_call(),
    }
}

/// Writes transmissions down. The one that leads to an answer is not written here: its line holds the answer.
struct Book<'a>(&'a Watch<'a>);

impl rhae_llm::Watch for Book<'_> {
    fn before(&mut self, sending: &Sending) -> Result<(), Halt> {
        self.0.sending(&sending.id).map_err(Halt)
    }

    fn after(&mut self, attempt: &Attempt, reply: Option<&Reply>) -> Result<(), Halt> {
        if reply.is_some() {
            return Ok(());
        }
        let failure = attempt.failure.as_ref();
        let spent = EvalSpent {
            cost_usd: attempt.cost_usd.unwrap_or(0.0),
            unpriced: u64::from(attempt.is_unpriced()),
            unmeasured: u64::from(
                attempt.usage.is_none() && failure.is_none_or(LlmFailure::may_have_consumed),
            ),
            ..tokens(attempt.usage.unwrap_or_default())
        };
        let message = failure.map_or("no answer", |failure| failure.message.as_str());
        self.0.failed(&attempt.id, message, &spent).map_err(Halt)
    }
}

//! A model that can be asked: sends, waits, sends again, and counts everything.
//!
//! **Invariant:** whoever watches is told before each request is sent and after it has come to an end, exactly once each.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::config::seconds;
use crate::failure::{Failure, FailureKind};
use crate::gate::Gate;
use crate::http::{Link, Post, Received, error_in};
use crate::recorded::{self, Recorder};
use crate::watch::{Attempt, Halt, Outcome, Sending, Watch};
use crate::wire::{Assembling, Wire, wire};
use crate::{Cancel, LlmError, ModelConfig, Models, Provider, Reply, Request, Usage, mock};

/// A model, opened. It may be asked from many threads at once, which share its limits.
pub struct Model {
    config: ModelConfig,
    gate: Gate,
    source: Source,
}

/// Where answers come from.
enum Source {
    Http {
        link: Box<Link>,
        wire: &'static dyn Wire,
    },
    Mock,
    Replay(BTreeMap<String, Reply>),
    Record {
        of: Box<Model>,
        recorder: Recorder,
    },
}

/// What a request led to, and what it consumed.
type Sent = (Result<Reply, Failure>, Option<Usage>);

impl Model {
    /// Opens a model of a file. Keys are taken from the environment now, and recordings are read.
    pub fn open(models: &Models, name: &str) -> Result<Self, LlmError> {
        Self::open_with(models, name, &|variable| std::env::var(variable).ok())
    }

    /// As [`Model::open`], with environment variables looked up by a function.
    pub fn open_with(
        models: &Models,
        name: &str,
        variables: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, LlmError> {
        let config = models.find(name)?.clone();
        let wrong = |reason: &str| LlmError::Model {
            model: name.to_owned(),
            reason: reason.to_owned(),
        };
        let file = || {
            config
                .file
                .as_deref()
                .ok_or_else(|| wrong("it needs `file`"))
        };
        let source = match (config.provider, wire(config.provider)) {
            (_, Some(wire)) => Source::Http {
                link: Box::new(Link::new(&config, wire, variables)?),
                wire,
            },
            (Provider::Replay, _) => Source::Replay(recorded::load(file()?)?),
            (Provider::Record, _) => {
                let of = config.of.as_deref().ok_or_else(|| wrong("it needs `of`"))?;
                if models.find(of)?.provider == Provider::Record {
                    return Err(wrong("a recording of a recording is not possible"));
                }
                Source::Record {
                    of: Box::new(Self::open_with(models, of, variables)?),
                    recorder: Recorder::open(file()?)?,
                }
            }
            _ => Source::Mock,
        };
        Ok(Self {
            gate: Gate::new(&config),
            config,
            source,
        })
    }

    /// Its configuration; of a recorded model, that of the model which is asked.
    pub fn config(&self) -> &ModelConfig {
        if let Source::Record { of, .. } = &self.source {
            of.config()
        } else {
            &self.config
        }
    }

    /// Its name in the file.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// What tokens cost by this model's prices, or by what the provider reported; `None` if neither is known.
    pub fn cost_usd(&self, usage: &Usage) -> Option<f64> {
        let prices = self.config().prices.as_ref();
        prices
            .map(|prices| prices.usd(usage))
            .or(usage.reported_usd)
    }

    /// Asks, and does not come back before there is an answer or no hope of one. `deadline` is the caller's, beside the time-outs of
    /// the configuration.
    pub fn ask(
        &self,
        request: &Request,
        cancel: &Cancel,
        deadline: Option<Instant>,
        watch: &mut dyn Watch,
    ) -> Outcome {
        if let Source::Record { of, recorder } = &self.source {
            return of.ask(
                request,
                cancel,
                deadline,
                &mut Recording {
                    recorder,
                    request,
                    watch,
                },
            );
        }
        let mut attempts = Vec::new();
        let reply = loop {
            let number = u32::try_from(attempts.len())
                .unwrap_or(u32::MAX)
                .saturating_add(1);
            let failure =
                match self.attempt(number, request, cancel, deadline, watch, &mut attempts) {
                    Ok(reply) => break Ok(reply),
                    Err(failure) => failure,
                };
            if !failure.may_be_repeated() || number >= self.config.retries.attempts {
                break Err(failure);
            }
            let pause = self
                .config
                .retries
                .pause(number, failure.retry_after, chance());
            if deadline.is_some_and(|deadline| Instant::now() + pause >= deadline) {
                break Err(failure);
            }
            if !cancel.sleep(pause) {
                break Err(Failure::new(
                    FailureKind::Cancelled,
                    "the call was given up",
                ));
            }
        };
        Outcome { reply, attempts }
    }

    /// Sends the request once.
    fn attempt(
        &self,
        number: u32,
        request: &Request,
        cancel: &Cancel,
        deadline: Option<Instant>,
        watch: &mut dyn Watch,
        attempts: &mut Vec<Attempt>,
    ) -> Result<Reply, Failure> {
        let pass = self.gate.pass(cancel, deadline)?;
        let sending = Sending {
            id: Uuid::new_v4().to_string(),
            number,
        };
        watch.before(&sending).map_err(halted)?;
        let begun = Instant::now();
        let (reply, usage) = self.send(&sending, request, cancel, deadline);
        pass.settle(reply.as_ref().err());
        let attempt = Attempt {
            id: sending.id,
            number,
            ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            usage,
            cost_usd: usage.and_then(|usage| self.cost_usd(&usage)),
            failure: reply.as_ref().err().cloned(),
        };
        let told = watch.after(&attempt, reply.as_ref().ok());
        attempts.push(attempt);
        told.map_err(halted)?;
        reply
    }

    fn send(
        &self,
        sending: &Sending,
        request: &Request,
        cancel: &Cancel,
        deadline: Option<Instant>,
    ) -> Sent {
        let reply = match &self.source {
            Source::Http { link, wire } => return self.send_over(link, *wire, sending, request, cancel, deadline),
            Source::Mock => Ok(mock::reply(&self.config.replies, request)),
            Source::Replay(answers) => answers.get(&request.fingerprint()).cloned().ok_or_else(|| {
                Failure::new(
                    FailureKind::NoAnswer,
                    "the recording has no answer to this request: it was made with another prompt or setting",
                )
            }),
            Source::Record { .. } => Err(Failure::new(FailureKind::NoAnswer, "a recorded model is asked through the other one")),
        };
        let usage = reply.as_ref().ok().and_then(|reply| reply.usage);
        (reply, usage)
    }

    fn send_over(
        &self,
        link: &Link,
        wire: &dyn Wire,
        sending: &Sending,
        request: &Request,
        cancel: &Cancel,
        deadline: Option<Instant>,
    ) -> Sent {
        let total = seconds(self.config.timeouts.total_s);
        let left = deadline.map_or(total, |deadline| {
            deadline
                .saturating_duration_since(Instant::now())
                .min(total)
        });
        let mut body = wire.body(&self.config, request);
        body.extend(self.config.request.clone());
        let body = match serde_json::to_vec(&body) {
            Ok(body) => body,
            Err(error) => {
                return (
                    Err(Failure::new(FailureKind::NoAnswer, error.to_string())),
                    None,
                );
            }
        };
        let url = wire.url(&self.config);
        let post = Post {
            url: &url,
            body: &body,
            id: &sending.id,
            total: left.max(Duration::from_millis(1)),
        };
        let mut stream = Assembling(wire.assembly());
        let received = link.post(&post, cancel, self.config.stream.then_some(&mut stream));
        let (value, broken) = match received {
            Ok(Received::Whole(value)) => (value, None),
            Ok(Received::Streamed) => (stream.0.value(), None),
            // What arrived before a stream broke off may say what was consumed.
            Err(failure) => (stream.0.value(), Some(failure)),
        };
        let usage = wire.usage(&value);
        let reply = match broken.or_else(|| error_in(&value)) {
            Some(failure) => Err(failure),
            None => wire.reply(&value, request),
        };
        // A key that arrived in two pieces of a stream was not seen before.
        (
            reply.map(|reply| Reply {
                text: link.hide(&reply.text),
                reasoning: reply.reasoning.map(|text| link.hide(&text)),
                ..reply
            }),
            usage,
        )
    }
}

/// Writes answers down before the caller hears of them.
struct Recording<'a> {
    recorder: &'a Recorder,
    request: &'a Request,
    watch: &'a mut dyn Watch,
}

impl Watch for Recording<'_> {
    fn before(&mut self, sending: &Sending) -> Result<(), Halt> {
        self.watch.before(sending)
    }

    fn after(&mut self, attempt: &Attempt, reply: Option<&Reply>) -> Result<(), Halt> {
        let recorded = reply.map_or(Ok(()), |reply| self.recorder.add(self.request, reply));
        self.watch.after(attempt, reply)?;
        recorded.map_err(Halt)
    }
}

fn halted(Halt(reason): Halt) -> Failure {
    Failure::new(FailureKind::Halted, reason)
}

/// A number from 0 to 1.
fn chance() -> f64 {
    let mut bytes = [0; 2];
    // Without randomness every call waits as long as the others, which does no harm.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX)
}

//! An opened model: sends requests, retries them and reports their usage.
//!
//! **Invariant:** the observer is called exactly once before each attempt and, unless it refuses
//! the attempt, exactly once after it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;
use uuid::Uuid;

use crate::admission::Admission;
use crate::config::seconds;
use crate::failure::{Failure, FailureKind};
use crate::http::{HttpTransport, Post, Received, error_in};
use crate::observer::{Attempt, AttemptStart, CallObserver, CallOutcome, Halt};
use crate::provider::Backend;
use crate::recorded::{self, Recorder};
use crate::wire::{AssemblerSink, Wire};
use crate::{
    CancelToken, CostBound, LlmError, ModelConfig, Models, Rate, Reply, Request, ToolCall,
    ToolCallStyle, Usage, mock,
};

/// An opened model.
///
/// Many threads can call [`ask`](Self::ask) at the same time. They share the limits of the
/// configuration, so a program should open each model once.
///
/// # Examples
///
/// The provider `mock` chooses its reply by the number of earlier replies in the conversation and
/// by the sample:
///
/// ```
/// use rhae_llm::{CancelToken, Model, Models, Request};
///
/// let file = "[models.m]\nprovider = \"mock\"\nreplies = [\"first\", \"second\"]";
/// let model = Model::open(&Models::parse(file)?, "m")?;
/// let ask = |sample| {
///     let request = Request { sample, ..Request::text("Go.") };
///     model.ask(&request, &CancelToken::default(), None, &mut ()).reply.map(|reply| reply.text)
/// };
/// assert_eq!(ask(0), Ok("first".to_owned()));
/// assert_eq!(ask(1), Ok("second".to_owned()));
/// # Ok::<(), rhae_llm::LlmError>(())
/// ```
pub struct Model {
    config: ModelConfig,
    admission: Admission,
    source: Source,
}

/// The origin of the replies.
enum Source {
    Http {
        transport: Box<HttpTransport>,
        wire: &'static dyn Wire,
    },
    Mock,
    Replay(BTreeMap<String, Reply>),
    Record {
        of: Box<Model>,
        recorder: Recorder,
    },
}

/// The result of one attempt and its usage, which may be known even if the attempt failed.
type Sent = (Result<Reply, Failure>, Option<Usage>);

impl Model {
    /// Opens the model `name`: a model of the file, or `PROVIDER/MODEL`. This reads API keys from
    /// the environment and loads recordings.
    ///
    /// # Errors
    ///
    /// Returns an error if the file has no such model, its API key is not set, or its recording
    /// cannot be read.
    pub fn open(models: &Models, name: &str) -> Result<Self, LlmError> {
        Self::open_with(models, name, &|variable| std::env::var(variable).ok())
            .map_err(|error| models.located(error))
    }

    /// Opens a model like [`Model::open`], but looks up environment variables with `variables`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Model::open`].
    pub fn open_with(
        models: &Models,
        name: &str,
        variables: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, LlmError> {
        let config = models.resolve_with(name, variables)?;
        let wrong = |reason: &str| LlmError::Model {
            model: name.to_owned(),
            reason: reason.to_owned(),
        };
        let file = || {
            config
                .file
                .as_deref()
                .ok_or_else(|| wrong("`file` is required"))
        };
        let source = match config.provider.backend() {
            Backend::Http(wire) => Source::Http {
                transport: Box::new(HttpTransport::new(&config, wire, variables)?),
                wire,
            },
            Backend::Replay => Source::Replay(recorded::load(file()?)?),
            Backend::Record => {
                let of = config
                    .of
                    .as_deref()
                    .ok_or_else(|| wrong("`of` is required"))?;
                let recorded = models.resolve_with(of, variables)?;
                if matches!(recorded.provider.backend(), Backend::Record) {
                    return Err(wrong(
                        "`of` must not name another model with the provider `record`",
                    ));
                }
                Source::Record {
                    of: Box::new(Self::open_with(models, of, variables)?),
                    recorder: Recorder::open(file()?)?,
                }
            }
            Backend::Mock => Source::Mock,
        };
        Ok(Self {
            admission: Admission::new(&config),
            config,
            source,
        })
    }

    /// Returns the configuration. For the provider `record`, this is the configuration of the model
    /// that is recorded.
    pub fn config(&self) -> &ModelConfig {
        if let Source::Record { of, .. } = &self.source {
            of.config()
        } else {
            &self.config
        }
    }

    /// Returns the name of the model in the configuration file.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// Returns whether tools can be offered in [`Request::tools`]: the configuration does not say
    /// otherwise, and the provider is not `mock`, which answers with texts only.
    pub fn has_tool_calls(&self) -> bool {
        match &self.source {
            Source::Record { of, .. } => of.has_tool_calls(),
            Source::Mock => false,
            Source::Http { .. } | Source::Replay(_) => {
                self.config.tool_calls == ToolCallStyle::Native
            }
        }
    }

    /// Returns whether the provider requires the reasoning before a tool call to be sent back with
    /// the call. See [`Request::keep_reasoning`].
    pub fn needs_reasoning_with_tools(&self) -> bool {
        match &self.source {
            Source::Record { of, .. } => of.needs_reasoning_with_tools(),
            Source::Http { wire, .. } => wire.needs_reasoning_with_tools(),
            Source::Mock | Source::Replay(_) => false,
        }
    }

    /// Limits the rate of requests, instead of the configured rate.
    pub fn limit_rate(&mut self, rate: Rate) {
        if let Source::Record { of, .. } = &mut self.source {
            return of.limit_rate(rate);
        }
        self.config.limits.rate_limit = Some(rate);
        self.config.limits.requests_per_minute = None;
        self.admission = Admission::new(&self.config);
    }

    /// Returns the cost of tokens in US dollars, from the configured prices or, without prices,
    /// from the provider's report. Returns `None` if neither is known.
    pub fn cost_usd(&self, usage: &Usage) -> Option<f64> {
        let prices = self.config().prices.as_ref();
        prices
            .map(|prices| prices.usd(usage))
            .or(usage.reported_usd)
    }

    /// Returns the worst case of sending a request once, in tokens and under the configured prices.
    /// A call may send its request several times.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_llm::{Model, Models, Request, UnboundedReason};
    ///
    /// let models = Models::parse(
    ///     r#"
    ///     [models.big]
    ///     provider = "openai-responses"
    ///     model = "gpt-big"
    ///     key_env = ""
    ///     request = { max_output_tokens = 1000 }
    ///     prices = { date = "2026-11-01", input = 1, output = 10 }
    ///
    ///     [models.unpriced]
    ///     provider = "openai-responses"
    ///     model = "gpt-big"
    ///     key_env = ""
    ///     request = { max_output_tokens = 1000 }
    ///     "#,
    /// )?;
    /// let request = Request::text("Is it?");
    /// let bound = Model::open(&models, "big")?.cost_bound(&request);
    /// // 1,000 output tokens at $10 per million cost a cent; the prompt costs less than another.
    /// assert!(bound.usd().is_some_and(|usd| (0.01..0.02).contains(&usd)));
    /// // Without prices, only the tokens have a bound.
    /// let unpriced = Model::open(&models, "unpriced")?.cost_bound(&request);
    /// assert_eq!(unpriced.usd, Err(UnboundedReason::NoPrices));
    /// assert_eq!(unpriced.tokens, bound.tokens);
    /// # Ok::<(), rhae_llm::LlmError>(())
    /// ```
    pub fn cost_bound(&self, request: &Request) -> CostBound {
        let known = |reply: Option<&Reply>| {
            let usage = reply.and_then(|reply| reply.usage).unwrap_or_default();
            CostBound::of_known(&self.config, &usage)
        };
        match &self.source {
            Source::Http { wire, .. } => {
                // A request that cannot be encoded is not sent.
                let bytes = self.body(*wire, request).map_or(0, |body| body.len());
                CostBound::of_http(&self.config, *wire, request, bytes)
            }
            Source::Mock => known(Some(&mock::reply(&self.config.replies, request))),
            Source::Replay(replies) => known(replies.get(&request.fingerprint())),
            Source::Record { of, .. } => of.cost_bound(request),
        }
    }

    /// Returns the body of a request with the additional fields of the configuration.
    fn body(&self, wire: &dyn Wire, request: &Request) -> serde_json::Result<Vec<u8>> {
        let mut body = wire.body(&self.config, request);
        body.extend(self.config.request.clone());
        serde_json::to_vec(&body)
    }

    /// Makes one call: sends the request and retries it until there is a reply or a failure that
    /// cannot be retried.
    ///
    /// The call blocks until the limits allow the request. `deadline` applies in addition to the
    /// configured timeouts. `observer` is called before and after each attempt; pass `&mut ()` to
    /// ignore them.
    pub fn ask(
        &self,
        request: &Request,
        cancel: &CancelToken,
        deadline: Option<Instant>,
        observer: &mut dyn CallObserver,
    ) -> CallOutcome {
        if let Source::Record { of, recorder } = &self.source {
            return of.ask(
                request,
                cancel,
                deadline,
                &mut Recording {
                    recorder,
                    request,
                    observer,
                },
            );
        }
        let mut attempts = Vec::new();
        let reply = loop {
            let number = u32::try_from(attempts.len())
                .unwrap_or(u32::MAX)
                .saturating_add(1);
            let failure =
                match self.attempt(number, request, cancel, deadline, observer, &mut attempts) {
                    Ok(reply) => break Ok(reply),
                    Err(failure) => failure,
                };
            let backoff = self.config.retries.backoff();
            let Some(pause) = backoff
                .pause_after(number, failure.retry_after)
                .filter(|_| failure.is_retryable())
            else {
                break Err(failure);
            };
            if deadline.is_some_and(|deadline| Instant::now() + pause >= deadline) {
                break Err(failure);
            }
            if !cancel.sleep(pause) {
                break Err(Failure::new(
                    FailureKind::Cancelled,
                    "the call was cancelled",
                ));
            }
        };
        CallOutcome { reply, attempts }
    }

    /// Waits for admission and sends the request once.
    fn attempt(
        &self,
        number: u32,
        request: &Request,
        cancel: &CancelToken,
        deadline: Option<Instant>,
        observer: &mut dyn CallObserver,
        attempts: &mut Vec<Attempt>,
    ) -> Result<Reply, Failure> {
        let permit = self.admission.acquire(cancel, deadline)?;
        let start = AttemptStart {
            id: Uuid::new_v4().to_string(),
            number,
        };
        observer.before(&start).map_err(halted)?;
        let started = Instant::now();
        let (reply, usage) = self.send(&start, request, cancel, deadline);
        permit.complete(reply.as_ref().err());
        let attempt = Attempt {
            id: start.id,
            number,
            ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            usage,
            cost_usd: usage.and_then(|usage| self.cost_usd(&usage)),
            failure: reply.as_ref().err().cloned(),
        };
        let observed = observer.after(&attempt, reply.as_ref().ok());
        attempts.push(attempt);
        observed.map_err(halted)?;
        reply
    }

    fn send(
        &self,
        start: &AttemptStart,
        request: &Request,
        cancel: &CancelToken,
        deadline: Option<Instant>,
    ) -> Sent {
        let reply = match &self.source {
            Source::Http { transport, wire } => return self.send_http(transport, *wire, start, request, cancel, deadline),
            Source::Mock => Ok(mock::reply(&self.config.replies, request)),
            Source::Replay(replies) => replies.get(&request.fingerprint()).cloned().ok_or_else(|| {
                Failure::new(
                    FailureKind::NoAnswer,
                    "the recording has no answer to this request: it was made with a different prompt or different settings",
                )
            }),
            Source::Record { .. } => Err(Failure::new(FailureKind::NoAnswer, "the provider `record` does not send requests itself")),
        };
        let usage = reply.as_ref().ok().and_then(|reply| reply.usage);
        (reply, usage)
    }

    fn send_http(
        &self,
        transport: &HttpTransport,
        wire: &dyn Wire,
        start: &AttemptStart,
        request: &Request,
        cancel: &CancelToken,
        deadline: Option<Instant>,
    ) -> Sent {
        let total = seconds(self.config.timeouts.total_s);
        let timeout = deadline.map_or(total, |deadline| {
            deadline
                .saturating_duration_since(Instant::now())
                .min(total)
        });
        let body = match self.body(wire, request) {
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
            id: &start.id,
            total: timeout.max(Duration::from_millis(1)),
        };
        let mut stream = AssemblerSink(wire.assembler());
        let received = transport.post(&post, cancel, self.config.stream.then_some(&mut stream));
        let (value, broken) = match received {
            Ok(Received::Complete(value)) => (value, None),
            Ok(Received::Streamed) => (stream.0.value(), None),
            // A stream may have reported the usage before it broke off.
            Err(failure) => (stream.0.value(), Some(failure)),
        };
        let usage = wire.usage(&value);
        let reply = match broken.or_else(|| error_in(&value)) {
            Some(failure) => Err(failure),
            None => wire.reply(&value, request),
        };
        // A key that was split over two events of a stream can be recognised only now.
        (
            reply.map(|reply| Reply {
                text: transport.hide(&reply.text),
                reasoning: reply.reasoning.map(|text| transport.hide(&text)),
                tool_calls: hide_in_calls(transport, reply.tool_calls),
                ..reply
            }),
            usage,
        )
    }
}

/// Replaces the API key in the arguments of tool calls.
fn hide_in_calls(transport: &HttpTransport, mut calls: Vec<ToolCall>) -> Vec<ToolCall> {
    for call in &mut calls {
        let text = call.arguments_text();
        let hidden = transport.hide(&text);
        if hidden != text {
            call.arguments = serde_json::from_str(&hidden).unwrap_or(Value::String(hidden));
        }
    }
    calls
}

/// Records replies before the caller receives them.
struct Recording<'a> {
    recorder: &'a Recorder,
    request: &'a Request,
    observer: &'a mut dyn CallObserver,
}

impl CallObserver for Recording<'_> {
    fn before(&mut self, start: &AttemptStart) -> Result<(), Halt> {
        self.observer.before(start)
    }

    fn after(&mut self, attempt: &Attempt, reply: Option<&Reply>) -> Result<(), Halt> {
        let recorded = reply.map_or(Ok(()), |reply| self.recorder.add(self.request, reply));
        self.observer.after(attempt, reply)?;
        recorded.map_err(Halt)
    }
}

fn halted(Halt(reason): Halt) -> Failure {
    Failure::new(FailureKind::Halted, reason)
}

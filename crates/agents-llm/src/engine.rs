//! The conversation engine: sends requests, executes tool calls, and applies limits.
//!
//! **Invariant:** every request, every answer and every effect of a tool that is not a function of
//! the play is in the model log of the play before it is acted on. A resumed play therefore repeats
//! the conversation without sending anything, up to the point where it was interrupted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rhae_agents::{AgentError, LoggedCalls, error_of_failure, is_context_overflow};
use rhae_llm::{FailureKind, Finish, Model, Part, Reply, Request, Tool, ToolCall, ToolResult};
use rhae_protocol::{ModelUsage, TracedRequest};
use serde_json::Value;

use crate::conversation::{Conversation, TrimPolicy};
use crate::fenced;
use crate::limits::{LimitReached, Limits};
use crate::trace::{OpenCall, Unreported, input_text};

/// Additional requests after replies without content, and after timeouts.
const MAX_RETRIES: u32 = 3;
/// How often one request shortens the conversation because the provider rejects it as too long.
const MAX_CONTEXT_CUTS: u32 = 8;
/// The conversations that run at the same time.
const MAX_PARALLEL: usize = 4;
/// Tells the model that it must answer now.
const LAST_REQUEST: &str =
    "You have used all tool calls of this turn. Answer now, without calling a tool.";

/// How the model calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolMode {
    /// With the tool calls of the provider's wire format.
    Native,
    /// With fenced blocks in the text.
    Fenced,
}

/// The output of a tool, for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    pub text: String,
    pub is_error: bool,
}

impl ToolOutput {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: false,
        }
    }

    /// Creates the output of a call that failed. The text says what the model should do instead.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: true,
        }
    }
}

/// The tools of a conversation.
pub trait Toolbox {
    /// Returns the tools. They do not change during a conversation.
    fn tools(&self) -> Vec<Tool>;

    /// Tells the toolbox which reply of the model comes next, before its calls are executed.
    fn begin(&mut self, _reply: &Reply) {}

    /// Executes a call. An effect that is not a function of the play and of earlier effects must be
    /// stored in the log of the engine.
    ///
    /// # Errors
    ///
    /// Returns an error if the play cannot continue. A call that fails returns an output.
    fn call(
        &mut self,
        name: &str,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError>;

    /// Returns whether a call runs at the same time as those next to it in the reply for which this is
    /// also true.
    fn runs_together(&self, _name: &str, _arguments: &Value) -> bool {
        false
    }

    /// Executes several calls for which [`runs_together`](Self::runs_together) is true. Returns their
    /// outputs in order.
    ///
    /// # Errors
    ///
    /// Returns an error if the play cannot continue.
    fn call_together(
        &mut self,
        calls: &[ToolCall],
        engine: &mut Engine<'_>,
    ) -> Result<Vec<ToolOutput>, AgentError> {
        let mut calls = calls.iter();
        calls.try_fold(Vec::new(), |mut outputs, call| {
            outputs.push(self.call(&call.name, &call.arguments, engine)?);
            Ok(outputs)
        })
    }

    /// Returns whether the turn ends after the calls of the current reply.
    fn ends_turn(&self) -> bool {
        false
    }

    /// Returns what tells the model that its next request is the last one of the turn.
    fn last_request(&self) -> &'static str {
        LAST_REQUEST
    }
}

/// Why a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEnd {
    /// The model answered without calling a tool.
    Answer(Box<Reply>),
    /// A tool ended the turn. Contains the reply that called it.
    Tool(Box<Reply>),
    /// A limit is reached.
    Limit(LimitReached),
}

/// A conversation with its tools.
pub struct Chat {
    conversation: Conversation,
    /// The tools as the model knows them.
    tools: Vec<Tool>,
    mode: ToolMode,
    /// The nesting of this conversation, from 0.
    depth: u32,
    /// The model that answers, if it is not that of the play.
    model: Option<Arc<Model>>,
    /// The name of the agent in recordings, if there are several.
    agent: Option<String>,
    /// The number of the last request in the trace of the play.
    traced: u64,
}

impl Chat {
    /// Names the agent whose conversation this is.
    #[must_use]
    pub(crate) fn of_agent(self, name: &str) -> Self {
        Self {
            agent: Some(name.to_owned()),
            ..self
        }
    }

    /// Lets another model answer.
    #[must_use]
    pub fn with_model(self, model: Arc<Model>) -> Self {
        Self {
            model: Some(model),
            ..self
        }
    }

    /// Adds a message of the user.
    pub fn say(&mut self, text: impl Into<String>) {
        self.conversation.push_user(vec![Part::text(text)]);
    }

    /// Adds a message of the user with several parts.
    pub fn say_parts(&mut self, parts: Vec<Part>) {
        self.conversation.push_user(parts);
    }

    /// Returns the conversation, for its size and its reminder.
    pub fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }

    /// Returns the request that is sent next.
    pub fn next_request(&mut self, sample: u32) -> Request {
        self.conversation.request(sample)
    }

    /// Returns the calls of a reply.
    fn calls(&self, reply: &Reply) -> Vec<ToolCall> {
        match self.mode {
            ToolMode::Native => reply.tool_calls.clone(),
            ToolMode::Fenced => fenced::calls(&reply.text, &self.tools),
        }
    }

    fn push_results(&mut self, results: Vec<ToolResult>) {
        match self.mode {
            ToolMode::Native => self.conversation.push_results(results),
            ToolMode::Fenced => self.conversation.push_user(fenced::results(&results)),
        }
    }
}

/// The settings of new conversations.
#[derive(Clone, Copy, Debug)]
pub struct ChatSettings {
    pub mode: ToolMode,
    pub keep_reasoning: bool,
    pub trim: TrimPolicy,
}

impl ChatSettings {
    /// Returns the settings for a model with tools.
    pub fn of_model(model: &Model, keep_reasoning: bool, context_tokens: u64) -> Self {
        let mode = if model.has_tool_calls() {
            ToolMode::Native
        } else {
            ToolMode::Fenced
        };
        let is_needed = mode == ToolMode::Native && model.needs_reasoning_with_tools();
        Self {
            mode,
            keep_reasoning: keep_reasoning || is_needed,
            trim: TrimPolicy::new(context_tokens),
        }
    }

    /// Creates an empty conversation.
    pub fn chat(self, system: &str, tools: Vec<Tool>, depth: u32) -> Chat {
        let (system, offered) = match self.mode {
            ToolMode::Native => (system.to_owned(), tools.clone()),
            ToolMode::Fenced if tools.is_empty() => (system.to_owned(), Vec::new()),
            ToolMode::Fenced => (
                format!("{system}{}", fenced::description(&tools)),
                Vec::new(),
            ),
        };
        Chat {
            conversation: Conversation::new(system, offered, self.keep_reasoning, self.trim),
            tools,
            mode: self.mode,
            depth,
            model: None,
            agent: None,
            traced: 0,
        }
    }
}

/// What the agent of a play has not reported yet.
pub(crate) type SharedUnreported = Arc<Mutex<Unreported>>;

/// Sends the requests of a play and counts their usage.
pub struct Engine<'log> {
    pub(crate) calls: LoggedCalls<'log>,
    limits: Limits,
    /// The usage of the play.
    total: ModelUsage,
    unreported: SharedUnreported,
    /// The sample number of the first request of each turn.
    first_sample: u32,
    /// How often [`parallel`](Self::parallel) was called.
    groups: u32,
}

impl<'log> Engine<'log> {
    /// Creates an engine whose usage is not reported to anyone.
    pub fn new(calls: LoggedCalls<'log>, limits: Limits) -> Self {
        Self::reporting(calls, limits, SharedUnreported::default(), 0)
    }

    /// Sets the sample number of the first request of each turn, which distinguishes attempts in
    /// recordings of answers.
    #[must_use]
    pub fn with_first_sample(self, first_sample: u32) -> Self {
        Self {
            first_sample,
            ..self
        }
    }

    /// Creates an engine that adds its usage to `unreported`.
    pub(crate) fn reporting(
        calls: LoggedCalls<'log>,
        limits: Limits,
        unreported: SharedUnreported,
        first_sample: u32,
    ) -> Self {
        Self {
            calls,
            limits,
            total: ModelUsage::default(),
            unreported,
            first_sample,
            groups: 0,
        }
    }

    /// Runs several conversations at the same time and returns their results in order. Each has a
    /// separate engine, whose calls are a branch of the log, so that a resumed play finds the answers
    /// of each conversation whatever their order was.
    pub(crate) fn parallel<T: Send>(
        &mut self,
        count: usize,
        work: impl Fn(usize, &mut Self) -> T + Sync,
    ) -> Vec<T> {
        self.groups += 1;
        let branches: Vec<Mutex<(Self, Option<T>)>> = (0..count)
            .map(|index| Mutex::new((self.branch(index), None)))
            .collect();
        let next = AtomicUsize::new(0);
        let run = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(branch) = branches.get(index) else {
                    break;
                };
                let mut branch = branch.lock().unwrap_or_else(PoisonError::into_inner);
                let (engine, result) = &mut *branch;
                *result = Some(work(index, engine));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..count.min(MAX_PARALLEL) {
                scope.spawn(run);
            }
        });
        let mut results = Vec::new();
        for branch in branches {
            let (engine, result) = branch.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.join(&engine);
            results.extend(result);
        }
        results
    }

    /// Creates the engine of one of several conversations.
    fn branch(&mut self, index: usize) -> Self {
        let name = format!("{}.{index}", self.groups);
        Self {
            calls: self.calls.branch(&name),
            limits: self.limits,
            total: self.total,
            unreported: SharedUnreported::default(),
            first_sample: self.first_sample,
            groups: 0,
        }
    }

    /// Adds what a branch has spent and done.
    fn join(&mut self, branch: &Self) {
        let Unreported { usage, trace } = std::mem::take(&mut *branch.unreported());
        self.total += usage;
        let mut unreported = self.unreported();
        unreported.usage += usage;
        unreported.trace.append(trace);
    }

    fn unreported(&self) -> MutexGuard<'_, Unreported> {
        self.unreported
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that code or a tool is about to be executed, for the recording.
    pub(crate) fn start_call(&self, chat: &Chat, tool: &str, input: &str) -> OpenCall {
        let request = (chat.traced, chat.agent.as_deref());
        self.unreported().trace.start_call(request, tool, input)
    }

    /// Notes the result of a call.
    pub(crate) fn end_call(&self, call: &OpenCall, output: &ToolOutput) {
        let mut unreported = self.unreported();
        unreported
            .trace
            .end_call(call, &output.text, output.is_error);
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the usage of the play so far.
    pub fn total(&self) -> &ModelUsage {
        &self.total
    }

    /// Lets the model call tools until it answers, a tool ends the turn, or a limit is reached.
    ///
    /// # Errors
    ///
    /// Returns an error if the play cannot continue.
    pub fn turn(
        &mut self,
        chat: &mut Chat,
        toolbox: &mut dyn Toolbox,
    ) -> Result<TurnEnd, AgentError> {
        if chat.depth > self.limits.max_depth {
            let depth = LimitReached::Depth(self.limits.max_depth);
            return Ok(TurnEnd::Limit(depth));
        }
        let mut errors = 0;
        for iteration in 1..=self.limits.max_iterations {
            if let Err(limit) = self.limits.check_usage(&self.total) {
                return Ok(TurnEnd::Limit(limit));
            }
            let reply = self.ask(chat)?;
            chat.conversation.push_reply(&reply);
            toolbox.begin(&reply);
            let calls = chat.calls(&reply);
            if calls.is_empty() {
                return Ok(TurnEnd::Answer(Box::new(reply)));
            }
            let mut results = Vec::new();
            let outputs = self.execute_all(chat, &calls, toolbox)?;
            for (call, output) in calls.iter().zip(outputs) {
                errors = if output.is_error { errors + 1 } else { 0 };
                results.push(ToolResult {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    output: output.text,
                    is_error: output.is_error,
                });
            }
            chat.push_results(results);
            if toolbox.ends_turn() {
                return Ok(TurnEnd::Tool(Box::new(reply)));
            }
            if errors >= self.limits.max_consecutive_errors {
                return Ok(TurnEnd::Limit(LimitReached::Errors(errors)));
            }
            if iteration + 1 == self.limits.max_iterations {
                chat.say(toolbox.last_request());
            }
        }
        let iterations = LimitReached::Iterations(self.limits.max_iterations);
        Ok(TurnEnd::Limit(iterations))
    }

    /// Executes the calls of a reply in order, after a check of each of them. Neighbours that run
    /// together are executed at the same time.
    fn execute_all(
        &mut self,
        chat: &Chat,
        calls: &[ToolCall],
        toolbox: &mut dyn Toolbox,
    ) -> Result<Vec<ToolOutput>, AgentError> {
        let mut outputs = Vec::new();
        let mut rest = calls;
        while let Some(first) = rest.first() {
            let is_together = |call: &&ToolCall| {
                check(chat, call).is_ok() && toolbox.runs_together(&call.name, &call.arguments)
            };
            let count = rest.iter().take_while(is_together).count().max(1);
            let (group, later) = rest.split_at(count);
            rest = later;
            let start =
                |call: &ToolCall| self.start_call(chat, &call.name, &input_text(&call.arguments));
            let traced: Vec<OpenCall> = group.iter().map(start).collect();
            let done = match check(chat, first) {
                _ if count > 1 => toolbox.call_together(group, self)?,
                Ok(()) => vec![toolbox.call(&first.name, &first.arguments, self)?],
                Err(problem) => vec![ToolOutput::error(problem)],
            };
            for (traced, output) in traced.iter().zip(&done) {
                self.end_call(traced, output);
            }
            outputs.extend(done);
        }
        Ok(outputs)
    }

    /// Sends the next request until there is a reply with content.
    pub(crate) fn ask(&mut self, chat: &mut Chat) -> Result<Reply, AgentError> {
        let mut cuts = 0;
        let mut retries = 0;
        loop {
            let request = chat.conversation.request(self.first_sample + retries);
            let answer = self.calls.ask_model(chat.model.as_deref(), &request);
            let spent = self.count_usage();
            let problem = match answer? {
                Ok(reply) if !reply.tool_calls.is_empty() || !reply.text.trim().is_empty() => {
                    let request = traced_request(chat, &reply, &spent);
                    chat.traced = self.unreported().trace.add(request);
                    return Ok(reply);
                }
                Ok(reply) => describe_empty(&reply),
                Err(failure)
                    if is_context_overflow(&failure)
                        && cuts < MAX_CONTEXT_CUTS
                        && chat.conversation.remove_older_half() =>
                {
                    cuts += 1;
                    continue;
                }
                Err(failure) if failure.kind == FailureKind::TimedOut => failure.message,
                Err(failure) => return Err(error_of_failure(failure)),
            };
            if retries == MAX_RETRIES {
                return Err(AgentError::Failed(format!(
                    "{problem} (asked {} times)",
                    retries + 1
                )));
            }
            retries += 1;
        }
    }

    /// Adds the usage of the last call to the totals, and returns it.
    fn count_usage(&mut self) -> ModelUsage {
        let spent = self.calls.take_spent();
        self.total += spent;
        self.unreported().usage += spent;
        spent
    }
}

/// Checks that the tool exists and that the arguments are an object with the required fields. The error
/// is for the model.
fn check(chat: &Chat, call: &ToolCall) -> Result<(), String> {
    let Some(tool) = chat.tools.iter().find(|tool| tool.name == call.name) else {
        let names: Vec<&str> = chat.tools.iter().map(|tool| tool.name.as_str()).collect();
        return Err(format!(
            "there is no tool `{}`; the tools are {}",
            call.name,
            names.join(", ")
        ));
    };
    let Value::Object(fields) = &call.arguments else {
        return Err(
            "the arguments are not a JSON object; call the tool again with valid JSON".to_owned(),
        );
    };
    let required = tool.parameters["required"].as_array().into_iter().flatten();
    let mut names = required.filter_map(Value::as_str);
    match names.find(|name| !fields.contains_key(*name)) {
        Some(missing) => Err(format!("the argument `{missing}` is missing")),
        None => Ok(()),
    }
}

/// Describes a request and its reply, for the recording.
fn traced_request(chat: &Chat, reply: &Reply, spent: &ModelUsage) -> TracedRequest {
    let usage = reply.usage.as_ref();
    let counted = usage.map(|usage| usage.input_tokens.saturating_add(usage.output_tokens));
    TracedRequest {
        agent: chat.agent.clone(),
        context_tokens: Some(counted.unwrap_or_else(|| chat.conversation.tokens())),
        output_tokens: usage.map(|usage| usage.output_tokens),
        cost_usd: spent.cost_usd,
        reasoning: reply.reasoning.clone(),
        text: Some(reply.text.clone()),
        calls: Vec::new(),
    }
}

/// Describes a reply without content, for an error message.
fn describe_empty(reply: &Reply) -> String {
    match &reply.finish {
        Finish::Refused(why) => format!("the model refused: {why}"),
        Finish::Length => "the reply reached the limit of output tokens before any text".to_owned(),
        _ => "the reply was empty".to_owned(),
    }
}

#[cfg(test)]
mod tests;

//! Recursive language models: the prompt is a variable of a JavaScript engine, and the model writes
//! code that inspects it and calls models on parts of it.
//!
//! It re-implements the RLM harness of `seeds/004`, an agent without Python, from a description of
//! its rules. A model is invoked with a query and a context. In each iteration it writes one block
//! of code, whose output is the next message. `return(value)` ends the invocation, and
//! `await rlm(query, context)` starts another one, in an engine of its own.
//!
//! **Invariant:** an invocation is a function of the replies and of the outputs of its code, which
//! are in the log. Calls of `rlm` that are started together run at the same time, each with a branch
//! of the log, and get their answers in the order in which they were started.

mod code_block;
mod game;

use std::cell::Cell;
use std::sync::Arc;

use rhae_agents::AgentError;
use rhae_llm::{Request, estimate_tokens};
use serde_json::{Value, json};

use crate::code::{CodeRuntime, HostFunctions, Interpreter, NoFunctions};
use crate::engine::{Chat, ChatSettings, Engine};
use crate::limits::LimitReached;
use crate::prompts::{EmbeddedPrompt, PromptSet};

pub(crate) use game::KIND;

/// The prompts.
const PROMPTS: &[EmbeddedPrompt] = &[
    ("game", include_str!("../prompts/rlm/game.md")),
    ("game_names", include_str!("../prompts/rlm/game_names.md")),
    ("guard", include_str!("../prompts/rlm/guard.md")),
    ("last", include_str!("../prompts/rlm/last.md")),
    ("many_tests", include_str!("../prompts/rlm/many_tests.md")),
    ("no_code", include_str!("../prompts/rlm/no_code.md")),
    ("one_test", include_str!("../prompts/rlm/one_test.md")),
    ("output", include_str!("../prompts/rlm/output.md")),
    ("plain", include_str!("../prompts/rlm/plain.md")),
    ("start", include_str!("../prompts/rlm/start.md")),
    ("system", include_str!("../prompts/rlm/system.md")),
    ("task", include_str!("../prompts/rlm/task.md")),
];

/// The calls of `rlm` below one root invocation.
const MAX_CALLS: u32 = 100;
/// The characters of a returned value that the guard of early returns shows.
const MAX_SHOWN_CHARS: usize = 4_000;

/// A model that works on its prompt with code.
pub struct Rlm {
    prompts: PromptSet,
    chat: ChatSettings,
    runtime: Arc<CodeRuntime>,
}

/// How a root invocation ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RlmEnd {
    /// The code returned this value.
    Returned(Value),
    /// A limit was reached before.
    Limit(LimitReached),
}

/// The result of a root invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct RlmOutcome {
    pub end: RlmEnd,
    /// What the model wrote in each iteration.
    pub texts: Vec<String>,
    /// The calls of `rlm`.
    pub calls: u32,
}

/// An invocation of a model.
struct Invocation<'a> {
    query: &'a str,
    context: &'a Value,
    depth: u32,
    /// Describes names of the code in addition to those that every invocation has.
    names: &'a str,
    /// Code that defines names.
    prelude: &'a str,
}

/// What all invocations below a root, or below one of several calls that run at the same time, share.
struct Tree<'a> {
    /// The context of the root.
    shared: &'a Value,
    calls: Cell<u32>,
    max_calls: u32,
}

impl Rlm {
    /// Creates a model with the embedded prompts, of which files `rlm/NAME.md` below `prompts` replace
    /// some.
    ///
    /// # Errors
    ///
    /// Returns an error if the prompts cannot be read.
    pub fn open(
        prompts: Option<&std::path::Path>,
        chat: ChatSettings,
        runtime: Arc<CodeRuntime>,
    ) -> Result<Self, crate::PromptError> {
        let prompts = PromptSet::load("rlm", PROMPTS, prompts)?;
        Ok(Self::new(prompts, chat, runtime))
    }

    fn new(prompts: PromptSet, chat: ChatSettings, runtime: Arc<CodeRuntime>) -> Self {
        Self {
            prompts,
            chat,
            runtime,
        }
    }

    /// Returns the digest of the prompts, which results contain.
    pub fn prompts_digest(&self) -> String {
        self.prompts.digest()
    }

    /// Returns the query for a static task with this many tests, whose context is the task as a JSON
    /// text.
    pub fn task_query(&self, tests: usize) -> String {
        let format = match tests {
            1 => self.prompts.fill("one_test", &[]),
            _ => {
                let tests = tests.to_string();
                self.prompts.fill("many_tests", &[("tests", &tests)])
            }
        };
        self.prompts.fill("task", &[("format", &format)])
    }

    /// Returns the first request of a root invocation.
    pub fn first_request(&self, query: &str, context: &Value, max_iterations: u32) -> Request {
        let invocation = Invocation {
            query,
            context,
            depth: 0,
            names: "",
            prelude: "",
        };
        new_chat(&self.prompts, self.chat, &invocation, max_iterations).next_request(0)
    }

    /// Invokes the model at the root.
    ///
    /// # Errors
    ///
    /// Returns an error if a request fails permanently, or if the log cannot be written.
    pub fn run(
        &self,
        query: &str,
        context: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<RlmOutcome, AgentError> {
        let invocation = Invocation {
            query,
            context,
            depth: 0,
            names: "",
            prelude: "",
        };
        self.run_root(&invocation, &mut NoFunctions, engine)
    }

    fn run_root(
        &self,
        invocation: &Invocation<'_>,
        functions: &mut dyn HostFunctions,
        engine: &mut Engine<'_>,
    ) -> Result<RlmOutcome, AgentError> {
        let tree = Tree {
            shared: invocation.context,
            calls: Cell::new(0),
            max_calls: MAX_CALLS,
        };
        let mut texts = Vec::new();
        let end = self.invoke(invocation, &tree, functions, &mut texts, engine)?;
        Ok(RlmOutcome {
            end,
            texts,
            calls: tree.calls.get(),
        })
    }

    /// Lets the model write code until it returns.
    fn invoke(
        &self,
        invocation: &Invocation<'_>,
        tree: &Tree<'_>,
        functions: &mut dyn HostFunctions,
        texts: &mut Vec<String>,
        engine: &mut Engine<'_>,
    ) -> Result<RlmEnd, AgentError> {
        let iterations = engine.limits().max_iterations;
        let mut interpreter = Interpreter::new(&self.runtime, invocation.prelude);
        let mut chat = new_chat(&self.prompts, self.chat, invocation, iterations);
        for iteration in 1..=iterations {
            if let Err(limit) = engine.limits().check_usage(engine.total()) {
                return Ok(RlmEnd::Limit(limit));
            }
            let reply = engine.ask(&mut chat)?;
            chat.conversation().push_reply(&reply);
            let blocks = code_block::blocks(&reply.text);
            texts.push(reply.text.clone());
            let message = match blocks.first() {
                None => self.prompts.fill("no_code", &[]),
                Some(code) => {
                    let update = self.variables(invocation, tree, iteration, &interpreter, engine);
                    functions.begin();
                    let mut functions = Functions {
                        rlm: self,
                        tree,
                        depth: invocation.depth,
                        own: &mut *functions,
                    };
                    let traced = engine.start_call(&chat, "javascript", code);
                    let executed = interpreter.execute(code, &update, &mut functions, engine)?;
                    engine.end_call(&traced, &executed.output);
                    match executed.returned {
                        // A model that answers before it has seen anything is usually wrong.
                        Some(value) if iteration == 1 && iterations > 1 => {
                            self.guard(&value, &executed.output.text)
                        }
                        Some(value) => return Ok(RlmEnd::Returned(value)),
                        None => self.output(&executed.output.text, iteration, blocks.len()),
                    }
                }
            };
            chat.say(message + &self.notice(iteration, iterations));
        }
        Ok(RlmEnd::Limit(LimitReached::Iterations(iterations)))
    }

    /// Returns the variables that the engine gets before an execution.
    fn variables(
        &self,
        invocation: &Invocation<'_>,
        tree: &Tree<'_>,
        iteration: u32,
        interpreter: &Interpreter,
        engine: &Engine<'_>,
    ) -> Value {
        let limits = engine.limits();
        let mut variables = json!({"__rlm": {
            "depth": invocation.depth,
            "maxDepth": limits.max_depth,
            "iteration": iteration,
            "maxIterations": limits.max_iterations,
        }});
        if interpreter.is_empty() {
            variables["context"] = invocation.context.clone();
            variables["__ctx"] = json!({"shared": tree.shared});
        }
        variables
    }

    /// Returns the message after an execution without a return.
    fn output(&self, output: &str, iteration: u32, blocks: usize) -> String {
        let ignored = match blocks {
            0 | 1 => String::new(),
            blocks => format!(
                "\nOnly the first code block was executed; {} more were ignored. Write one block per reply.",
                blocks - 1
            ),
        };
        self.prompts.fill(
            "output",
            &[
                ("iteration", &iteration.to_string()),
                ("output", &output.replace("```", "'''")),
                ("ignored", &ignored),
            ],
        )
    }

    /// Returns the message after a return in the first iteration.
    fn guard(&self, value: &Value, output: &str) -> String {
        let text = value.to_string();
        let end = text.char_indices().nth(MAX_SHOWN_CHARS);
        let shown = end.map_or(text.as_str(), |(end, _)| &text[..end]);
        let values = [
            ("value", shown.replace("```", "'''")),
            ("output", output.replace("```", "'''")),
        ];
        let values: Vec<(&str, &str)> = values
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        self.prompts.fill("guard", &values)
    }

    /// Says how many iterations are left after this one.
    fn notice(&self, iteration: u32, iterations: u32) -> String {
        match iterations - iteration {
            left @ 1..=2 => {
                let left = left.to_string();
                format!("\n\n{}", self.prompts.fill("last", &[("left", &left)]))
            }
            left => format!("\n\n{left} iterations are left."),
        }
    }

    /// Answers one call of `rlm`. The inner error is the text of an exception.
    fn child(
        &self,
        query: &str,
        context: &Value,
        depth: u32,
        tree: &Tree<'_>,
        engine: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        let max_depth = engine.limits().max_depth;
        if depth > max_depth {
            return Ok(Err(format!(
                "rlm() is not available: calls are nested at most {max_depth} deep"
            )));
        }
        if tree.calls.get() >= tree.max_calls {
            return Ok(Err(format!(
                "no call of rlm() is left: one invocation makes at most {MAX_CALLS}, which calls that are started together divide among them"
            )));
        }
        tree.calls.set(tree.calls.get() + 1);
        if depth == max_depth {
            return self.plain(query, context, depth, engine);
        }
        let invocation = Invocation {
            query,
            context,
            depth,
            names: "",
            prelude: "",
        };
        let texts = &mut Vec::new();
        let end = self.invoke(&invocation, tree, &mut NoFunctions, texts, engine)?;
        Ok(match end {
            RlmEnd::Returned(value) => Ok(value),
            RlmEnd::Limit(LimitReached::Iterations(iterations)) => Err(format!(
                "the call used its {iterations} iterations without returning a value"
            )),
            RlmEnd::Limit(limit) => Err(limit.to_string()),
        })
    }

    /// Asks the model without code, at the maximum depth.
    fn plain(
        &self,
        query: &str,
        context: &Value,
        depth: u32,
        engine: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        if let Err(limit) = engine.limits().check_usage(engine.total()) {
            return Ok(Err(limit.to_string()));
        }
        let text = match context {
            Value::Null => query.to_owned(),
            Value::String(context) => format!("{query}\n\n{context}"),
            context => format!("{query}\n\n{context}"),
        };
        if estimate_tokens(&text) > self.chat.trim.max_tokens {
            return Ok(Err(
                "the context is too long for one request; pass a part of it".to_owned(),
            ));
        }
        let system = self.prompts.fill("plain", &[]);
        let chat = self.chat.chat(&system, Vec::new(), depth);
        let mut chat = chat.of_agent(&call_name(depth));
        chat.say(text);
        let reply = engine.ask(&mut chat)?;
        Ok(Ok(Value::String(reply.text)))
    }
}

/// Starts the conversation of an invocation.
fn new_chat(
    prompts: &PromptSet,
    settings: ChatSettings,
    invocation: &Invocation<'_>,
    iterations: u32,
) -> Chat {
    let system = prompts.fill("system", &[("names", invocation.names)]);
    let mut chat = settings.chat(&system, Vec::new(), invocation.depth);
    if invocation.depth > 0 {
        chat = chat.of_agent(&call_name(invocation.depth));
    }
    let (kind, size) = match invocation.context {
        Value::String(text) => ("a string", text.chars().count()),
        Value::Array(_) => ("an array", json_chars(invocation.context)),
        Value::Object(_) => ("an object", json_chars(invocation.context)),
        Value::Null => ("null", 0),
        _ => ("a value", json_chars(invocation.context)),
    };
    chat.say(prompts.fill(
        "start",
        &[
            ("query", invocation.query),
            ("kind", kind),
            ("size", &size.to_string()),
            ("iterations", &iterations.to_string()),
        ],
    ));
    // What must survive if old turns are removed.
    chat.conversation()
        .set_reminder(invocation.query.to_owned());
    chat
}

/// Names a call in recordings.
fn call_name(depth: u32) -> String {
    format!("rlm at depth {depth}")
}

fn json_chars(value: &Value) -> usize {
    value.to_string().chars().count()
}

/// The functions of the code of an invocation.
struct Functions<'a> {
    rlm: &'a Rlm,
    tree: &'a Tree<'a>,
    depth: u32,
    /// The functions of the agent.
    own: &'a mut dyn HostFunctions,
}

impl HostFunctions for Functions<'_> {
    fn call(
        &mut self,
        name: &str,
        arguments: &[Value],
        engine: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        if name != "rlm" {
            return self.own.call(name, arguments, engine);
        }
        let answers = match arguments {
            [call] => vec![self.answer(call, engine)?],
            calls => self.answer_together(calls, engine)?,
        };
        let answer = |answer| match answer {
            Ok(value) => json!([true, value]),
            Err(text) => json!([false, text]),
        };
        Ok(Ok(answers.into_iter().map(answer).collect()))
    }
}

impl Functions<'_> {
    fn answer(
        &self,
        call: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        let query = call[0].as_str().unwrap_or_default();
        let depth = self.depth + 1;
        self.rlm.child(query, &call[1], depth, self.tree, engine)
    }

    /// Answers calls that were started together at the same time. They divide the remaining calls
    /// equally, so that the limit does not depend on which of them is faster.
    fn answer_together(
        &self,
        calls: &[Value],
        engine: &mut Engine<'_>,
    ) -> Result<Vec<Result<Value, String>>, AgentError> {
        let (rlm, shared, depth) = (self.rlm, self.tree.shared, self.depth + 1);
        let left = self.tree.max_calls.saturating_sub(self.tree.calls.get());
        let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        let allowed = count.min(left);
        let share = 1 + (left - allowed) / allowed.max(1);
        let outcomes = engine.parallel(calls.len(), |index, engine| {
            let call = &calls[index];
            let is_allowed = u32::try_from(index).is_ok_and(|index| index < allowed);
            let tree = Tree {
                shared,
                calls: Cell::new(0),
                max_calls: if is_allowed { share } else { 0 },
            };
            let query = call[0].as_str().unwrap_or_default();
            let answer = rlm.child(query, &call[1], depth, &tree, engine);
            (answer, tree.calls.get())
        });
        let mut answers = Vec::new();
        for (answer, used) in outcomes {
            self.tree.calls.set(self.tree.calls.get() + used);
            answers.push(answer?);
        }
        Ok(answers)
    }
}

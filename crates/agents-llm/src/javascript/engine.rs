//! The process of the engine: it executes code in QuickJS and exchanges messages with the agent.
//!
//! **Invariant:** this code runs inside the sandbox. Nothing here protects the system; limits only
//! make failures precise and reproducible.

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::process::ExitCode;
use std::rc::Rc;

use rquickjs::context::intrinsic;
use rquickjs::{CatchResultExt as _, Context, Ctx, Function, Object, Persistent, Runtime};
use serde_json::{Value, json};

use super::declarations::global_declarations;
use super::messages::{self, Output};

/// The functions of the engine in JavaScript.
const PRELUDE: &str = include_str!("../../javascript/prelude.js");
/// The stack of the code, in bytes. The stack of the process is larger.
const STACK_BYTES: usize = 1 << 20;
/// The largest returned value, in bytes of JSON.
const MAX_RETURNED_BYTES: usize = 4 << 20;
/// How many jobs count as one unit of work.
const JOBS_PER_WORK: u64 = 100;

/// How many printed texts, or kibibytes of them, count as one unit of work.
const PRINTS_PER_WORK: u64 = 100;

/// What models use. Time and garbage collection cannot be observed, so that results are
/// reproducible.
type Intrinsics = (
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// Runs the engine until the agent closes its pipe. The arguments are the limits of work, memory in
/// MiB, and output in characters.
pub fn javascript_engine(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let numbers: Option<Vec<u64>> = arguments
        .into_iter()
        .map(|argument| argument.to_str()?.parse().ok())
        .collect();
    let Some([max_work, memory_mb, max_output]) =
        numbers.and_then(|numbers| <[u64; 3]>::try_from(numbers).ok())
    else {
        eprintln!("expected the limits of work, memory and output");
        return ExitCode::FAILURE;
    };
    let limits = Limits {
        max_work,
        memory_bytes: usize::try_from(memory_mb << 20).unwrap_or(usize::MAX),
        max_output: usize::try_from(max_output).unwrap_or(usize::MAX),
    };
    match serve(&limits) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

struct Limits {
    max_work: u64,
    memory_bytes: usize,
    max_output: usize,
}

/// What the engine and the functions of the code share.
struct Shared {
    output: RefCell<Output>,
    /// The work that the current execution may still do.
    work_left: Cell<u64>,
    /// The printed texts and kibibytes that do not yet count as a unit of work.
    printed: Cell<u64>,
}

impl Shared {
    /// Counts one unit of work. Returns false if none was left.
    fn work(&self) -> bool {
        let left = self.work_left.get();
        self.work_left.set(left.saturating_sub(1));
        left > 0
    }

    /// Counts a printed text, because the engine does not count what its functions do.
    fn count_output(&self, bytes: usize) {
        let printed = self.printed.get() + 1 + (bytes >> 10) as u64;
        let units = printed / PRINTS_PER_WORK;
        self.printed.set(printed % PRINTS_PER_WORK);
        self.work_left
            .set(self.work_left.get().saturating_sub(units));
    }
}

/// Starts the engine and executes code until the agent closes its pipe.
fn serve(limits: &Limits) -> Result<(), String> {
    let failed = |error: rquickjs::Error| format!("the engine cannot be started: {error}");
    let runtime = Runtime::new().map_err(failed)?;
    runtime.set_memory_limit(limits.memory_bytes);
    runtime.set_max_stack_size(STACK_BYTES);
    let shared = Rc::new(Shared {
        output: RefCell::new(Output::new(limits.max_output)),
        work_left: Cell::new(limits.max_work),
        printed: Cell::new(0),
    });
    let counter = Rc::clone(&shared);
    runtime.set_interrupt_handler(Some(Box::new(move || !counter.work())));
    let context = Context::custom::<Intrinsics>(&runtime).map_err(failed)?;
    let first = messages::read();
    let prelude = first["prelude"].as_str().unwrap_or_default();
    let machine = context.with(|ctx| Machine::new(&ctx, &shared, prelude))?;
    messages::write(&json!({"ready": true}));
    loop {
        let message = messages::read();
        shared.work_left.set(limits.max_work);
        let answer = context.with(|ctx| machine.run(&ctx, &message));
        let is_full = runtime_bytes(&runtime) > limits.memory_bytes / 10 * 9;
        let failure = if shared.work_left.get() == 0 {
            Some("the code was ended because it worked too long")
        } else {
            is_full.then_some("the code was ended because it used too much memory")
        };
        if let Some(reason) = failure {
            messages::write(&json!({"failed": reason}));
            return Ok(());
        }
        let answer = answer.map_err(failed)?;
        messages::write(&json!({"done": answer}));
    }
}

fn runtime_bytes(runtime: &Runtime) -> usize {
    usize::try_from(runtime.memory_usage().malloc_size).unwrap_or(usize::MAX)
}

/// The functions of the engine in JavaScript.
struct Machine {
    shared: Rc<Shared>,
    functions: Persistent<Object<'static>>,
}

impl Machine {
    /// Defines the functions of the engine, and executes the prelude of the agent.
    fn new(ctx: &Ctx<'_>, shared: &Rc<Shared>, prelude: &str) -> Result<Self, String> {
        let written = Rc::clone(shared);
        let write = move |text: String| {
            written.count_output(text.len());
            written.output.borrow_mut().push(&text);
        };
        let functions = define(ctx, write, prelude)
            .catch(ctx)
            .map_err(|error| format!("the engine failed: {error}"))?;
        Ok(Self {
            shared: Rc::clone(shared),
            functions: Persistent::save(ctx, functions),
        })
    }

    /// Executes the code of a message and returns its result.
    fn run(&self, ctx: &Ctx<'_>, message: &Value) -> rquickjs::Result<Value> {
        let functions = self.functions.clone().restore(ctx)?;
        let code = message["code"].as_str().unwrap_or_default();
        let source = format!("{}\n;return __nothing;", global_declarations(code));
        let update: Function<'_> = functions.get("update")?;
        let start: Function<'_> = functions.get("start")?;
        let result = update
            .call::<_, ()>((message["update"].to_string(),))
            .and_then(|()| start.call::<_, ()>((source,)))
            .and_then(|()| self.settle(ctx, &functions))
            .catch(ctx);
        let (returned, error) = match result {
            Ok(Settled { returned, error }) => (returned, error),
            // The code has exhausted a resource, so that not even its error could be described.
            Err(error) => (None, Some(error.to_string())),
        };
        let mut output = self.shared.output.borrow_mut();
        if let Some(error) = &error {
            output.push(error);
        }
        let mut answer = json!({"output": output.take(), "error": error.is_some()});
        if let Some(returned) = returned {
            answer["returned"] = returned;
        }
        Ok(answer)
    }

    /// Executes jobs and calls of the agent until the code has settled.
    fn settle<'js>(&self, ctx: &Ctx<'js>, functions: &Object<'js>) -> rquickjs::Result<Settled> {
        let status: Function<'js> = functions.get("status")?;
        let resume: Function<'js> = functions.get("resume")?;
        let mut jobs = 0;
        loop {
            while self.shared.work_left.get() > 0 && ctx.execute_pending_job() {
                jobs += 1;
                if jobs % JOBS_PER_WORK == 0 {
                    self.shared.work();
                }
            }
            if self.shared.work_left.get() == 0 {
                return Ok(Settled::default());
            }
            let status: String = status.call(())?;
            let status: Value = serde_json::from_str(&status).unwrap_or_default();
            if status["settled"] == true {
                return Ok(Settled::from_status(&status));
            }
            let calls = status["calls"].as_array().filter(|calls| !calls.is_empty());
            let Some(calls) = calls else {
                let error = "the code waits for a promise that nothing settles".to_owned();
                return Ok(Settled {
                    error: Some(error),
                    ..Settled::default()
                });
            };
            resume.call::<_, ()>((call_rlm(calls).to_string(),))?;
        }
    }
}

/// Evaluates the script of the engine, and the prelude of the agent. Returns the functions of the
/// engine.
fn define<'js>(
    ctx: &Ctx<'js>,
    write: impl Fn(String) + 'js,
    prelude: &str,
) -> rquickjs::Result<Object<'js>> {
    let define: Function<'js> = ctx.eval(PRELUDE)?;
    let call = Function::new(ctx.clone(), call_host)?;
    let functions = define.call((call, Function::new(ctx.clone(), write)?))?;
    ctx.eval::<(), _>(prelude)?;
    Ok(functions)
}

/// Sends the calls of `rlm` that wait, all at once. Returns their answers.
fn call_rlm(calls: &[Value]) -> Value {
    let answer = exchange("rlm", &json!(calls));
    match answer.get("raise") {
        Some(text) => Value::Array(calls.iter().map(|_| json!([false, text])).collect()),
        None => answer["value"].clone(),
    }
}

/// How an execution ended.
#[derive(Default)]
struct Settled {
    returned: Option<Value>,
    error: Option<String>,
}

impl Settled {
    fn from_status(status: &Value) -> Self {
        let text = |name: &str| status[name].as_str();
        if let Some(error) = text("error") {
            return Self {
                returned: None,
                error: Some(error.to_owned()),
            };
        }
        let returned = match text("returned") {
            Some(text) if text.len() > MAX_RETURNED_BYTES => {
                let error = format!("return(value): the value exceeds {MAX_RETURNED_BYTES} bytes");
                return Self {
                    returned: None,
                    error: Some(error),
                };
            }
            text => text.and_then(|text| serde_json::from_str(text).ok()),
        };
        Self {
            returned,
            error: None,
        }
    }
}

/// The function `hostCall` of the prelude: calls a function of the agent.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the engine passes texts by value"
)]
fn call_host(text: String) -> String {
    let call: Value = serde_json::from_str(&text).unwrap_or_default();
    exchange(call[0].as_str().unwrap_or_default(), &call[1]).to_string()
}

/// Calls a function of the agent and returns its answer.
fn exchange(name: &str, arguments: &Value) -> Value {
    messages::write(&json!({"call": name, "args": arguments}));
    messages::read()
}

//! The JavaScript engine: its variables, its calls of models, and hostile code, which is contained.

use rhae_agents::AgentError;
use rhae_agents_llm::{
    CodeRuntime, Engine, Executed, HostFunctions, Interpreter, JavaScriptLimits,
    JavaScriptSettings, NoFunctions,
};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::setup::engine;

/// Limits that end hostile code quickly.
const LIMITS: JavaScriptLimits = JavaScriptLimits {
    max_work: 2_000,
    memory_mb: 32,
    wall_seconds: 60,
    process_cpu_seconds: 60,
    max_output: 2_000,
};

fn runtime() -> Arc<CodeRuntime> {
    runtime_with(LIMITS)
}

fn runtime_with(limits: JavaScriptLimits) -> Arc<CodeRuntime> {
    let settings = JavaScriptSettings {
        launcher: vec![env!("CARGO_BIN_EXE_rhae-code-sandboxed").into()],
        unsafe_host: false,
        limits,
    };
    settings.open().unwrap()
}

/// An engine for one test.
struct Session {
    interpreter: Interpreter,
    engine: Engine<'static>,
    _folder: tempfile::TempDir,
}

impl Session {
    fn new() -> Self {
        Self::with(&runtime())
    }

    fn with(runtime: &Arc<CodeRuntime>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            interpreter: Interpreter::new(runtime, ""),
            engine: engine(&folder.path().join("log")),
            _folder: folder,
        }
    }

    fn call(&mut self, code: &str, functions: &mut dyn HostFunctions) -> Executed {
        self.interpreter
            .execute(code, &Value::Null, functions, &mut self.engine)
            .unwrap()
    }

    fn run(&mut self, code: &str) -> Executed {
        self.call(code, &mut NoFunctions)
    }

    /// Runs code without errors and returns what it prints.
    fn output(&mut self, code: &str) -> String {
        let executed = self.run(code);
        assert!(!executed.output.is_error, "{code}: {executed:?}");
        executed.output.text
    }

    /// Runs code and checks that it fails with this text, and that the engine still works.
    fn fails(&mut self, code: &str, expected: &str) {
        let Executed { output, returned } = self.run(code);
        assert!(
            output.is_error && returned.is_none() && output.text.contains(expected),
            "{code}: {output:?} {returned:?}"
        );
        assert_eq!(self.output("print(40 + 2)"), "42\n", "after {code}");
    }
}

/// Answers calls of `rlm` with the number of the call, and fails for the query `bad`.
#[derive(Default)]
struct Counting {
    batches: Vec<usize>,
    queries: Vec<Value>,
}

impl HostFunctions for Counting {
    fn call(
        &mut self,
        name: &str,
        arguments: &[Value],
        _: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        if name != "rlm" {
            return Ok(Ok(json!({"name": name, "arguments": arguments})));
        }
        self.batches.push(arguments.len());
        let mut answer = |call: &Value| {
            self.queries.push(call.clone());
            match call[0].as_str() {
                Some("bad") => json!([false, "no answer"]),
                _ => json!([true, {"number": self.queries.len()}]),
            }
        };
        Ok(Ok(arguments.iter().map(&mut answer).collect()))
    }
}

#[test]
fn declarations_at_the_top_level_remain() {
    let mut session = Session::new();
    session.output("const a = 1, {b} = {b: 2};\nlet c\nfunction f(x) { return x + a }\nclass P { m() { return 7 } }");
    assert_eq!(
        session.output("const a = 10; console.log(a, b, c, f(5), new P().m())"),
        "10 2 undefined 15 7\n"
    );
    assert_eq!(
        session
            .output("for (const [k, v] of Object.entries({x: [1, 2]})) print(k, v, 'text', null)"),
        "x [1,2] text null\n"
    );
    assert_eq!(session.output("const later = await 3; print(later)"), "3\n");
    assert_eq!(session.output(""), "(no output)");
}

#[test]
fn values_are_returned_as_json() {
    let mut session = Session::new();
    let returned = |session: &mut Session, code: &str| session.run(code).returned;
    for (code, value) in [
        ("return([[1, 2], [3, 4]])", json!([[1, 2], [3, 4]])),
        ("return('text')", json!("text")),
        ("if (true) { return({a: null}) }", json!({"a": null})),
        ("try { return(1) } catch (error) { return(2) }", json!(1)),
        ("const x = await Promise.resolve(5); return(x)", json!(5)),
    ] {
        assert_eq!(returned(&mut session, code), Some(value), "{code}");
    }
    assert_eq!(returned(&mut session, "[1].map((x) => { return x })"), None);
    session.fails("return", "must have a JSON form");
    session.fails("return(() => 1)", "must have a JSON form");
    session.fails("const a = {}; a.a = a; return(a)", "circular");
    session.fails("return('x'.repeat(5_000_000))", "exceeds");
    session.fails("throw new RangeError('too far')", "RangeError: too far");
    session.fails("null.x", "TypeError");
    session.fails("const const", "SyntaxError");
}

#[test]
fn calls_of_models_are_sent_together_and_must_be_awaited() {
    let mut session = Session::new();
    let mut models = Counting::default();
    let code = "const one = await rlm('first', {a: 1});
const both = await Promise.all([rlm('second', 'text'), rlm('third')]);
let caught; try { await rlm('bad') } catch (error) { caught = error.message }
return([one, ...both, caught])";
    let executed = session.call(code, &mut models);
    assert_eq!(
        executed.returned,
        Some(json!([{"number": 1}, {"number": 2}, {"number": 3}, "no answer"])),
        "{executed:?}"
    );
    assert_eq!(models.batches, [1, 2, 1]);
    assert_eq!(models.queries[0], json!(["first", {"a": 1}]));
    assert_eq!(models.queries[2], json!(["third", null]));
    // Calls without `await` are not sent, and the returned value does not count.
    let executed = session.call("const r = rlm('lost'); return(1)", &mut models);
    assert!(executed.output.is_error && executed.returned.is_none());
    assert!(executed.output.text.contains("without `await`"));
    assert_eq!(models.batches.len(), 3);
    session.fails("await rlm()", "the query must be a string");
    session.fails("await new Promise(() => {})", "nothing settles");
    let executed = session.call("print(host('look', 1, 'x'))", &mut models);
    assert_eq!(
        executed.output.text,
        "{\"name\":\"look\",\"arguments\":[1,\"x\"]}\n"
    );
}

#[test]
fn results_are_the_same_in_every_process() {
    let code = "print(Math.random(), Math.random(), Date.now(), performance.now(), typeof WeakRef)";
    let first = Session::new().output(code);
    assert_eq!(first, Session::new().output(code));
    assert!(first.ends_with(" 0 0 undefined\n"), "{first}");
}

#[test]
fn endless_loops_are_ended() {
    let mut session = Session::new();
    session.output("kept = 1");
    for code in [
        "while (true) {}",
        "while (true) print('x')",
        "try { while (true) {} } catch (error) { while (true) {} } finally { while (true) {} }",
        "function again() { Promise.resolve().then(again) } again(); await new Promise(() => {})",
        "async function loop() { for (;;) await 1 } loop(); await loop()",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "await { then: (resolve) => { for (;;); } }",
    ] {
        session.fails(code, "worked too long");
    }
    // The engine was restarted, which the message says.
    session.fails("kept", "kept is not defined");
}

#[test]
fn built_in_functions_that_never_end_are_killed() {
    // The limit of work must not end the function first.
    let limits = JavaScriptLimits {
        max_work: u64::MAX,
        wall_seconds: 1,
        ..LIMITS
    };
    let mut session = Session::with(&runtime_with(limits));
    session.fails(
        "Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)",
        "did not end within 1 s",
    );
}

#[test]
fn memory_is_limited() {
    let mut session = Session::new();
    for code in [
        "const all = []; while (true) all.push(new Array(100000).fill(1))",
        "let text = 'x'; while (true) text += text",
        "new Uint8Array(1 << 30).fill(1)",
        "const keep = []; try { while (true) keep.push('x'.repeat(1 << 20) + keep.length) } catch {}",
    ] {
        let executed = session.run(code);
        let text = &executed.output.text;
        assert!(
            text.contains("out of memory")
                || text.contains("too much memory")
                || text.contains("invalid array buffer length")
                || text.contains("string too long")
                || text.contains("null"),
            "{code}: {executed:?}"
        );
    }
    let mut session = Session::new();
    session.fails("function deep() { return 1 + deep() } deep()", "stack");
    session.fails("JSON.parse('['.repeat(1e6))", "Error");
    session.fails(
        "let o = []; for (let i = 0; i < 1e5; i++) o = [o]; JSON.stringify(o)",
        "Error",
    );
}

#[test]
fn floods_of_output_are_shortened() {
    let mut session = Session::new();
    let text = session.output("for (let i = 0; i < 100000; i++) print('line', i)");
    assert!(text.starts_with("line 0\n") && text.ends_with("line 99999\n"));
    assert!(text.contains("characters are left out]") && text.len() < 2_200);
    let text = session.output("print('x'.repeat(5e6))");
    assert!(text.len() < 2_200, "{}", text.len());
    session.fails(
        "throw new Error('y'.repeat(5e6))",
        "characters are left out",
    );
}

#[test]
fn changed_prototypes_affect_only_the_code_itself() {
    for code in [
        "Object.prototype.toJSON = () => 'stolen'; Array.prototype.toJSON = () => 'stolen'",
        "Object.prototype.settled = true; Object.prototype.error = 'x'; Object.prototype.returned = '1'",
        "for (const name of ['push', 'map', 'join']) Array.prototype[name] = () => { throw 1 }",
        "JSON.stringify = JSON.parse = Object.create = Reflect.apply = () => { throw 1 }",
        "globalThis.Promise = null; globalThis.Error = null; globalThis.String = null",
        "Function.prototype.call = Function.prototype.apply = () => { throw 1 }",
        "Promise.prototype.then = () => { throw 1 }",
        "Object.freeze(globalThis.constructor); globalThis.print = null; globalThis.host = null",
        "Object.defineProperty(Object.prototype, '__proto__', {set() { throw 1 }})",
    ] {
        let mut session = Session::new();
        session.run(code);
        let executed = session.run("return(7)");
        assert_eq!(executed.returned, Some(json!(7)), "{code}: {executed:?}");
        let executed = session.run("throw 'bad'");
        assert!(
            executed.output.is_error && executed.returned.is_none(),
            "{code}: {executed:?}"
        );
    }
}

#[test]
fn engine_that_its_code_has_broken_still_answers() {
    let mut session = Session::new();
    session.run("Object.defineProperty(Array.prototype, 0, {set() { throw 1 }})");
    for _ in 0..3 {
        let executed = session.run("return([7])");
        assert!(
            executed.output.is_error || executed.returned == Some(json!([7])),
            "{executed:?}"
        );
    }
}

#[test]
fn hostile_errors_are_described() {
    let mut session = Session::new();
    for (code, expected) in [
        ("throw null", "Uncaught null"),
        (
            "throw {toString() { throw 1 }, toJSON() { throw 2 }}",
            "without a text",
        ),
        (
            "const e = new Error(); Object.defineProperty(e, 'name', {get() { throw 1 }}); throw e",
            "without a text",
        ),
        (
            "throw new Proxy({}, {get() { throw 1 }, getPrototypeOf() { throw 2 }})",
            "without a text",
        ),
        ("throw '\\ud800'", ""),
    ] {
        session.fails(code, expected);
    }
}

#[test]
fn files_and_network_cannot_be_reached() {
    let mut session = Session::new();
    for name in [
        "require",
        "process",
        "fetch",
        "XMLHttpRequest",
        "WebSocket",
        "std",
        "os",
        "Deno",
        "Bun",
        "scriptArgs",
        "load",
        "loadScript",
        "Worker",
        "setTimeout",
        "WebAssembly",
        "gc",
    ] {
        session.fails(name, "is not defined");
    }
    for code in [
        "await import('fs')",
        "await import('/etc/passwd')",
        "import fs from 'fs'",
        "(new Function('return process'))()",
        "(0, eval)('require')",
        "new (async function () {}).constructor('return require')().x",
    ] {
        let executed = session.run(code);
        assert!(
            executed.output.is_error || executed.returned.is_none(),
            "{code}: {executed:?}"
        );
        assert!(
            !executed.output.text.contains("root:"),
            "{code}: {executed:?}"
        );
    }
    assert_eq!(
        session.output("print(typeof globalThis.host)"),
        "function\n"
    );
}

#[test]
fn resumed_engine_has_the_same_variables() {
    let runtime = runtime();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let codes = [
        "let x = Math.random()",
        "x += (await rlm('q')).number",
        "print(x)",
    ];
    let play = |count: usize| {
        let (mut engine, mut models) = (engine(&log), Counting::default());
        let mut interpreter = Interpreter::new(&runtime, "");
        let mut run = |code: &&str| {
            let executed = interpreter.execute(code, &Value::Null, &mut models, &mut engine);
            executed.unwrap().output.text
        };
        codes[..count].iter().map(&mut run).collect::<Vec<_>>()
    };
    play(2);
    // The new process gets everything that the first one received.
    let resumed = play(3);
    std::fs::remove_file(&log).unwrap();
    assert_eq!(resumed, play(3));
    assert!(resumed[2].starts_with("1."), "{resumed:?}");
}

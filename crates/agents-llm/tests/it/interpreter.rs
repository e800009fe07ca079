//! The interpreter: its variables, its functions, and its resumption from a log.

use rhae_agents::AgentError;
use rhae_agents_llm::{Engine, HostFunctions, Interpreter, NoFunctions, ToolOutput};
use serde_json::{Value, json};

use crate::setup::{LIMITS, engine, python, settings};

const PRELUDE: &str = "seen = []\ndef update(value):\n    seen.append(value)\n";

/// Counts calls and returns the sum of the arguments.
#[derive(Default)]
struct Sum {
    calls: u32,
}

impl HostFunctions for Sum {
    fn call(
        &mut self,
        name: &str,
        arguments: &[Value],
        _engine: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        self.calls += 1;
        if name != "add" {
            return Ok(Err(format!("no function {name}")));
        }
        let sum: i64 = arguments.iter().filter_map(Value::as_i64).sum();
        Ok(Ok(json!({"sum": sum})))
    }
}

#[test]
fn variables_remain_and_updates_arrive() {
    let Some(python) = python() else { return };
    let runtime = settings(python, LIMITS).open().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut engine = engine(&folder.path().join("log"));
    let mut interpreter = Interpreter::new(&runtime, PRELUDE);
    let mut run = |code: &str, update: Value| {
        let functions = &mut NoFunctions;
        interpreter
            .run(code, &update, functions, &mut engine)
            .unwrap()
    };
    assert_eq!(run("x = 20", json!("a")), ToolOutput::text("(no output)"));
    assert_eq!(
        run("print(seen)\nx + 1", json!("b")),
        ToolOutput::text("['a', 'b']\n21\n")
    );
    let error = run("def f():\n    return 1 / 0\nf()", json!(0));
    assert!(
        error.is_error && error.text.contains("line 2, in f"),
        "{error:?}"
    );
    let unknown = run("host('fly')", json!(0));
    assert!(
        unknown.text.contains("there is no function `fly`"),
        "{unknown:?}"
    );
    assert_eq!(run("x", json!(0)), ToolOutput::text("20\n"));
    // Randomness and hashes are the same in every process.
    let first = run("import random; (random.random(), hash('a'))", json!(0));
    let mut other = Interpreter::new(&runtime, PRELUDE);
    let code = "import random; (random.random(), hash('a'))";
    let second = other.run(code, &json!(0), &mut NoFunctions, &mut engine);
    assert_eq!(first, second.unwrap());
}

#[test]
fn code_calls_functions_of_the_agent() {
    let Some(python) = python() else { return };
    let runtime = settings(python, LIMITS).open().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut engine = engine(&folder.path().join("log"));
    let mut interpreter = Interpreter::new(&runtime, "");
    let mut functions = Sum::default();
    let code = "total = 0\nfor n in range(5):\n    total += host('add', n, 1)['sum']\ntry:\n    host('fly')\nexcept RuntimeError as error:\n    print(error)\ntotal";
    let output = interpreter.run(code, &Value::Null, &mut functions, &mut engine);
    assert_eq!(output.unwrap(), ToolOutput::text("no function fly\n15\n"));
    assert_eq!(functions.calls, 6);
}

#[test]
fn resumed_interpreter_repeats_its_log_and_restores_its_variables() {
    let Some(python) = python() else { return };
    let runtime = settings(python, LIMITS).open().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let codes = [
        "import time\nstarted = time.time_ns()\nprint(started)",
        "x = host('add', 2, 3)['sum']",
        "while True:\n    pass",
        "x * 2",
    ];
    let run = |number: usize| {
        let mut engine = engine(&log);
        let mut interpreter = Interpreter::new(&runtime, PRELUDE);
        let mut functions = Sum::default();
        let mut outputs = Vec::new();
        for code in &codes[..number] {
            let output = interpreter.run(code, &Value::Null, &mut functions, &mut engine);
            outputs.push(output.unwrap());
        }
        (outputs, functions.calls)
    };
    let (first, calls) = run(3);
    assert_eq!(calls, 1);
    assert!(
        first[2].is_error && first[2].text.contains("TimeLimit"),
        "{first:?}"
    );
    let (again, calls) = run(4);
    // The time is the logged one, the loop did not run again, and the variable was restored.
    assert_eq!((&again[..3], calls), (&first[..], 1));
    assert_eq!(again[3], ToolOutput::text("10\n"));
    let (repeated, _) = run(4);
    assert_eq!(repeated, again);
}

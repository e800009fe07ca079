//! Hostile code of a model is contained: it can neither leave the sandbox nor exhaust the machine.

use rhae_agents_llm::{Engine, Interpreter, NoFunctions, PythonLimits, ToolOutput};
use serde_json::Value;

use crate::setup::{LIMITS, engine, python, settings};

/// Runs code in an interpreter, and then checks that the interpreter still works.
fn run(interpreter: &mut Interpreter, engine: &mut Engine<'_>, code: &str) -> ToolOutput {
    let output = interpreter
        .run(code, &Value::Null, &mut NoFunctions, engine)
        .unwrap();
    let after = interpreter
        .run("40 + 2", &Value::Null, &mut NoFunctions, engine)
        .unwrap();
    assert_eq!(after, ToolOutput::text("42\n"), "after {code}: {output:?}");
    output
}

/// Runs each code and checks that its output is an error with the expected text.
fn assert_contained(limits: PythonLimits, cases: &[(&str, &str)]) {
    let Some(python) = python() else { return };
    let runtime = settings(python, limits).open().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut engine = engine(&folder.path().join("log"));
    let mut interpreter = Interpreter::new(&runtime, "");
    for (code, expected) in cases {
        let output = run(&mut interpreter, &mut engine, code);
        assert!(
            output.is_error && output.text.contains(expected),
            "{code}: {output:?}"
        );
    }
}

#[test]
fn processes_and_threads_cannot_be_started() {
    assert_contained(
        LIMITS,
        &[
            ("import os\nos.fork()", "PermissionError"),
            ("import subprocess\nsubprocess.run(['/bin/true'])", "Error"),
            (
                "import os\nos.system('true') and 1 / 0",
                "ZeroDivisionError",
            ),
            (
                "import threading\nthreading.Thread(target=print).start()",
                "can't start new thread",
            ),
            ("import os\nos.kill(1, 9)", "Error"),
        ],
    );
}

#[test]
fn network_cannot_be_reached() {
    assert_contained(
        LIMITS,
        &[
            ("import socket\nsocket.socket()", "PermissionError"),
            (
                "import socket\nsocket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
                "PermissionError",
            ),
            (
                "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1')",
                "Error",
            ),
        ],
    );
}

#[test]
fn files_can_be_neither_read_nor_written() {
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "the secret").unwrap();
    let read = format!("open({:?}).read()", secret.path());
    let write = format!("open({:?}, 'w').write('x')", secret.path());
    let list = format!(
        "import os\nos.listdir({:?})",
        secret.path().parent().unwrap()
    );
    assert_contained(
        LIMITS,
        &[
            (&read, "Error"),
            (&write, "Error"),
            (&list, "Error"),
            ("open('/etc/passwd').read()", "Error"),
            ("open('/proc/1/environ').read()", "Error"),
            ("open('new file', 'w')", "Error"),
        ],
    );
    assert_eq!(
        std::fs::read_to_string(secret.path()).unwrap(),
        "the secret"
    );
}

#[test]
fn environment_has_no_secrets() {
    let Some(python) = python() else { return };
    let runtime = settings(python, LIMITS).open().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut engine = engine(&folder.path().join("log"));
    let mut interpreter = Interpreter::new(&runtime, "");
    let output = run(
        &mut interpreter,
        &mut engine,
        "import os\nsorted(os.environ)",
    );
    for variable in ["PATH", "HOME", "USER", "CARGO"] {
        assert!(!output.text.contains(variable), "{output:?}");
    }
}

#[test]
fn time_and_recursion_are_limited() {
    assert_contained(
        LIMITS,
        &[
            ("def f(): f()\nf()", "RecursionError"),
            ("while True:\n    pass", "TimeLimit"),
        ],
    );
}

#[test]
fn memory_is_limited() {
    // Filling the memory takes seconds on a busy machine.
    let limits = PythonLimits {
        cpu_seconds: 60.0,
        wall_seconds: 600.0,
        ..LIMITS
    };
    assert_contained(
        limits,
        &[
            ("x = 'a' * 10**12", "MemoryError"),
            (
                "x = []\nwhile True:\n    x.append('a' * 10**7 + str(len(x)))",
                "MemoryError",
            ),
        ],
    );
}

#[test]
fn code_that_waits_or_ignores_the_time_limit_is_killed() {
    let limits = PythonLimits {
        wall_seconds: 8.0,
        ..LIMITS
    };
    assert_contained(
        limits,
        &[
            (
                "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
                "did not end within 8 s",
            ),
            ("import time\ntime.sleep(10_000)", "did not end within 8 s"),
        ],
    );
}

#[test]
fn gigabytes_of_output_are_shortened() {
    let Some(python) = python() else { return };
    let mut limits = LIMITS;
    limits.cpu_seconds = 60.0;
    limits.wall_seconds = 600.0;
    let runtime = settings(python, limits).open().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut engine = engine(&log);
    let mut interpreter = Interpreter::new(&runtime, "");
    let code = "line = 'x' * 10**6\nfor n in range(3000):\n    print(line)\nprint('end')";
    let output = run(&mut interpreter, &mut engine, code);
    assert!(output.text.len() < 2_500, "{}", output.text.len());
    assert!(output.text.contains("characters are left out]"));
    assert!(output.text.ends_with("end\n"));
    // What bypasses the capture goes to standard error, of which only the tail is kept.
    let code = "import os\nfor n in range(1000):\n    os.write(2, b'x' * 10**5)\n    os.write(1, b'y' * 10**5)";
    let output = run(&mut interpreter, &mut engine, code);
    assert_eq!(output, ToolOutput::text("(no output)"));
    assert!(std::fs::metadata(&log).unwrap().len() < 20_000);
}

#[test]
fn messages_cannot_be_forged_beyond_the_own_output() {
    assert_contained(
        LIMITS,
        &[
            ("import os\nos._exit(0)", "the interpreter ended"),
            (
                "import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'garbage' * 100)\n    except OSError:\n        pass",
                "disturbed the interpreter",
            ),
            ("import sys\nsys.exit()", "SystemExit"),
            (
                "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
                "the interpreter ended",
            ),
        ],
    );
}

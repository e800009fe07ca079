//! Tests of `rhae run --server` with real servers, Rhae's and the official one, behind a faulty
//! proxy.

mod proxy;
mod reasoning;

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::rhae::{Outcome, command, rhae};
use crate::serve::official::python;
use crate::serve::process::{RequestError, ServerProcess};
use proxy::{Fault, Proxy};

/// The API key that the other clients of the tests use, so that they see the same cards.
const KEY: &str = "k";

fn play(folder: &Path, url: &str, more: &[&str]) -> Outcome {
    let arguments: Vec<&str> = ["run", "--server", url, "--out", "out"]
        .into_iter()
        .chain(more.iter().copied())
        .collect();
    command(folder, &arguments)
        .env("ARC_API_KEY", KEY)
        .output()
        .unwrap()
        .into()
}

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("out").join(name)).unwrap()).unwrap()
}

/// Returns the server's only card of a run.
fn card(folder: &Path, serving: &ServerProcess) -> Value {
    let record = read(folder, "server.json");
    assert_eq!(record["cards"].as_array().unwrap().len(), 1);
    serving
        .remote()
        .get(&format!(
            "/api/scorecard/{}",
            record["cards"][0]["card_id"].as_str().unwrap()
        ))
        .unwrap()
}

#[test]
fn remote_run_equals_local_run() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let games = ["--games", "kq19,ym39,hk26", "--seed", "3", "--json"];
    let remote = play(folder.path(), &serving.url, &games).succeeded();
    let local = rhae(
        folder.path(),
        &[&["run", "--out", "local"][..], &games].concat(),
    )
    .succeeded();
    assert_eq!(
        (&remote.json()["score"], &remote.json()["environments"]),
        (&local.json()["score"], &local.json()["environments"])
    );
    let verified = rhae(
        folder.path(),
        &[
            "replay",
            "verify",
            "out/recordings/1-kq19-v1.jsonl",
            "out/recordings/1-hk26-v1.jsonl",
        ],
    );
    assert!(
        verified
            .succeeded()
            .out
            .contains("2 of 2 recordings verified")
    );
    assert_eq!(
        read(folder.path(), "server.json")["cards"][0]["differences"],
        json!([])
    );
    let card = card(folder.path(), &serving);
    assert_eq!(card["score"], remote.json()["score"]);
    assert_eq!(card["tags"], json!(["agent", "rhae", "explorer"]));
}

#[test]
fn api_key_is_neither_printed_nor_stored() {
    const SECRET: &str = "a-key-that-must-stay-secret";
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let run = |out: &str, url: &str, as_flag: bool| -> Output {
        let mut arguments = vec![
            "run", "--server", url, "--games", "kq19", "--budget", "20", "--out", out,
        ];
        if as_flag {
            arguments.extend(["--key", SECRET]);
        }
        let mut command = command(folder.path(), &arguments);
        if as_flag {
            &mut command
        } else {
            command.env("ARC_API_KEY", SECRET)
        }
        .output()
        .unwrap()
    };
    for output in [
        run("a", &serving.url, true),
        run("b", &serving.url, false),
        run("c", "ftp://x", true),
    ] {
        let printed = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&printed).contains(SECRET));
    }
    drop(serving);
    let mut folders = vec![folder.path().to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = std::fs::read(&path).unwrap();
            assert!(
                !bytes
                    .windows(SECRET.len())
                    .any(|window| window == SECRET.as_bytes()),
                "{}",
                path.display()
            );
        }
    }
    assert!(files > 10);
}

#[test]
fn unknown_environment_is_explained_with_the_list_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &["--games", "ny40,ym39"]);
    let run = play(folder.path(), &serving.url, &["--games", "kq19"]);
    let run =
        run.failed_with("lists no environment `kq19` for this key; it lists `ny40-v1`, `ym39-v1`");
    assert!(!run.err.contains("rhae games list"), "{}", run.err);
}

#[test]
fn network_faults_do_not_duplicate_or_lose_actions() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let proxy = Proxy::without_keys(serving.address(), |command| match command {
        12 => Fault::CutBefore,
        25 => Fault::Unavailable,
        33 => Fault::Limited,
        40 => Fault::Gateway,
        command if command % 9 == 0 => Fault::Delay(Duration::from_millis(20)),
        _ => Fault::None,
    });
    let run = play(
        folder.path(),
        &proxy.url,
        &[
            "--agent",
            "random",
            "--games",
            "kq19,ym39",
            "--budget",
            "30",
            "--json",
        ],
    )
    .succeeded();
    assert_eq!(
        (run.json()["failed_plays"].as_u64(), run.err.as_str()),
        (Some(0), "")
    );
    let card = card(folder.path(), &serving);
    let actions: Vec<&Value> = card["environments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["actions"])
        .collect();
    assert_eq!(actions, [30, 30]);
    assert!(
        proxy
            .seen()
            .iter()
            .filter(|head| head.starts_with("POST /api/cmd/ACTION"))
            .count()
            >= 60
    );
}

#[test]
fn lost_response_is_retried_with_idempotency_keys() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let proxy = Proxy::start(serving.address(), |command| match command {
        // Command 11 is the retry of command 10, so the response to this action is lost twice.
        10 | 11 | 30 | 55 => Fault::CutAfter,
        20 => Fault::CutBefore,
        40 => Fault::Gateway,
        _ => Fault::None,
    });
    let run = play(
        folder.path(),
        &proxy.url,
        &[
            "--agent",
            "random",
            "--games",
            "kq19,ym39",
            "--budget",
            "30",
            "--jobs",
            "1",
            "--json",
        ],
    )
    .succeeded();
    assert_eq!(
        (run.json()["failed_plays"].as_u64(), run.err.as_str()),
        (Some(0), "")
    );
    let card = card(folder.path(), &serving);
    let actions: Vec<&Value> = card["environments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["actions"])
        .collect();
    assert_eq!(actions, [30, 30]);
    assert_eq!(
        read(folder.path(), "server.json")["cards"][0]["differences"],
        json!([])
    );
    // Two requests open the plays, 60 are actions, and six are retries of requests that failed from
    // the client's point of view.
    assert_eq!(
        proxy
            .seen()
            .iter()
            .filter(|head| head.starts_with("POST /api/cmd/"))
            .count(),
        2 + 60 + 6
    );
}

#[test]
fn lost_response_without_idempotency_keys_fails_only_its_play() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let proxy = Proxy::without_keys(serving.address(), |command| {
        if command == 10 {
            Fault::CutAfter
        } else {
            Fault::None
        }
    });
    let more = [
        "--agent",
        "random",
        "--games",
        "kq19,ny40",
        "--budget",
        "30",
        "--jobs",
        "1",
        "--json",
    ];
    let run = play(folder.path(), &proxy.url, &more);
    assert_eq!(run.code, Some(3), "a result is missing: {}", run.err);
    let summary = run.json();
    assert_eq!(
        summary["environments"][0]["endings"],
        json!(["environment failed"])
    );
    assert_eq!(summary["environments"][1]["endings"], json!(["budget"]));
    assert_eq!(
        (&summary["failed_plays"], &summary["failed_environments"]),
        (&json!(0), &json!(1))
    );
    assert!(
        run.err
            .contains("the server counted the action, but its frames are lost"),
        "{}",
        run.err
    );
    assert!(
        run.err
            .contains("the server counted 10 actions, the local count is 9"),
        "{}",
        run.err
    );
    assert_eq!(
        card(folder.path(), &serving)["environments"][0]["actions"],
        10
    );
}

#[test]
fn server_delay_does_not_count_as_agent_time() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let slow = Duration::from_millis(900);
    let proxy = Proxy::without_keys(serving.address(), move |command| {
        if command == 3 {
            Fault::Delay(slow)
        } else {
            Fault::None
        }
    });
    let more = [
        "--games",
        "kq19",
        "--budget",
        "12",
        "--step-timeout",
        "0.4",
        "--json",
    ];
    let run = play(folder.path(), &proxy.url, &more).succeeded();
    assert_eq!(run.json()["environments"][0]["endings"], json!(["budget"]));
}

#[test]
fn interrupted_run_closes_its_card_and_resumes_with_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let proxy = Proxy::without_keys(serving.address(), |command| {
        if command == 20 {
            Fault::Hang
        } else {
            Fault::None
        }
    });
    let arguments = [
        "run", "--server", &proxy.url, "--games", "kq19", "--budget", "40", "--out", "out",
    ];
    let child = command(folder.path(), &arguments)
        .env("ARC_API_KEY", KEY)
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let child = child.unwrap();
    while proxy
        .seen()
        .iter()
        .filter(|head| head.starts_with("POST /api/cmd/ACTION"))
        .count()
        < 20
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let first = read(folder.path(), "server.json")["cards"][0].clone();
    assert_eq!(first["closed"], true);
    let refused = serving.remote().post(
        "/api/scorecard/close",
        &json!({"card_id": first["card_id"]}),
    );
    assert!(matches!(refused, Err(RequestError::Status(404, _))));
    let resumed = command(folder.path(), &["run", "--resume", "out", "--json"])
        .env("ARC_API_KEY", KEY)
        .output()
        .unwrap();
    let resumed = Outcome::from(resumed).succeeded();
    assert_eq!(resumed.json()["environments"][0]["actions"], 40.0);
    let cards = read(folder.path(), "server.json")["cards"].clone();
    assert_eq!(
        (cards.as_array().unwrap().len(), &cards[1]["differences"]),
        (2, &json!([]))
    );
}

#[test]
fn unsupported_options_are_rejected_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &["--games", "kq19"]);
    for (more, reason) in [
        (
            &["--env-seed", "4"][..],
            "supports only --env-seed 0, found 4",
        ),
        (
            &["--repeat", "101"][..],
            "--repeat is at most 100 on a server",
        ),
        (&["--games", "ny40"][..], "lists no environment `ny40`"),
    ] {
        play(folder.path(), &serving.url, more).failed_with(reason);
    }
    rhae(folder.path(), &["run", "--key", "x", "--out", "out"]).failed_with("add `--server URL`");
    rhae(
        folder.path(),
        &["run", "--server", "127.0.0.1:8001", "--out", "out"],
    )
    .failed_with("must begin with http:// or https://");
    assert!(!folder.path().join("out").exists());
}

/// The official server with a small game.
struct Official {
    child: Child,
    address: String,
}

impl Official {
    fn start(python: &Path, folder: &Path) -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .unwrap()
            .join("fixtures/peer");
        let game = folder.join("games/pk10/v1");
        std::fs::create_dir_all(&game).unwrap();
        for file in ["pk10.py", "metadata.json"] {
            std::fs::copy(fixtures.join(file), game.join(file)).unwrap();
        }
        let port = free_port();
        let mut command = Command::new(python);
        command
            .arg(fixtures.join("serve.py"))
            .args(["games", &port.to_string(), "yes"])
            .current_dir(folder);
        let child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut official = Self {
            child,
            address: format!("127.0.0.1:{port}"),
        };
        while TcpStream::connect(&official.address).is_err() {
            assert!(
                official.child.try_wait().unwrap().is_none(),
                "the official server did not start"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        official
    }
}

impl Drop for Official {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

#[test]
fn official_server_counts_the_same_actions() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let official = Official::start(&python, folder.path());
    let proxy = Proxy::without_keys(&official.address, |command| {
        if command == 7 {
            Fault::CutBefore
        } else {
            Fault::None
        }
    });
    // The play is limited although the server has no baselines.
    let run = play(folder.path(), &proxy.url, &["--agent-cmd", "exit 1"]);
    run.failed_with("note: the server has no baselines for `pk10-v1`: such a play has no score, which counts as 0, and `--budget 5x` allows 1000 actions on each level");
    std::fs::remove_dir_all(folder.path().join("out")).unwrap();
    // Right and down, around the walls, to the goal of the first level, with a reset on the way.
    let plan = "4 4 0 ".to_owned() + &"4 ".repeat(12) + &"2 ".repeat(12) + "1";
    std::fs::write(folder.path().join("agent.py"), AGENT.replace("PLAN", &plan)).unwrap();
    let run = play(
        folder.path(),
        &proxy.url,
        &[
            "--agent-cmd",
            "python3 agent.py",
            "--budget",
            "28",
            "--json",
        ],
    )
    .succeeded();
    let environment = &run.json()["environments"][0];
    assert_eq!(
        (&environment["levels_completed"], &environment["actions"]),
        (&1.0.into(), &28.0.into()),
        "{}",
        run.err
    );
    assert_eq!(
        run.err,
        "note: the server has no baselines for `pk10-v1`: such a play has no score, which counts as 0\n"
    );
    assert_eq!(
        read(folder.path(), "server.json")["cards"][0]["differences"],
        json!([])
    );
    assert!(
        proxy
            .seen()
            .iter()
            .any(|head| head.to_ascii_lowercase().contains("cookie: awsalb=pinned"))
    );
}

/// An agent that follows a plan.
const AGENT: &str = r#"
import json, sys
plan = "PLAN".split()
for line in sys.stdin:
    if json.loads(line)["type"] == "observation":
        print(json.dumps({"action": int(plan.pop(0))}), flush=True)
"#;

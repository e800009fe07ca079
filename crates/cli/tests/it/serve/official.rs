//! The unmodified official Python client against a real server.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rhae_engine::{Action, Catalog, LevelIndex};
use rhae_games::Builtin;
use serde_json::{Value, json};

use super::process::ServerProcess;

const SCRIPT: &str = include_str!("official_client.py");

/// Returns the Python interpreter with the official packages. `None` if it is missing and
/// `RHAE_SKIP_MISSING=1` is set.
pub(crate) fn python() -> Option<PathBuf> {
    program("arc-agi-0.9.9", "python")
}

/// Returns a program of the virtual environment of a package. `None` if it is missing and
/// `RHAE_SKIP_MISSING=1` is set.
///
/// # Panics
///
/// Panics if it is missing and skipping is not allowed.
pub(crate) fn program(package: &str, name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    let program = root
        .join("target/python")
        .join(package)
        .join("bin")
        .join(name);
    if program.is_file() {
        return Some(program);
    }
    rhae_testkit::skip(&format!("the Python package {package} is not installed"));
    None
}

/// Returns the stored solutions of the first levels of each game as JSON.
fn plan(games: &[(&str, u8)]) -> Value {
    let action = |action: Action| match action {
        Action::Action6 { x, y } => json!([6, x, y]),
        other => json!([other.kind().id()]),
    };
    let levels = |game: &str, count: u8| -> Value {
        let facts = rhae_games::find(game).unwrap().facts;
        (0..count)
            .map(|level| {
                facts
                    .solution(LevelIndex(level))
                    .into_iter()
                    .map(action)
                    .collect::<Value>()
            })
            .collect()
    };
    games
        .iter()
        .map(|&(game, count)| (game.to_owned(), levels(game, count)))
        .collect()
}

/// Runs the official client and returns what it printed.
fn run_client(serving: &ServerProcess, python: &Path, mode: &str, games: &[(&str, u8)]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(python);
    command
        .args(["-c", SCRIPT])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    for variable in ["ARC_API_KEY", "ARC_BASE_URL", "OPERATION_MODE"] {
        command.env_remove(variable);
    }
    let mut child = command.spawn().unwrap();
    let input = json!({"url": serving.url, "mode": mode, "plan": plan(games)});
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.to_string().as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the official client failed");
    // The packages print greetings, so only the last line is the script's output.
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// Checks that the scores which the client computes from its own counts equal those of the card.
fn assert_scores_agree(seen: &Value) {
    let close = |ours: &Value, theirs: &Value| {
        (ours.as_f64().unwrap() - theirs.as_f64().unwrap()).abs() < 1e-9
    };
    let card = &seen["closed"];
    let computed: BTreeMap<String, Vec<Value>> =
        serde_json::from_value(seen["computed"].clone()).unwrap();
    for (game, scores) in &computed {
        let environments = card["environments"].as_array().unwrap();
        let environment = environments
            .iter()
            .find(|environment| environment["id"] == game.as_str())
            .unwrap();
        let runs = environment["runs"].as_array().unwrap();
        assert_eq!(runs.len(), scores.len(), "{game}");
        for (run, score) in runs.iter().zip(scores) {
            assert!(
                close(&run["score"], score),
                "{game}: {} and {score}",
                run["score"]
            );
        }
    }
    assert!(
        close(&card["score"], &seen["computed_total"]),
        "{} and {}",
        card["score"],
        seen["computed_total"]
    );
}

#[test]
fn official_client_plays_online() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let seen = run_client(
        &serving,
        &python,
        "online",
        &[("kq19", 8), ("ym39", 3), ("hk26", 2)],
    );
    assert_eq!(
        seen["listed"].as_array().unwrap().len(),
        Builtin.list().len()
    );
    assert_eq!(
        seen["states"],
        json!({"kq19": "WIN", "ym39": "NOT_FINISHED", "hk26": "NOT_FINISHED"})
    );
    assert_eq!(seen["in_flight"], seen["closed"]);
    assert_eq!(
        (
            &seen["closed"]["tags"],
            &seen["closed"]["total_environments"]
        ),
        (&json!(["conformance", "agent"]), &3.into())
    );
    assert_scores_agree(&seen);
}

#[test]
fn official_client_plays_in_competition_mode() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &["--competition"]);
    let seen = run_client(
        &serving,
        &python,
        "competition",
        &[("ny40", 3), ("bx20", 8)],
    );
    assert_eq!(seen["closed"]["total_environments"], Builtin.list().len());
    assert_eq!(
        (&seen["closed"]["competition_mode"], &seen["states"]["bx20"]),
        (&true.into(), &"WIN".into())
    );
    assert_scores_agree(&seen);
}

//! Every agent without a model, on built-in environments, on a server and on hosted games.

use std::fs;
use std::path::Path;

use rhae_agents::AGENTS;
use serde_json::{Value, json};

use crate::hosted_games::{fixtures, with_games};
use crate::rhae::rhae;
use crate::serve::official::python;
use crate::serve::process::ServerProcess;

/// Returns the names of the agents that need only a seed.
fn names() -> impl Iterator<Item = &'static str> {
    let agents = AGENTS.iter().filter(|entry| entry.needs_only_a_seed());
    agents.map(|entry| entry.name)
}

/// Returns the name and the lines of each recording of a run, without the header, which contains ids.
fn recorded(run: &Path) -> Vec<(String, Vec<String>)> {
    let mut files: Vec<_> = fs::read_dir(run.join("recordings"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let lines = |text: &str| text.lines().skip(1).map(str::to_owned).collect();
    files
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, lines(&fs::read_to_string(path).unwrap()))
        })
        .collect()
}

#[test]
fn two_runs_of_an_agent_with_one_seed_are_byte_equal() {
    let folder = tempfile::tempdir().unwrap();
    for (at, agent) in names().enumerate() {
        let run = |out: &str, jobs: &str| {
            let out = format!("{out}-{at}");
            let limits = ["--games", "kq19,ym39,hk26", "--budget", "60", "--seed", "7"];
            let arguments = [
                &["run", "--agent", agent, "--out", &out, "--jobs", jobs],
                &limits[..],
            ];
            rhae(folder.path(), &arguments.concat()).succeeded();
            recorded(&folder.path().join(out))
        };
        let one = run("one", "1");
        assert_eq!(one.len(), 3, "{agent}");
        assert!(one.iter().all(|(_, lines)| lines.len() > 60), "{agent}");
        assert_eq!(one, run("two", "3"), "{agent}");
    }
}

#[test]
fn every_agent_plays_on_a_server_as_it_plays_here() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    for (at, agent) in names().enumerate() {
        let run = |out: &str, more: &[&str]| -> Value {
            let out = format!("{out}-{at}");
            let limits = ["--games", "kq19,hk26", "--budget", "25", "--json"];
            let arguments = [&["run", "--agent", agent, "--out", &out], &limits[..], more];
            rhae(folder.path(), &arguments.concat()).succeeded().json()
        };
        let remote = run("remote", &["--server", &serving.url, "--key", "k"]);
        let local = run("local", &[]);
        assert_eq!(
            (&remote["score"], &remote["environments"]),
            (&local["score"], &local["environments"]),
            "{agent}"
        );
    }
}

#[test]
fn every_agent_plays_hosted_games() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (at, agent) in names().enumerate() {
        let out = format!("run-{at}");
        let arguments = [
            "run", "--agent", agent, "--budget", "25", "--out", &out, "--json",
        ];
        let summary = with_games(folder.path(), &fixtures("games"), &python, &arguments)
            .succeeded()
            .json();
        let environments = summary["environments"].as_array().unwrap();
        assert_eq!(environments.len(), 2, "{agent}");
        for environment in environments {
            let ending = &environment["endings"][0];
            assert!(
                *ending == json!("budget") || *ending == json!("won"),
                "{agent}: {environment}"
            );
        }
    }
}

//! Operating a server: keys, invitations, settings, logs and metrics.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::rhae::{command, rhae};

/// A server process whose log is captured.
struct LoggedServer {
    child: Child,
    url: String,
    greeting: String,
}

impl LoggedServer {
    fn start(folder: &Path, variables: &[(&str, &str)], more: &[&str]) -> Self {
        let arguments: Vec<&str> = ["serve"].into_iter().chain(more.iter().copied()).collect();
        let mut command = command(folder, &arguments);
        command
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut greeting = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut greeting)
            .unwrap();
        let url = greeting
            .split_whitespace()
            .nth(2)
            .unwrap_or_else(|| panic!("the server did not start"))
            .to_owned();
        Self {
            child,
            url,
            greeting,
        }
    }

    fn get(&self, path: &str, key: &str) -> (u16, String) {
        get(&format!("{}{path}", self.url), key)
    }

    /// Stops the server with SIGTERM and returns its log.
    fn stop(mut self) -> String {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let mut log = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut log)
            .unwrap();
        assert!(self.child.wait().unwrap().success());
        log
    }
}

fn get(url: &str, key: &str) -> (u16, String) {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let mut answer = agent.get(url).header("X-API-Key", key).call().unwrap();
    (
        answer.status().as_u16(),
        answer.body_mut().read_to_string().unwrap(),
    )
}

fn create_key(folder: &Path, more: &[&str]) -> Value {
    let arguments: Vec<&str> = ["keys", "create", "--json"]
        .into_iter()
        .chain(more.iter().copied())
        .collect();
    rhae(folder, &arguments).succeeded().json()
}

#[test]
fn keys_are_created_listed_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    rhae(folder, &["keys", "list"]).failed_with("the database `rhae.db` does not exist");
    let shown = rhae(folder, &["keys", "create", "--name", "plain"]).succeeded();
    assert!(
        shown.out.trim().starts_with("rhae_") && shown.out.trim().len() == 86,
        "{}",
        shown.out
    );
    assert!(shown.err.contains("shown only once"), "{}", shown.err);
    let created = create_key(
        folder,
        &[
            "--name",
            "lab",
            "--sets",
            "public,private",
            "--sources",
            "--admin",
        ],
    );
    assert_eq!(
        (&created["sets"], &created["sources"], &created["admin"]),
        (&json!(["public", "private"]), &true.into(), &true.into())
    );
    let (id, key) = (
        created["id"].as_str().unwrap(),
        created["key"].as_str().unwrap(),
    );
    let listed = rhae(folder, &["keys", "list", "--json"]).succeeded();
    assert_eq!(listed.json().as_array().unwrap().len(), 2);
    assert_eq!(
        (&listed.json()[1]["name"], &listed.json()[1]["revoked_ms"]),
        (&"lab".into(), &Value::Null)
    );
    // Neither the list nor the database contains the key.
    assert!(!listed.out.contains(&key[22..]) && listed.out.contains(id));
    for file in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(
            !bytes
                .windows(64)
                .any(|window| window == &key.as_bytes()[22..])
        );
    }
    let revoked = rhae(folder, &["keys", "revoke", id]).succeeded();
    assert!(
        revoked.out.contains("revoked") && revoked.out.contains("lab"),
        "{}",
        revoked.out
    );
    rhae(folder, &["keys", "revoke", id]).failed_with("is already revoked");
    rhae(folder, &["keys", "revoke", "0000000000000000"]).failed_with("no key has the id");
    rhae(folder, &["keys", "revoke", "nonsense"]).failed_with("is not a key id");
    rhae(
        folder,
        &["keys", "create", "--name", "x", "--sets", "secret"],
    )
    .failed_with("expected public, semi-private or private");
    rhae(folder, &["keys", "create", "--name", ""]).failed_with("--name must have");
    assert!(
        rhae(folder, &["keys", "list"])
            .succeeded()
            .out
            .contains("revoked")
    );
}

#[test]
fn invitation_token_is_not_a_key_and_is_never_logged() {
    let folder = tempfile::tempdir().unwrap();
    let invite = |url: &str| {
        rhae(
            folder.path(),
            &[
                "keys",
                "invite",
                "--name",
                "study",
                "--visitors",
                "2",
                "--url",
                url,
                "--json",
            ],
        )
    };
    invite("example.org").failed_with("--url must be an address");
    let created = invite("https://example.org/").succeeded().json();
    let token = created["link"]
        .as_str()
        .unwrap()
        .strip_prefix("https://example.org/invite/")
        .unwrap()
        .to_owned();
    assert_eq!(
        (&created["invitation"]["left"], &created["visitor"]),
        (&json!(2), &json!(true))
    );
    assert!(
        rhae(folder.path(), &["keys", "list"])
            .succeeded()
            .out
            .contains("2 left")
    );
    let flags = [
        "--addr",
        "127.0.0.1:0",
        "--auth",
        "keys",
        "--visitors",
        "invite",
        "--log-level",
        "debug",
    ];
    let serving = LoggedServer::start(folder.path(), &[], &flags);
    assert_eq!(serving.get("/api/games", &token).0, 401);
    let (status, page) = serving.get(&format!("/invite/{token}"), "");
    assert!(
        status == 200 && page.contains("Accept invitation"),
        "{status}: {page}"
    );
    assert_eq!(
        serving
            .get(&format!("/invite/{}", token.replace('_', "-")), "")
            .0,
        404
    );
    let log = serving.stop();
    assert!(
        log.contains("/invite/…") && !log.contains(&token[22..]),
        "{log}"
    );
}

#[test]
fn public_server_requires_keys_and_never_logs_them() {
    let folder = tempfile::tempdir().unwrap();
    let key = create_key(folder.path(), &["--name", "one", "--sets", "public"])["key"]
        .as_str()
        .unwrap()
        .to_owned();
    std::fs::write(
        folder.path().join("sets.toml"),
        "public = ['kq19']\nprivate = ['ny40']\n",
    )
    .unwrap();
    let flags = [
        "--addr",
        "0.0.0.0:0",
        "--auth",
        "keys",
        "--sets",
        "sets.toml",
        "--log",
        "json",
        "--log-level",
        "debug",
    ];
    let more = ["--metrics", "127.0.0.1:0", "--requests-per-minute", "3"];
    let serving = LoggedServer::start(folder.path(), &[], &[&flags[..], &more[..]].concat());
    let last = if key.ends_with('0') { '1' } else { '0' };
    let wrong = format!("{}{last}", &key[..key.len() - 1]);
    assert_eq!(serving.get("/api/games", "").0, 401);
    assert_eq!(serving.get("/api/games", &wrong).0, 401);
    let (status, games) = serving.get("/api/games", &key);
    assert_eq!(
        (status, games.contains("kq19-v1"), games.contains("ny40")),
        (200, true, false)
    );
    for (path, status) in [
        ("/api/games/ny40", 404),
        ("/api/games/kq19", 200),
        ("/api/games", 429),
    ] {
        assert_eq!(serving.get(path, &key).0, status, "{path}");
    }
    let metrics = serving
        .greeting
        .split("metrics at ")
        .nth(1)
        .unwrap()
        .trim_end()
        .trim_end_matches(')')
        .to_owned();
    let (_, text) = get(&metrics, "");
    assert!(text.contains("rhae_rate_limited_total 1\n"), "{text}");
    let log = serving.stop();
    assert!(!log.contains(&key[22..80]), "the key is in the log");
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let answered: Vec<&Value> = lines
        .iter()
        .filter(|line| line["message"] == "answered")
        .collect();
    assert_eq!(answered.len(), 6, "{log}");
    assert!(
        answered
            .iter()
            .all(|line| line["span"]["id"].is_string() && line["path"].is_string()),
        "{log}"
    );
    assert_eq!(
        (&answered[5]["status"], &lines[lines.len() - 1]["message"]),
        (&429.into(), &"stopped".into())
    );
}

#[test]
fn flags_override_variables_and_variables_override_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file =
        "addr = '127.0.0.1:0'\ndb = 'file.db'\ngames = 'kq19,ny40,ym39'\nlog-level = 'error'\n";
    std::fs::write(folder.join("rhae.toml"), file).unwrap();
    let count = |variables: &[(&str, &str)], more: &[&str]| {
        let serving = LoggedServer::start(folder, variables, more);
        let games: Value = serde_json::from_str(&serving.get("/api/games", "k").1).unwrap();
        (games.as_array().unwrap().len(), serving.stop())
    };
    assert_eq!(count(&[], &["--config", "rhae.toml"]), (3, String::new()));
    assert_eq!(
        count(
            &[("RHAE_CONFIG", "rhae.toml"), ("RHAE_GAMES", "kq19,ny40")],
            &[]
        ),
        (2, String::new())
    );
    assert_eq!(
        count(
            &[("RHAE_CONFIG", "rhae.toml"), ("RHAE_GAMES", "kq19,ny40")],
            &["--games", "kq19"]
        ),
        (1, String::new())
    );
    assert!(folder.join("file.db").exists() && !folder.join("rhae.db").exists());
    std::fs::write(
        folder.join("wrong.toml"),
        "addr = '127.0.0.1:0'\n\nadress = 'x'\n",
    )
    .unwrap();
    rhae(folder, &["serve", "--config", "wrong.toml"])
        .failed_with("line 3")
        .failed_with("unknown field `adress`");
}

#[test]
fn invalid_settings_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("sets.toml"), "public = [\n  'zz99',\n]\n").unwrap();
    let serve = |more: &[&str]| {
        rhae(
            folder,
            &[&["serve", "--addr", "127.0.0.1:0"], more].concat(),
        )
    };
    serve(&["--json-depth", "129"]).failed_with("json-depth must be between 1 and 128, found 129");
    serve(&["--header-seconds", "0"]).failed_with("header-seconds must be between 1");
    serve(&["--requests-per-minute", "5"]).failed_with("requires `--auth keys`");
    serve(&["--visitors", "public"]).failed_with("visitors requires `--auth keys`");
    serve(&["--tls-cert", "a.pem"]).failed_with("belong together");
    serve(&["--tls-cert", "a.pem", "--tls-key", "b.pem"]).failed_with("cannot read `a.pem`");
    serve(&["--sets", "sets.toml"])
        .failed_with("in `sets.toml`: line 2: there is no environment `zz99`");
    serve(&["--sets", "missing.toml"]).failed_with("cannot read `missing.toml`");
    serve(&["--config", "missing.toml"]).failed_with("cannot read `missing.toml`");
    assert!(!folder.join("rhae.db").exists());
    let help = rhae(folder, &["serve", "--help"]).succeeded().out;
    assert!(
        [
            "RHAE_ADDR",
            "RHAE_REQUESTS_PER_MINUTE",
            "RHAE_CONFIG",
            "--tls-cert"
        ]
        .iter()
        .all(|name| help.contains(name))
    );
}

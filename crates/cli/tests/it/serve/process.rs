//! A server in a process of its own, and a client that lives with its failures.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rhae_engine::Action;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::rhae::command;

/// A running server. It is killed when the test is done with it.
pub(crate) struct Serving {
    child: Child,
    pub(crate) url: String,
    /// What it printed when it began to listen.
    pub(crate) line: String,
}

impl Serving {
    /// Starts a server in a folder and waits until it listens.
    pub(crate) fn start(folder: &Path, address: &str, more: &[&str]) -> Self {
        let arguments: Vec<&str> = ["serve", "--addr", address]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
        Self::run(command(folder, &arguments))
    }

    /// Runs a command that starts a server, and waits until it listens.
    pub(crate) fn run(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .strip_prefix("listening at ")
            .and_then(|rest| rest.split_whitespace().next());
        let url = url
            .unwrap_or_else(|| panic!("the server did not start: {line}"))
            .to_owned();
        Self { child, url, line }
    }

    /// The address that it listens at.
    pub(crate) fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    pub(crate) fn remote(&self) -> Remote {
        Remote::new(&self.url)
    }

    /// The process that was started.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Ends it as a machine that fails would: at once.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server refused.
    Refused(u16, Value),
    /// There was no server, or it ended on the way: nobody knows whether it did what was asked.
    Lost,
}

/// A client.
pub(crate) struct Remote {
    agent: ureq::Agent,
    url: String,
}

impl Remote {
    pub(crate) fn new(url: &str) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)));
        Self {
            agent: config.build().into(),
            url: url.to_owned(),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value, Failure> {
        Self::read(
            self.agent
                .get(format!("{}{path}", self.url))
                .header("X-API-Key", "k")
                .call(),
        )
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.post_once(path, body, None)
    }

    /// As [`Remote::post`], with an idempotency key.
    pub(crate) fn post_once(
        &self,
        path: &str,
        body: &Value,
        key: Option<&str>,
    ) -> Result<Value, Failure> {
        let mut request = self
            .agent
            .post(format!("{}{path}", self.url))
            .header("X-API-Key", "k");
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        Self::read(
            request
                .header("Content-Type", "application/json")
                .send(body.to_string()),
        )
    }

    fn read(sent: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Value, Failure> {
        let mut response = sent.map_err(|_| Failure::Lost)?;
        let text = response
            .body_mut()
            .read_to_string()
            .map_err(|_| Failure::Lost)?;
        let body = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        if response.status().is_success() {
            Ok(body)
        } else {
            Err(Failure::Refused(response.status().as_u16(), body))
        }
    }

    /// Opens a card and a play on it.
    pub(crate) fn begin(&self, game: &str) -> (String, String) {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let card = text(&self.post("/api/scorecard/open", &json!({})).unwrap()["card_id"]);
        let frame = self
            .post("/api/cmd/RESET", &json!({"card_id": card, "game_id": game}))
            .unwrap();
        (card, text(&frame["guid"]))
    }

    pub(crate) fn act(&self, game: &str, guid: &str, action: Action) -> Result<Value, Failure> {
        self.act_once(game, guid, action, None)
    }

    /// As [`Remote::act`], with an idempotency key.
    pub(crate) fn act_once(
        &self,
        game: &str,
        guid: &str,
        action: Action,
        key: Option<&str>,
    ) -> Result<Value, Failure> {
        let mut body = json!({"game_id": game, "guid": guid});
        if let Action::Action6 { x, y } = action {
            body["x"] = x.into();
            body["y"] = y.into();
        }
        self.post_once(&format!("/api/cmd/{}", action.kind().name()), &body, key)
    }
}

//! A server in its own process, and a client that reports lost connections as values.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rhae_engine::Action;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::rhae::command;

/// A running server, killed on drop.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) url: String,
    /// The line that the server prints when it listens.
    pub(crate) greeting: String,
}

impl ServerProcess {
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
        let mut greeting = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut greeting)
            .unwrap();
        let url = greeting
            .strip_prefix("listening at ")
            .and_then(|rest| rest.split_whitespace().next());
        let url = url
            .unwrap_or_else(|| panic!("the server did not start: {greeting}"))
            .to_owned();
        Self {
            child,
            url,
            greeting,
        }
    }

    /// Returns the host and port at which the server listens.
    pub(crate) fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    pub(crate) fn remote(&self) -> Remote {
        Remote::new(&self.url)
    }

    /// Returns the id of the started process, which may be a tracer of the server.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process exits.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Kills the server without warning, as a failing machine would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM and waits for the exit.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }
}

impl ServerProcess {
    /// Sends SIGTERM and waits for the exit. Returns `None`, and kills the server, if it takes longer
    /// than `limit`.
    pub(crate) fn terminate_within(mut self, limit: Duration) -> Option<ExitStatus> {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).unwrap();
        let (done, exited) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let child = &mut self.child;
            scope.spawn(move || done.send(child.wait().unwrap()));
            let status = exited.recv_timeout(limit).ok();
            if status.is_none() {
                kill_process(pid, Signal::KILL).unwrap();
            }
            status
        })
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The reason why a request has no successful answer.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// The server answered with an error status and this body.
    Status(u16, Value),
    /// The server was not reachable or died during the request. The request may have been executed.
    Disconnected,
}

/// A client of a server.
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

    pub(crate) fn get(&self, path: &str) -> Result<Value, RequestError> {
        Self::read(
            self.agent
                .get(format!("{}{path}", self.url))
                .header("X-API-Key", "k")
                .call(),
        )
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value, RequestError> {
        self.post_with_key(path, body, None)
    }

    /// Like [`Remote::post`], with an idempotency key.
    pub(crate) fn post_with_key(
        &self,
        path: &str,
        body: &Value,
        key: Option<&str>,
    ) -> Result<Value, RequestError> {
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

    fn read(
        sent: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Value, RequestError> {
        let mut response = sent.map_err(|_| RequestError::Disconnected)?;
        let text = response
            .body_mut()
            .read_to_string()
            .map_err(|_| RequestError::Disconnected)?;
        let body = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        if response.status().is_success() {
            Ok(body)
        } else {
            Err(RequestError::Status(response.status().as_u16(), body))
        }
    }

    /// Opens a card and a play on it. Returns the card's id and the play's guid.
    pub(crate) fn start_play(&self, game: &str) -> (String, String) {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let card = text(&self.post("/api/scorecard/open", &json!({})).unwrap()["card_id"]);
        let frame = self
            .post("/api/cmd/RESET", &json!({"card_id": card, "game_id": game}))
            .unwrap();
        (card, text(&frame["guid"]))
    }

    pub(crate) fn act(
        &self,
        game: &str,
        guid: &str,
        action: Action,
    ) -> Result<Value, RequestError> {
        self.act_with_key(game, guid, action, None)
    }

    /// Like [`Remote::act`], with an idempotency key.
    pub(crate) fn act_with_key(
        &self,
        game: &str,
        guid: &str,
        action: Action,
        key: Option<&str>,
    ) -> Result<Value, RequestError> {
        let mut body = json!({"game_id": game, "guid": guid});
        if let Action::Action6 { x, y } = action {
            body["x"] = x.into();
            body["y"] = y.into();
        }
        self.post_with_key(&format!("/api/cmd/{}", action.kind().name()), &body, key)
    }
}

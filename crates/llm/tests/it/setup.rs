//! Shared setup: a model on a local server, and an observer that records its calls.

use rhae_llm::{Attempt, AttemptStart, CallObserver, Halt, Model, Models, Reply, Request};
use rhae_testkit::{Fault, Faults, ModelServer};

pub(crate) const KEY: &str = "sk-test-0123456789-do-not-print";

/// The lines of a models file that make retries fast.
pub(crate) const QUICK: &str =
    "retries = { attempts = 4, first_pause_s = 0.002, longest_pause_s = 0.01 }\n";

/// The HTTP providers, each with the path after the server's address.
pub(crate) const FORMS: [(&str, &str); 4] = [
    ("openai-chat", "/v1"),
    ("openai-responses", "/v1"),
    ("anthropic", ""),
    ("gemini", "/v1beta"),
];

/// Opens a model `m` on a server. `more` is appended to its table.
pub(crate) fn model(server: &ModelServer, form: (&str, &str), more: &str) -> Model {
    let (provider, path) = form;
    let more = if provider == "anthropic" {
        format!("request = {{ max_tokens = 500 }}\n{more}")
    } else {
        more.to_owned()
    };
    let text = format!(
        "[models.m]\nprovider = \"{provider}\"\nmodel = \"test-model\"\nkey_env = \"KEY\"\nbase_url = \"{}{path}\"\n{more}",
        server.url()
    );
    let models = Models::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    Model::open_with(&models, "m", &|variable| {
        (variable == "KEY").then(|| KEY.to_owned())
    })
    .expect("the file is valid")
}

/// Starts a server that injects `faults` first and then answers with the last message.
pub(crate) fn server(faults: impl IntoIterator<Item = Fault>) -> ModelServer {
    ModelServer::start(Faults::first(faults), |request| {
        format!(
            "you said {}",
            request.turns.last().map_or("", |(_, text)| text)
        )
    })
}

/// Records all attempts.
#[derive(Default)]
pub(crate) struct RecordingObserver {
    pub(crate) sent: Vec<AttemptStart>,
    pub(crate) ended: Vec<(Attempt, Option<Reply>)>,
    /// The number of attempts that the observer allows; `None` for no limit.
    pub(crate) max_requests: Option<usize>,
}

impl CallObserver for RecordingObserver {
    fn before(&mut self, start: &AttemptStart) -> Result<(), Halt> {
        if self
            .max_requests
            .is_some_and(|max_requests| self.sent.len() >= max_requests)
        {
            return Err(Halt("the money is spent".to_owned()));
        }
        self.sent.push(start.clone());
        Ok(())
    }

    fn after(&mut self, attempt: &Attempt, reply: Option<&Reply>) -> Result<(), Halt> {
        self.ended.push((attempt.clone(), reply.cloned()));
        Ok(())
    }
}

pub(crate) fn hello() -> Request {
    Request::text("hello there, model")
}

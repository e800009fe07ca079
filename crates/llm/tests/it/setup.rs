//! What the tests share: a model on a local server, and a watcher that remembers.

use rhae_llm::{Attempt, Halt, Model, Models, Reply, Request, Sending, Watch};
use rhae_testkit::{Fault, Faults, ModelServer};

pub(crate) const KEY: &str = "sk-test-0123456789-do-not-print";

/// The tables of a file that make failures quick.
pub(crate) const QUICK: &str =
    "retries = { attempts = 4, first_pause_s = 0.002, longest_pause_s = 0.01 }\n";

/// Which provider, and what comes after the server's address.
pub(crate) const FORMS: [(&str, &str); 4] = [
    ("openai-chat", "/v1"),
    ("openai-responses", "/v1"),
    ("anthropic", ""),
    ("gemini", "/v1beta"),
];

/// A model `m` on a server. `more` goes into its table.
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
    .expect("the file is right")
}

/// A server that answers with what it was asked last, after some faults.
pub(crate) fn server(faults: impl IntoIterator<Item = Fault>) -> ModelServer {
    ModelServer::start(Faults::first(faults), |asked| {
        format!(
            "you said {}",
            asked.turns.last().map_or("", |(_, text)| text)
        )
    })
}

/// Remembers what it is told.
#[derive(Default)]
pub(crate) struct Diary {
    pub(crate) sent: Vec<Sending>,
    pub(crate) ended: Vec<(Attempt, Option<Reply>)>,
    /// How many requests are allowed.
    pub(crate) most: Option<usize>,
}

impl Watch for Diary {
    fn before(&mut self, sending: &Sending) -> Result<(), Halt> {
        if self.most.is_some_and(|most| self.sent.len() >= most) {
            return Err(Halt("the money is spent".to_owned()));
        }
        self.sent.push(sending.clone());
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

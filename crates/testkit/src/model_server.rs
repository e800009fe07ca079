//! A local server with the APIs of the model providers, which injects faults on demand.
//!
//! It implements OpenAI's Chat Completions and Responses, Anthropic's Messages and Google's Gemini,
//! with and without streaming. It is written from the providers' documentation and shares no code
//! with the client that it is used to test. It logs every request with the tokens that it bills, so
//! that tests can compare the usage that the client recorded with the log.

mod connection;
mod faults;
mod wire_format;

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

pub use faults::{Fault, Faults};
pub use wire_format::WireFormat;

/// The function that produces the model's answers.
pub type Answer = Box<dyn Fn(&ModelRequest) -> ModelAnswer + Send + Sync>;

/// An answer of the model: a text, tool calls, or both.
#[derive(Clone, Debug, Default)]
pub struct ModelAnswer {
    pub text: String,
    /// The name of each called tool, and its arguments as text. Formats that send arguments as an
    /// object send an empty object if the text is not one.
    pub calls: Vec<(String, String)>,
}

impl ModelAnswer {
    /// Creates an answer that calls one tool.
    pub fn call(name: &str, arguments: &Value) -> Self {
        Self {
            text: String::new(),
            calls: vec![(name.to_owned(), arguments.to_string())],
        }
    }
}

impl From<String> for ModelAnswer {
    fn from(text: String) -> Self {
        Self {
            text,
            calls: Vec::new(),
        }
    }
}

/// A parsed request.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The number of the request in the order of arrival, from 0.
    pub number: usize,
    /// The system prompt.
    pub system: String,
    /// The conversation, oldest turn first; `true` marks turns of the model. The arguments of tool
    /// calls and the results of tools are turns of their own.
    pub turns: Vec<(bool, String)>,
    /// The results of tools in the conversation, oldest first.
    pub results: Vec<String>,
    /// The names of the offered tools.
    pub tools: Vec<String>,
    /// The number of images in the request.
    pub images: usize,
    pub body: Value,
}

/// An entry of the server's log.
#[derive(Clone, Debug)]
pub struct ServedRequest {
    /// The `X-Client-Request-Id` header.
    pub id: Option<String>,
    pub format: WireFormat,
    /// The request headers, one per line, with names in lower case.
    pub head: String,
    pub body: Value,
    /// Whether the request asked for a stream.
    pub streamed: bool,
    pub fault: Fault,
    /// The billed input tokens.
    pub input_tokens: u64,
    /// The billed output tokens.
    pub output_tokens: u64,
}

/// A running server. Dropping it stops the server and closes its connections.
pub struct ModelServer {
    url: String,
    shared: Arc<Shared>,
}

struct Shared {
    answer: Answer,
    faults: Faults,
    log: Mutex<Vec<ServedRequest>>,
    open: AtomicUsize,
    max_open: AtomicUsize,
    stopped: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

impl ModelServer {
    /// Starts a server on a free local port.
    pub fn start<A: Into<ModelAnswer>>(
        faults: Faults,
        answer: impl Fn(&ModelRequest) -> A + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a local port is free");
        let url = format!(
            "http://{}",
            listener.local_addr().expect("a listener has an address")
        );
        let shared = Arc::new(Shared {
            answer: Box::new(move |request| answer(request).into()),
            faults,
            log: Mutex::default(),
            open: AtomicUsize::new(0),
            max_open: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if own.stopped.load(Ordering::Acquire) {
                    return;
                }
                if let Ok(copy) = stream.try_clone() {
                    lock(&own.connections).push(copy);
                }
                let shared = Arc::clone(&own);
                std::thread::spawn(move || connection::serve(&shared, stream));
            }
        });
        Self { url, shared }
    }

    /// Returns the address without a path. The `base_url` for the OpenAI formats is this address
    /// followed by `/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns all requests so far, in the order of their arrival.
    pub fn served(&self) -> Vec<ServedRequest> {
        lock(&self.shared.log).clone()
    }

    /// Returns the largest number of requests that were in progress at the same time.
    pub fn max_concurrent_requests(&self) -> usize {
        self.shared.max_open.load(Ordering::Acquire)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        for connection in lock(&self.shared.connections).drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        // Wake the thread that accepts connections.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

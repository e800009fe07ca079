//! A local server that speaks like the providers of language models, and misbehaves on demand.
//!
//! It knows OpenAI's chat completions and responses, Anthropic's messages and Google's Gemini, streamed and not. It is written
//! from the providers' documentation and shares no code with the crate that it tests. It keeps a book of every request with the tokens
//! it billed, so that a caller's book can be compared with it.

mod connection;
mod faults;
mod forms;

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

pub use faults::{Fault, Faults};
pub use forms::Form;

/// Says what the model answers.
pub type Answer = Box<dyn Fn(&Asked) -> String + Send + Sync>;

/// A request as the server understood it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Which request it is, from 0.
    pub number: usize,
    /// What stands above the conversation.
    pub system: String,
    /// Who said what, the oldest first; `true` for the model.
    pub turns: Vec<(bool, String)>,
    /// How many pictures there are.
    pub images: usize,
    /// The whole body.
    pub body: Value,
}

/// A request in the server's book.
#[derive(Clone, Debug)]
pub struct Served {
    /// The caller's id of it (`X-Client-Request-Id`).
    pub id: Option<String>,
    /// The provider's form.
    pub form: Form,
    /// The headers as they came, one a line, names in lower case.
    pub head: String,
    /// The body.
    pub body: Value,
    /// Whether a stream was asked for.
    pub streamed: bool,
    /// What was done wrong.
    pub fault: Fault,
    /// Tokens of the request that are billed.
    pub input_tokens: u64,
    /// Tokens of the answer that are billed.
    pub output_tokens: u64,
}

/// A running server. It ends when it is dropped.
pub struct ModelServer {
    url: String,
    shared: Arc<Shared>,
}

struct Shared {
    answer: Answer,
    faults: Faults,
    book: Mutex<Vec<Served>>,
    open: AtomicUsize,
    most_open: AtomicUsize,
    stopped: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

impl ModelServer {
    /// Starts a server on a free port of this machine.
    pub fn start(
        faults: Faults,
        answer: impl Fn(&Asked) -> String + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this machine is free");
        let url = format!(
            "http://{}",
            listener.local_addr().expect("a listener has an address")
        );
        let shared = Arc::new(Shared {
            answer: Box::new(answer),
            faults,
            book: Mutex::default(),
            open: AtomicUsize::new(0),
            most_open: AtomicUsize::new(0),
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

    /// The address, without a path. A `base_url` for OpenAI's forms is this with `/v1` after it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Every request so far, in the order in which they came.
    pub fn served(&self) -> Vec<Served> {
        lock(&self.shared.book).clone()
    }

    /// How many requests were being answered at the same time, at most.
    pub fn most_at_once(&self) -> usize {
        self.shared.most_open.load(Ordering::Acquire)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        for connection in lock(&self.shared.connections).drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

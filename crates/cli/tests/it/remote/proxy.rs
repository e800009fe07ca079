//! A proxy between client and server that injects network faults.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The fault injected into a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The connection is closed before the request reaches the server.
    CutBefore,
    /// The connection is closed after the server has responded, before the client gets the
    /// response.
    CutAfter,
    /// The proxy responds with 503 and Rhae's error body instead of forwarding the request.
    Unavailable,
    /// The proxy responds with 502 and no error code instead of forwarding the request.
    Gateway,
    /// The proxy responds with 429 instead of forwarding the request.
    Limited,
    /// The request is forwarded after a delay.
    Delay(Duration),
    /// The request is never answered.
    Hang,
}

/// Which response headers the proxy forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Headers {
    All,
    /// All except the one that announces support for idempotency keys.
    NoIdempotency,
}

/// A proxy on the loopback interface. It stores the heads of all requests.
pub(crate) struct Proxy {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Starts a proxy in front of a server. `fault` gets the number of each action request, from 1.
    pub(crate) fn start(
        server: &str,
        fault: impl Fn(usize) -> Fault + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(server, Headers::All, fault)
    }

    /// Like [`Proxy::start`], but hides that the server supports idempotency keys.
    pub(crate) fn without_keys(
        server: &str,
        fault: impl Fn(usize) -> Fault + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(server, Headers::NoIdempotency, fault)
    }

    fn start_with(
        server: &str,
        headers: Headers,
        fault: impl Fn(usize) -> Fault + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (server, fault, requests) = (server.to_owned(), Arc::new(fault), Arc::clone(&seen));
        let commands = Arc::new(AtomicUsize::new(0));
        // The threads end with the test process.
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (server, fault, requests, commands) = (
                    server.clone(),
                    Arc::clone(&fault),
                    Arc::clone(&requests),
                    Arc::clone(&commands),
                );
                std::thread::spawn(move || {
                    serve(client, &server, headers, &*fault, &requests, &commands)
                });
            }
        });
        Self { url, seen }
    }

    /// Returns the heads of all requests so far.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// Serves one connection until either side closes it.
fn serve(
    mut client: TcpStream,
    server: &str,
    headers: Headers,
    fault: &dyn Fn(usize) -> Fault,
    seen: &Mutex<Vec<String>>,
    commands: &AtomicUsize,
) -> Option<()> {
    loop {
        let (head, body) = message(&mut client)?;
        seen.lock().unwrap().push(head.clone());
        let is_command = head.starts_with("POST /api/cmd/ACTION");
        let fault = if is_command {
            fault(commands.fetch_add(1, Ordering::Relaxed) + 1)
        } else {
            Fault::None
        };
        match fault {
            Fault::CutBefore => return None,
            Fault::Hang => loop {
                std::thread::sleep(Duration::from_secs(60));
            },
            Fault::Delay(time) => std::thread::sleep(time),
            Fault::Unavailable => {
                respond(
                    &mut client,
                    "503 Service Unavailable",
                    "{\"error\":\"SERVICE_UNAVAILABLE\",\"message\":\"test\"}",
                )
                .ok()?;
                continue;
            }
            Fault::Limited => {
                let body = "{\"error\":\"RATE_LIMIT_EXCEEDED\",\"message\":\"test\"}";
                respond(&mut client, "429 Too Many Requests\r\nRetry-After: 1", body).ok()?;
                continue;
            }
            Fault::Gateway => {
                respond(&mut client, "502 Bad Gateway", "<html>").ok()?;
                continue;
            }
            Fault::None | Fault::CutAfter => {}
        }
        let mut upstream = TcpStream::connect(server).ok()?;
        upstream.write_all(head.as_bytes()).ok()?;
        upstream.write_all(&body).ok()?;
        let (head, body) = message(&mut upstream)?;
        if fault == Fault::CutAfter {
            return None;
        }
        let is_forwarded = |line: &&str| {
            headers == Headers::All
                || !line
                    .to_ascii_lowercase()
                    .starts_with("idempotency-supported")
        };
        let head: Vec<&str> = head.split("\r\n").filter(is_forwarded).collect();
        client.write_all(head.join("\r\n").as_bytes()).ok()?;
        client.write_all(&body).ok()?;
    }
}

/// Reads a request or response: its head and a body of the announced length.
fn message(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let length = |line: &str| {
        line.to_ascii_lowercase()
            .strip_prefix("content-length:")?
            .trim()
            .parse::<usize>()
            .ok()
    };
    let mut body = vec![0; head.lines().find_map(length).unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}

fn respond(client: &mut TcpStream, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

//! A proxy between a client and a server that does what networks do.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// The connection is cut before the request reaches the server.
    CutBefore,
    /// The connection is cut after the server has answered and before its answer reaches the client.
    CutAfter,
    /// It does not reach the server, which is said to be overloaded, in the way ours says it.
    Unavailable,
    /// It does not reach the server, and a gateway says so without saying what happened.
    Gateway,
    /// It does not reach the server, which is said to have had too many.
    Limited,
    /// It reaches the server late.
    Delay(Duration),
    /// It is never answered.
    Hang,
}

/// What a client may know of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// All that the server says.
    Everything,
    /// Not that it takes idempotency keys.
    NoKeys,
}

/// A proxy on this machine. What is sent through it is kept.
pub(crate) struct Proxy {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// A proxy before a server. `fault` is asked for each command, counted from 1.
    pub(crate) fn start(
        server: &str,
        fault: impl Fn(usize) -> Fault + Send + Sync + 'static,
    ) -> Self {
        Self::begin(server, Told::Everything, fault)
    }

    /// As [`Proxy::start`], before a server that seems to know nothing of idempotency keys.
    pub(crate) fn without_keys(
        server: &str,
        fault: impl Fn(usize) -> Fault + Send + Sync + 'static,
    ) -> Self {
        Self::begin(server, Told::NoKeys, fault)
    }

    fn begin(
        server: &str,
        told: Told,
        fault: impl Fn(usize) -> Fault + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (server, fault, kept) = (server.to_owned(), Arc::new(fault), Arc::clone(&seen));
        let commands = Arc::new(AtomicUsize::new(0));
        // Its threads end with the test's process.
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (server, fault, kept, commands) = (
                    server.clone(),
                    Arc::clone(&fault),
                    Arc::clone(&kept),
                    Arc::clone(&commands),
                );
                std::thread::spawn(move || serve(client, &server, told, &*fault, &kept, &commands));
            }
        });
        Self { url, seen }
    }

    /// The heads of all requests so far.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// Serves one connection until either side has had enough.
fn serve(
    mut client: TcpStream,
    server: &str,
    told: Told,
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
                answer(
                    &mut client,
                    "503 Service Unavailable",
                    "{\"error\":\"SERVICE_UNAVAILABLE\",\"message\":\"test\"}",
                )
                .ok()?;
                continue;
            }
            Fault::Limited => {
                let body = "{\"error\":\"RATE_LIMIT_EXCEEDED\",\"message\":\"test\"}";
                answer(&mut client, "429 Too Many Requests\r\nRetry-After: 1", body).ok()?;
                continue;
            }
            Fault::Gateway => {
                answer(&mut client, "502 Bad Gateway", "<html>").ok()?;
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
        let kept = |line: &&str| {
            told == Told::Everything
                || !line
                    .to_ascii_lowercase()
                    .starts_with("idempotency-supported")
        };
        let head: Vec<&str> = head.split("\r\n").filter(kept).collect();
        client.write_all(head.join("\r\n").as_bytes()).ok()?;
        client.write_all(&body).ok()?;
    }
}

/// A request or an answer: its head, and its body by the length that the head says.
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

fn answer(client: &mut TcpStream, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

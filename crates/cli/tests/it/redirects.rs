//! Keys and redirects: no command sends a key to the server that another server redirects to.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::rhae::{Outcome, command};

const KEY: &str = "secret-key-123";

/// A server on loopback that gives the same response to every request and keeps the requests.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(head: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = vec![0; 16 << 10];
                let read = stream.read(&mut request).unwrap_or(0);
                let text = String::from_utf8_lossy(&request[..read]).into_owned();
                received.lock().unwrap().push(text);
                let answer =
                    format!("HTTP/1.1 {head}content-length: 2\r\nconnection: close\r\n\r\n[]");
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { url, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Runs a command with the address of a server that redirects every request to another server.
/// Checks that the command fails, and that the other server gets no request.
fn assert_not_followed(arguments: &[&str]) {
    let other = Server::start("200 OK\r\n".to_owned());
    let first = Server::start(format!(
        "307 Temporary Redirect\r\nlocation: {}/x\r\n",
        other.url
    ));
    let folder = tempfile::tempdir().unwrap();
    let models = format!(
        "[models.m]\nprovider = \"openai-chat\"\nmodel = \"m\"\nkey_env = \"RHAE_TEST_KEY\"\nbase_url = \"{}/v1\"
retries = {{ attempts = 1 }}\n",
        first.url
    );
    fs::write(folder.path().join("models.toml"), models).unwrap();
    let arguments: Vec<&str> = arguments
        .iter()
        .map(|&word| if word == "URL" { &first.url } else { word })
        .collect();
    let outcome: Outcome = command(folder.path(), &arguments)
        .env("ARC_API_KEY", KEY)
        .env("RHAE_TEST_KEY", KEY)
        .env_remove("RHAE_MODELS")
        .output()
        .unwrap()
        .into();
    let output = format!("{}{}", outcome.out, outcome.err);
    assert_ne!(outcome.code, Some(0), "{output}");
    assert!(output.contains("redirects to"), "{output}");
    assert!(!output.contains(KEY), "{output}");
    let received = first.requests();
    assert!(
        received.iter().any(|request| request.contains(KEY)),
        "{received:?}"
    );
    assert_eq!(other.requests(), Vec::<String>::new());
}

#[test]
fn fetch_does_not_send_its_key_to_another_server() {
    assert_not_followed(&["games", "fetch", "d", "--server", "URL"]);
}

#[test]
fn remote_run_does_not_send_its_key_to_another_server() {
    assert_not_followed(&[
        "run", "--server", "URL", "--games", "kq19", "--budget", "10",
    ]);
}

#[test]
fn model_request_does_not_send_its_key_to_another_server() {
    assert_not_followed(&["llm", "check", "m"]);
}

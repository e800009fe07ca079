//! One connection of the model server. It reads requests and writes responses, one after the other.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::wire_format::{Tokens, WireFormat};
use super::{Fault, ModelAnswer, ServedRequest, Shared, lock};

/// The maximum size of a request body in bytes.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// Serves requests until the client or a fault closes the connection.
pub(super) fn serve(shared: &Shared, stream: TcpStream) {
    let Ok(reading) = stream.try_clone() else {
        return;
    };
    let mut reader = BufReader::new(reading);
    let mut writer = stream;
    while let Ok(Some(request)) = read(&mut reader) {
        let open = shared.open.fetch_add(1, Ordering::AcqRel) + 1;
        shared.max_open.fetch_max(open, Ordering::AcqRel);
        let keep_alive = answer(shared, &request, &mut writer);
        shared.open.fetch_sub(1, Ordering::AcqRel);
        if !matches!(keep_alive, Ok(true)) {
            let _ = writer.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

struct HttpRequest {
    path: String,
    head: String,
    body: Vec<u8>,
}

impl HttpRequest {
    fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(str::trim)
    }
}

fn read(reader: &mut impl BufRead) -> io::Result<Option<HttpRequest>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        head.push_str(&format!("{}:{value}\n", name.to_lowercase()));
    }
    let mut request = HttpRequest {
        path,
        head,
        body: Vec::new(),
    };
    let length = request
        .header("content-length")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
        .min(MAX_BODY_BYTES);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body)?;
    Ok(Some(request))
}

/// Answers a request. Returns false if the connection must be closed.
fn answer(shared: &Shared, request: &HttpRequest, out: &mut impl Write) -> io::Result<bool> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let Some(format) = WireFormat::of(&request.path) else {
        write_json(
            out,
            404,
            "",
            &json!({"error": {"message": "no such path"}}).to_string(),
        )?;
        return Ok(true);
    };
    let streamed = format.is_streamed(&request.path, &body);
    let (number, fault, tokens, answer) = log_request(shared, format, request, body, streamed);
    match fault {
        Fault::Status(status, retry_after) => {
            let header = retry_after
                .map(|after| format!("Retry-After: {after}\r\n"))
                .unwrap_or_default();
            let error = json!({"error": {"message": format!("fault {status}"), "type": "fault"}});
            write_json(out, status, &header, &error.to_string())?;
            return Ok(true);
        }
        Fault::ContextOverflow => {
            let message = "this model's maximum context length is exceeded";
            let error = json!({"error": {"message": message, "type": "invalid_request_error"}});
            write_json(out, 400, "", &error.to_string())?;
            return Ok(true);
        }
        Fault::Echo(status) => {
            let error = json!({"error": {"message": format!("you sent: {}", request.head), "type": "fault"}});
            write_json(out, status, "", &error.to_string())?;
            return Ok(true);
        }
        Fault::Close => return Ok(false),
        Fault::Late(pause) => std::thread::sleep(pause),
        _ => {}
    }
    let value = format.answer(number, &answer, tokens, &fault);
    if streamed {
        let mut events = format.events(&value, tokens);
        match &fault {
            Fault::Malformed => events.insert(events.len() / 2, "data: {\"oops\n\n".to_owned()),
            Fault::ErrorInStream => {
                events.truncate(events.len() / 2);
                let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "too much to do"}});
                events.push(format!("event: error\ndata: {error}\n\n"));
            }
            Fault::Half => events.truncate(events.len() / 2),
            Fault::NoEndMarker => drop(
                events.pop_if(|event| event.contains("[DONE]") || event.contains("message_stop")),
            ),
            _ => {}
        }
        return stream(out, &events, &fault);
    }
    let text = match &fault {
        Fault::Malformed => "{\"id\": \"oops\", \"choices\": [".to_owned(),
        Fault::ErrorInStream => {
            json!({"error": {"type": "overloaded_error", "message": "too much to do"}}).to_string()
        }
        Fault::Half => {
            let full = value.to_string();
            full.chars().take(full.chars().count() / 2).collect()
        }
        _ => value.to_string(),
    };
    write_body(out, &text, &fault)
}

/// Adds a request to the log and returns its number, fault, tokens and answer.
fn log_request(
    shared: &Shared,
    format: WireFormat,
    request: &HttpRequest,
    body: Value,
    streamed: bool,
) -> (usize, Fault, Tokens, ModelAnswer) {
    let mut log = lock(&shared.log);
    let number = log.len();
    let fault = shared.faults.of(number);
    let parsed = format.parse_request(number, &body);
    let answer = if matches!(fault, Fault::Empty | Fault::Refuse) {
        ModelAnswer::default()
    } else {
        (shared.answer)(&parsed)
    };
    let tokens = Tokens::new(&parsed, &answer);
    let (input_tokens, output_tokens) = if fault.is_billed() {
        (tokens.input, tokens.output)
    } else {
        (0, 0)
    };
    let id = request.header("x-client-request-id").map(str::to_owned);
    let head = request.head.clone();
    log.push(ServedRequest {
        id,
        format,
        head,
        body,
        streamed,
        fault: fault.clone(),
        input_tokens,
        output_tokens,
    });
    (number, fault, tokens, answer)
}

fn write_json(out: &mut impl Write, status: u16, headers: &str, body: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    out.write_all(head.as_bytes())?;
    out.write_all(body.as_bytes())
}

fn write_body(out: &mut impl Write, text: &str, fault: &Fault) -> io::Result<bool> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        text.len()
    );
    out.write_all(head.as_bytes())?;
    match fault {
        Fault::Slow => trickle(out, text.as_bytes()).map(|()| true),
        Fault::Cut => out
            .write_all(&text.as_bytes()[..text.len() / 2])
            .map(|()| false),
        Fault::Stall(pause) => {
            out.write_all(&text.as_bytes()[..text.len() / 2])?;
            std::thread::sleep(*pause);
            Ok(false)
        }
        _ => out.write_all(text.as_bytes()).map(|()| true),
    }
}

fn stream(out: &mut impl Write, events: &[String], fault: &Fault) -> io::Result<bool> {
    out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")?;
    let half = events.len() / 2;
    for (index, event) in events.iter().enumerate() {
        match fault {
            Fault::Cut if index == half => return Ok(false),
            Fault::Stall(pause) if index == half => {
                std::thread::sleep(*pause);
                return Ok(false);
            }
            _ => {}
        }
        out.write_all(format!("{:x}\r\n", event.len()).as_bytes())?;
        if *fault == Fault::Slow {
            trickle(out, event.as_bytes())?;
        } else {
            out.write_all(event.as_bytes())?;
        }
        out.write_all(b"\r\n")?;
    }
    out.write_all(b"0\r\n\r\n")?;
    Ok(true)
}

/// Writes a few bytes at a time, with pauses of one millisecond.
fn trickle(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    for piece in bytes.chunks(61) {
        out.write_all(piece)?;
        out.flush()?;
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

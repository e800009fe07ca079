//! A request and its response as text, compared with a snapshot.
//!
//! The text looks like the output of `curl -v`: request lines begin with `>`, response lines with
//! `<`, and the body follows after an empty line. Ids, keys, versions, entity tags and waiting
//! times are replaced by placeholders such as `[guid]`. The length of the body is left out, so that
//! a changed message changes only one line.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use super::layout::{body_text, json_values};
use crate::client::{Answer, Client};

/// Headers whose values depend on the length of the body.
const OMITTED_HEADERS: [&str; 1] = ["content-length"];
/// Fields that hold random ids, with the placeholders of their values.
const ID_FIELDS: [(&str, &str); 3] = [
    ("card_id", "card-id"),
    ("guid", "guid"),
    ("api_key", "api-key"),
];
const COOKIE: &str = "rhae_key=";

/// Compares exchanges with snapshots and remembers which values to replace.
#[derive(Default)]
pub(super) struct Exchanges {
    replacements: RefCell<Vec<(String, String)>>,
}

impl Exchanges {
    /// Replaces `value` with `[placeholder]` in every later snapshot. A second value with the same
    /// placeholder becomes `[placeholder-2]`.
    pub(super) fn hide(&self, value: &str, placeholder: &str) {
        let mut replacements = self.replacements.borrow_mut();
        if value.is_empty() || replacements.iter().any(|(known, _)| known == value) {
            return;
        }
        let prefix = format!("[{placeholder}");
        let used = replacements
            .iter()
            .filter(|(_, name)| name.starts_with(&prefix))
            .count();
        let name = match used {
            0 => format!("{prefix}]"),
            _ => format!("{prefix}-{}]", used + 1),
        };
        replacements.push((value.to_owned(), name));
    }

    /// Opens a card without comparing the exchange with a snapshot.
    pub(super) fn open_card(&self, client: &Client, body: &Value) -> String {
        let card = client.open_card(body);
        self.hide(&card, "card-id");
        card
    }

    /// Opens a play without comparing the exchange with a snapshot.
    pub(super) fn open_play(&self, client: &Client, card: &str, game: &str) -> String {
        let guid = client.open_play(card, game);
        self.hide(&guid, "guid");
        guid
    }

    pub(super) fn get(&self, name: &str, client: &Client, path: &str) -> Answer {
        self.send(name, client, "GET", path, None, "")
    }

    pub(super) fn post(&self, name: &str, client: &Client, path: &str, body: &Value) -> Answer {
        let body = body.to_string();
        self.send(name, client, "POST", path, Some("application/json"), &body)
    }

    /// Sends a request and compares the exchange with the snapshot `name`.
    pub(super) fn send(
        &self,
        name: &str,
        client: &Client,
        method: &str,
        path: &str,
        content_type: Option<&str>,
        body: &str,
    ) -> Answer {
        let answer = client.send(method, path, content_type, body.as_bytes());
        let mut request = format!("> {method} {path}\n");
        if let Some(content_type) = content_type.filter(|kind| *kind != "application/json") {
            writeln!(request, "> content-type: {content_type}").unwrap();
        }
        if !body.is_empty() {
            writeln!(request, "> {}", abbreviated(body)).unwrap();
        }
        self.check(name, &request, &answer);
        answer
    }

    /// Sends the bytes of a request on a new connection, reads the response to its end and
    /// compares the exchange with the snapshot `name`.
    pub(super) fn send_raw(&self, name: &str, address: SocketAddr, request: &str) -> Answer {
        let answer = read_answer(address, request);
        let mut lines = request.lines();
        let first = lines.next().unwrap_or_default();
        let mut shown = format!("> {}\n", first.rsplit_once(' ').unwrap().0);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with("Host:")) {
            writeln!(shown, "> {line}").unwrap();
        }
        self.check(name, &shown, &answer);
        answer
    }

    /// Compares an exchange with the snapshot `name`.
    pub(super) fn check(&self, name: &str, request: &str, answer: &Answer) {
        self.learn(answer);
        let text = self.replaced(&format!("{request}{}", response_text(answer)));
        insta::with_settings!({
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name, text);
        });
    }

    /// Finds the ids and keys in a response, so that snapshots show placeholders for them.
    fn learn(&self, answer: &Answer) {
        for value in json_values(answer) {
            self.learn_from(&value);
        }
        for (name, value) in &answer.headers {
            if let ("set-cookie", Some(rest)) = (name.as_str(), value.strip_prefix(COOKIE)) {
                self.hide(rest.split(';').next().unwrap_or_default(), "key");
            }
        }
    }

    fn learn_from(&self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (field, value) in fields {
                    let id = value.as_str().filter(|text| is_random_id(text));
                    let known = ID_FIELDS.iter().find(|(name, _)| name == field);
                    match (id, known) {
                        (Some(id), Some((_, placeholder))) => self.hide(id, placeholder),
                        _ => self.learn_from(value),
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.learn_from(value)),
            _ => {}
        }
    }

    fn replaced(&self, text: &str) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let text = text
            .replace(&format!("rhae/{version}"), "rhae/[version]")
            .replace(&format!("rhae {version}"), "rhae [version]");
        let replacements = self.replacements.borrow();
        replacements
            .iter()
            .fold(text, |text, (value, name)| text.replace(value, name))
    }
}

/// Formats the status, the headers in alphabetical order, and the body.
pub(super) fn response_text(answer: &Answer) -> String {
    let mut headers: Vec<(&str, &str)> = answer
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| !OMITTED_HEADERS.contains(name))
        .collect();
    if !answer.request_id.is_empty() {
        headers.push(("x-request-id", "[request-id]"));
    }
    headers.sort_unstable();
    let mut text = format!("< {}\n", answer.status);
    let mut body = body_text(answer);
    for (name, value) in headers {
        let value = match name {
            "etag" => "[etag]",
            "retry-after" if answer.status == 429 => {
                body = replace_number(&body, value, "[seconds]");
                "[seconds]"
            }
            _ => value,
        };
        writeln!(text, "< {name}: {value}").unwrap();
    }
    if !body.is_empty() {
        write!(text, "\n{body}").unwrap();
    }
    text
}

/// Replaces a number, but not where it is part of a longer number.
fn replace_number(text: &str, number: &str, placeholder: &str) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(number) {
        let (before, after) = (&rest[..at], &rest[at + number.len()..]);
        let is_whole = !before.ends_with(|end: char| end.is_ascii_digit())
            && !after.starts_with(|start: char| start.is_ascii_digit());
        replaced.push_str(before);
        replaced.push_str(if is_whole { placeholder } else { number });
        rest = after;
    }
    replaced + rest
}

/// Returns whether a text is a UUID that is not all zeros.
fn is_random_id(text: &str) -> bool {
    let is_uuid = text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    is_uuid && text.bytes().any(|byte| !matches!(byte, b'0' | b'-'))
}

/// Returns a request body, or the beginning and the length of a long one.
fn abbreviated(body: &str) -> String {
    match body.char_indices().nth(200) {
        Some((end, _)) => format!("{}… ({} bytes)", &body[..end], body.len()),
        None => body.to_owned(),
    }
}

pub(super) fn read_answer(address: SocketAddr, request: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    parse_answer(&String::from_utf8_lossy(&bytes))
}

/// Reads a response whose body ends with the connection.
pub(super) fn parse_answer(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let mut headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let find = |headers: &[(String, String)], name: &str| {
        let found = headers.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.clone())
    };
    let request_id = find(&headers, "x-request-id").unwrap_or_default();
    headers.retain(|(name, _)| !["date", "x-request-id"].contains(&name.as_str()));
    Answer {
        status: status
            .and_then(|status| status.parse().ok())
            .unwrap_or_else(|| panic!("the response has no status: {text:?}")),
        content_type: find(&headers, "content-type").unwrap_or_default(),
        retry_after: find(&headers, "retry-after"),
        headers,
        request_id,
        text: body.to_owned(),
    }
}

#[test]
fn second_value_with_the_same_placeholder_is_numbered() {
    let exchanges = Exchanges::default();
    exchanges.hide("aaaa", "guid");
    exchanges.hide("bbbb", "guid");
    exchanges.hide("aaaa", "guid");
    assert_eq!(exchanges.replaced("bbbb of aaaa"), "[guid-2] of [guid]");
}

#[test]
fn only_whole_numbers_are_replaced() {
    assert_eq!(
        replace_number("60 in 160 or 60", "60", "[n]"),
        "[n] in 160 or [n]"
    );
}

#[test]
fn all_zero_ids_are_not_random() {
    assert!(is_random_id("9b2f0d3e-53c5-4d4b-9a0b-6f1f6a0d9a11"));
    assert!(!is_random_id("00000000-0000-0000-0000-000000000000"));
    assert!(!is_random_id("no-such-card"));
}

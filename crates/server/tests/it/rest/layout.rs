//! Layout of response bodies in snapshots: indented JSON, HTML with one element per line, and
//! short forms of frames and of other binary data.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::client::Answer;

/// Packed frames up to this length are shown unchanged.
const MAX_PACKED: usize = 64;

/// Returns the body of a response as a snapshot shows it.
pub(super) fn body_text(answer: &Answer) -> String {
    let essence = answer.content_type.split(';').next().unwrap_or_default();
    match essence {
        "application/json" => indented(&answer.text),
        "application/x-ndjson" => answer.text.lines().map(indented).collect(),
        "text/event-stream" => answer.text.lines().map(event_line).collect(),
        "text/html" => rhae_testkit::page_outline(&answer.text),
        "text/css" | "text/javascript" | "image/svg+xml" if !answer.text.is_empty() => {
            "<asset>\n".to_owned()
        }
        "image/png" | "application/octet-stream" => "<binary>\n".to_owned(),
        _ => answer.text.clone(),
    }
}

/// Returns every JSON document in the body of a response.
pub(super) fn json_values(answer: &Answer) -> Vec<Value> {
    let lines = answer
        .text
        .lines()
        .map(|line| line.strip_prefix("data: ").unwrap_or(line));
    let texts: Vec<&str> = match answer.content_type.as_str() {
        "application/json" => vec![&answer.text],
        "application/x-ndjson" | "text/event-stream" => lines.collect(),
        _ => Vec::new(),
    };
    texts
        .into_iter()
        .filter_map(|text| serde_json::from_str(text).ok())
        .collect()
}

/// A JSON value whose strings, numbers and words are kept as they were written, because a parser
/// may round numbers.
enum Node<'a> {
    Plain(&'a str),
    List(Vec<Node<'a>>),
    Object(Vec<(&'a str, Node<'a>)>),
    /// Data that is replaced by a summary.
    Summary(String),
}

impl<'a> Node<'a> {
    /// Reads a value from the beginning of `text`, which must be valid JSON. Also returns the rest
    /// of the text.
    fn read(text: &'a str) -> (Self, &'a str) {
        let text = text.trim_start();
        match text.as_bytes()[0] {
            b'{' => {
                let (fields, rest) = read_items(&text[1..], '}', |text| {
                    let (name, rest) = read_plain(text);
                    let (value, rest) = Self::read(&rest.trim_start()[1..]);
                    ((name, value.shortened(name)), rest)
                });
                (Self::Object(fields), rest)
            }
            b'[' => {
                let (items, rest) = read_items(&text[1..], ']', Self::read);
                (Self::List(items), rest)
            }
            _ => {
                let (plain, rest) = read_plain(text);
                (Self::Plain(plain), rest)
            }
        }
    }

    /// Returns the value of the field `name`, with frames replaced by their sizes and hashes.
    fn shortened(self, name: &str) -> Self {
        match (name, self) {
            ("\"frame\"", Self::List(frames)) => {
                Self::List(frames.iter().map(frame_summary).collect())
            }
            ("\"packed\"", Self::Plain(text)) if text.len() > MAX_PACKED => Self::Summary(format!(
                "\"<{} characters, {}>\"",
                text.len() - 2,
                hash(text.trim_matches('"'))
            )),
            (_, other) => other,
        }
    }

    fn is_nested(&self) -> bool {
        matches!(self, Self::List(_) | Self::Object(_))
    }

    /// Writes the value as `serde_json` does: on one line without spaces.
    fn write_compact(&self, text: &mut String) {
        match self {
            Self::Plain(plain) => text.push_str(plain),
            Self::Summary(summary) => text.push_str(summary),
            Self::List(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    item.write_compact(text);
                }
                text.push(']');
            }
            Self::Object(fields) => {
                text.push('{');
                for (index, (name, item)) in fields.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    text.push_str(name);
                    text.push(':');
                    item.write_compact(text);
                }
                text.push('}');
            }
        }
    }

    /// Writes one field or item per line, except that a list of plain values is on one line.
    fn write_indented(&self, depth: usize, text: &mut String) {
        let begin_line = |text: &mut String, depth: usize| {
            text.push('\n');
            text.push_str(&"  ".repeat(depth));
        };
        match self {
            Self::List(items) if items.iter().any(Self::is_nested) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    begin_line(text, depth + 1);
                    item.write_indented(depth + 1, text);
                }
                begin_line(text, depth);
                text.push(']');
            }
            Self::List(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { ", " });
                    item.write_compact(text);
                }
                text.push(']');
            }
            Self::Object(fields) if !fields.is_empty() => {
                text.push('{');
                for (index, (name, item)) in fields.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    begin_line(text, depth + 1);
                    text.push_str(name);
                    text.push_str(": ");
                    item.write_indented(depth + 1, text);
                }
                begin_line(text, depth);
                text.push('}');
            }
            plain => plain.write_compact(text),
        }
    }
}

/// Reads items up to the closing bracket.
fn read_items<'a, T>(
    text: &'a str,
    end: char,
    read: impl Fn(&'a str) -> (T, &'a str),
) -> (Vec<T>, &'a str) {
    let (mut items, mut rest) = (Vec::new(), text.trim_start());
    loop {
        if let Some(rest) = rest.strip_prefix(end) {
            return (items, rest);
        }
        let (item, after) = read(rest.trim_start_matches(',').trim_start());
        items.push(item);
        rest = after.trim_start();
    }
}

/// Reads a string, a number or a word.
fn read_plain(text: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = match text.strip_prefix('"') {
        Some(string) => {
            let is_end = |&(_, byte): &(usize, u8)| {
                let ends = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                ends
            };
            string.bytes().enumerate().find(is_end).unwrap().0 + 2
        }
        None => text
            .find(|end: char| ",]}".contains(end) || end.is_whitespace())
            .unwrap_or(text.len()),
    };
    text.split_at(end)
}

/// Parses the whole text as one node.
fn node(text: &str) -> Node<'_> {
    let valid: Result<Value, _> = serde_json::from_str(text);
    valid.unwrap_or_else(|error| panic!("{error}: {text}"));
    Node::read(text).0
}

fn indented(text: &str) -> String {
    let mut shown = String::new();
    node(text).write_indented(0, &mut shown);
    shown + "\n"
}

/// Formats a line of an event stream. Data stays on one line.
fn event_line(line: &str) -> String {
    let Some(data) = line.strip_prefix("data: ") else {
        return format!("{line}\n");
    };
    let mut shown = "data: ".to_owned();
    node(data).write_compact(&mut shown);
    shown + "\n"
}

fn frame_summary<'a>(frame: &Node<'a>) -> Node<'a> {
    let length = |node: Option<&Node<'_>>| match node {
        Some(Node::List(items)) => items.len(),
        _ => 0,
    };
    let columns = match frame {
        Node::List(rows) => length(rows.first()),
        _ => 0,
    };
    let mut text = String::new();
    frame.write_compact(&mut text);
    Node::Summary(format!(
        "\"<{} rows of {columns} cells, {}>\"",
        length(Some(frame)),
        hash(&text)
    ))
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text);
    let digits: String = digest[..6]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256 {digits}")
}

#[test]
fn bodies_are_indented_as_they_were_written_and_frames_are_short() {
    let text =
        r#"{"b":114.99999999999999, "a":[1,"x\"],{"],"frame":[[[1,2],[3,4]]],"c":[{"d":[]},{}]}"#;
    let expected = r#"{
  "b": 114.99999999999999,
  "a": [1, "x\"],{"],
  "frame": ["<2 rows of 2 cells, sha256 03a4cc702aa6>"],
  "c": [
    {
      "d": []
    },
    {}
  ]
}
"#;
    assert_eq!(indented(text), expected);
}

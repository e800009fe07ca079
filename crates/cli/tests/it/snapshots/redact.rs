//! Replaces values that differ from run to run with placeholders.
//!
//! The names, the order and the value types of fields are preserved. Floating-point numbers are
//! rounded to ten significant digits, because the last bits depend on the system's mathematical
//! library. Long arrays of numbers and long texts are replaced by their length and a hash.

use std::path::Path;

use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

/// Fields with a time, a rate or a measured size, and their placeholders.
const VOLATILE_FIELDS: [(&str, &str); 11] = [
    ("at_ms", "time"),
    ("created_ms", "time"),
    ("ended_ms", "time"),
    ("ms", "milliseconds"),
    ("peak_bytes", "bytes"),
    ("seconds", "seconds"),
    ("started_ms", "time"),
    ("states_per_s", "rate"),
    ("t_ms", "milliseconds"),
    ("task_seconds", "seconds"),
    ("work_seconds", "seconds"),
];

/// Arrays with more numbers than this, nested ones included, are replaced by a hash.
const MAX_NUMBERS: usize = 200;
/// Texts with more bytes than this are replaced by a hash.
const MAX_TEXT_BYTES: usize = 4000;

/// Replaces volatile values in the output of commands that ran in one folder.
pub(super) struct Redactor {
    texts: Vec<(String, String)>,
    fields: Vec<(String, String)>,
    hides_floats: bool,
    measuring_rules: Vec<&'static str>,
}

impl Redactor {
    /// Creates a redactor that replaces the version, the path of the repository, and the folder in
    /// which commands run.
    pub(super) fn new(folder: &Path) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .unwrap();
        let mut redactor = Self {
            texts: Vec::new(),
            fields: Vec::new(),
            hides_floats: false,
            measuring_rules: Vec::new(),
        };
        for path in [folder.to_owned(), folder.canonicalize().unwrap()] {
            redactor.add_text(&path.display().to_string(), "[folder]");
        }
        for path in [root.to_owned(), root.canonicalize().unwrap()] {
            redactor.add_text(&path.display().to_string(), "[repository]");
        }
        redactor.add_text(
            concat!("rhae ", env!("CARGO_PKG_VERSION")),
            "rhae [version]",
        );
        for (field, placeholder) in VOLATILE_FIELDS {
            redactor.add_field(field, placeholder);
        }
        redactor
    }

    /// Makes the redactor replace a text wherever it occurs.
    pub(super) fn add_text(&mut self, text: &str, placeholder: &str) {
        self.texts.push((text.to_owned(), placeholder.to_owned()));
    }

    /// Makes the redactor replace the values of all fields of this name.
    pub(super) fn add_field(&mut self, field: &str, placeholder: &str) {
        self.fields.push((field.to_owned(), placeholder.to_owned()));
    }

    /// Makes the redactor replace every floating-point number, for documents with measurements.
    pub(super) fn hide_measurements(&mut self) {
        self.hides_floats = true;
    }

    /// Makes the redactor replace the verdicts and texts of these validation rules, which depend on
    /// the machine.
    pub(super) fn hide_verdicts_of_rules(&mut self, rules: &[&'static str]) {
        self.measuring_rules = rules.to_vec();
    }

    /// Returns the text with known paths and addresses, the version and UUIDs replaced.
    pub(super) fn text(&self, text: &str) -> String {
        let known = self
            .texts
            .iter()
            .fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        without_uuids(&known)
    }

    /// Returns the redacted JSON document, indented.
    pub(super) fn json(&self, text: &str) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&self.value(text)?)
    }

    /// Returns redacted JSON lines, still with one document per line.
    pub(super) fn json_lines(&self, text: &str) -> serde_json::Result<String> {
        let lines: Vec<String> = text
            .lines()
            .map(|line| serde_json::to_string(&self.value(line)?))
            .collect::<serde_json::Result<_>>()?;
        Ok(lines.join("\n"))
    }

    fn value(&self, text: &str) -> serde_json::Result<Value> {
        let mut value = serde_json::from_str(&self.text(text))?;
        self.redact(&mut value);
        Ok(value)
    }

    fn redact(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => self.redact_fields(fields),
            Value::Array(items) => {
                let numbers = items.iter().map(numbers).sum::<Option<usize>>();
                match numbers {
                    Some(count) if count > MAX_NUMBERS => {
                        let hash = hash(&Value::Array(std::mem::take(items)).to_string());
                        *value = Value::from(format!("[{count} numbers, SHA-256 {hash}]"));
                    }
                    _ => items.iter_mut().for_each(|item| self.redact(item)),
                }
            }
            Value::Number(number) if number.is_f64() => {
                if self.hides_floats {
                    hide(value, "number");
                } else {
                    *number = rounded(number);
                }
            }
            Value::String(text) if text.len() > MAX_TEXT_BYTES => {
                let start: String = text.chars().take(60).collect();
                *text = format!("{start}… [{} bytes, SHA-256 {}]", text.len(), hash(text));
            }
            _ => {}
        }
    }

    fn redact_fields(&self, fields: &mut Map<String, Value>) {
        let rule = fields.get("rule").and_then(Value::as_str);
        if rule.is_some_and(|rule| self.measuring_rules.contains(&rule)) {
            hide_verdict(fields);
        }
        for (name, value) in fields {
            match self.fields.iter().find(|(field, _)| field == name) {
                Some((_, placeholder)) => hide(value, placeholder),
                None => self.redact(value),
            }
        }
    }
}

/// Replaces every UUID with `[uuid]`.
fn without_uuids(mut text: &str) -> String {
    const LENGTH: usize = 36;
    let is_uuid = |bytes: &[u8]| {
        bytes.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let mut result = String::new();
    while let Some(start) = text.as_bytes().windows(LENGTH).position(is_uuid) {
        result += &text[..start];
        result += "[uuid]";
        text = &text[start + LENGTH..];
    }
    result + text
}

/// Replaces values with a placeholder that names their type. `null` is kept.
fn hide(value: &mut Value, placeholder: &str) {
    let hidden = match value {
        Value::Object(fields) => return fields.values_mut().for_each(|one| hide(one, placeholder)),
        Value::Array(items) => return items.iter_mut().for_each(|one| hide(one, placeholder)),
        Value::Null | Value::Bool(_) => return,
        Value::String(_) => format!("[{placeholder}]"),
        Value::Number(number) if number.is_f64() => format!("[{placeholder}: float]"),
        Value::Number(_) => format!("[{placeholder}: integer]"),
    };
    *value = Value::from(hidden);
}

/// Replaces the verdicts and texts of a validation rule and of its findings.
fn hide_verdict(rule: &mut Map<String, Value>) {
    for (name, value) in rule {
        match (name.as_str(), value) {
            ("verdict" | "summary" | "text", value) => hide(value, "measured"),
            ("findings", Value::Array(findings)) => findings
                .iter_mut()
                .filter_map(Value::as_object_mut)
                .for_each(hide_verdict),
            _ => {}
        }
    }
}

/// Hides the numbers in all lines that mention seconds.
pub(super) fn seconds(text: &str) -> String {
    fn hidden(word: &str) -> &str {
        match word.starts_with(|first: char| first.is_ascii_digit()) {
            true if word.ends_with(',') => "[seconds],",
            true => "[seconds]",
            false => word,
        }
    }
    let line = |line: &str| {
        if line.contains("second") {
            line.split(' ').map(hidden).collect::<Vec<_>>().join(" ")
        } else {
            line.to_owned()
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Hides the values of some columns of a CSV table. Fields must not contain commas before the last
/// hidden column.
pub(super) fn csv(text: &str, hidden: &[&str]) -> String {
    let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    let row = |(number, line): (usize, &str)| {
        let field = |(column, field): (usize, &str)| match header.get(column) {
            Some(name) if number > 0 && hidden.contains(name) => format!("[{name}]"),
            _ => field.to_owned(),
        };
        let fields: Vec<String> = line.split(',').enumerate().map(field).collect();
        fields.join(",")
    };
    let rows: Vec<String> = text.lines().enumerate().map(row).collect();
    rows.join("\n")
}

/// Returns how many numbers a value contains, or `None` if it contains anything else.
fn numbers(value: &Value) -> Option<usize> {
    match value {
        Value::Number(_) => Some(1),
        Value::Array(items) => items.iter().map(numbers).sum(),
        _ => None,
    }
}

fn rounded(number: &Number) -> Number {
    let value = number.as_f64().expect("a float");
    let text = format!("{value:.9e}");
    Number::from_f64(text.parse().expect("a formatted float")).expect("a finite float")
}

fn hash(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn placeholders_keep_names_order_and_types() {
    let folder = tempfile::tempdir().unwrap();
    let redactor = Redactor::new(folder.path());
    let path = folder.path().join("run").display().to_string();
    let document = format!(
        r#"{{"z":1,"seconds":1.5,"ms":3,"run_id":"52cb60c2-5bcb-4ad8-a338-8f54af4c8b82","at_ms":null,"score":0.1234567890123,"path":"{path}"}}"#
    );
    assert_eq!(
        redactor.json_lines(&document).unwrap(),
        r#"{"z":1,"seconds":"[seconds: float]","ms":"[milliseconds: integer]","run_id":"[uuid]","at_ms":null,"score":0.123456789,"path":"[folder]/run"}"#
    );
}

#[test]
fn long_arrays_of_numbers_become_a_length_and_a_hash() {
    let folder = tempfile::tempdir().unwrap();
    let redactor = Redactor::new(folder.path());
    let frame = Value::from(vec![vec![0; 64]; 64]).to_string();
    let short = redactor.json_lines(&frame).unwrap();
    assert!(short.starts_with("\"[4096 numbers, SHA-256 "), "{short}");
    assert_ne!(
        short,
        redactor.json_lines(&frame.replacen('0', "1", 1)).unwrap()
    );
    assert_eq!(redactor.json_lines("[[1,2],[3]]").unwrap(), "[[1,2],[3]]");
}

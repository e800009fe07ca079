//! Tests that cannot run on a machine, and tests that run in a short form.
//!
//! A test that returns early calls [`skip`] or [`arc_data`], and a test with a long form calls
//! [`full`]. Each call appends a [`SkipRecord`] to the file named by the environment variable
//! `RHAE_SKIP_REPORT`. `cargo xtask test` sets the variable and prints the records at its end, so
//! that no test is skipped silently.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Set to `1`, it allows tests to be skipped. Otherwise [`skip`] panics.
pub const SKIP_MISSING: &str = "RHAE_SKIP_MISSING";
/// Names the file to which skipped tests are appended, one JSON object per line.
pub const SKIP_REPORT: &str = "RHAE_SKIP_REPORT";
/// If it is set, tests run in their long form.
pub const FULL: &str = "RHAE_FULL";

/// Why a test did not run, or not in its long form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipKind {
    /// The machine lacks a program or a permission.
    Missing,
    /// The public data in `../shared/data` are absent. They are not part of the repository, so this
    /// is allowed everywhere.
    NoData,
    /// The test ran in its short form. The long form runs with `cargo xtask test --full`.
    Short,
}

impl SkipKind {
    const ALL: [Self; 3] = [Self::Missing, Self::NoData, Self::Short];

    const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::NoData => "no-data",
            Self::Short => "short",
        }
    }
}

/// A test that did not run, or not in its long form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkipRecord {
    pub kind: SkipKind,
    /// The crate or suite, then the test.
    pub test: String,
    pub reason: String,
}

impl SkipRecord {
    /// Returns the record as one line of the report.
    pub fn to_line(&self) -> String {
        let Self { kind, test, reason } = self;
        format!(
            "{}\n",
            json!({ "kind": kind.name(), "test": test, "reason": reason })
        )
    }

    /// Parses one line of the report. Returns `None` if it is not a record.
    pub fn parse(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let kind = text("kind")?;
        Some(Self {
            kind: SkipKind::ALL
                .into_iter()
                .find(|known| known.name() == kind)?,
            test: text("test")?,
            reason: text("reason")?,
        })
    }
}

/// Reports that the calling test cannot run because something is missing. The test then returns.
///
/// # Panics
///
/// Panics unless `RHAE_SKIP_MISSING=1` allows tests to be skipped. `cargo xtask test` allows it
/// outside CI.
pub fn skip(reason: &str) {
    assert!(
        std::env::var(SKIP_MISSING).is_ok_and(|value| value == "1"),
        "this test cannot run: {reason}; `cargo xtask test` installs what tests need, and {SKIP_MISSING}=1 skips the test"
    );
    record(SkipKind::Missing, reason);
}

/// Returns the folder with the public ARC data, `../shared/data/arc`. Returns `None` and reports
/// the calling test as skipped if the folder does not exist.
pub fn arc_data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/arc");
    if folder.is_dir() {
        return Some(folder);
    }
    record(SkipKind::NoData, "no public data in ../shared/data/arc");
    None
}

/// Returns whether the long form of the calling test is requested (`cargo xtask test --full`).
/// Otherwise reports that only the short form runs, which `short_form` describes.
pub fn full(short_form: &str) -> bool {
    let full = std::env::var_os(FULL).is_some();
    if !full {
        record(SkipKind::Short, short_form);
    }
    full
}

/// Appends a record about the calling test to the report, if there is one.
fn record(kind: SkipKind, reason: &str) {
    let test = test_name();
    eprintln!("skipped {test}: {reason}");
    let Some(report) = std::env::var_os(SKIP_REPORT) else {
        return;
    };
    let record = SkipRecord {
        kind,
        test,
        reason: reason.to_owned(),
    };
    // A line is written with one call, so that lines of concurrent tests do not mix.
    let written = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&report)
        .and_then(|mut file| file.write_all(record.to_line().as_bytes()));
    if let Err(error) = written {
        panic!("cannot write to `{}`: {error}", report.display());
    }
}

/// Returns the crate and the name of the calling test. A test runner names the thread of a test
/// after it, or starts the test binary with `--exact NAME` and runs the test in the main thread.
fn test_name() -> String {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let thread = std::thread::current();
    let from_thread = thread.name().filter(|name| *name != "main");
    let from_arguments = || {
        let mut arguments = std::env::args().skip_while(|argument| argument != "--exact");
        arguments.nth(1)
    };
    let test = from_thread.map(str::to_owned).or_else(from_arguments);
    let test = test.unwrap_or_else(|| "unnamed test".to_owned());
    format!("{package} {test}").trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_survives_a_round_trip() {
        for kind in SkipKind::ALL {
            let record = SkipRecord {
                kind,
                test: "rhae-cli play::key".to_owned(),
                reason: "tmux is \"missing\"\nhere".to_owned(),
            };
            let line = record.to_line();
            assert_eq!(line.matches('\n').count(), 1);
            assert_eq!(SkipRecord::parse(&line), Some(record));
        }
        assert_eq!(SkipRecord::parse("{}"), None);
        assert_eq!(SkipRecord::parse("not json"), None);
    }

    #[test]
    fn test_is_named_by_crate_and_path() {
        assert_eq!(
            test_name(),
            "rhae-testkit skip::tests::test_is_named_by_crate_and_path"
        );
    }
}

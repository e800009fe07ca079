//! Snapshots of the output of the command line that other programs and people rely on.
//!
//! They pin the help of every command, every `--json` document, the files of a run folder and the
//! main usage errors. Values that differ from run to run are replaced by placeholders, see
//! [`redact`]. [`coverage`] lists all commands and fails for each one that has no snapshot.
//!
//! To accept changed output, run the tests with `INSTA_UPDATE=always` and review the difference.

mod arc;
mod arc_runs;
mod bench;
mod board;
mod commands;
mod compare;
mod coverage;
mod errors;
mod help;
mod play;
mod redact;
mod runs;
mod server;
mod study;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use redact::Redactor;

use crate::rhae::{Outcome, command};

/// The terminal width, in columns, for which help texts are formatted.
const COLUMNS: &str = "100";

/// The kinds of snapshots, each in its own folder below `tests/snapshots`.
#[derive(Clone, Copy)]
enum Kind {
    Help,
    Json,
    Files,
    Errors,
}

impl Kind {
    fn folder(self) -> PathBuf {
        let name = match self {
            Self::Help => "help",
            Self::Json => "json",
            Self::Files => "files",
            Self::Errors => "errors",
        };
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/snapshots")
            .join(name)
    }

    /// Returns the sorted names of the stored snapshots.
    fn stored(self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder())
            .unwrap()
            .filter_map(|entry| {
                let name = entry.unwrap().file_name().into_string().unwrap();
                name.strip_suffix(".snap").map(str::to_owned)
            })
            .collect();
        names.sort();
        names
    }
}

/// Compares a text with the stored snapshot of this name.
fn pin(kind: Kind, name: &str, description: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(kind.folder());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(description);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Creates a command that runs `rhae` in a folder, independent of the caller's environment and
/// terminal.
fn isolated(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = command(folder, arguments);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("RHAE_") || text.starts_with("ARC_") {
            command.env_remove(&name);
        }
    }
    command
        .env("COLUMNS", COLUMNS)
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("PYTHONPATH")
        .stdin(Stdio::null());
    command
}

/// Runs the command with a text on its standard input.
fn with_input(command: &mut Command, input: &str) -> Outcome {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(input.as_bytes()).unwrap();
    drop(pipe);
    child.wait_with_output().unwrap().into()
}

/// A temporary folder in which commands run, and the comparison of their output with snapshots.
struct Bench {
    folder: tempfile::TempDir,
    redactor: Redactor,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let redactor = Redactor::new(folder.path());
        Self { folder, redactor }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        isolated(self.folder.path(), arguments)
            .output()
            .unwrap()
            .into()
    }

    /// Runs a command with `--json` and pins the document, the exit code and standard error.
    ///
    /// `command` is the command's path such as `arc score`. `variant` distinguishes several
    /// documents of one command and may be empty.
    fn document(&self, command: &str, variant: &str, arguments: &[&str]) {
        self.document_of(command, variant, arguments, |command| {
            command.output().unwrap().into()
        });
    }

    /// Like [`Bench::document`], but `run` executes the command.
    fn document_of(
        &self,
        command: &str,
        variant: &str,
        arguments: &[&str],
        run: impl FnOnce(&mut Command) -> Outcome,
    ) {
        let words: Vec<&str> = command
            .split(' ')
            .chain(arguments.iter().copied())
            .chain(["--json"])
            .collect();
        let outcome = run(&mut isolated(self.folder.path(), &words));
        let document = self.redactor.json(&outcome.out).unwrap_or_else(|error| {
            panic!("{words:?}: {error}: {}{}", outcome.out, outcome.err);
        });
        let name = snapshot_name(command, variant);
        self.pin_outcome(Kind::Json, &name, &words, &outcome, &document);
    }

    /// Pins a command that is expected to fail: exit code, standard output and standard error.
    fn failure(&self, name: &str, arguments: &[&str]) {
        let outcome = self.run(arguments);
        assert_ne!(outcome.code, Some(0), "{arguments:?}: {}", outcome.out);
        let out = self.redactor.text(&outcome.out);
        self.pin_outcome(Kind::Errors, name, arguments, &outcome, &out);
    }

    fn pin_outcome(&self, kind: Kind, name: &str, words: &[&str], outcome: &Outcome, out: &str) {
        let code = outcome.code.expect("the command was not killed");
        let mut text = format!("exit code: {code}\n");
        let error = self.redactor.text(&outcome.err);
        for (stream, content) in [("stdout", out), ("stderr", error.as_str())] {
            if !content.is_empty() {
                text += &format!("--- {stream} ---\n{}\n", content.trim_end());
            }
        }
        let description = self.redactor.text(&format!("rhae {}", words.join(" ")));
        pin(kind, name, &description, &text);
    }

    /// Pins a file of a run folder that holds one JSON document.
    fn json_file(&self, name: &str, file: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        pin(
            Kind::Files,
            name,
            file,
            &self.redactor.json(&text).expect("the file holds JSON"),
        );
    }

    /// Pins a file of a run folder that holds one JSON document in each line.
    fn json_lines_file(&self, name: &str, file: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        pin(
            Kind::Files,
            name,
            file,
            &self.redactor.json_lines(&text).expect("lines of JSON"),
        );
    }

    /// Pins a text file of a run folder. Numbers are hidden in lines that mention seconds.
    fn text_file(&self, name: &str, file: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        let text = redact::seconds(&self.redactor.text(&text));
        pin(Kind::Files, name, file, &text);
    }

    /// Pins a CSV file of a run folder. The columns named in `hidden` are hidden.
    fn csv_file(&self, name: &str, file: &str, hidden: &[&str]) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        let text = redact::csv(&self.redactor.text(&text), hidden);
        pin(Kind::Files, name, file, &text);
    }

    /// Pins the list of files in a folder.
    fn listing(&self, name: &str, folder: &str) {
        let mut files = Vec::new();
        list(&self.path(folder), folder, &mut files);
        files.sort();
        pin(Kind::Files, name, folder, &files.join("\n"));
    }
}

fn list(folder: &Path, prefix: &str, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            list(&entry.path(), &name, files);
        } else {
            files.push(name);
        }
    }
}

/// Returns the name of a snapshot: the words of the command joined by `_`, then `-` and the
/// variant, if there is one.
fn snapshot_name(command: &str, variant: &str) -> String {
    let name = command.replace(' ', "_");
    if variant.is_empty() {
        name
    } else {
        format!("{name}-{variant}")
    }
}

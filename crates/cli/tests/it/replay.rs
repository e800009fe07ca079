//! Tests of `rhae replay` with a recording created by `rhae run`.

mod show;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rhae_protocol::{Ending, Format, Recording};
use tempfile::TempDir;

const RHAE: &str = env!("CARGO_BIN_EXE_rhae");

/// A temporary folder with the recording of a random play of hk26.
struct Fixture {
    folder: TempDir,
    recording: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        let run = Command::new(RHAE)
            .args([
                "run", "--agent", "random", "--games", "hk26", "--seed", "3", "--out",
            ])
            .arg(&out)
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
        let mut files: Vec<PathBuf> = fs::read_dir(out.join("recordings"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(files.len(), 1);
        Self {
            folder,
            recording: files.remove(0),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.recording).unwrap()
    }

    /// Writes `text` to a new file in the folder and returns its path.
    fn with(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Converts a recording and returns the path of the result.
    fn converted(&self, from: &Path, to: &str) -> PathBuf {
        let out = self.path(&format!("converted.{to}.jsonl"));
        succeeds(&["convert", text(from), "--to", to, "--out", text(&out)]);
        out
    }

    /// Returns the sorted names of all files in the folder.
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn replay(words: &[&str]) -> Output {
    Command::new(RHAE)
        .arg("replay")
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn succeeds(words: &[&str]) -> String {
    let output = replay(words);
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Fails the test unless the command fails with an error that contains every part.
fn fails(words: &[&str], parts: &[&str]) {
    let output = replay(words);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{words:?}: {error}");
    assert!(error.starts_with("error: "), "{error}");
    for part in parts {
        assert!(error.contains(part), "`{part}` should be in: {error}");
    }
    assert!(output.stdout.is_empty());
}

#[test]
fn recording_verifies_in_every_format() {
    let fixture = Fixture::new();
    let entries = Recording::parse(&fixture.text()).unwrap().entries.len();
    let assert_verified = |file: &Path, format: &str| {
        let line = succeeds(&["verify", text(file)]);
        let facts = format!(
            "verified, {format} format, hk26-v1 seed 0, {} actions, 0 of 8 levels",
            entries - 1
        );
        assert!(line.contains(&facts), "{line}");
    };
    assert_verified(&fixture.recording, "rhae");
    for format in ["toolkit", "agents"] {
        assert_verified(&fixture.converted(&fixture.recording, format), format);
    }
    let back = fixture.converted(&fixture.path("converted.toolkit.jsonl"), "rhae");
    assert_verified(&back, "rhae");

    let (first, back) = (
        Recording::parse(&fixture.text()).unwrap(),
        Recording::parse(&fs::read_to_string(back).unwrap()).unwrap(),
    );
    assert_eq!(
        (back.format, back.ending.as_ref()),
        (Format::Rhae, Some(&Ending::Stopped))
    );
    let hashes = |recording: &Recording| {
        recording
            .entries
            .iter()
            .map(|entry| (entry.action, entry.hash))
            .collect::<Vec<_>>()
    };
    assert_eq!(hashes(&first), hashes(&back));
}

#[test]
fn wrong_hash_fails_and_names_the_entry() {
    let fixture = Fixture::new();
    let mut lines: Vec<String> = fixture.text().lines().map(str::to_owned).collect();
    // Line 1 is the header, so this is entry 6.
    let at = lines[6].find("\"hash\":\"").unwrap() + 8;
    let digit = if lines[6].as_bytes()[at] == b'0' {
        "1"
    } else {
        "0"
    };
    lines[6].replace_range(at..=at, digit);
    let tampered = fixture.with("tampered.jsonl", &(lines.join("\n") + "\n"));
    fails(
        &["verify", text(&tampered)],
        &["tampered.jsonl", "entry 6 does not replay", "hash"],
    );

    // The valid file is still verified.
    let both = replay(&["verify", text(&tampered), text(&fixture.recording)]);
    assert_eq!(both.status.code(), Some(1));
    assert!(String::from_utf8(both.stdout).unwrap().contains("verified"));
}

#[test]
fn truncated_recording_fails_with_line_and_reason() {
    let fixture = Fixture::new();
    let complete = fixture.text();
    let tenth: usize = complete.split_inclusive('\n').take(10).map(str::len).sum();
    let cut = fixture.with("cut.jsonl", &complete[..tenth - 12]);
    fails(
        &["verify", text(&cut)],
        &["cut.jsonl", "line 10: the line is cut off"],
    );

    let (open, closing) = complete.trim_end().rsplit_once('\n').unwrap();
    assert!(closing.starts_with("{\"end\""));
    let entries = open.lines().count() - 1;
    let open = fixture.with("open.jsonl", &format!("{open}\n"));
    fails(
        &["verify", text(&open)],
        &[
            "open.jsonl",
            "cut off",
            "no closing line",
            &format!("its {entries} entries replay"),
        ],
    );
}

#[test]
fn invalid_headers_are_rejected() {
    let fixture = Fixture::new();
    let with = |name: &str, from: &str, to: &str| {
        assert!(fixture.text().contains(from));
        fixture.with(name, &fixture.text().replacen(from, to, 1))
    };
    let format = with("format.jsonl", "\"version\":1", "\"version\":2");
    fails(
        &["verify", text(&format)],
        &["line 1", "format version 2", "reads version 1"],
    );
    let version = with("version.jsonl", "hk26-v1", "hk26-v9");
    fails(
        &["verify", text(&version)],
        &["`hk26-v9`", "`hk26-v1`", "another version"],
    );
    let unknown = with("unknown.jsonl", "hk26-v1", "zz99-v1");
    fails(&["verify", text(&unknown)], &["zz99"]);
    let other = fixture.with("other.jsonl", "{\"name\":\"not a recording\"}\n");
    fails(
        &["verify", text(&other)],
        &["line 1: this is not a recording"],
    );
    let empty = fixture.with("empty.jsonl", "");
    fails(&["verify", text(&empty)], &["the recording is empty"]);
    let binary = fixture.path("binary.jsonl");
    fs::write(&binary, [0xFF, 0xFE, 0x00]).unwrap();
    fails(&["verify", text(&binary)], &["not UTF-8"]);
    fails(
        &["verify", text(&fixture.path("absent.jsonl"))],
        &["cannot read", "absent.jsonl"],
    );
}

#[test]
fn recording_with_frames_renders_without_its_environment() {
    let fixture = Fixture::new();
    let toolkit = fs::read_to_string(fixture.converted(&fixture.recording, "toolkit")).unwrap();
    let foreign = fixture.with(
        "foreign.jsonl",
        &toolkit.replace("hk26-v1", "zz99-12345678"),
    );
    fails(&["verify", text(&foreign)], &["zz99"]);
    succeeds(&["render", text(&foreign), "--format", "gif"]);
    assert!(
        fs::read(fixture.path("foreign.gif"))
            .unwrap()
            .starts_with(b"GIF89a")
    );
}

#[test]
fn rendered_files_have_the_requested_format() {
    let fixture = Fixture::new();
    for (format, magic) in [
        ("gif", b"GIF89a".as_slice()),
        ("png", b"\x89PNG\r\n\x1a\n".as_slice()),
        ("html", b"<!doctype html".as_slice()),
    ] {
        let out = fixture.path(&format!("picture.{format}"));
        let printed = succeeds(&[
            "render",
            text(&fixture.recording),
            "--format",
            format,
            "--out",
            text(&out),
        ]);
        assert_eq!(printed.trim_end(), format!("wrote {}", out.display()));
        assert!(fs::read(&out).unwrap().starts_with(magic), "{format}");
        // Without --out the file is written next to the recording.
        succeeds(&["render", text(&fixture.recording), "--format", format]);
        assert_eq!(
            fs::read(fixture.recording.with_extension(format)).unwrap(),
            fs::read(&out).unwrap(),
            "{format}"
        );
        let level = fixture.path(&format!("level.{format}"));
        succeeds(&[
            "render",
            text(&fixture.recording),
            "--format",
            format,
            "--level",
            "1",
            "--out",
            text(&level),
        ]);
        assert_eq!(
            fs::read(&level).unwrap(),
            fs::read(&out).unwrap(),
            "the whole play is on level 1"
        );
    }
}

#[test]
fn level_flag_renders_only_that_level() {
    let fixture = Fixture::new();
    let solved = solved_levels(&fixture, 3);
    let frames = |level: &str| {
        let out = fixture.path(&format!("level-{level}.gif"));
        let mut words = vec![
            "render",
            text(&solved),
            "--format",
            "gif",
            "--out",
            text(&out),
        ];
        if level != "all" {
            words.extend(["--level", level]);
        }
        succeeds(&words);
        fs::metadata(out).unwrap().len()
    };
    let all = frames("all");
    assert!(["1", "2", "3"].iter().all(|level| frames(level) < all));
    fails(
        &["render", text(&solved), "--format", "png", "--level", "5"],
        &["does not reach level 5"],
    );
    assert!(!solved.with_extension("png").exists());
}

#[test]
fn invalid_input_writes_no_file() {
    let fixture = Fixture::new();
    let bad = fixture.with(
        "bad.jsonl",
        &fixture.text().replacen("hk26-v1", "hk26-v9", 1),
    );
    let before = fixture.names();
    for format in ["gif", "png", "html"] {
        fails(&["render", text(&bad), "--format", format], &["hk26-v9"]);
    }
    fails(
        &[
            "render",
            text(&fixture.recording),
            "--format",
            "gif",
            "--level",
            "2",
            "--out",
            text(&fixture.path("x.gif")),
        ],
        &["level 2"],
    );
    fails(
        &[
            "convert",
            text(&bad),
            "--to",
            "toolkit",
            "--out",
            text(&fixture.path("x.jsonl")),
        ],
        &["hk26-v9"],
    );
    fails(
        &["render", text(&bad), "--format", "gif", "--out", text(&bad)],
        &["would replace the recording"],
    );
    assert_eq!(fixture.names(), before);
}

#[test]
fn conversion_does_not_overwrite_files() {
    let fixture = Fixture::new();
    let there = fixture.with("there.jsonl", "mine");
    fails(
        &[
            "convert",
            text(&fixture.recording),
            "--to",
            "agents",
            "--out",
            text(&there),
        ],
        &["there.jsonl", "exists"],
    );
    fails(
        &[
            "convert",
            text(&fixture.recording),
            "--to",
            "rhae",
            "--out",
            text(&fixture.recording),
        ],
        &["exists"],
    );
    assert_eq!(fs::read_to_string(there).unwrap(), "mine");
}

/// Writes a recording that solves the first levels of hk26. The reasoning of every action contains
/// escape sequences.
fn solved_levels(fixture: &Fixture, levels: u8) -> PathBuf {
    use rhae_engine::{Catalog, LevelIndex};
    use rhae_games::Builtin;
    use rhae_protocol::{Details, RecordingWriter};
    use rhae_session::{Play, ResetRule};

    let mut play = Play::new(Builtin.open("hk26", 0).unwrap(), ResetRule::Official);
    let header = Recording::parse(&fixture.text()).unwrap().header;
    let mut writer = RecordingWriter::new(Vec::new(), &header).unwrap();
    let opening = play.current();
    writer
        .entry(&opening.entry(opening.observation.action, Details::default()))
        .unwrap();
    let facts = rhae_games::find("hk26").unwrap().facts;
    let actions: Vec<_> = (0..levels)
        .flat_map(|level| facts.solution(LevelIndex(level)))
        .collect();
    for (number, action) in actions.into_iter().enumerate() {
        let remark = format!(
            "\x1b[2J\x1b]0;owned\x07remark {}\u{202E} on the way",
            number + 1
        );
        let details = Details {
            reasoning: Some(remark.into()),
            ..Details::default()
        };
        writer
            .entry(&play.command(action).unwrap().entry(action, details))
            .unwrap();
    }
    let text = writer.end(&Ending::Stopped, None).unwrap();
    fixture.with("solved.jsonl", &String::from_utf8(text).unwrap())
}

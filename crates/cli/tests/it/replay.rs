//! `rhae replay` with a recording that `rhae run` made.

mod browser;
mod show;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rhae_protocol::{Ending, Format, Recording};
use tempfile::TempDir;

const RHAE: &str = env!("CARGO_BIN_EXE_rhae");

/// A folder with the recording of a random play of hk26, to which nothing has been done yet.
struct Bench {
    folder: TempDir,
    recording: PathBuf,
}

impl Bench {
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

    /// A file with another text.
    fn with(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The recording converted.
    fn converted(&self, from: &Path, to: &str) -> PathBuf {
        let out = self.path(&format!("converted.{to}.jsonl"));
        succeeds(&["convert", text(from), "--to", to, "--out", text(&out)]);
        out
    }

    /// The names of all files in the folder.
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

/// What the error says; it must name every part.
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
fn a_recording_verifies_in_every_format() {
    let bench = Bench::new();
    let entries = Recording::parse(&bench.text()).unwrap().entries.len();
    let said = |file: &Path, format: &str| {
        let line = succeeds(&["verify", text(file)]);
        let facts = format!(
            "verified, {format} format, hk26-v1 seed 0, {} actions, 0 of 8 levels",
            entries - 1
        );
        assert!(line.contains(&facts), "{line}");
    };
    said(&bench.recording, "rhae");
    for format in ["toolkit", "agents"] {
        said(&bench.converted(&bench.recording, format), format);
    }
    let back = bench.converted(&bench.path("converted.toolkit.jsonl"), "rhae");
    said(&back, "rhae");

    let (first, back) = (
        Recording::parse(&bench.text()).unwrap(),
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
fn a_wrong_hash_fails_and_names_its_entry() {
    let bench = Bench::new();
    let mut lines: Vec<String> = bench.text().lines().map(str::to_owned).collect();
    // Line 1 is the header, so this is entry 6.
    let at = lines[6].find("\"hash\":\"").unwrap() + 8;
    let digit = if lines[6].as_bytes()[at] == b'0' {
        "1"
    } else {
        "0"
    };
    lines[6].replace_range(at..=at, digit);
    let tampered = bench.with("tampered.jsonl", &(lines.join("\n") + "\n"));
    fails(
        &["verify", text(&tampered)],
        &["tampered.jsonl", "entry 6 does not replay", "hash"],
    );

    // One bad file does not hide the good ones.
    let both = replay(&["verify", text(&tampered), text(&bench.recording)]);
    assert_eq!(both.status.code(), Some(1));
    assert!(String::from_utf8(both.stdout).unwrap().contains("verified"));
}

#[test]
fn a_recording_that_is_cut_off_fails_with_line_and_reason() {
    let bench = Bench::new();
    let whole = bench.text();
    let tenth: usize = whole.split_inclusive('\n').take(10).map(str::len).sum();
    let cut = bench.with("cut.jsonl", &whole[..tenth - 12]);
    fails(
        &["verify", text(&cut)],
        &["cut.jsonl", "line 10: the line is cut off"],
    );

    let (open, closing) = whole.trim_end().rsplit_once('\n').unwrap();
    assert!(closing.starts_with("{\"end\""));
    let entries = open.lines().count() - 1;
    let open = bench.with("open.jsonl", &format!("{open}\n"));
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
fn a_header_of_something_else_is_refused() {
    let bench = Bench::new();
    let with = |name: &str, from: &str, to: &str| {
        assert!(bench.text().contains(from));
        bench.with(name, &bench.text().replacen(from, to, 1))
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
    let other = bench.with("other.jsonl", "{\"name\":\"not a recording\"}\n");
    fails(
        &["verify", text(&other)],
        &["line 1: this is not a recording"],
    );
    let empty = bench.with("empty.jsonl", "");
    fails(&["verify", text(&empty)], &["the recording is empty"]);
    let binary = bench.path("binary.jsonl");
    fs::write(&binary, [0xFF, 0xFE, 0x00]).unwrap();
    fails(&["verify", text(&binary)], &["not UTF-8"]);
    fails(
        &["verify", text(&bench.path("absent.jsonl"))],
        &["cannot read", "absent.jsonl"],
    );
}

#[test]
fn frames_in_the_file_make_up_for_an_unknown_environment() {
    let bench = Bench::new();
    let toolkit = fs::read_to_string(bench.converted(&bench.recording, "toolkit")).unwrap();
    let foreign = bench.with(
        "foreign.jsonl",
        &toolkit.replace("hk26-v1", "zz99-12345678"),
    );
    fails(&["verify", text(&foreign)], &["zz99"]);
    succeeds(&["render", text(&foreign), "--format", "gif"]);
    assert!(
        fs::read(bench.path("foreign.gif"))
            .unwrap()
            .starts_with(b"GIF89a")
    );
}

#[test]
fn pictures_are_what_their_endings_say() {
    let bench = Bench::new();
    for (format, magic) in [
        ("gif", b"GIF89a".as_slice()),
        ("png", b"\x89PNG\r\n\x1a\n".as_slice()),
        ("html", b"<!doctype html".as_slice()),
    ] {
        let out = bench.path(&format!("picture.{format}"));
        let said = succeeds(&[
            "render",
            text(&bench.recording),
            "--format",
            format,
            "--out",
            text(&out),
        ]);
        assert_eq!(said.trim_end(), format!("wrote {}", out.display()));
        assert!(fs::read(&out).unwrap().starts_with(magic), "{format}");
        // Without --out it stands beside the recording.
        succeeds(&["render", text(&bench.recording), "--format", format]);
        assert_eq!(
            fs::read(bench.recording.with_extension(format)).unwrap(),
            fs::read(&out).unwrap(),
            "{format}"
        );
        let level = bench.path(&format!("level.{format}"));
        succeeds(&[
            "render",
            text(&bench.recording),
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
fn a_level_is_a_part_of_its_play() {
    let bench = Bench::new();
    let solved = solved_levels(&bench, 3);
    let frames = |level: &str| {
        let out = bench.path(&format!("level-{level}.gif"));
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
fn nothing_is_written_when_the_input_is_bad() {
    let bench = Bench::new();
    let bad = bench.with("bad.jsonl", &bench.text().replacen("hk26-v1", "hk26-v9", 1));
    let before = bench.names();
    for format in ["gif", "png", "html"] {
        fails(&["render", text(&bad), "--format", format], &["hk26-v9"]);
    }
    fails(
        &[
            "render",
            text(&bench.recording),
            "--format",
            "gif",
            "--level",
            "2",
            "--out",
            text(&bench.path("x.gif")),
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
            text(&bench.path("x.jsonl")),
        ],
        &["hk26-v9"],
    );
    fails(
        &["render", text(&bad), "--format", "gif", "--out", text(&bad)],
        &["would replace the recording"],
    );
    assert_eq!(bench.names(), before);
}

#[test]
fn a_conversion_leaves_what_is_there_alone() {
    let bench = Bench::new();
    let there = bench.with("there.jsonl", "mine");
    fails(
        &[
            "convert",
            text(&bench.recording),
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
            text(&bench.recording),
            "--to",
            "rhae",
            "--out",
            text(&bench.recording),
        ],
        &["exists"],
    );
    assert_eq!(fs::read_to_string(there).unwrap(), "mine");
}

/// A recording of the stored solutions of the first levels of hk26, with a remark on every action.
fn solved_levels(bench: &Bench, levels: u8) -> PathBuf {
    use rhae_engine::LevelIndex;
    use rhae_protocol::{Details, RecordingWriter};
    use rhae_session::{Builtin, Catalog, Play, ResetRule};

    let mut play = Play::new(Builtin.open("hk26", 0).unwrap(), ResetRule::Official);
    let header = Recording::parse(&bench.text()).unwrap().header;
    let mut writer = RecordingWriter::new(Vec::new(), &header).unwrap();
    let opening = play.opening();
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
    let text = writer.end(&Ending::Stopped).unwrap();
    bench.with("solved.jsonl", &String::from_utf8(text).unwrap())
}

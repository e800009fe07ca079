//! What was fetched: the files and `fetched.json`, which says where they came from.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use rhae_tasks::{FETCHED_FORMAT, TaskSet};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The revisions of the commits that are fetched unless others are asked for.
const USUAL: [(&str, &str); 4] = [
    (
        "arc-agi-1-training",
        "a6995b3acb66cfd545056af4f290a7bb2703b3945054ea9bc26e9afe661ae891",
    ),
    (
        "arc-agi-1-evaluation",
        "a4366681775ee7f53be4025c229e74693c1eb0efe72d54b4770daabc8144f8c8",
    ),
    (
        "arc-agi-2-training",
        "de9fef40307bbea626d57065607b1373e66ae233abcd0ecae92f9666d16324c2",
    ),
    (
        "arc-agi-2-evaluation",
        "3567097ab6aa3a8999e9bcf86584209962f607f4d214ead3c784e92f759aaa7f",
    ),
];

/// Where a set came from.
pub(super) struct Origin {
    /// The address, or the package's file and the file in it.
    pub(super) source: String,
    /// The repository's commit, as far as it is known.
    pub(super) commit: Option<String>,
    /// The SHA-256 of what was fetched.
    pub(super) sha256: String,
}

/// The folder and what is known about its files.
pub(super) struct Record {
    folder: PathBuf,
    sets: Map<String, Value>,
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a set has the revision of the usual commit.
pub(super) fn is_usual(set: &TaskSet) -> bool {
    let revision = set.revision();
    USUAL
        .iter()
        .any(|(name, usual)| *name == set.name && *usual == revision)
}

impl Record {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make `{}`", folder.display()))?;
        let path = folder.join("fetched.json");
        let sets = match fs::read_to_string(&path) {
            Ok(text) => {
                let value: Value = serde_json::from_str(&text)
                    .with_context(|| format!("cannot understand `{}`", path.display()))?;
                value["sets"].as_object().cloned().unwrap_or_default()
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Map::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read `{}`", path.display()));
            }
        };
        Ok(Self {
            folder: folder.to_owned(),
            sets,
        })
    }

    /// Writes a set's challenges and solutions; says what that changed.
    pub(super) fn write(&mut self, set: &TaskSet, origin: &Origin) -> Result<&'static str> {
        let stem = set.name.rsplit_once('-').map_or_else(
            || set.name.clone(),
            |(corpus, split)| format!("{corpus}_{split}"),
        );
        let mut challenges = Map::new();
        let mut solutions = Map::new();
        for (id, task) in &set.tasks {
            let mut shown = task.clone();
            let outputs: Option<Vec<Value>> = shown
                .test
                .iter_mut()
                .map(|test| test.output.take().map(|grid| grid.to_json()))
                .collect();
            challenges.insert(id.to_string(), shown.to_json());
            solutions.insert(
                id.to_string(),
                json!(outputs.with_context(|| format!("`{id}` has no solution"))?),
            );
        }
        let mut files = Map::new();
        let mut word = "same   ";
        for (kind, content) in [("challenges", challenges), ("solutions", solutions)] {
            let name = format!("{stem}_{kind}.json");
            let text = Value::Object(content).to_string() + "\n";
            let path = self.folder.join(&name);
            let before = fs::read(&path).ok();
            if before.as_deref() != Some(text.as_bytes()) {
                if let Some(before) = &before {
                    let recorded = self
                        .sets
                        .get(&set.name)
                        .and_then(|set| set["files"][&name].as_str());
                    ensure!(
                        recorded == Some(&hex(&Sha256::digest(before))),
                        "`{}` was changed here and is left alone; remove or rename it to fetch it",
                        path.display()
                    );
                }
                fs::write(&path, &text)
                    .with_context(|| format!("cannot write `{}`", path.display()))?;
                word = if before.is_some() {
                    "updated"
                } else {
                    "new    "
                };
            }
            files.insert(name, json!(hex(&Sha256::digest(text.as_bytes()))));
        }
        let (pairs, tests) = set.counts();
        let entry = json!({
            "revision": set.revision(),
            "usual_revision": is_usual(set),
            "tasks": set.tasks.len(),
            "training_pairs": pairs,
            "test_inputs": tests,
            "source": origin.source,
            "source_sha256": origin.sha256,
            "commit": origin.commit,
            "files": files,
        });
        self.sets.insert(set.name.clone(), entry);
        Ok(word)
    }

    pub(super) fn value(&self) -> Value {
        json!({"format": FETCHED_FORMAT, "version": 1, "software": rhae_protocol::SOFTWARE, "sets": self.sets})
    }

    pub(super) fn save(&self) -> Result<()> {
        let path = self.folder.join("fetched.json");
        let text = serde_json::to_string_pretty(&self.value())? + "\n";
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))
    }
}

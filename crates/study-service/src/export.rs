//! Writes the data of a study to a folder.
//!
//! The folder follows Psych-DS: `dataset_description.json` describes every column, and `data/`
//! contains the tables. `beh/` contains the same tables in the style of BIDS, `recordings/` the
//! plays, and `manifest.json` lists every file with its number of rows and its hash.
//!
//! *Invariant:* an export is the state at one record of the log, although the study continues. The
//! manifest is written last, so that a folder without one is incomplete.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rhae_engine::{ActionSet, Catalog};
use rhae_protocol::{
    Digest, ExportedFile, Format, Header, Recording, SOFTWARE, StudyExport, StudyRecord,
};
use rhae_store::{PlayId, Store, StoreError};
use rhae_study::{
    Consent, ExportTable, ReplayError, Study, StudyState, private_tables, public_tables,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Why an export cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("the folder `{}` is not empty: choose another one", .0.display())]
    NotEmpty(PathBuf),
    #[error("cannot write `{}`: {error}", file.display())]
    Write {
        file: PathBuf,
        error: std::io::Error,
    },
    #[error("the log is not valid: {0}")]
    Log(#[from] ReplayError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the play `{play}` cannot be written: {reason}")]
    Recording { play: String, reason: String },
}

/// Writes the export of a log to a new folder.
///
/// A public export contains the k-anonymous tables and the recordings of people who agreed to
/// publication. A private one contains everything except identities.
///
/// # Errors
///
/// Returns [`ExportError`] if the folder is not empty, or if a file cannot be written.
pub async fn export_study(
    records: &[StudyRecord],
    store: &dyn Store,
    catalog: &dyn Catalog,
    folder: &Path,
    public: bool,
) -> Result<StudyExport, ExportError> {
    let study = Study::replay(records)?;
    let state = study.state();
    let tables = if public {
        public_tables(state)
    } else {
        private_tables(state, records)
    };
    let mut files = Folder::create(folder)?;
    let name = &state.id;
    let description = description(state, &tables);
    files.write("dataset_description.json", None, &pretty(&description))?;
    for table in &tables {
        let base = format!("study-{name}_table-{}", table.name);
        let rows = Some(table.rows.len());
        files.write(&format!("data/{base}_data.csv"), rows, &to_csv(table))?;
        files.write(&format!("beh/{base}_beh.tsv"), rows, &table.to_tsv())?;
        let columns = columns(table);
        files.write(&format!("beh/{base}_beh.json"), None, &pretty(&columns))?;
    }
    for (name, text) in recordings(state, store, catalog, public).await? {
        files.write(&format!("recordings/{name}.jsonl"), None, &text)?;
    }
    let export = StudyExport {
        study: state.id.clone(),
        software: SOFTWARE.to_owned(),
        public,
        records: study.last_seq(),
        files: files.written.clone(),
    };
    let manifest = serde_json::to_value(&export).expect("the manifest is valid JSON");
    files.write("manifest.json", None, &pretty(&manifest))?;
    Ok(export)
}

/// The folder of an export.
struct Folder {
    path: PathBuf,
    written: Vec<ExportedFile>,
}

impl Folder {
    fn create(path: &Path) -> Result<Self, ExportError> {
        let failed = |error| ExportError::Write {
            file: path.to_owned(),
            error,
        };
        std::fs::create_dir_all(path).map_err(failed)?;
        if std::fs::read_dir(path).map_err(failed)?.next().is_some() {
            return Err(ExportError::NotEmpty(path.to_owned()));
        }
        Ok(Self {
            path: path.to_owned(),
            written: Vec::new(),
        })
    }

    fn write(&mut self, name: &str, rows: Option<usize>, text: &str) -> Result<(), ExportError> {
        let file = self.path.join(name);
        let folder = file.parent().unwrap_or(&self.path);
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, text));
        written.map_err(|error| ExportError::Write { file, error })?;
        self.written.push(ExportedFile {
            path: name.to_owned(),
            rows,
            bytes: text.len() as u64,
            sha256: Digest(hex::encode(Sha256::digest(text.as_bytes()))),
        });
        Ok(())
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn to_csv(table: &ExportTable) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = table.columns.iter().map(|column| column.name.as_str());
    let mut written = writer.write_record(header);
    for row in &table.rows {
        written = written.and_then(|()| writer.write_record(row));
    }
    written.expect("rows of equal length are written to memory");
    let bytes = writer.into_inner().expect("memory needs no flush");
    String::from_utf8(bytes).expect("the cells are valid UTF-8")
}

/// Describes the data set. A column that several tables have is described once.
fn description(state: &StudyState, tables: &[ExportTable]) -> Value {
    let mut columns: BTreeMap<&str, &str> = BTreeMap::new();
    for column in tables.iter().flat_map(|table| &table.columns) {
        columns.entry(&column.name).or_insert(&column.description);
    }
    let columns: Vec<Value> = columns
        .into_iter()
        .map(|(name, description)| {
            json!({"@type": "PropertyValue", "name": name, "description": description})
        })
        .collect();
    let protocol = state.protocol().map(|(hash, _)| hash.as_str());
    json!({
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": state.title,
        "description": format!("Data of the human study `{}`.", state.id),
        "identifier": state.id.as_str(),
        "protocol": protocol,
        "variableMeasured": columns,
    })
}

fn columns(table: &ExportTable) -> Value {
    let columns = table.columns.iter();
    columns
        .map(|column| {
            (
                column.name.clone(),
                json!({"Description": column.description}),
            )
        })
        .collect()
}

/// Returns the recordings of the ended attempts by their names. A public export numbers them, so
/// that a file cannot be linked to a play on the server.
async fn recordings(
    state: &StudyState,
    store: &dyn Store,
    catalog: &dyn Catalog,
    public: bool,
) -> Result<Vec<(String, String)>, ExportError> {
    let mut plays: Vec<&str> = Vec::new();
    for sitting in state.sittings.values() {
        let consent = state
            .participants
            .get(&sitting.participant)
            .filter(|person| person.withdrawn.is_none())
            .and_then(|person| person.consent.as_ref());
        let agreed =
            matches!(consent, Some(Consent::Given { publish_replays, .. }) if *publish_replays);
        let live = sitting.stage == rhae_protocol::StudyStage::Live;
        if !public || (agreed && live) {
            plays.extend(sitting.ended().map(|(_, _, attempt)| attempt.play.as_str()));
        }
    }
    // The order of the names says nothing about who played.
    plays.sort_unstable();
    let mut recordings = Vec::new();
    for (play, number) in plays.into_iter().zip(1_usize..) {
        let Some(recording) = recording(store, catalog, play, public).await? else {
            continue;
        };
        let name = if public {
            format!("play-{number:05}")
        } else {
            play.to_owned()
        };
        recordings.push((name, recording));
    }
    Ok(recordings)
}

/// Returns the recording of a play; `None` if the database does not contain the play.
async fn recording(
    store: &dyn Store,
    catalog: &dyn Catalog,
    play: &str,
    public: bool,
) -> Result<Option<String>, ExportError> {
    let Ok(id) = play.parse::<PlayId>() else {
        return Ok(None);
    };
    let Some(stored) = store.play(id).await? else {
        return Ok(None);
    };
    let info = catalog.find(stored.game_id.as_str());
    let recording = Recording {
        format: Format::Rhae,
        header: Header {
            game_id: stored.game_id,
            seed: stored.seed,
            agent: "person".to_owned(),
            agent_seed: None,
            software: SOFTWARE.to_owned(),
            guid: (!public).then(|| play.to_owned()),
            resets: stored.rule,
            win_levels: stored.win_levels,
            available: info.map_or(ActionSet::EMPTY, |info| info.actions),
            source_digest: stored.source_digest,
        },
        entries: store.log(stored.key).await?,
        ending: None,
        message: None,
    };
    let text = recording.to_text(Format::Rhae);
    let text = text.map_err(|error| ExportError::Recording {
        play: play.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(Some(text))
}

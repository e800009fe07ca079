//! Checks an export: every row is computed again from its files, and every byte is covered by a hash.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path};

use rhae_board::{Board, verify_board};
use rhae_engine::Catalog;
use rhae_protocol::{
    BoardCheck, BoardEvent, BoardManifest, BoardRecord, BoardRun, BoardView, EntryId,
};
use rhae_store::BoardFile;
use rhae_study::text_digest;

use crate::BoardError;
use crate::export::{
    EVENTS, MANIFEST, ROWS, TABLE, events_text, manifest_text, rebuilt_view, rows_csv, rows_json,
};
use crate::run_files::RunFiles;
use crate::task_set::TASKS;
use crate::verifier::Verifier;

/// The maximum depth of folders in an export, and the maximum size of a file.
const MAX_DEPTH: usize = 4;
const MAX_FILE: u64 = 64 << 20;

/// Checks an export with nothing but its own files and the environments of a catalogue: hashes, the
/// log, the releases, the rows, and every recording by a replay.
///
/// # Errors
///
/// Returns [`BoardError::Export`] if the folder is not a complete export. What does not agree is a
/// finding, not an error.
pub fn check_export(folder: &Path, catalog: &dyn Catalog) -> Result<BoardCheck, BoardError> {
    let (check, _, _) = read_export(folder, catalog)?;
    Ok(check)
}

/// Checks an export and returns its records and the files of its runs.
pub(crate) fn read_export(
    folder: &Path,
    catalog: &dyn Catalog,
) -> Result<(BoardCheck, Vec<BoardRecord>, Vec<BoardFile>), BoardError> {
    let mut files = BTreeMap::new();
    read_folder(folder, "", 0, &mut files)?;
    let manifest = files.remove(MANIFEST);
    let manifest =
        manifest.ok_or_else(|| BoardError::Export("it has no manifest.json".to_owned()))?;
    let parsed: BoardManifest = serde_json::from_str(&manifest)
        .map_err(|error| BoardError::Export(format!("manifest.json: {error}")))?;
    if !parsed.complete {
        let reason = "it has only the rows of a hidden set, without the records they follow from";
        return Err(BoardError::Export(reason.to_owned()));
    }
    let mut check = BoardCheck {
        board: parsed.board.clone(),
        records: 0,
        rows: 0,
        replayed: 0,
        releases: 0,
        findings: Vec::new(),
    };
    if manifest_text(&parsed) != manifest {
        check.findings.push("manifest.json was changed".to_owned());
    }
    compare_hashes(&parsed, &files, &mut check.findings);
    let records = parse_events(&files)?;
    check.records = records.len();
    let findings = verify_board(&records);
    check
        .findings
        .extend(findings.iter().map(ToString::to_string));
    if let Ok(board) = Board::replay(&records) {
        check.releases = board.state().releases.len();
        if board.state().id != parsed.board {
            check
                .findings
                .push("manifest.json is of another board".to_owned());
        }
        compare_rows(&board, &files, &mut check);
        let text = files.get(TASKS).map(String::as_str);
        match Verifier::new(&board.state().definition, catalog, text) {
            Ok(verifier) => verify_runs(&verifier, &records, &files, &mut check),
            Err(error) => check.findings.push(error.to_string()),
        }
    }
    files.retain(|name, _| name == TASKS || name.starts_with("runs/"));
    let files = files.into_iter();
    let files = files.map(|(name, content)| BoardFile { name, content });
    Ok((check, records, files.collect()))
}

/// Reads all files below a folder by their relative paths. Links are refused.
fn read_folder(
    folder: &Path,
    prefix: &str,
    depth: usize,
    files: &mut BTreeMap<String, String>,
) -> Result<(), BoardError> {
    let entries = fs::read_dir(folder).map_err(BoardError::file("read", folder))?;
    for entry in entries {
        let path = entry.map_err(BoardError::file("read", folder))?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let found = fs::symlink_metadata(&path).map_err(BoardError::file("read", &path))?;
        let is_plain = Path::new(name)
            .components()
            .all(|one| matches!(one, Component::Normal(_)));
        let relative = format!("{prefix}{name}");
        if found.is_dir() && is_plain && depth < MAX_DEPTH {
            read_folder(&path, &format!("{relative}/"), depth + 1, files)?;
        } else if found.is_file() && is_plain && found.len() <= MAX_FILE {
            let text = fs::read_to_string(&path).map_err(BoardError::file("read", &path))?;
            files.insert(relative, text);
        } else {
            let reason = format!("`{relative}` is not a file of an export");
            return Err(BoardError::Export(reason));
        }
    }
    Ok(())
}

fn compare_hashes(
    manifest: &BoardManifest,
    files: &BTreeMap<String, String>,
    findings: &mut Vec<String>,
) {
    let mut listed = BTreeSet::new();
    for file in &manifest.files {
        listed.insert(file.path.as_str());
        match files.get(&file.path) {
            None => findings.push(format!("{} is missing", file.path)),
            Some(text) if text_digest(text) != file.sha256 => {
                findings.push(format!("{} was changed", file.path));
            }
            Some(_) => {}
        }
    }
    let extra = files.keys().filter(|path| !listed.contains(path.as_str()));
    findings.extend(extra.map(|path| format!("{path} is not listed in manifest.json")));
}

fn parse_events(files: &BTreeMap<String, String>) -> Result<Vec<BoardRecord>, BoardError> {
    let text = files.get(EVENTS).map(String::as_str).unwrap_or_default();
    let parse = |(line, text): (usize, &str)| {
        serde_json::from_str(text)
            .map_err(|error| BoardError::Export(format!("{EVENTS}, line {}: {error}", line + 1)))
    };
    text.lines().enumerate().map(parse).collect()
}

/// Compares the files of rows and events with those that the records give.
fn compare_rows(board: &Board, files: &BTreeMap<String, String>, check: &mut BoardCheck) {
    let text = |name: &str| files.get(name).map(String::as_str).unwrap_or_default();
    let stored: Option<BoardView> = serde_json::from_str(text(ROWS)).ok();
    let references = stored.map_or_else(Vec::new, |view| view.references);
    let view = rebuilt_view(board, references);
    check.rows = view.rows.len();
    for (name, rebuilt) in [(ROWS, rows_json(&view)), (TABLE, rows_csv(&view.rows))] {
        if text(name) != rebuilt {
            check.findings.push(format!(
                "{name} differs from the rows that the records give"
            ));
        }
    }
    // A record has one serialised form, so that no byte of the file is without a check.
    let records: Vec<BoardRecord> = parse_events(files).unwrap_or_default();
    if events_text(&records) != text(EVENTS) {
        check.findings.push(format!("{EVENTS} was changed"));
    }
}

/// Verifies every run in the records again. What a later correction has replaced is left out, because
/// an error of an earlier version of this program was part of it.
fn verify_runs(
    verifier: &Verifier<'_>,
    records: &[BoardRecord],
    files: &BTreeMap<String, String>,
    check: &mut BoardCheck,
) {
    let last_corrections: BTreeMap<&EntryId, u64> = records
        .iter()
        .filter_map(|record| match &record.event {
            BoardEvent::Rescored { entry, .. } => Some((entry, record.seq)),
            _ => None,
        })
        .collect();
    for record in records {
        let (entry, runs, reruns) = match &record.event {
            BoardEvent::Replayed { entry, runs } | BoardEvent::Reproduced { entry, runs, .. } => {
                (entry, runs, &[][..])
            }
            BoardEvent::Rescored {
                entry,
                runs,
                reruns,
                ..
            } => (entry, runs, &reruns[..]),
            _ => continue,
        };
        let is_replaced = last_corrections
            .get(entry)
            .is_some_and(|last| record.seq < *last);
        if is_replaced {
            continue;
        }
        for run in runs.iter().chain(reruns) {
            let stored = files
                .iter()
                .map(|(name, text)| (name.clone(), text.clone()));
            let rebuilt = verifier.verify(&RunFiles::stored(&run.digest, stored));
            check.replayed += run.plays.len() + run.answers.len();
            if let Some(finding) = difference(run, rebuilt) {
                check
                    .findings
                    .push(format!("record {}: {finding}", record.seq));
            }
        }
    }
}

fn difference(run: &BoardRun, rebuilt: Result<BoardRun, crate::RunError>) -> Option<String> {
    match rebuilt {
        Ok(rebuilt) if rebuilt == *run => None,
        Ok(_) => Some(format!("the run `{}` differs from its files", run.run_id)),
        Err(error) => Some(format!("the run `{}` is not accepted: {error}", run.run_id)),
    }
}

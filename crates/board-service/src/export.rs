//! Exports of a board, from which others can compute its rows again.
//!
//! | file | content |
//! | --- | --- |
//! | `manifest.json` | the list of all other files with their hashes |
//! | `rows.json`, `rows.csv` | the rows as the public sees them |
//! | `events.jsonl` | the log, with one record per line |
//! | `runs/HASH/` | configuration, journal and recordings of a run |
//! | `tasks.json` | the static tasks with their solutions, if the board has some |
//!
//! *Invariant:* of a board with a hidden set, the public gets only the rows.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rhae_board::{Audience, Board};
use rhae_protocol::{
    BoardId, BoardManifest, BoardRecord, BoardRow, BoardView, ManifestFile, PublishedResult,
};
use rhae_study::text_digest;

use crate::view::board_view;
use crate::{BoardError, BoardService};

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const EVENTS: &str = "events.jsonl";
pub(crate) const ROWS: &str = "rows.json";
pub(crate) const TABLE: &str = "rows.csv";

/// Writes an export of a board to a new folder.
///
/// # Errors
///
/// Returns [`BoardError::File`] if the folder exists or a file cannot be written.
pub async fn export_board(
    service: &BoardService,
    id: &BoardId,
    folder: &Path,
    audience: Audience,
    references: Vec<PublishedResult>,
) -> Result<BoardManifest, BoardError> {
    // Another server may append at any time, so the rows are computed from these records.
    let records = service.records(id).await?;
    let board = Board::replay(&records).map_err(|error| BoardError::Log {
        board: id.clone(),
        error,
    })?;
    let view = board_view(&board, Audience::Public, references);
    let is_hidden = board.state().definition.set.visibility.is_hidden();
    let complete = !is_hidden || audience == Audience::Organiser;
    let mut files = BTreeMap::from([
        (ROWS.to_owned(), rows_json(&view)),
        (TABLE.to_owned(), rows_csv(&view.rows)),
    ]);
    if complete {
        files.insert(EVENTS.to_owned(), events_text(&records));
        let stored = service.files(id).await?;
        files.extend(stored.into_iter().map(|file| (file.name, file.content)));
    }
    let manifest = BoardManifest {
        board: id.clone(),
        complete,
        files: files
            .iter()
            .map(|(path, text)| ManifestFile {
                path: path.clone(),
                sha256: text_digest(text),
            })
            .collect(),
    };
    files.insert(MANIFEST.to_owned(), manifest_text(&manifest));
    fs::create_dir(folder).map_err(BoardError::file("create", folder))?;
    for (name, text) in &files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(BoardError::file("create", parent))?;
        fs::write(&path, text).map_err(BoardError::file("write", &path))?;
    }
    Ok(manifest)
}

/// Returns the rows that records give, for comparison with an export. The references are part of
/// the file but do not follow from the records.
pub(crate) fn rebuilt_view(board: &Board, references: Vec<PublishedResult>) -> BoardView {
    board_view(board, Audience::Public, references)
}

pub(crate) fn events_text(records: &[BoardRecord]) -> String {
    let line =
        |record: &BoardRecord| serde_json::to_string(record).expect("a record is valid JSON");
    records.iter().map(|record| line(record) + "\n").collect()
}

pub(crate) fn rows_json(view: &BoardView) -> String {
    serde_json::to_string_pretty(view).expect("a view is valid JSON") + "\n"
}

pub(crate) fn manifest_text(manifest: &BoardManifest) -> String {
    serde_json::to_string_pretty(manifest).expect("a manifest is valid JSON") + "\n"
}

/// Returns the rows as a table. Cells that a spreadsheet would execute start with an apostrophe.
pub fn rows_csv(rows: &[BoardRow]) -> String {
    let mut table = csv::Writer::from_writer(Vec::new());
    let heading = [
        "rank",
        "best_rank",
        "worst_rank",
        "entry",
        "name",
        "version",
        "authors",
        "models",
        "score",
        "interval_low",
        "interval_high",
        "levels_completed",
        "levels",
        "played",
        "environments",
        "cost_usd",
        "cost_basis",
        "state",
        "flags",
        "registered",
        "date",
    ];
    let write = |table: &mut csv::Writer<Vec<u8>>, cells: &[String]| {
        table
            .write_record(cells)
            .expect("writing to memory succeeds");
    };
    write(&mut table, &heading.map(str::to_owned));
    for row in rows {
        write(&mut table, &cells(row));
    }
    let bytes = table.into_inner().expect("writing to memory succeeds");
    String::from_utf8(bytes).expect("all cells are UTF-8")
}

fn cells(row: &BoardRow) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let count = |value: Option<usize>| value.map_or_else(String::new, |value| value.to_string());
    let (rank, score) = (row.rank, row.score);
    let authors: Vec<&str> = row
        .authors
        .iter()
        .map(|author| author.name.as_str())
        .collect();
    let flags: Vec<&str> = row.flags.iter().map(|flag| flag.flag.name()).collect();
    vec![
        count(rank.map(|rank| rank.rank)),
        count(rank.and_then(|rank| rank.best)),
        count(rank.and_then(|rank| rank.worst)),
        row.entry.to_string(),
        inert(&row.name),
        inert(&row.version),
        inert(&authors.join("; ")),
        inert(&row.models.join("; ")),
        number(score.map(|score| score.mean)),
        number(score.map(|score| score.interval[0])),
        number(score.map(|score| score.interval[1])),
        number(score.map(|score| score.levels_completed)),
        count(score.map(|score| usize::try_from(score.levels).unwrap_or(usize::MAX))),
        count(score.map(|score| score.played)),
        count(score.map(|score| score.environments)),
        number(row.cost.usd),
        row.cost.basis.name().to_owned(),
        row.state.name().to_owned(),
        flags.join(" "),
        row.registered.to_string(),
        row.date.clone(),
    ]
}

fn inert(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

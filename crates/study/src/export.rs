//! The tables of an export: rows of text with a description of every column.
//!
//! The tables follow Psych-DS: each has a unique `row_id`, and every column has a description for
//! `variableMeasured` in `dataset_description.json`. Writing files is left to the caller.
//!
//! [`public_tables`] contains what may be published: answers about the person are k-anonymous, times
//! are relative to the start of the sitting, and comments, person keys and plays are left out.

mod columns;
mod public;
mod tables;

use rhae_protocol::StudyRecord;

use crate::state::StudyState;

pub use public::public_tables;

/// A table of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportTable {
    /// The name in the file name, for example `attempts`.
    pub name: &'static str,
    pub columns: Vec<ExportColumn>,
    /// The rows, with one text for each column. A missing value is an empty text.
    pub rows: Vec<Vec<String>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportColumn {
    pub name: String,
    /// What the column contains, with its unit.
    pub description: String,
}

impl ExportTable {
    /// Returns the table as tab-separated text with a header. Tabs and line breaks in values become
    /// spaces, because the format has no escapes.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_study::{ExportColumn, ExportTable};
    ///
    /// let table = ExportTable {
    ///     name: "levels",
    ///     columns: vec![ExportColumn { name: "row_id".into(), description: "a key".into() }],
    ///     rows: vec![vec!["a\tb".into()]],
    /// };
    /// assert_eq!(table.to_tsv(), "row_id\na b\n");
    /// ```
    pub fn to_tsv(&self) -> String {
        let header = self
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        let mut text = String::new();
        for row in std::iter::once(&header).chain(&self.rows) {
            let cells: Vec<String> = row.iter().map(|cell| plain(cell)).collect();
            text.push_str(&cells.join("\t"));
            text.push('\n');
        }
        text
    }
}

fn plain(cell: &str) -> String {
    cell.replace(['\t', '\n', '\r'], " ")
}

/// Returns the complete tables, for the researchers only: `participants`, `sittings`, `assignments`,
/// `attempts`, `levels`, `events` and `humans`, the table that `rhae score humans` reads.
pub fn private_tables(state: &StudyState, records: &[StudyRecord]) -> Vec<ExportTable> {
    vec![
        tables::participants(state),
        tables::sittings(state),
        tables::assignments(state),
        tables::attempts(state),
        tables::levels(state),
        tables::events(records),
        tables::humans(state),
    ]
}

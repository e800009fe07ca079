//! Builds tables whose cells follow their columns.

use super::{ExportColumn, ExportTable};

/// A table under construction.
pub(super) struct TableBuilder {
    table: ExportTable,
}

impl TableBuilder {
    /// Starts a table. Every table begins with `row_id`.
    pub(super) fn new(name: &'static str, columns: &[(&str, &str)]) -> Self {
        let mut builder = Self {
            table: ExportTable {
                name,
                columns: Vec::new(),
                rows: Vec::new(),
            },
        };
        builder.column("row_id", "unique key of the row");
        for (name, description) in columns {
            builder.column(name, description);
        }
        builder
    }

    pub(super) fn column(&mut self, name: &str, description: &str) {
        self.table.columns.push(ExportColumn {
            name: name.to_owned(),
            description: description.to_owned(),
        });
    }

    /// Adds a row. The key is made of the first cells.
    ///
    /// # Panics
    ///
    /// Panics if the number of cells is not the number of columns after `row_id`.
    pub(super) fn row(&mut self, key: String, mut cells: Vec<String>) {
        assert_eq!(
            cells.len() + 1,
            self.table.columns.len(),
            "a cell for each column"
        );
        cells.insert(0, key);
        self.table.rows.push(cells);
    }

    pub(super) fn finish(self) -> ExportTable {
        self.table
    }
}

/// Returns the text of an optional value; an empty text if it is missing.
pub(super) fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

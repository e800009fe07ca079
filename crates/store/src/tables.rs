//! The tables that a backup contains, with their columns as SQLite stores them.
//!
//! A backup of a PostgreSQL database is an SQLite file, so the rows of both databases are converted
//! by this list. What PostgreSQL keeps elsewhere (the time of a card's last use, the length of a
//! log) is computed from these columns.
//!
//! **Invariant:** the list has every table and every column of the SQLite schema (tested).

/// How a column is stored in each database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    /// An integer in SQLite, a boolean in PostgreSQL.
    Boolean,
    Text,
    /// A plain text in SQLite, a JSON string in PostgreSQL, which cannot store U+0000 otherwise.
    Escaped,
    Bytes,
}

/// A table of a backup.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [(&'static str, Kind)],
    /// The rows read or written at a time.
    pub(crate) chunk: usize,
}

use Kind::{Boolean, Bytes, Escaped, Integer, Text};

/// A table follows the tables that it refers to.
pub(crate) const TABLES: [Table; 13] = [
    Table {
        name: "cards",
        columns: &[
            ("key", Integer),
            ("id", Bytes),
            ("owner", Bytes),
            ("tags", Text),
            ("source_url", Escaped),
            ("opaque", Text),
            ("competition", Boolean),
            ("games", Text),
            ("opened_ms", Integer),
            ("used_ms", Integer),
            ("closed_ms", Integer),
            ("lasting", Boolean),
        ],
        chunk: 1000,
    },
    Table {
        name: "plays",
        columns: &[
            ("key", Integer),
            ("id", Bytes),
            ("card", Integer),
            ("game_id", Text),
            ("seed", Integer),
            ("rule", Text),
            ("win_levels", Integer),
            ("source_digest", Text),
        ],
        chunk: 5000,
    },
    Table {
        name: "log",
        columns: &[
            ("play", Integer),
            ("entry", Integer),
            ("action", Text),
            ("hash", Integer),
            ("state", Text),
            ("levels_completed", Integer),
            ("counted", Boolean),
            ("changed", Boolean),
            ("full_reset", Boolean),
            ("reasoning", Text),
            ("at_ms", Integer),
        ],
        chunk: 1000,
    },
    Table {
        name: "runs",
        columns: &[
            ("play", Integer),
            ("run", Integer),
            ("level", Integer),
            ("state", Text),
            ("resets", Integer),
            ("actions", Integer),
            ("levels", Text),
            ("bytes", Integer),
        ],
        chunk: 5000,
    },
    Table {
        name: "snapshots",
        columns: &[("play", Integer), ("entries", Integer), ("bytes", Bytes)],
        // A snapshot of a hosted game may have many megabytes.
        chunk: 8,
    },
    Table {
        name: "requests",
        columns: &[
            ("owner", Bytes),
            ("key", Text),
            ("digest", Bytes),
            ("card", Bytes),
            ("play", Integer),
            ("entry", Integer),
            ("at_ms", Integer),
        ],
        chunk: 5000,
    },
    Table {
        name: "api_keys",
        columns: &[
            ("id", Text),
            ("hash", Bytes),
            ("name", Text),
            ("sets", Text),
            ("sources", Boolean),
            ("admin", Boolean),
            ("created_ms", Integer),
            ("revoked_ms", Integer),
            ("visitor", Boolean),
            ("invites", Integer),
            ("until_ms", Integer),
            ("expires_ms", Integer),
            ("requests_per_minute", Integer),
            ("open_cards", Integer),
            ("plays_per_card", Integer),
            ("stored_bytes", Integer),
            ("key_lifetime_ms", Integer),
        ],
        chunk: 5000,
    },
    Table {
        name: "shares",
        columns: &[
            ("id", Text),
            ("hash", Bytes),
            ("owner", Bytes),
            ("card", Bytes),
            ("play", Bytes),
            ("created_ms", Integer),
            ("revoked_ms", Integer),
        ],
        chunk: 5000,
    },
    Table {
        name: "study_events",
        columns: &[
            ("study", Text),
            ("seq", Integer),
            ("chain", Text),
            ("record", Text),
        ],
        chunk: 1000,
    },
    Table {
        name: "study_files",
        columns: &[("study", Text), ("name", Text), ("content", Text)],
        // A file has an entry for each level of each environment.
        chunk: 8,
    },
    Table {
        name: "board_events",
        columns: &[("board", Text), ("seq", Integer), ("record", Text)],
        chunk: 1000,
    },
    Table {
        name: "board_files",
        columns: &[("board", Text), ("name", Text), ("content", Text)],
        // A recording may have many megabytes.
        chunk: 8,
    },
    Table {
        name: "work_events",
        columns: &[("job", Text), ("seq", Integer), ("event", Text)],
        chunk: 1000,
    },
];

impl Table {
    /// The names of the columns, separated by commas.
    pub(crate) fn column_list(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }
}

//! Copies of database files with SQLite's online backup API.

use std::path::Path;
use std::time::{Duration, Instant};

use rhae_protocol::DatabaseCounts;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::StoreError;
use crate::sqlite::readers::number;
use crate::sqlite::{Access, BUSY_TIMEOUT, connect, schema};

/// The pause after a step that found the file locked.
const LOCKED_PAUSE: Duration = Duration::from_millis(20);

/// The schema of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    /// That of the source, which may be an older one.
    Kept,
    /// The current one.
    Migrated,
}

/// Copies a database to a new file and checks the copy.
///
/// All pages are copied in one read transaction, so the copy is the state at one moment. In WAL mode
/// a reader does not block writers.
pub(crate) fn copy_file(
    from: &Path,
    to: &Path,
    schema: Schema,
) -> Result<DatabaseCounts, StoreError> {
    let source = connect(from, Access::Read)?;
    schema::check(&source)?;
    if number(&source, "PRAGMA user_version", [])? == 0 {
        return Err(StoreError::Foreign);
    }
    let mut copy = connect(to, Access::Write)?;
    let pages = Backup::new(&source, &mut copy)?;
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match pages.step(-1)? {
            StepResult::Done => break,
            StepResult::More => {}
            _ if Instant::now() < deadline => std::thread::sleep(LOCKED_PAUSE),
            _ => return Err(StoreError::Unavailable("the file is locked".to_owned())),
        }
    }
    drop(pages);
    if schema == Schema::Migrated {
        schema::prepare(&mut copy, false)?;
    }
    finish(copy)
}

/// Creates an empty database with the current schema in a new file.
#[cfg(feature = "postgres")]
pub(crate) fn create_file(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = connect(path, Access::Write)?;
    schema::prepare(&mut connection, false)?;
    Ok(connection)
}

/// Opens a backup for reading. It must have the current schema.
#[cfg(feature = "postgres")]
pub(crate) fn open_file(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = connect(path, Access::Read)?;
    schema::prepare(&mut connection, true)?;
    Ok(connection)
}

/// Checks a new file, and makes it a single file without a write-ahead log.
pub(crate) fn finish(connection: Connection) -> Result<DatabaseCounts, StoreError> {
    connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    let sound: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if sound != "ok" {
        return Err(StoreError::Corrupt(sound));
    }
    let orphans = "SELECT count(*) FROM pragma_foreign_key_check";
    if number(&connection, orphans, [])? > 0 {
        let what = "a row refers to a row that does not exist".to_owned();
        return Err(StoreError::Corrupt(what));
    }
    let counts = counts(&connection)?;
    let closed = connection.close();
    closed.map_err(|(_, error)| StoreError::from(error))?;
    Ok(counts)
}

/// Counts the rows of a database, which may have an older schema.
pub(crate) fn counts(connection: &Connection) -> Result<DatabaseCounts, StoreError> {
    let count = |table: &str| {
        let exists = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        if number(connection, exists, [table])? == 0 {
            return Ok(0);
        }
        let statement = format!("SELECT count(*) FROM {table}");
        number(connection, &statement, []).map(i64::cast_unsigned)
    };
    Ok(DatabaseCounts {
        cards: count("cards")?,
        plays: count("plays")?,
        entries: count("log")?,
        keys: count("api_keys")?,
        links: count("shares")?,
        study_records: count("study_events")?,
        board_records: count("board_events")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::TABLES;

    #[test]
    fn list_of_tables_is_the_schema() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::prepare(&mut connection, false).unwrap();
        let names = |statement: &str| -> Vec<String> {
            let mut statement = connection.prepare(statement).unwrap();
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            rows.map(Result::unwrap).collect()
        };
        let mut listed: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        listed.sort_unstable();
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
        assert_eq!(names(tables), listed);
        for table in &TABLES {
            let columns = format!("SELECT name FROM pragma_table_info('{}')", table.name);
            assert_eq!(names(&columns).join(", "), table.column_list());
        }
    }
}

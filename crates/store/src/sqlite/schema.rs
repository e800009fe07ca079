//! The tables, and the migrations that update older files.
//!
//! **Invariant:** a released migration never changes; new ones are appended. The file's
//! `user_version` is the number of applied migrations.

use rusqlite::{Connection, TransactionBehavior};

use crate::StoreError;
use crate::sqlite::readers::number;

/// Marks the file as a database of this application: "Rhae" in ASCII.
const APPLICATION_ID: i64 = 0x5268_6165;

const MIGRATIONS: [&str; 12] = [
    CARDS_AND_PLAYS,
    COUNTS,
    REQUESTS,
    API_KEYS,
    VISITORS,
    USAGE,
    SOURCES,
    KEY_LIMITS,
    SHARES,
    STUDIES,
    BOARDS,
    WORK,
];

const CARDS_AND_PLAYS: &str = "
    CREATE TABLE cards (
        key         INTEGER PRIMARY KEY,
        id          BLOB NOT NULL UNIQUE,
        owner       BLOB NOT NULL,
        tags        TEXT NOT NULL,
        source_url  TEXT,
        opaque      TEXT,
        competition INTEGER NOT NULL,
        games       TEXT NOT NULL,
        opened_ms   INTEGER NOT NULL,
        used_ms     INTEGER NOT NULL,
        closed_ms   INTEGER
    ) STRICT;
    CREATE INDEX cards_by_owner ON cards (owner);
    CREATE INDEX cards_open ON cards (key) WHERE closed_ms IS NULL;

    CREATE TABLE plays (
        key        INTEGER PRIMARY KEY,
        id         BLOB NOT NULL UNIQUE,
        card       INTEGER NOT NULL REFERENCES cards (key),
        game_id    TEXT NOT NULL,
        seed       INTEGER NOT NULL,
        rule       TEXT NOT NULL,
        win_levels INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX plays_by_card ON plays (card);

    CREATE TABLE log (
        play             INTEGER NOT NULL REFERENCES plays (key),
        entry            INTEGER NOT NULL,
        action           TEXT NOT NULL,
        hash             INTEGER NOT NULL,
        state            TEXT NOT NULL,
        levels_completed INTEGER NOT NULL,
        counted          INTEGER NOT NULL,
        changed          INTEGER NOT NULL,
        full_reset       INTEGER NOT NULL,
        reasoning        TEXT,
        at_ms            INTEGER NOT NULL,
        PRIMARY KEY (play, entry)
    ) STRICT, WITHOUT ROWID;
";

/// Adds stored counts and snapshots.
const COUNTS: &str = "
    CREATE TABLE runs (
        play    INTEGER NOT NULL REFERENCES plays (key),
        run     INTEGER NOT NULL,
        level   INTEGER NOT NULL,
        state   TEXT NOT NULL,
        resets  INTEGER NOT NULL,
        actions INTEGER NOT NULL,
        levels  TEXT NOT NULL,
        PRIMARY KEY (play, run)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE snapshots (
        play    INTEGER NOT NULL REFERENCES plays (key),
        entries INTEGER NOT NULL,
        bytes   BLOB NOT NULL,
        PRIMARY KEY (play, entries)
    ) STRICT;
";

/// Adds executed requests by their idempotency keys.
const REQUESTS: &str = "
    CREATE TABLE requests (
        owner  BLOB NOT NULL,
        key    TEXT NOT NULL,
        digest BLOB NOT NULL,
        card   BLOB,
        play   INTEGER REFERENCES plays (key),
        entry  INTEGER,
        at_ms  INTEGER NOT NULL,
        PRIMARY KEY (owner, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX requests_by_age ON requests (at_ms);
";

/// Adds API keys.
const API_KEYS: &str = "
    CREATE TABLE api_keys (
        id         TEXT NOT NULL PRIMARY KEY,
        hash       BLOB NOT NULL,
        name       TEXT NOT NULL,
        sets       TEXT NOT NULL,
        sources    INTEGER NOT NULL,
        admin      INTEGER NOT NULL,
        created_ms INTEGER NOT NULL,
        revoked_ms INTEGER
    ) STRICT;
    CREATE INDEX cards_open_by_owner ON cards (owner) WHERE closed_ms IS NULL;
";

/// Adds visitors' keys, invitations, and cards that never expire.
const VISITORS: &str = "
    ALTER TABLE api_keys ADD COLUMN visitor INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE api_keys ADD COLUMN invites INTEGER;
    ALTER TABLE api_keys ADD COLUMN until_ms INTEGER;
    ALTER TABLE cards ADD COLUMN lasting INTEGER NOT NULL DEFAULT 0;
";

/// Adds the size of the log entries of each run. The entries of older plays are added to the first
/// runs of the plays.
const USAGE: &str = "
    ALTER TABLE runs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE runs SET bytes =
        (SELECT coalesce(sum(128 + coalesce(octet_length(reasoning), 0)), 0) FROM log WHERE log.play = runs.play)
    WHERE run = 0;
";

/// Adds the digest of the source of a hosted game.
const SOURCES: &str = "ALTER TABLE plays ADD COLUMN source_digest TEXT;";

/// Adds the expiry and the limits of keys.
const KEY_LIMITS: &str = "
    ALTER TABLE api_keys ADD COLUMN expires_ms INTEGER;
    ALTER TABLE api_keys ADD COLUMN requests_per_minute INTEGER;
    ALTER TABLE api_keys ADD COLUMN open_cards INTEGER;
    ALTER TABLE api_keys ADD COLUMN plays_per_card INTEGER;
    ALTER TABLE api_keys ADD COLUMN stored_bytes INTEGER;
    ALTER TABLE api_keys ADD COLUMN key_lifetime_ms INTEGER;
    CREATE INDEX api_keys_by_hash ON api_keys (hash);
";

/// Adds links to published cards and plays.
const SHARES: &str = "
    CREATE TABLE shares (
        id         TEXT NOT NULL PRIMARY KEY,
        hash       BLOB NOT NULL,
        owner      BLOB NOT NULL,
        card       BLOB,
        play       BLOB,
        created_ms INTEGER NOT NULL,
        revoked_ms INTEGER
    ) STRICT;
    CREATE INDEX shares_by_owner ON shares (owner);
";

/// Adds the event logs of human studies and their published files.
const STUDIES: &str = "
    CREATE TABLE study_events (
        study  TEXT NOT NULL,
        seq    INTEGER NOT NULL,
        chain  TEXT NOT NULL,
        record TEXT NOT NULL,
        PRIMARY KEY (study, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX study_events_by_chain ON study_events (study, chain);

    CREATE TABLE study_files (
        study   TEXT NOT NULL,
        name    TEXT NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (study, name)
    ) STRICT, WITHOUT ROWID;
";

/// Adds the event logs of leaderboards and the files of their runs.
const BOARDS: &str = "
    CREATE TABLE board_events (
        board  TEXT NOT NULL,
        seq    INTEGER NOT NULL,
        record TEXT NOT NULL,
        PRIMARY KEY (board, seq)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE board_files (
        board   TEXT NOT NULL,
        name    TEXT NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (board, name)
    ) STRICT, WITHOUT ROWID;
";

/// Adds the logs of coordinators.
const WORK: &str = "
    CREATE TABLE work_events (
        job   TEXT NOT NULL,
        seq   INTEGER NOT NULL,
        event TEXT NOT NULL,
        PRIMARY KEY (job, seq)
    ) STRICT, WITHOUT ROWID;
";

/// Refuses a database of another application, or of a newer version of this one.
pub(crate) fn check(connection: &Connection) -> Result<(), StoreError> {
    let known = i64::try_from(MIGRATIONS.len()).expect("the list of migrations is short");
    let found = number(connection, "PRAGMA user_version", [])?;
    let application = number(connection, "PRAGMA application_id", [])?;
    let tables = number(connection, "SELECT count(*) FROM sqlite_schema", [])?;
    if application != APPLICATION_ID && (application != 0 || tables != 0) {
        return Err(StoreError::Foreign);
    }
    if found > known {
        return Err(StoreError::NewerSchema { found, known });
    }
    Ok(())
}

/// Applies missing migrations.
pub(crate) fn prepare(connection: &mut Connection, read_only: bool) -> Result<(), StoreError> {
    check(connection)?;
    let known = i64::try_from(MIGRATIONS.len()).expect("the list of migrations is short");
    let found = number(connection, "PRAGMA user_version", [])?;
    if found == known {
        return Ok(());
    }
    if read_only {
        return Err(StoreError::ReadOnly(format!(
            "schema version {found} must be migrated to {known}"
        )));
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated the file in the meantime.
    let found = number(&transaction, "PRAGMA user_version", [])?;
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", known)?;
    Ok(transaction.commit()?)
}

//! The tables, and the migrations that update older databases. All tables are in the schema `rhae`,
//! so the database may also contain tables of other programs.
//!
//! **Invariant:** a released migration never changes; new ones are appended. `rhae.version` holds
//! the number of applied migrations. An advisory lock serialises servers that start at the same
//! time.

use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};

use crate::StoreError;

/// The advisory lock that a server holds while it migrates the schema: "Rhae" in ASCII.
const MIGRATION_LOCK: i64 = 0x5268_6165;

const MIGRATIONS: [&str; 9] = [
    FIRST, VISITORS, USAGE, SOURCES, KEY_LIMITS, SHARES, STUDIES, BOARDS, WORK,
];

/// `uses` is separate from `cards`, so that recording a use does not conflict with transactions
/// that hold a shared lock on the card. `alive` has one row: the time of the last heartbeat of any
/// server.
const FIRST: &str = "
    CREATE FUNCTION rhae.now_ms() RETURNS bigint LANGUAGE sql STABLE
        AS 'SELECT (extract(epoch FROM now()) * 1000)::bigint';

    CREATE TABLE rhae.cards (
        key         bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
        id          bytea NOT NULL UNIQUE,
        owner       bytea NOT NULL,
        tags        text NOT NULL,
        source_url  text,
        opaque      text,
        competition boolean NOT NULL,
        games       text NOT NULL,
        opened_ms   bigint NOT NULL,
        closed_ms   bigint
    );
    CREATE INDEX cards_by_owner ON rhae.cards (owner);
    CREATE INDEX cards_open ON rhae.cards (key) WHERE closed_ms IS NULL;

    CREATE TABLE rhae.uses (
        card    bigint PRIMARY KEY REFERENCES rhae.cards (key),
        used_ms bigint NOT NULL
    ) WITH (fillfactor = 50);

    CREATE TABLE rhae.plays (
        key        bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
        id         bytea NOT NULL UNIQUE,
        card       bigint NOT NULL REFERENCES rhae.cards (key),
        game_id    text NOT NULL,
        seed       bigint NOT NULL,
        rule       text NOT NULL,
        win_levels smallint NOT NULL,
        head       integer NOT NULL
    ) WITH (fillfactor = 50);
    CREATE INDEX plays_by_card ON rhae.plays (card);

    CREATE TABLE rhae.log (
        play             bigint NOT NULL,
        entry            integer NOT NULL,
        action           text NOT NULL,
        hash             bigint NOT NULL,
        state            text NOT NULL,
        levels_completed smallint NOT NULL,
        counted          boolean NOT NULL,
        changed          boolean NOT NULL,
        full_reset       boolean NOT NULL,
        reasoning        text,
        at_ms            bigint NOT NULL,
        PRIMARY KEY (play, entry)
    );

    CREATE TABLE rhae.runs (
        play    bigint NOT NULL,
        run     integer NOT NULL,
        level   smallint NOT NULL,
        state   text NOT NULL,
        resets  bigint NOT NULL,
        actions bigint NOT NULL,
        levels  text NOT NULL,
        PRIMARY KEY (play, run)
    ) WITH (fillfactor = 50);

    CREATE TABLE rhae.snapshots (
        play    bigint NOT NULL REFERENCES rhae.plays (key),
        entries integer NOT NULL,
        bytes   bytea NOT NULL,
        PRIMARY KEY (play, entries)
    );

    CREATE TABLE rhae.requests (
        owner  bytea NOT NULL,
        key    text NOT NULL,
        digest bytea NOT NULL,
        card   bytea,
        play   bigint,
        entry  integer,
        at_ms  bigint NOT NULL,
        PRIMARY KEY (owner, key)
    );
    CREATE INDEX requests_by_age ON rhae.requests (at_ms);

    CREATE TABLE rhae.api_keys (
        id         text PRIMARY KEY,
        hash       bytea NOT NULL,
        name       text NOT NULL,
        sets       text NOT NULL,
        sources    boolean NOT NULL,
        admin      boolean NOT NULL,
        created_ms bigint NOT NULL,
        revoked_ms bigint
    );

    CREATE TABLE rhae.alive (at_ms bigint NOT NULL);
    INSERT INTO rhae.alive VALUES (0);
";

/// Adds visitors' keys, invitations, and cards that never expire.
const VISITORS: &str = "
    ALTER TABLE rhae.api_keys ADD COLUMN visitor boolean NOT NULL DEFAULT false;
    ALTER TABLE rhae.api_keys ADD COLUMN invites bigint;
    ALTER TABLE rhae.api_keys ADD COLUMN until_ms bigint;
    ALTER TABLE rhae.cards ADD COLUMN lasting boolean NOT NULL DEFAULT false;
";

/// Adds the size of the log entries of each run. The entries of older plays are added to the first
/// runs of the plays.
const USAGE: &str = "
    ALTER TABLE rhae.runs ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
    UPDATE rhae.runs SET bytes = sums.bytes
    FROM (SELECT play, sum(128 + coalesce(octet_length(reasoning), 0)) AS bytes FROM rhae.log GROUP BY play) AS sums
    WHERE runs.play = sums.play AND run = 0;
";

/// Adds the digest of the source of a hosted game.
const SOURCES: &str = "ALTER TABLE rhae.plays ADD COLUMN source_digest text;";

/// Adds the expiry and the limits of keys.
const KEY_LIMITS: &str = "
    ALTER TABLE rhae.api_keys ADD COLUMN expires_ms bigint;
    ALTER TABLE rhae.api_keys ADD COLUMN requests_per_minute bigint;
    ALTER TABLE rhae.api_keys ADD COLUMN open_cards bigint;
    ALTER TABLE rhae.api_keys ADD COLUMN plays_per_card bigint;
    ALTER TABLE rhae.api_keys ADD COLUMN stored_bytes bigint;
    ALTER TABLE rhae.api_keys ADD COLUMN key_lifetime_ms bigint;
    CREATE INDEX api_keys_by_hash ON rhae.api_keys (hash);
";

/// Adds links to published cards and plays.
const SHARES: &str = "
    CREATE TABLE rhae.shares (
        id         text PRIMARY KEY,
        hash       bytea NOT NULL,
        owner      bytea NOT NULL,
        card       bytea,
        play       bytea,
        created_ms bigint NOT NULL,
        revoked_ms bigint
    );
    CREATE INDEX shares_by_owner ON rhae.shares (owner);
";

/// Adds the event logs of human studies and their published files.
const STUDIES: &str = "
    CREATE TABLE rhae.study_events (
        study  text NOT NULL,
        seq    bigint NOT NULL,
        chain  text NOT NULL,
        record text NOT NULL,
        PRIMARY KEY (study, seq)
    );
    CREATE INDEX study_events_by_chain ON rhae.study_events (study, chain);

    CREATE TABLE rhae.study_files (
        study   text NOT NULL,
        name    text NOT NULL,
        content text NOT NULL,
        PRIMARY KEY (study, name)
    );
";

/// Adds the event logs of leaderboards and the files of their runs.
const BOARDS: &str = "
    CREATE TABLE rhae.board_events (
        board  text NOT NULL,
        seq    bigint NOT NULL,
        record text NOT NULL,
        PRIMARY KEY (board, seq)
    );

    CREATE TABLE rhae.board_files (
        board   text NOT NULL,
        name    text NOT NULL,
        content text NOT NULL,
        PRIMARY KEY (board, name)
    );
";

/// Adds the logs of coordinators.
const WORK: &str = "
    CREATE TABLE rhae.work_events (
        job   text NOT NULL,
        seq   bigint NOT NULL,
        event text NOT NULL,
        PRIMARY KEY (job, seq)
    );
";

/// Applies missing migrations.
pub(crate) async fn prepare(connection: &mut PgConnection) -> Result<(), StoreError> {
    let encoding: String = sqlx::query_scalar("SHOW server_encoding")
        .fetch_one(&mut *connection)
        .await?;
    if encoding != "UTF8" {
        return Err(StoreError::Unsuitable(format!(
            "its encoding is {encoding}, but must be UTF8"
        )));
    }
    let known = i64::try_from(MIGRATIONS.len()).expect("the list of migrations is short");
    // The version is read first, so that a role without the right to change the schema can use one
    // that is up to date.
    match version(connection).await? {
        Some(found) if found > known => return Err(StoreError::NewerSchema { found, known }),
        Some(found) if found == known => return Ok(()),
        _ => {}
    }
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(MIGRATION_LOCK)
        .execute(&mut *transaction)
        .await?;
    // Another server, possibly a newer one, may have migrated the schema in the meantime.
    let found = match version(&mut transaction).await? {
        Some(found) if found > known => return Err(StoreError::NewerSchema { found, known }),
        Some(found) => found,
        None => {
            let create = "CREATE SCHEMA IF NOT EXISTS rhae; CREATE TABLE rhae.version (version bigint NOT NULL);
                        INSERT INTO rhae.version VALUES (0)";
            transaction.execute(create).await?;
            0
        }
    };
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute(*migration).await?;
    }
    sqlx::query("UPDATE rhae.version SET version = $1")
        .bind(known)
        .execute(&mut *transaction)
        .await?;
    Ok(transaction.commit().await?)
}

/// Refuses a database that does not have the current schema.
pub(crate) async fn require_current(connection: &mut PgConnection) -> Result<(), StoreError> {
    let known = i64::try_from(MIGRATIONS.len()).expect("the list of migrations is short");
    match version(connection).await? {
        Some(found) if found > known => Err(StoreError::NewerSchema { found, known }),
        Some(found) if found == known => Ok(()),
        Some(found) => Err(StoreError::Unsuitable(format!(
            "its schema version {found} must first be migrated to {known}, which `rhae serve` does"
        ))),
        None => Err(StoreError::Unsuitable(
            "it has no tables of Rhae".to_owned(),
        )),
    }
}

/// Returns the number of applied migrations, or `None` if the schema does not exist.
async fn version(connection: &mut PgConnection) -> Result<Option<i64>, StoreError> {
    // A query of `pg_tables` sees what was committed while this connection waited for the lock. A
    // lookup by name might use a stale catalogue cache.
    let query = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = 'rhae' AND tablename = 'version')",
    );
    let exists: bool = query.fetch_one(&mut *connection).await?;
    if !exists {
        return Ok(None);
    }
    Ok(Some(
        sqlx::query_scalar("SELECT version FROM rhae.version")
            .fetch_one(connection)
            .await?,
    ))
}

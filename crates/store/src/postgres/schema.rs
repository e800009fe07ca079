//! The tables, and how an older database gets them. All of them are in a schema of their own, beside whatever else the database has.
//!
//! **Invariant:** a migration that was released never changes; a later one is appended. `rhae.version` has the number of migrations
//! that were made. Servers that start at the same time take turns.

use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};

use crate::StoreError;

/// Held by whoever changes the schema: "Rhae".
const LOCK: i64 = 0x5268_6165;

const MIGRATIONS: [&str; 2] = [FIRST, VISITORS];

/// `uses` is apart from `cards`, so that noting a use does not exclude those who need the card to stay open. `alive` has one row: when a
/// server last gave a sign of life.
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

/// Visitors: keys in browsers, invitations, and cards that the clock leaves alone.
const VISITORS: &str = "
    ALTER TABLE rhae.api_keys ADD COLUMN visitor boolean NOT NULL DEFAULT false;
    ALTER TABLE rhae.api_keys ADD COLUMN invites bigint;
    ALTER TABLE rhae.api_keys ADD COLUMN until_ms bigint;
    ALTER TABLE rhae.cards ADD COLUMN lasting boolean NOT NULL DEFAULT false;
";

/// Brings the schema up to date, or says why that cannot be.
pub(crate) async fn prepare(connection: &mut PgConnection) -> Result<(), StoreError> {
    let encoding: String = sqlx::query_scalar("SHOW server_encoding")
        .fetch_one(&mut *connection)
        .await?;
    if encoding != "UTF8" {
        return Err(StoreError::Unsuitable(format!(
            "its encoding is {encoding} and must be UTF8"
        )));
    }
    let known = i64::try_from(MIGRATIONS.len()).expect("a list in this file has few entries");
    // Whoever may not change the schema can use one that is up to date.
    match version(connection).await? {
        Some(found) if found > known => return Err(StoreError::NewerSchema { found, known }),
        Some(found) if found == known => return Ok(()),
        _ => {}
    }
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(&mut *transaction)
        .await?;
    // Another server may have done it meanwhile, or be a newer one.
    let found = match version(&mut transaction).await? {
        Some(found) if found > known => return Err(StoreError::NewerSchema { found, known }),
        Some(found) => found,
        None => {
            let make = "CREATE SCHEMA IF NOT EXISTS rhae; CREATE TABLE rhae.version (version bigint NOT NULL);
                        INSERT INTO rhae.version VALUES (0)";
            transaction.execute(make).await?;
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

/// The number of migrations that were made; `None` if there are no tables of ours.
async fn version(connection: &mut PgConnection) -> Result<Option<i64>, StoreError> {
    // Read as a table: a name may be looked up in what the connection remembers of the time before it waited for the lock.
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

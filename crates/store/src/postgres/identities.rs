//! Identities in PostgreSQL, in the schema `rhae_identity`.
//!
//! The tables are apart from those of the server, so that a role can be given access to one of the
//! schemas only.

use rhae_protocol::{ParticipantId, StudyId};
use sqlx::postgres::{PgPool, PgPoolOptions, PgRow};
use sqlx::{Connection, Executor, Row};

use crate::identities::{IdentityRead, IdentityStore, SealedIdentity};
use crate::postgres::deadline::Deadlines;
use crate::postgres::{ACQUIRE_TIMEOUT, PostgresAddress, rows, session};
use crate::{Pending, StoreError};

/// The advisory lock that a process holds while it creates the tables: "RhaI" in ASCII.
const SCHEMA_LOCK: i64 = 0x5268_6149;
const CONNECTIONS: u32 = 2;

const TABLES: &str = "
    CREATE SCHEMA IF NOT EXISTS rhae_identity;

    CREATE TABLE IF NOT EXISTS rhae_identity.identities (
        study       text NOT NULL,
        participant text NOT NULL,
        sealed      bytea NOT NULL,
        stored_ms   bigint NOT NULL,
        PRIMARY KEY (study, participant)
    );

    CREATE TABLE IF NOT EXISTS rhae_identity.reads (
        key         bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
        study       text NOT NULL,
        participant text NOT NULL,
        by          text NOT NULL,
        reason      text NOT NULL,
        at_ms       bigint NOT NULL
    );
";

/// An [`IdentityStore`] that several servers may share.
pub(crate) struct PostgresIdentities {
    pool: PgPool,
    deadlines: Deadlines,
}

impl PostgresIdentities {
    pub(crate) async fn open(address: &PostgresAddress) -> Result<Self, StoreError> {
        let mut connection = address.connect().await?;
        // A role without the right to create schemas can use tables that exist.
        let exists: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = 'rhae_identity' AND tablename = 'reads')",
        )
        .fetch_one(&mut connection)
        .await?;
        if !exists {
            let mut transaction = connection.begin().await?;
            sqlx::query("SELECT pg_advisory_xact_lock($1)")
                .bind(SCHEMA_LOCK)
                .execute(&mut *transaction)
                .await?;
            transaction.execute(TABLES).await?;
            transaction.commit().await?;
        }
        connection.close().await?;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .after_connect(|connection, _| Box::pin(session::prepare(connection)))
            .connect_lazy_with(address.options());
        Ok(Self {
            pool,
            deadlines: Deadlines::default(),
        })
    }
}

impl IdentityStore for PostgresIdentities {
    fn put_identity(&self, identity: SealedIdentity) -> Pending<'_, ()> {
        Box::pin(self.deadlines.write(async move {
            sqlx::query(
                "INSERT INTO rhae_identity.identities (study, participant, sealed, stored_ms)
                 VALUES ($1, $2, $3, $4)
                 ON CONFLICT (study, participant) DO UPDATE
                 SET sealed = excluded.sealed, stored_ms = excluded.stored_ms",
            )
            .bind(identity.study.as_str())
            .bind(identity.participant.as_str())
            .bind(&identity.sealed)
            .bind(identity.stored_ms.cast_signed())
            .execute(&self.pool)
            .await?;
            Ok(())
        }))
    }

    fn read_identity(&self, read: IdentityRead) -> Pending<'_, Option<Vec<u8>>> {
        Box::pin(self.deadlines.write(async move {
            let mut transaction = self.pool.begin().await?;
            sqlx::query(
                "INSERT INTO rhae_identity.reads (study, participant, by, reason, at_ms)
                 VALUES ($1, $2, $3, $4, $5)",
            )
            .bind(read.study.as_str())
            .bind(read.participant.as_str())
            .bind(&read.by)
            .bind(&read.reason)
            .bind(read.at_ms.cast_signed())
            .execute(&mut *transaction)
            .await?;
            let sealed = sqlx::query_scalar(
                "SELECT sealed FROM rhae_identity.identities
                 WHERE study = $1 AND participant = $2",
            )
            .bind(read.study.as_str())
            .bind(read.participant.as_str())
            .fetch_optional(&mut *transaction)
            .await?;
            session::commit(transaction).await?;
            Ok(sealed)
        }))
    }

    fn identity_reads(&self, study: &StudyId) -> Pending<'_, Vec<IdentityRead>> {
        let study = study.to_string();
        Box::pin(self.deadlines.long(async move {
            let query =
                sqlx::query("SELECT * FROM rhae_identity.reads WHERE study = $1 ORDER BY key");
            let found = query.bind(study).fetch_all(&self.pool).await?;
            found.iter().map(read).collect()
        }))
    }

    fn identified(&self, study: &StudyId) -> Pending<'_, Vec<(ParticipantId, u64)>> {
        let study = study.to_string();
        Box::pin(self.deadlines.long(async move {
            let query = sqlx::query(
                "SELECT participant, stored_ms FROM rhae_identity.identities WHERE study = $1
                 ORDER BY participant COLLATE \"C\"",
            );
            let found = query.bind(study).fetch_all(&self.pool).await?;
            let people = found.iter().map(|row| {
                let participant = ParticipantId(row.try_get("participant")?);
                Ok((participant, rows::number_u64(row, "stored_ms")?))
            });
            people.collect()
        }))
    }

    fn remove_identities(
        &self,
        study: &StudyId,
        participants: Vec<ParticipantId>,
    ) -> Pending<'_, u64> {
        let study = study.to_string();
        Box::pin(self.deadlines.write(async move {
            let participants: Vec<String> = participants.into_iter().map(|one| one.0).collect();
            let done = sqlx::query(
                "DELETE FROM rhae_identity.identities
                 WHERE study = $1 AND participant = ANY($2)",
            )
            .bind(study)
            .bind(participants)
            .execute(&self.pool)
            .await?;
            Ok(done.rows_affected())
        }))
    }
}

fn read(row: &PgRow) -> Result<IdentityRead, StoreError> {
    Ok(IdentityRead {
        study: StudyId(row.try_get("study")?),
        participant: ParticipantId(row.try_get("participant")?),
        by: row.try_get("by")?,
        reason: row.try_get("reason")?,
        at_ms: rows::number_u64(row, "at_ms")?,
    })
}

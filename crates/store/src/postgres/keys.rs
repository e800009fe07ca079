//! API keys in PostgreSQL.

use sqlx::Row;
use sqlx::postgres::{PgConnection, PgRow};

use crate::postgres::{rows, session};
use crate::{
    GameSet, GameSets, Invitation, Key, KeyId, KeyLimits, KeyStore, Owner, Pending, PostgresStore,
    Scopes, StoreError,
};

impl KeyStore for PostgresStore {
    fn create_key(&self, key: Key) -> Pending<'_, ()> {
        Box::pin(self.deadlines.write(async move {
            let mut connection = self.pool.acquire().await?;
            create(&mut connection, &key).await
        }))
    }

    /// The expiry of an invitation is compared with the caller's time, because it was set by the
    /// caller's clock.
    fn accept_invitation(&self, id: KeyId, key: Key, at_ms: u64) -> Pending<'_, bool> {
        Box::pin(self.deadlines.write(async move {
            let mut transaction = self.pool.begin().await?;
            let query = sqlx::query(
                "UPDATE rhae.api_keys SET invites = invites - 1
                 WHERE id = $1 AND invites > 0 AND until_ms > $2 AND revoked_ms IS NULL",
            );
            let used = query
                .bind(id.to_string())
                .bind(at_ms.cast_signed())
                .execute(&mut *transaction)
                .await?;
            if used.rows_affected() == 0 {
                return Ok(false);
            }
            create(&mut transaction, &key).await?;
            session::commit(transaction).await?;
            Ok(true)
        }))
    }

    fn key(&self, id: KeyId) -> Pending<'_, Option<Key>> {
        Box::pin(self.deadlines.read(async move {
            let query =
                sqlx::query("SELECT * FROM rhae.api_keys WHERE id = $1").bind(id.to_string());
            query
                .fetch_optional(&self.pool)
                .await?
                .as_ref()
                .map(key)
                .transpose()
        }))
    }

    fn owner_keys(&self, owners: Vec<Owner>) -> Pending<'_, Vec<Key>> {
        Box::pin(self.deadlines.read(async move {
            let hashes: Vec<&[u8]> = owners.iter().map(|owner| &owner.0[..]).collect();
            let query =
                sqlx::query("SELECT * FROM rhae.api_keys WHERE hash = ANY($1)").bind(hashes);
            query.fetch_all(&self.pool).await?.iter().map(key).collect()
        }))
    }

    fn keys(&self) -> Pending<'_, Vec<Key>> {
        Box::pin(self.deadlines.read(async move {
            let query = sqlx::query("SELECT * FROM rhae.api_keys ORDER BY created_ms, id");
            query.fetch_all(&self.pool).await?.iter().map(key).collect()
        }))
    }

    fn revoke_key(&self, id: KeyId, at_ms: u64) -> Pending<'_, bool> {
        Box::pin(self.deadlines.write(async move {
            let query = sqlx::query(
                "UPDATE rhae.api_keys SET revoked_ms = $2 WHERE id = $1 AND revoked_ms IS NULL",
            );
            let done = query
                .bind(id.to_string())
                .bind(at_ms.cast_signed())
                .execute(&self.pool)
                .await?;
            Ok(done.rows_affected() > 0)
        }))
    }
}

async fn create(connection: &mut PgConnection, key: &Key) -> Result<(), StoreError> {
    let sets: Vec<&str> = key.scopes.sets.iter().map(GameSet::name).collect();
    let query = sqlx::query(
        "INSERT INTO rhae.api_keys (id, hash, name, sets, sources, admin, visitor, created_ms, revoked_ms, invites, until_ms,
             expires_ms, requests_per_minute, open_cards, plays_per_card, stored_bytes, key_lifetime_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
    );
    let query = query
        .bind(key.id.to_string())
        .bind(&key.hash[..])
        .bind(&key.name)
        .bind(sets.join(" "));
    let query = query
        .bind(key.scopes.sources)
        .bind(key.scopes.admin)
        .bind(key.scopes.visitor);
    let query = query
        .bind(key.created_ms.cast_signed())
        .bind(key.revoked_ms.map(u64::cast_signed));
    let query = query.bind(key.invitation.map(|invitation| i64::from(invitation.left)));
    let query = query.bind(
        key.invitation
            .map(|invitation| invitation.until_ms.cast_signed()),
    );
    let limits = &key.limits;
    let query = query
        .bind(key.expires_ms.map(u64::cast_signed))
        .bind(limits.requests_per_minute.map(i64::from))
        .bind(limits.open_cards.map(i64::from))
        .bind(limits.plays_per_card.map(i64::from))
        .bind(limits.stored_bytes.map(u64::cast_signed));
    let lifetime_ms = key
        .invitation
        .and_then(|invitation| invitation.key_lifetime_ms);
    query
        .bind(lifetime_ms.map(u64::cast_signed))
        .execute(connection)
        .await?;
    Ok(())
}

fn key(row: &PgRow) -> Result<Key, StoreError> {
    let sets: &str = row.try_get("sets")?;
    let set = |name: &str| GameSet::from_name(name).ok_or_else(|| rows::corrupt("sets"));
    Ok(Key {
        id: row
            .try_get::<&str, _>("id")?
            .parse()
            .map_err(|_| rows::corrupt("id"))?,
        hash: row
            .try_get::<&[u8], _>("hash")?
            .try_into()
            .map_err(|_| rows::corrupt("hash"))?,
        name: row.try_get("name")?,
        scopes: Scopes {
            sets: sets
                .split_whitespace()
                .map(set)
                .collect::<Result<GameSets, _>>()?,
            sources: row.try_get("sources")?,
            admin: row.try_get("admin")?,
            visitor: row.try_get("visitor")?,
        },
        created_ms: rows::number_u64(row, "created_ms")?,
        revoked_ms: row
            .try_get::<Option<i64>, _>("revoked_ms")?
            .map(i64::cast_unsigned),
        expires_ms: rows::optional(row, "expires_ms")?,
        limits: KeyLimits {
            requests_per_minute: rows::optional(row, "requests_per_minute")?,
            open_cards: rows::optional(row, "open_cards")?,
            plays_per_card: rows::optional(row, "plays_per_card")?,
            stored_bytes: rows::optional(row, "stored_bytes")?,
        },
        invitation: row
            .try_get::<Option<i64>, _>("invites")?
            .map(|left| invitation(left, row))
            .transpose()?,
    })
}

fn invitation(left: i64, row: &PgRow) -> Result<Invitation, StoreError> {
    let left = u32::try_from(left).map_err(|_| rows::corrupt("invites"))?;
    Ok(Invitation {
        left,
        until_ms: rows::number_u64(row, "until_ms")?,
        key_lifetime_ms: rows::optional(row, "key_lifetime_ms")?,
    })
}

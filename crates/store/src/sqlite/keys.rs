//! Keys in SQLite. The statements are plain SQL, so that another database needs only other placeholders.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use crate::sqlite::rows;
use crate::sqlite::writer::{Done, Order};
use crate::{GameSet, GameSets, Invitation, Key, KeyId, KeyStore, Pending, Scopes, SqliteStore, StoreError};

/// What is to be done to keys.
pub(crate) enum KeyOrder {
    Create(Key),
    Accept { id: KeyId, key: Key, at_ms: u64 },
    Revoke { id: KeyId, at_ms: u64 },
}

/// Carries out an order, and says whether it changed anything.
pub(crate) async fn carry_out(connection: &mut SqliteConnection, order: KeyOrder) -> Result<bool, StoreError> {
    let done = match order {
        KeyOrder::Create(key) => return create(connection, key).await,
        KeyOrder::Accept { id, key, at_ms } => {
            let query = sqlx::query(
                "UPDATE api_keys SET invites = invites - 1 WHERE id = ?1 AND invites > 0 AND until_ms > ?2 AND revoked_ms IS NULL",
            );
            let used = query.bind(id.to_string()).bind(at_ms.cast_signed()).execute(&mut *connection).await?;
            return if used.rows_affected() > 0 { create(connection, key).await } else { Ok(false) };
        }
        KeyOrder::Revoke { id, at_ms } => {
            let query = sqlx::query("UPDATE api_keys SET revoked_ms = ?2 WHERE id = ?1 AND revoked_ms IS NULL");
            query.bind(id.to_string()).bind(at_ms.cast_signed()).execute(connection).await?
        }
    };
    Ok(done.rows_affected() > 0)
}

async fn create(connection: &mut SqliteConnection, key: Key) -> Result<bool, StoreError> {
    let sets: Vec<&str> = key.scopes.sets.iter().map(GameSet::name).collect();
    let query = sqlx::query(
        "INSERT INTO api_keys (id, hash, name, sets, sources, admin, visitor, created_ms, revoked_ms, invites, until_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    );
    let query = query.bind(key.id.to_string()).bind(key.hash.to_vec()).bind(key.name).bind(sets.join(" "));
    let query = query.bind(key.scopes.sources).bind(key.scopes.admin).bind(key.scopes.visitor);
    let query = query.bind(key.created_ms.cast_signed()).bind(key.revoked_ms.map(u64::cast_signed));
    let query = query.bind(key.invitation.map(|invitation| i64::from(invitation.left)));
    let query = query.bind(key.invitation.map(|invitation| invitation.until_ms.cast_signed()));
    Ok(query.execute(connection).await?.rows_affected() > 0)
}

impl KeyStore for SqliteStore {
    fn create_key(&self, key: Key) -> Pending<'_, ()> {
        Box::pin(async move { self.write(Order::Key(KeyOrder::Create(key))).await.map(|_| ()) })
    }

    fn accept_invitation(&self, id: KeyId, key: Key, at_ms: u64) -> Pending<'_, bool> {
        let order = Order::Key(KeyOrder::Accept { id, key, at_ms });
        Box::pin(async move { Ok(matches!(self.write(order).await?, Done::Key(true))) })
    }

    fn key(&self, id: KeyId) -> Pending<'_, Option<Key>> {
        Box::pin(async move {
            let query = sqlx::query("SELECT * FROM api_keys WHERE id = ?1").bind(id.to_string());
            query.fetch_optional(&self.readers).await?.as_ref().map(key).transpose()
        })
    }

    fn keys(&self) -> Pending<'_, Vec<Key>> {
        Box::pin(async move {
            let query = sqlx::query("SELECT * FROM api_keys ORDER BY created_ms, id");
            query.fetch_all(&self.readers).await?.iter().map(key).collect()
        })
    }

    fn revoke_key(&self, id: KeyId, at_ms: u64) -> Pending<'_, bool> {
        Box::pin(async move { Ok(matches!(self.write(Order::Key(KeyOrder::Revoke { id, at_ms })).await?, Done::Key(true))) })
    }
}

fn key(row: &SqliteRow) -> Result<Key, StoreError> {
    let sets: &str = row.try_get("sets")?;
    let set = |name: &str| GameSet::from_name(name).ok_or_else(|| rows::corrupt("sets"));
    Ok(Key {
        id: row.try_get::<&str, _>("id")?.parse().map_err(|_| rows::corrupt("id"))?,
        hash: row.try_get::<&[u8], _>("hash")?.try_into().map_err(|_| rows::corrupt("hash"))?,
        name: row.try_get("name")?,
        scopes: Scopes {
            sets: sets.split_whitespace().map(set).collect::<Result<GameSets, _>>()?,
            sources: row.try_get("sources")?,
            admin: row.try_get("admin")?,
            visitor: row.try_get("visitor")?,
        },
        created_ms: rows::number(row, "created_ms")?,
        revoked_ms: row.try_get::<Option<i64>, _>("revoked_ms")?.map(i64::cast_unsigned),
        invitation: row.try_get::<Option<i64>, _>("invites")?.map(|_| invitation(row)).transpose()?,
    })
}

fn invitation(row: &SqliteRow) -> Result<Invitation, StoreError> {
    Ok(Invitation { left: rows::number(row, "invites")?, until_ms: rows::number(row, "until_ms")? })
}

//! API keys in SQLite.

use rusqlite::{Connection, Row, params};

use crate::sqlite::readers::{all, first};
use crate::sqlite::rows;
use crate::sqlite::writer::{Command, Output};
use crate::{
    GameSet, GameSets, Invitation, Key, KeyId, KeyLimits, KeyStore, Owner, Pending, Scopes,
    SqliteStore, StoreError,
};

/// A change to the API keys.
pub(crate) enum KeyCommand {
    Create(Key),
    Accept { id: KeyId, key: Key, at_ms: u64 },
    Revoke { id: KeyId, at_ms: u64 },
}

/// Executes a command and returns whether it changed anything.
pub(crate) fn execute(connection: &Connection, command: KeyCommand) -> Result<bool, StoreError> {
    let changed = match command {
        KeyCommand::Create(key) => create(connection, &key)?,
        KeyCommand::Accept { id, key, at_ms } => {
            let statement = "UPDATE api_keys SET invites = invites - 1 WHERE id = ?1 AND invites > 0 AND until_ms > ?2 AND revoked_ms IS NULL";
            let used =
                connection.execute(statement, params![id.to_string(), at_ms.cast_signed()])?;
            if used > 0 {
                create(connection, &key)?
            } else {
                0
            }
        }
        KeyCommand::Revoke { id, at_ms } => {
            let statement =
                "UPDATE api_keys SET revoked_ms = ?2 WHERE id = ?1 AND revoked_ms IS NULL";
            connection.execute(statement, params![id.to_string(), at_ms.cast_signed()])?
        }
    };
    Ok(changed > 0)
}

fn create(connection: &Connection, key: &Key) -> Result<usize, StoreError> {
    let sets: Vec<&str> = key.scopes.sets.iter().map(GameSet::name).collect();
    let statement =
        "INSERT INTO api_keys (id, hash, name, sets, sources, admin, visitor, created_ms, revoked_ms, invites, until_ms,
             expires_ms, requests_per_minute, open_cards, plays_per_card, stored_bytes, key_lifetime_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
    let values = params![
        key.id.to_string(),
        key.hash,
        key.name,
        sets.join(" "),
        key.scopes.sources,
        key.scopes.admin,
        key.scopes.visitor,
        key.created_ms.cast_signed(),
        key.revoked_ms.map(u64::cast_signed),
        key.invitation.map(|invitation| invitation.left),
        key.invitation
            .map(|invitation| invitation.until_ms.cast_signed()),
        key.expires_ms.map(u64::cast_signed),
        key.limits.requests_per_minute,
        key.limits.open_cards,
        key.limits.plays_per_card,
        key.limits.stored_bytes.map(u64::cast_signed),
        key.invitation
            .and_then(|invitation| invitation.key_lifetime_ms)
            .map(u64::cast_signed),
    ];
    Ok(connection.execute(statement, values)?)
}

impl KeyStore for SqliteStore {
    fn create_key(&self, key: Key) -> Pending<'_, ()> {
        Box::pin(async move {
            self.write(Command::Key(KeyCommand::Create(key)))
                .await
                .map(|_| ())
        })
    }

    fn accept_invitation(&self, id: KeyId, key: Key, at_ms: u64) -> Pending<'_, bool> {
        let command = Command::Key(KeyCommand::Accept { id, key, at_ms });
        Box::pin(async move { Ok(matches!(self.write(command).await?, Output::Changed(true))) })
    }

    fn key(&self, id: KeyId) -> Pending<'_, Option<Key>> {
        self.read(move |file| {
            first(
                file,
                "SELECT * FROM api_keys WHERE id = ?1",
                [id.to_string()],
                key,
            )
        })
    }

    fn owner_keys(&self, owners: Vec<Owner>) -> Pending<'_, Vec<Key>> {
        self.read(move |file| {
            let statement = "SELECT * FROM api_keys WHERE hash = ?1";
            let found = owners
                .iter()
                .map(|owner| first(file, statement, [owner.0], key));
            found.filter_map(Result::transpose).collect()
        })
    }

    fn keys(&self) -> Pending<'_, Vec<Key>> {
        self.read(|file| {
            all(
                file,
                "SELECT * FROM api_keys ORDER BY created_ms, id",
                [],
                key,
            )
        })
    }

    fn revoke_key(&self, id: KeyId, at_ms: u64) -> Pending<'_, bool> {
        Box::pin(async move {
            Ok(matches!(
                self.write(Command::Key(KeyCommand::Revoke { id, at_ms }))
                    .await?,
                Output::Changed(true)
            ))
        })
    }
}

fn key(row: &Row<'_>) -> Result<Key, StoreError> {
    let set = |name: &str| GameSet::from_name(name).ok_or_else(|| rows::corrupt("sets"));
    Ok(Key {
        id: rows::text(row, "id")?
            .parse()
            .map_err(|_| rows::corrupt("id"))?,
        hash: rows::blob(row, "hash")?
            .try_into()
            .map_err(|_| rows::corrupt("hash"))?,
        name: row.get("name")?,
        scopes: Scopes {
            sets: rows::text(row, "sets")?
                .split_whitespace()
                .map(set)
                .collect::<Result<GameSets, _>>()?,
            sources: row.get("sources")?,
            admin: row.get("admin")?,
            visitor: row.get("visitor")?,
        },
        created_ms: rows::number(row, "created_ms")?,
        revoked_ms: row
            .get::<_, Option<i64>>("revoked_ms")?
            .map(i64::cast_unsigned),
        expires_ms: rows::optional(row, "expires_ms")?,
        limits: KeyLimits {
            requests_per_minute: rows::optional(row, "requests_per_minute")?,
            open_cards: rows::optional(row, "open_cards")?,
            plays_per_card: rows::optional(row, "plays_per_card")?,
            stored_bytes: rows::optional(row, "stored_bytes")?,
        },
        invitation: row
            .get::<_, Option<i64>>("invites")?
            .map(|_| invitation(row))
            .transpose()?,
    })
}

fn invitation(row: &Row<'_>) -> Result<Invitation, StoreError> {
    Ok(Invitation {
        left: rows::number(row, "invites")?,
        until_ms: rows::number(row, "until_ms")?,
        key_lifetime_ms: rows::optional(row, "key_lifetime_ms")?,
    })
}

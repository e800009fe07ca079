//! Links to published cards and plays in SQLite.

use rusqlite::{Connection, Row, params};

use crate::sqlite::readers::{all, first, number};
use crate::sqlite::rows;
use crate::sqlite::writer::{Command, Output};
use crate::{
    CardId, Owner, Pending, PlayId, Share, ShareId, ShareStore, ShareTarget, SqliteStore,
    StoreError,
};

/// A change to the links.
pub(crate) enum ShareCommand {
    Create {
        share: Share,
        max: u32,
    },
    Revoke {
        id: ShareId,
        owner: Option<Owner>,
        at_ms: u64,
    },
}

/// Executes a command and returns whether it changed anything.
pub(crate) fn execute(connection: &Connection, command: ShareCommand) -> Result<bool, StoreError> {
    let changed = match command {
        ShareCommand::Create { share, max } => create(connection, &share, max)?,
        ShareCommand::Revoke { id, owner, at_ms } => {
            let statement = "UPDATE shares SET revoked_ms = ?2
                 WHERE id = ?1 AND revoked_ms IS NULL AND (?3 IS NULL OR owner = ?3)";
            let owner = owner.map(|owner| owner.0);
            let values = params![id.to_string(), at_ms.cast_signed(), owner];
            connection.execute(statement, values)?
        }
    };
    Ok(changed > 0)
}

fn create(connection: &Connection, share: &Share, max: u32) -> Result<usize, StoreError> {
    let active = "SELECT count(*) FROM shares WHERE owner = ?1 AND revoked_ms IS NULL";
    if number(connection, active, [share.owner.0])? >= i64::from(max) {
        return Err(StoreError::TooManyShares(max));
    }
    let (card, play) = match share.target {
        ShareTarget::Card(card) => (Some(card.0.into_bytes()), None),
        ShareTarget::Play(play) => (None, Some(play.0.into_bytes())),
    };
    let statement = "INSERT INTO shares (id, hash, owner, card, play, created_ms, revoked_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let values = params![
        share.id.to_string(),
        share.hash,
        share.owner.0,
        card,
        play,
        share.created_ms.cast_signed(),
        share.revoked_ms.map(u64::cast_signed),
    ];
    Ok(connection.execute(statement, values)?)
}

impl ShareStore for SqliteStore {
    fn create_share(&self, share: Share, max: u32) -> Pending<'_, ()> {
        let command = Command::Share(ShareCommand::Create { share, max });
        Box::pin(async move { self.write(command).await.map(|_| ()) })
    }

    fn share(&self, id: ShareId) -> Pending<'_, Option<Share>> {
        self.read(move |file| {
            let statement = "SELECT * FROM shares WHERE id = ?1";
            first(file, statement, [id.to_string()], share)
        })
    }

    fn shares(
        &self,
        owner: Option<Owner>,
        after: Option<(u64, ShareId)>,
        limit: u32,
    ) -> Pending<'_, Vec<Share>> {
        self.read(move |file| {
            let statement = "SELECT * FROM shares WHERE (?1 IS NULL OR owner = ?1)
                 AND (?2 IS NULL OR created_ms < ?2 OR (created_ms = ?2 AND id > ?3))
                 ORDER BY created_ms DESC, id LIMIT ?4";
            let owner = owner.map(|owner| owner.0);
            let created = after.map(|(created_ms, _)| created_ms.cast_signed());
            let id = after.map(|(_, id)| id.to_string());
            all(file, statement, params![owner, created, id, limit], share)
        })
    }

    fn revoke_share(&self, id: ShareId, owner: Option<Owner>, at_ms: u64) -> Pending<'_, bool> {
        let command = Command::Share(ShareCommand::Revoke { id, owner, at_ms });
        Box::pin(async move { Ok(matches!(self.write(command).await?, Output::Changed(true))) })
    }
}

fn share(row: &Row<'_>) -> Result<Share, StoreError> {
    let is_card = !matches!(row.get_ref("card")?, rusqlite::types::ValueRef::Null);
    Ok(Share {
        id: rows::text(row, "id")?
            .parse()
            .map_err(|_| rows::corrupt("id"))?,
        hash: rows::blob(row, "hash")?
            .try_into()
            .map_err(|_| rows::corrupt("hash"))?,
        owner: rows::owner(row)?,
        target: if is_card {
            ShareTarget::Card(CardId(rows::uuid(row, "card")?))
        } else {
            ShareTarget::Play(PlayId(rows::uuid(row, "play")?))
        },
        created_ms: rows::number(row, "created_ms")?,
        revoked_ms: rows::optional(row, "revoked_ms")?,
    })
}

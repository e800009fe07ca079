//! Links to published cards and plays in PostgreSQL.

use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::postgres::{rows, session};
use crate::{
    CardId, Owner, Pending, PlayId, PostgresStore, Share, ShareId, ShareStore, ShareTarget,
    StoreError,
};

impl ShareStore for PostgresStore {
    fn create_share(&self, share: Share, max: u32) -> Pending<'_, ()> {
        Box::pin(self.deadlines.write(async move {
            let mut transaction = self.pool.begin().await?;
            // The links of an owner are counted and created one after the other.
            sqlx::query("SELECT pg_advisory_xact_lock(hashtext('rhae.shares'), hashtext(encode($1, 'hex')))")
                .bind(&share.owner.0[..])
                .execute(&mut *transaction)
                .await?;
            let active: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM rhae.shares WHERE owner = $1 AND revoked_ms IS NULL",
            )
            .bind(&share.owner.0[..])
            .fetch_one(&mut *transaction)
            .await?;
            if active >= i64::from(max) {
                return Err(StoreError::TooManyShares(max));
            }
            let (card, play) = match share.target {
                ShareTarget::Card(card) => (Some(card.0.as_bytes().to_vec()), None),
                ShareTarget::Play(play) => (None, Some(play.0.as_bytes().to_vec())),
            };
            sqlx::query(
                "INSERT INTO rhae.shares (id, hash, owner, card, play, created_ms, revoked_ms)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)",
            )
            .bind(share.id.to_string())
            .bind(&share.hash[..])
            .bind(&share.owner.0[..])
            .bind(card)
            .bind(play)
            .bind(share.created_ms.cast_signed())
            .bind(share.revoked_ms.map(u64::cast_signed))
            .execute(&mut *transaction)
            .await?;
            session::commit(transaction).await
        }))
    }

    fn share(&self, id: ShareId) -> Pending<'_, Option<Share>> {
        Box::pin(self.deadlines.read(async move {
            let query = sqlx::query("SELECT * FROM rhae.shares WHERE id = $1");
            let found = query
                .bind(id.to_string())
                .fetch_optional(&self.pool)
                .await?;
            found.as_ref().map(share).transpose()
        }))
    }

    fn shares(
        &self,
        owner: Option<Owner>,
        after: Option<(u64, ShareId)>,
        limit: u32,
    ) -> Pending<'_, Vec<Share>> {
        Box::pin(self.deadlines.read(async move {
            let query = sqlx::query(
                "SELECT * FROM rhae.shares WHERE ($1::bytea IS NULL OR owner = $1)
                 AND ($2::bigint IS NULL OR created_ms < $2 OR (created_ms = $2 AND id > $3))
                 ORDER BY created_ms DESC, id LIMIT $4",
            );
            let query = query
                .bind(owner.map(|owner| owner.0.to_vec()))
                .bind(after.map(|(created_ms, _)| created_ms.cast_signed()))
                .bind(after.map(|(_, id)| id.to_string()))
                .bind(i64::from(limit));
            query
                .fetch_all(&self.pool)
                .await?
                .iter()
                .map(share)
                .collect()
        }))
    }

    fn revoke_share(&self, id: ShareId, owner: Option<Owner>, at_ms: u64) -> Pending<'_, bool> {
        Box::pin(self.deadlines.write(async move {
            let query = sqlx::query(
                "UPDATE rhae.shares SET revoked_ms = $2
                 WHERE id = $1 AND revoked_ms IS NULL AND ($3::bytea IS NULL OR owner = $3)",
            );
            let done = query
                .bind(id.to_string())
                .bind(at_ms.cast_signed())
                .bind(owner.map(|owner| owner.0.to_vec()))
                .execute(&self.pool)
                .await?;
            Ok(done.rows_affected() > 0)
        }))
    }
}

fn share(row: &PgRow) -> Result<Share, StoreError> {
    let is_card = row.try_get::<Option<&[u8]>, _>("card")?.is_some();
    Ok(Share {
        id: row
            .try_get::<&str, _>("id")?
            .parse()
            .map_err(|_| rows::corrupt("id"))?,
        hash: row
            .try_get::<&[u8], _>("hash")?
            .try_into()
            .map_err(|_| rows::corrupt("hash"))?,
        owner: rows::owner(row)?,
        target: if is_card {
            ShareTarget::Card(CardId(rows::uuid(row, "card")?))
        } else {
            ShareTarget::Play(PlayId(rows::uuid(row, "play")?))
        },
        created_ms: rows::number_u64(row, "created_ms")?,
        revoked_ms: rows::optional(row, "revoked_ms")?,
    })
}

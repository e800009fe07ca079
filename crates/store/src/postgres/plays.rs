//! Opening plays, and queries about them.

use rhae_protocol::Entry;
use sqlx::Row;
use sqlx::postgres::{PgPool, PgRow};

use crate::postgres::cards::{self, CardLock};
use crate::postgres::counts::ChangedRun;
use crate::postgres::writer::{self, Append};
use crate::postgres::{counts, listener, requests, rows, session};
use crate::{
    CardKey, IdempotencyKey, LogEntry, NewPlay, Owner, PlayFacts, PlayId, PlayKey, PlayLog,
    PlayRuns, RunCounts, Snapshot, StoreError, StoredPlay,
};

pub(crate) async fn open(
    pool: &PgPool,
    play: NewPlay,
    idempotency_key: Option<IdempotencyKey>,
) -> Result<PlayKey, StoreError> {
    let mut transaction = pool.begin().await?;
    cards::lock_open(
        &mut transaction,
        play.card,
        if play.only_one || play.max_plays.is_some() {
            CardLock::Exclusive
        } else {
            CardLock::Shared
        },
    )
    .await?;
    if play.only_one {
        let query = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM rhae.plays WHERE card = $1 AND substr(game_id, 1, 4) = $2)",
        );
        if query
            .bind(play.card.0)
            .bind(play.game_id.base())
            .fetch_one(&mut *transaction)
            .await?
        {
            return Err(StoreError::PlayedBefore);
        }
    }
    if let Some(limit) = play.max_plays {
        let query = sqlx::query_scalar("SELECT count(*) FROM rhae.plays WHERE card = $1");
        let plays: i64 = query.bind(play.card.0).fetch_one(&mut *transaction).await?;
        if plays >= i64::from(limit) {
            return Err(StoreError::TooManyPlays(limit));
        }
    }
    let query = sqlx::query(
        "INSERT INTO rhae.plays (id, card, game_id, seed, rule, win_levels, source_digest, head) VALUES ($1, $2, $3, $4, $5, $6, $7, 0) RETURNING key",
    );
    let query = query
        .bind(&play.id.0.as_bytes()[..])
        .bind(play.card.0)
        .bind(play.game_id.as_str());
    let query = query
        .bind(play.seed.cast_signed())
        .bind(play.rule.name())
        .bind(i16::from(play.win_levels))
        .bind(play.source_digest.as_deref());
    let key = PlayKey(query.fetch_one(&mut *transaction).await?.try_get(0)?);
    if let Some(idempotency_key) = &idempotency_key
        && requests::claim(&mut transaction, vec![(idempotency_key, key, 0)])
            .await?
            .is_empty()
    {
        return Err(StoreError::KeyUsed);
    }
    let opening = Append {
        play: key,
        card: play.card,
        index: 0,
        entry: play.opening,
        idempotency_key: None,
    };
    writer::insert(&mut transaction, &[&opening]).await?;
    let mut first = RunCounts::default();
    first.count(0, &opening.entry);
    let first = ChangedRun {
        play: key,
        counts: &first,
        bytes: opening.bytes(),
    };
    counts::write(&mut transaction, &[first]).await?;
    listener::notify(&mut transaction, &[play.id.0]).await?;
    session::commit(transaction).await?;
    Ok(key)
}

pub(crate) async fn find(pool: &PgPool, id: PlayId) -> Result<Option<StoredPlay>, StoreError> {
    let query = sqlx::query(
        "SELECT plays.*, owner FROM rhae.plays JOIN rhae.cards ON cards.key = plays.card WHERE plays.id = $1",
    );
    query
        .bind(&id.0.as_bytes()[..])
        .fetch_optional(pool)
        .await?
        .as_ref()
        .map(rows::play)
        .transpose()
}

/// Returns the bytes that an owner has stored. The constants are those of [`usage`](crate::usage).
pub(crate) async fn stored_bytes(pool: &PgPool, owner: Owner) -> Result<u64, StoreError> {
    let query = sqlx::query_scalar(
        "SELECT (coalesce((SELECT sum(256 + octet_length(tags) + coalesce(octet_length(source_url), 0)
                                      + coalesce(octet_length(opaque), 0) + octet_length(games))
                           FROM rhae.cards WHERE owner = $1), 0)
               + coalesce((SELECT sum(512 + runs.bytes)
                           FROM rhae.cards JOIN rhae.plays ON plays.card = cards.key
                           JOIN rhae.runs ON runs.play = plays.key WHERE owner = $1), 0))::bigint",
    );
    let bytes: i64 = query.bind(&owner.0[..]).fetch_one(pool).await?;
    Ok(bytes.cast_unsigned())
}

pub(crate) async fn head(pool: &PgPool, play: PlayKey) -> Result<u32, StoreError> {
    let head: i32 = sqlx::query_scalar("SELECT head FROM rhae.plays WHERE key = $1")
        .bind(play.0)
        .fetch_one(pool)
        .await?;
    u32::try_from(head).map_err(|_| rows::corrupt("head"))
}

pub(crate) async fn log(pool: &PgPool, play: PlayKey) -> Result<Vec<Entry>, StoreError> {
    let query = sqlx::query("SELECT * FROM rhae.log WHERE play = $1 ORDER BY entry").bind(play.0);
    query
        .fetch_all(pool)
        .await?
        .iter()
        .map(rows::entry)
        .collect()
}

pub(crate) async fn card_log(pool: &PgPool, card: CardKey) -> Result<Vec<PlayLog>, StoreError> {
    let query = sqlx::query(
        "SELECT plays.*, owner FROM rhae.plays JOIN rhae.cards ON cards.key = plays.card WHERE card = $1 ORDER BY plays.key",
    );
    let mut logged = Vec::new();
    for play in &query.bind(card.0).fetch_all(pool).await? {
        let play = rows::play(play)?;
        let query = sqlx::query(
            "SELECT action, hash, state, levels_completed, counted, changed, full_reset, NULL AS reasoning
             FROM rhae.log WHERE play = $1 ORDER BY entry",
        );
        let entries = query.bind(play.key.0).fetch_all(pool).await?;
        let entries = entries.iter().map(rows::entry).collect::<Result<_, _>>()?;
        logged.push(PlayLog { play, entries });
    }
    Ok(logged)
}

/// Builds a statement that selects the columns of [`PlayFacts`].
macro_rules! facts {
    ($which:literal) => {
        concat!(
            "SELECT plays.*, owner, cards.id AS card_id, competition, closed_ms,
                    first.at_ms AS first_ms, last.at_ms AS last_ms, last.state, last.levels_completed,
                    coalesce((SELECT sum(actions)::bigint FROM rhae.runs WHERE play = plays.key),
                             (SELECT count(*) FROM rhae.log WHERE play = plays.key AND counted)) AS actions
             FROM rhae.plays JOIN rhae.cards ON cards.key = plays.card
             JOIN rhae.log AS first ON first.play = plays.key AND first.entry = 0
             JOIN rhae.log AS last ON last.play = plays.key AND last.entry = plays.head - 1 ",
            $which
        )
    };
}

pub(crate) async fn facts(pool: &PgPool, id: PlayId) -> Result<Option<PlayFacts>, StoreError> {
    let query = sqlx::query(facts!("WHERE plays.id = $1")).bind(id.0.as_bytes().to_vec());
    query
        .fetch_optional(pool)
        .await?
        .as_ref()
        .map(facts_from_row)
        .transpose()
}

pub(crate) async fn of_owner(
    pool: &PgPool,
    owner: Owner,
    limit: u32,
) -> Result<Vec<PlayFacts>, StoreError> {
    let query = sqlx::query(facts!("WHERE owner = $1 ORDER BY plays.key DESC LIMIT $2"))
        .bind(owner.0.to_vec());
    query
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?
        .iter()
        .map(facts_from_row)
        .collect()
}

/// Preselects cards by `used_ms`, which may lag by up to a second, and then selects plays by the
/// time of their last entry.
pub(crate) async fn active(
    pool: &PgPool,
    owner: Option<Owner>,
    age_ms: u64,
    limit: u32,
) -> Result<Vec<PlayFacts>, StoreError> {
    let query = sqlx::query(facts!(
        "JOIN rhae.uses ON uses.card = cards.key
         WHERE closed_ms IS NULL AND used_ms >= rhae.now_ms() - $2 - 1000 AND last.at_ms >= rhae.now_ms() - $2
         AND ($1::bytea IS NULL OR owner = $1) ORDER BY last.at_ms DESC, plays.key DESC LIMIT $3"
    ));
    let query = query
        .bind(owner.map(|owner| owner.0.to_vec()))
        .bind(i64::try_from(age_ms).unwrap_or(i64::MAX / 2));
    query
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?
        .iter()
        .map(facts_from_row)
        .collect()
}

fn facts_from_row(row: &PgRow) -> Result<PlayFacts, StoreError> {
    Ok(PlayFacts {
        play: rows::play(row)?,
        card: rows::uuid(row, "card_id").map(crate::CardId)?,
        competition: row.try_get("competition")?,
        closed_ms: row
            .try_get::<Option<i64>, _>("closed_ms")?
            .map(i64::cast_unsigned),
        opened_ms: rows::number_u64(row, "first_ms")?,
        last_ms: rows::number_u64(row, "last_ms")?,
        entries: rows::number_u32(row, "head")?,
        state: rows::state(row)?,
        levels_completed: rows::number_u8(row, "levels_completed")?,
        actions: row.try_get::<i64, _>("actions")?.cast_unsigned(),
    })
}

pub(crate) async fn log_from(
    pool: &PgPool,
    play: PlayKey,
    from: u32,
    limit: u32,
) -> Result<Vec<LogEntry>, StoreError> {
    let query = sqlx::query(
        "SELECT * FROM rhae.log WHERE play = $1 AND entry >= $2 ORDER BY entry LIMIT $3",
    );
    let found = query
        .bind(play.0)
        .bind(i64::from(from))
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?;
    let timed = |row: &PgRow| {
        Ok(LogEntry {
            index: rows::number_u32(row, "entry")?,
            entry: rows::entry(row)?,
            at_ms: rows::number_u64(row, "at_ms")?,
        })
    };
    found.iter().map(timed).collect()
}

pub(crate) async fn runs(pool: &PgPool, play: PlayKey) -> Result<Vec<RunCounts>, StoreError> {
    let query = sqlx::query("SELECT * FROM rhae.runs WHERE play = $1 ORDER BY run").bind(play.0);
    query
        .fetch_all(pool)
        .await?
        .iter()
        .map(counts::run)
        .collect()
}

pub(crate) async fn card_runs(pool: &PgPool, card: CardKey) -> Result<Vec<PlayRuns>, StoreError> {
    // A single statement gives a consistent snapshot of all plays.
    let query = sqlx::query(
        "SELECT plays.*, owner, runs.run, runs.level, runs.state, runs.resets, runs.levels
         FROM rhae.plays JOIN rhae.cards ON cards.key = plays.card LEFT JOIN rhae.runs ON runs.play = plays.key
         WHERE card = $1 ORDER BY plays.key, runs.run",
    );
    let mut plays: Vec<(StoredPlay, Vec<RunCounts>)> = Vec::new();
    for row in &query.bind(card.0).fetch_all(pool).await? {
        let key = PlayKey(row.try_get("key")?);
        if plays.last().is_none_or(|(play, _)| play.key != key) {
            plays.push((rows::play(row)?, Vec::new()));
        }
        let counted = row.try_get::<Option<i32>, _>("run")?.is_some();
        if let Some((_, runs)) = plays.last_mut().filter(|_| counted) {
            runs.push(counts::run(row)?);
        }
    }
    let summed = |(play, runs)| PlayRuns {
        play,
        runs: RunCounts::outcomes(runs),
    };
    Ok(plays.into_iter().map(summed).collect())
}

pub(crate) async fn after(
    pool: &PgPool,
    after: Option<PlayKey>,
    limit: u32,
) -> Result<Vec<StoredPlay>, StoreError> {
    let query = sqlx::query(
        "SELECT plays.*, owner FROM rhae.plays JOIN rhae.cards ON cards.key = plays.card
         WHERE plays.key > $1 ORDER BY plays.key LIMIT $2",
    );
    let query = query
        .bind(after.map_or(i64::MIN, |key| key.0))
        .bind(i64::from(limit));
    query
        .fetch_all(pool)
        .await?
        .iter()
        .map(rows::play)
        .collect()
}

pub(crate) async fn count(pool: &PgPool) -> Result<u64, StoreError> {
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM rhae.plays")
        .fetch_one(pool)
        .await?;
    Ok(count.cast_unsigned())
}

/// Stores a snapshot. Of the snapshots with fewer entries, only the newest is kept.
pub(crate) async fn save_snapshot(
    pool: &PgPool,
    play: PlayKey,
    snapshot: &Snapshot,
) -> Result<(), StoreError> {
    let mut transaction = pool.begin().await?;
    let query = sqlx::query(
        "DELETE FROM rhae.snapshots WHERE play = $1
         AND entries < (SELECT max(entries) FROM rhae.snapshots WHERE play = $1 AND entries < $2)",
    );
    query
        .bind(play.0)
        .bind(i64::from(snapshot.entries))
        .execute(&mut *transaction)
        .await?;
    let query = sqlx::query(
        "INSERT INTO rhae.snapshots (play, entries, bytes) VALUES ($1, $2, $3)
         ON CONFLICT (play, entries) DO UPDATE SET bytes = excluded.bytes",
    );
    query
        .bind(play.0)
        .bind(i64::from(snapshot.entries))
        .bind(&snapshot.bytes[..])
        .execute(&mut *transaction)
        .await?;
    session::commit(transaction).await
}

pub(crate) async fn snapshots(pool: &PgPool, play: PlayKey) -> Result<Vec<Snapshot>, StoreError> {
    let query = sqlx::query(
        "SELECT entries, bytes FROM rhae.snapshots WHERE play = $1 ORDER BY entries DESC",
    )
    .bind(play.0);
    let snapshot = |row: &PgRow| {
        Ok(Snapshot {
            entries: rows::number_u32(row, "entries")?,
            bytes: row.try_get("bytes")?,
        })
    };
    query.fetch_all(pool).await?.iter().map(snapshot).collect()
}

pub(crate) async fn drop_snapshots(pool: &PgPool, play: PlayKey) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM rhae.snapshots WHERE play = $1")
        .bind(play.0)
        .execute(pool)
        .await?;
    Ok(())
}

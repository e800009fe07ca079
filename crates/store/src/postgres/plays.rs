//! Plays: opening and reading them.

use rhae_protocol::Entry;
use sqlx::Row;
use sqlx::postgres::PgPool;

use crate::postgres::cards::{self, Hold};
use crate::postgres::writer::{self, Append};
use crate::postgres::{listener, requests, rows, session};
use crate::{CardKey, Logged, NewPlay, Once, Play, PlayId, PlayKey, StoreError};

pub(crate) async fn open(pool: &PgPool, play: NewPlay, once: Option<Once>) -> Result<PlayKey, StoreError> {
    let mut transaction = pool.begin().await?;
    cards::hold(&mut transaction, play.card, if play.only_one { Hold::Alone } else { Hold::Shared }).await?;
    if play.only_one {
        let query = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM rhae.plays WHERE card = $1 AND substr(game_id, 1, 4) = $2)");
        if query.bind(play.card.0).bind(play.game_id.base()).fetch_one(&mut *transaction).await? {
            return Err(StoreError::PlayedBefore);
        }
    }
    let query = sqlx::query(
        "INSERT INTO rhae.plays (id, card, game_id, seed, rule, win_levels, head) VALUES ($1, $2, $3, $4, $5, $6, 0) RETURNING key",
    );
    let query = query.bind(&play.id.0.as_bytes()[..]).bind(play.card.0).bind(play.game_id.as_str());
    let query = query.bind(play.seed.cast_signed()).bind(play.rule.name()).bind(i16::from(play.win_levels));
    let key = PlayKey(query.fetch_one(&mut *transaction).await?.try_get(0)?);
    if let Some(once) = &once
        && requests::take(&mut transaction, vec![(once, key, 0)]).await?.is_empty()
    {
        return Err(StoreError::KeyUsed);
    }
    let opening = Append { play: key, card: play.card, index: 0, entry: play.opening, once: None };
    writer::insert(&mut transaction, &[&opening]).await?;
    listener::announce(&mut transaction, &[play.id.0]).await?;
    session::commit(transaction).await?;
    Ok(key)
}

pub(crate) async fn find(pool: &PgPool, id: PlayId) -> Result<Option<Play>, StoreError> {
    let query = sqlx::query("SELECT plays.*, owner FROM rhae.plays JOIN rhae.cards ON cards.key = plays.card WHERE plays.id = $1");
    query.bind(&id.0.as_bytes()[..]).fetch_optional(pool).await?.as_ref().map(rows::play).transpose()
}

pub(crate) async fn head(pool: &PgPool, play: PlayKey) -> Result<u32, StoreError> {
    let head: i32 = sqlx::query_scalar("SELECT head FROM rhae.plays WHERE key = $1").bind(play.0).fetch_one(pool).await?;
    u32::try_from(head).map_err(|_| rows::corrupt("head"))
}

pub(crate) async fn log(pool: &PgPool, play: PlayKey) -> Result<Vec<Entry>, StoreError> {
    let query = sqlx::query("SELECT * FROM rhae.log WHERE play = $1 ORDER BY entry").bind(play.0);
    query.fetch_all(pool).await?.iter().map(rows::entry).collect()
}

pub(crate) async fn card_log(pool: &PgPool, card: CardKey) -> Result<Vec<Logged>, StoreError> {
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
        logged.push(Logged { play, entries });
    }
    Ok(logged)
}

//! Announcements: which plays have advanced, told by the database to every server that is connected.

use std::time::Duration;

use sqlx::postgres::{PgConnection, PgListener, PgPool};
use tokio::sync::broadcast;
use uuid::Uuid;

use crate::{PlayId, StoreError};

const CHANNEL: &str = "rhae_advanced";
/// Ids in one announcement, which PostgreSQL limits to 8,000 bytes.
const MOST_IDS: usize = 200;
/// Between two attempts to reach a database that is away.
const PAUSE: Duration = Duration::from_secs(1);

/// Lets every server know, when the transaction is committed, that these plays have advanced.
pub(crate) async fn announce(
    connection: &mut PgConnection,
    plays: &[Uuid],
) -> Result<(), StoreError> {
    for plays in plays.chunks(MOST_IDS) {
        let ids: Vec<String> = plays.iter().map(|id| id.simple().to_string()).collect();
        let query = sqlx::query("SELECT pg_notify($1, $2)")
            .bind(CHANNEL)
            .bind(ids.join(" "));
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// Begins to listen.
pub(crate) async fn begin(pool: &PgPool) -> Result<PgListener, StoreError> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

/// Passes announcements on until the pool is closed. The connection is made again when it is lost.
pub(crate) async fn run(mut listener: PgListener, advanced: broadcast::Sender<PlayId>) {
    loop {
        match listener.try_recv().await {
            Ok(Some(notification)) => {
                for id in notification
                    .payload()
                    .split(' ')
                    .filter_map(|id| id.parse::<Uuid>().ok())
                {
                    // Nobody may be listening at the moment.
                    let _ = advanced.send(PlayId(id));
                }
            }
            Ok(None) => {}
            Err(sqlx::Error::PoolClosed) => return,
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

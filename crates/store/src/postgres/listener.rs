//! Notifications: the database tells every connected server which plays have changed.

use std::time::Duration;

use sqlx::postgres::{PgConnection, PgListener, PgPool};
use tokio::sync::broadcast;
use uuid::Uuid;

use crate::{PlayId, StoreError};

const CHANNEL: &str = "rhae_advanced";
/// The maximum number of ids per notification, which PostgreSQL limits to 8,000 bytes.
const MAX_IDS: usize = 200;
/// The delay between two attempts to reach the database.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Notifies every server that these plays have changed. PostgreSQL sends the notification when the
/// transaction commits.
pub(crate) async fn notify(
    connection: &mut PgConnection,
    plays: &[Uuid],
) -> Result<(), StoreError> {
    for plays in plays.chunks(MAX_IDS) {
        let ids: Vec<String> = plays.iter().map(|id| id.simple().to_string()).collect();
        let query = sqlx::query("SELECT pg_notify($1, $2)")
            .bind(CHANNEL)
            .bind(ids.join(" "));
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// Opens a connection that receives notifications.
pub(crate) async fn connect(pool: &PgPool) -> Result<PgListener, StoreError> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

/// Forwards notifications to the subscribers of this server until the pool is closed. A lost
/// connection is re-established.
pub(crate) async fn run(mut listener: PgListener, advanced: broadcast::Sender<PlayId>) {
    loop {
        match listener.try_recv().await {
            Ok(Some(notification)) => {
                for id in notification
                    .payload()
                    .split(' ')
                    .filter_map(|id| id.parse::<Uuid>().ok())
                {
                    // An error means that there are no subscribers.
                    let _ = advanced.send(PlayId(id));
                }
            }
            Ok(None) => {}
            Err(sqlx::Error::PoolClosed) => return,
            Err(_) => tokio::time::sleep(RETRY_DELAY).await,
        }
    }
}

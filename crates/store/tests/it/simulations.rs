//! Databases with a simulated clock.

use std::path::Path;

use rhae_store::Database;
use rhae_testkit::Postgres;

use crate::new_card;

async fn only_an_empty_database_is_simulated_until_the_end(at: &Path) {
    let database = Database::open(at).await.unwrap();
    assert!(!database.is_simulated().await.unwrap());
    assert!(database.start_simulation().await.unwrap());
    assert!(database.is_simulated().await.unwrap());
    database.set_simulated_time(5_000).await.unwrap();
    // A server that is started again finds the mark, and starts no second simulation.
    let again = Database::open(at).await.unwrap();
    assert!(again.is_simulated().await.unwrap());
    assert!(!again.start_simulation().await.unwrap());
    again.store().open_card(new_card()).await.unwrap();
    database.end_simulation().await.unwrap();
    assert!(!again.is_simulated().await.unwrap());
    assert!(!again.start_simulation().await.unwrap(), "it is in use");
}

#[tokio::test]
async fn simulation_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    only_an_empty_database_is_simulated_until_the_end(&folder.path().join("rhae.db")).await;
}

#[tokio::test]
async fn simulation_in_postgres() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    only_an_empty_database_is_simulated_until_the_end(Path::new(&postgres.url())).await;
}

//! Connections: where they lead, and what they are told first.
//!
//! **Invariant:** a password comes in and never goes out: neither what is shown nor an error has it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Executor, Postgres, Transaction};

use crate::StoreError;

/// How long a commit or a connection may take before it is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// What every connection is told. A server that loses its power must not keep locks; a commit is on disk whatever the database's default is.
const GREETING: &str = "
    SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
    SET lock_timeout = '5s';
    SET idle_in_transaction_session_timeout = '15s';
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
";

/// Where a database is: `postgres://user:password@host:port/database`.
#[derive(Clone)]
pub struct PostgresAddress(PgConnectOptions);

impl PostgresAddress {
    /// Whether a text is meant as such an address.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    pub(crate) fn options(&self) -> PgConnectOptions {
        self.0.clone()
    }

    /// A new connection.
    pub(crate) async fn connect(&self) -> Result<PgConnection, StoreError> {
        let connecting = async {
            let mut connection = self.0.connect().await?;
            prepare(&mut connection).await?;
            Ok::<_, sqlx::Error>(connection)
        };
        let late =
            |_| StoreError::Unavailable(format!("no connection within {} s", PATIENCE.as_secs()));
        Ok(tokio::time::timeout(PATIENCE, connecting)
            .await
            .map_err(late)??)
    }
}

impl FromStr for PostgresAddress {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // What the parser says may quote the text.
        let unusable = || {
            StoreError::Unsuitable(
                "its address is not of the form postgres://user:password@host:port/database"
                    .to_owned(),
            )
        };
        let options = PgConnectOptions::from_str(text).map_err(|_| unusable())?;
        Ok(Self(
            options.application_name("rhae").disable_statement_logging(),
        ))
    }
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(options) = self;
        match options.get_socket() {
            Some(socket) => write!(f, "postgres in {}", socket.display())?,
            None => write!(
                f,
                "postgres://{}:{}",
                options.get_host(),
                options.get_port()
            )?,
        }
        write!(
            f,
            "/{}",
            options
                .get_database()
                .unwrap_or_else(|| options.get_username())
        )
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresAddress({self})")
    }
}

/// Tells a new connection what every one is told.
pub(crate) async fn prepare(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute(GREETING).await.map(|_| ())
}

/// Commits. If the connection is lost meanwhile, nobody knows what became of it.
pub(crate) async fn commit(transaction: Transaction<'_, Postgres>) -> Result<(), StoreError> {
    match tokio::time::timeout(PATIENCE, transaction.commit()).await {
        Ok(Ok(())) => Ok(()),
        // The database answered, and what it answered is that it did not.
        Ok(Err(error @ sqlx::Error::Database(_))) => Err(error.into()),
        Ok(Err(error)) => Err(StoreError::Unknown(error.to_string())),
        Err(_) => Err(StoreError::Unknown(format!(
            "no answer within {} s",
            PATIENCE.as_secs()
        ))),
    }
}

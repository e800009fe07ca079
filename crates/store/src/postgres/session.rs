//! Database addresses, and the settings of every connection.
//!
//! **Invariant:** the password of an address appears neither in its text form nor in an error.

use std::fmt;
use std::str::FromStr;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Executor, Postgres, Transaction};

use crate::StoreError;
use crate::postgres::deadline::DEADLINE;

/// Settings of every connection. The idle timeout releases the locks of a server that crashed or
/// lost power during a transaction. Waiting for a lock ends before the client's deadline, because a
/// locked row does not mean that the database is silent. The statement timeout ends queries whose
/// client has given up. The last statement makes commits durable even if the database
/// commits asynchronously by default.
const SESSION_SETTINGS: &str = "
    SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
    SET lock_timeout = '2s';
    SET statement_timeout = '60s';
    SET idle_in_transaction_session_timeout = '15s';
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
";

/// The address of a PostgreSQL database: `postgres://user:password@host:port/database`.
///
/// `Display` and `Debug` omit the password, and also the user unless the database has no other
/// name.
///
/// # Examples
///
/// ```
/// use rhae_store::PostgresAddress;
///
/// let text = "postgres://rhae:secret@db.example.org:5433/cards";
/// let address: PostgresAddress = text.parse()?;
/// assert_eq!(address.to_string(), "postgres://db.example.org:5433/cards");
/// # Ok::<(), rhae_store::StoreError>(())
/// ```
#[derive(Clone)]
pub struct PostgresAddress(PgConnectOptions);

impl PostgresAddress {
    pub(crate) fn options(&self) -> PgConnectOptions {
        self.0.clone()
    }

    /// Opens a connection with the settings that every connection has.
    pub(crate) async fn connect(&self) -> Result<PgConnection, StoreError> {
        let connecting = async {
            let mut connection = self.0.connect().await?;
            prepare(&mut connection).await?;
            Ok::<_, sqlx::Error>(connection)
        };
        let late =
            |_| StoreError::Unavailable(format!("no connection within {} s", DEADLINE.as_secs()));
        Ok(tokio::time::timeout(DEADLINE, connecting)
            .await
            .map_err(late)??)
    }
}

impl FromStr for PostgresAddress {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The parser's message may quote the text, which contains the password.
        let invalid = || {
            StoreError::Unsuitable(
                "its address is not of the form postgres://user:password@host:port/database"
                    .to_owned(),
            )
        };
        let options = PgConnectOptions::from_str(text).map_err(|_| invalid())?;
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

/// Applies the settings that every connection has.
pub(crate) async fn prepare(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute(SESSION_SETTINGS).await.map(|_| ())
}

/// Commits a transaction.
///
/// # Errors
///
/// [`StoreError::CommitUnknown`] if the connection is lost or the database is shut down: the
/// transaction may or may not have taken effect.
pub(crate) async fn commit(transaction: Transaction<'_, Postgres>) -> Result<(), StoreError> {
    match transaction.commit().await {
        Ok(()) => Ok(()),
        Err(sqlx::Error::Database(error))
            if error.code().is_some_and(|code| is_rolled_back(&code)) =>
        {
            Err(sqlx::Error::Database(error).into())
        }
        Err(error) => Err(StoreError::CommitUnknown(error.to_string())),
    }
}

/// Returns whether a `COMMIT` that failed with this error code has rolled the transaction back.
/// Other errors, such as `admin_shutdown`, may be reported after the commit record was written.
fn is_rolled_back(code: &str) -> bool {
    // PostgreSQL error classes: integrity constraint, invalid transaction state, transaction
    // rollback, insufficient resources, object not in prerequisite state. 40003 is
    // `statement_completion_unknown`.
    code != "40003"
        && ["23", "25", "40", "53", "55"]
            .iter()
            .any(|class| code.starts_with(class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_definite_refusals_count_as_rolled_back() {
        for code in ["23505", "40001", "40P01", "53100", "25006"] {
            assert!(is_rolled_back(code), "{code}");
        }
        for code in ["57P01", "57P02", "40003", "08006", "58030", "XX000", ""] {
            assert!(!is_rolled_back(code), "{code}");
        }
    }
}

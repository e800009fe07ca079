//! A database to try the rules on: a file, or a PostgreSQL of the test's own.

use std::path::PathBuf;
use std::sync::Arc;

use rhae_store::{KeyStore, PostgresAddress, PostgresStore, SqliteOptions, SqliteStore, Store};
use rhae_testkit::Postgres;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor};
use tempfile::TempDir;

/// A store and what is under it.
pub(crate) struct Bench {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keys: Arc<dyn KeyStore>,
    commits: Box<dyn Fn() -> u64>,
    base: Base,
}

enum Base {
    Sqlite(TempDir),
    Postgres(Postgres),
}

impl Bench {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(open(&folder).await);
        let (commits, keys) = (Arc::clone(&store), Arc::clone(&store));
        Self {
            store,
            keys,
            commits: Box::new(move || commits.commits()),
            base: Base::Sqlite(folder),
        }
    }

    /// A PostgreSQL whose clock the test sets; `None` if it is missing and may be.
    pub(crate) async fn postgres() -> Option<Self> {
        let server = Postgres::start()?;
        let store = Arc::new(PostgresStore::open(&address(&server)).await.unwrap());
        let clock = "CREATE TABLE public.clock (ms bigint NOT NULL); INSERT INTO public.clock VALUES (0);
                     CREATE OR REPLACE FUNCTION rhae.now_ms() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT ms FROM public.clock'";
        sql(&server, clock).await;
        let (commits, keys) = (Arc::clone(&store), Arc::clone(&store));
        Some(Self {
            store,
            keys,
            commits: Box::new(move || commits.commits()),
            base: Base::Postgres(server),
        })
    }

    /// Transactions of entries so far.
    pub(crate) fn commits(&self) -> u64 {
        (self.commits)()
    }

    /// Sets the clock of a database that has one of its own.
    pub(crate) async fn at(&self, now_ms: u64) -> u64 {
        if let Base::Postgres(server) = &self.base {
            sql(server, &format!("UPDATE public.clock SET ms = {now_ms}")).await;
        }
        now_ms
    }

    /// Whether it is a file, which may have been made by an older version.
    pub(crate) const fn is_file(&self) -> bool {
        matches!(self.base, Base::Sqlite(_))
    }

    /// Another store on the same database, as another server has it.
    pub(crate) async fn another(&self) -> Arc<dyn Store> {
        match &self.base {
            Base::Sqlite(folder) => Arc::new(open(folder).await),
            Base::Postgres(server) => {
                Arc::new(PostgresStore::open(&address(server)).await.unwrap())
            }
        }
    }

    /// The keys of the same database, as another program sees them.
    pub(crate) async fn other_keys(&self) -> Arc<dyn KeyStore> {
        match &self.base {
            Base::Sqlite(folder) => Arc::new(open(folder).await),
            Base::Postgres(server) => {
                Arc::new(PostgresStore::open(&address(server)).await.unwrap())
            }
        }
    }

    /// Runs a statement as other hands would.
    pub(crate) async fn sql(&self, statement: &str) {
        match &self.base {
            Base::Sqlite(folder) => crate::files::sql(&folder.path().join("rhae.db"), statement),
            Base::Postgres(server) => {
                sql(server, &format!("SET search_path TO rhae; {statement}")).await
            }
        }
    }
}

/// Where a test's PostgreSQL is.
pub(crate) fn address(server: &Postgres) -> PostgresAddress {
    server.url().parse().unwrap()
}

/// A connection as another program has it.
pub(crate) async fn connect(server: &Postgres) -> PgConnection {
    server
        .url()
        .parse::<PgConnectOptions>()
        .unwrap()
        .connect()
        .await
        .unwrap()
}

/// Runs statements as another program would.
pub(crate) async fn sql(server: &Postgres, statements: &str) {
    connect(server)
        .await
        .execute(sqlx::raw_sql(AssertSqlSafe(statements.to_owned())))
        .await
        .unwrap();
}

async fn open(folder: &TempDir) -> SqliteStore {
    let path: PathBuf = folder.path().join("rhae.db");
    SqliteStore::open(&path, SqliteOptions::default())
        .await
        .unwrap()
}

/// Tests of both stores, from bodies that know neither.
macro_rules! on_both_stores {
    ($($rule:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                super::$rule(&crate::bench::Bench::sqlite().await).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                if let Some(bench) = crate::bench::Bench::postgres().await {
                    super::$rule(&bench).await;
                }
            })*
        }
    };
}
pub(crate) use on_both_stores;

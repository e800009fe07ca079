//! A test database: an SQLite file, or a PostgreSQL server started for the test.

use std::path::PathBuf;
use std::sync::Arc;

use rhae_store::{
    BoardStore, KeyStore, PostgresAddress, PostgresStore, ShareStore, SqliteOptions, SqliteStore,
    Store, StudyStore, WorkStore,
};
use rhae_testkit::Postgres;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor};
use tempfile::TempDir;

/// A store and its database.
pub(crate) struct Fixture {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keys: Arc<dyn KeyStore>,
    pub(crate) shares: Arc<dyn ShareStore>,
    pub(crate) studies: Arc<dyn StudyStore>,
    pub(crate) boards: Arc<dyn BoardStore>,
    pub(crate) work: Arc<dyn WorkStore>,
    commits: Box<dyn Fn() -> u64>,
    backend: Backend,
}

enum Backend {
    Sqlite(TempDir),
    Postgres(Postgres),
}

impl Fixture {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(open(&folder).await);
        let (commits, keys) = (Arc::clone(&store), Arc::clone(&store));
        let (shares, studies) = (Arc::clone(&store), Arc::clone(&store));
        let (boards, work) = (Arc::clone(&store), Arc::clone(&store));
        Self {
            store,
            keys,
            shares,
            studies,
            boards,
            work,
            commits: Box::new(move || commits.commits()),
            backend: Backend::Sqlite(folder),
        }
    }

    /// Starts a PostgreSQL server whose clock the test sets. Returns `None` if PostgreSQL is not
    /// installed and the environment allows that.
    pub(crate) async fn postgres() -> Option<Self> {
        let server = Postgres::start()?;
        let store = Arc::new(PostgresStore::open(&address(&server)).await.unwrap());
        let clock = "CREATE TABLE public.clock (ms bigint NOT NULL); INSERT INTO public.clock VALUES (0);
                     CREATE OR REPLACE FUNCTION rhae.now_ms() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT ms FROM public.clock'";
        sql(&server, clock).await;
        let (commits, keys) = (Arc::clone(&store), Arc::clone(&store));
        let (shares, studies) = (Arc::clone(&store), Arc::clone(&store));
        let (boards, work) = (Arc::clone(&store), Arc::clone(&store));
        Some(Self {
            store,
            keys,
            shares,
            studies,
            boards,
            work,
            commits: Box::new(move || commits.commits()),
            backend: Backend::Postgres(server),
        })
    }

    /// Returns the file or the URL of the database.
    pub(crate) fn db(&self) -> PathBuf {
        match &self.backend {
            Backend::Sqlite(folder) => folder.path().join("rhae.db"),
            Backend::Postgres(server) => server.url().into(),
        }
    }

    pub(crate) fn commits(&self) -> u64 {
        (self.commits)()
    }

    /// Sets the clock of PostgreSQL, and returns the time for stores that take it from the caller.
    pub(crate) async fn at(&self, now_ms: u64) -> u64 {
        if let Backend::Postgres(server) = &self.backend {
            sql(server, &format!("UPDATE public.clock SET ms = {now_ms}")).await;
        }
        now_ms
    }

    pub(crate) const fn is_file(&self) -> bool {
        matches!(self.backend, Backend::Sqlite(_))
    }

    /// Opens a second store on the same database, like another server.
    pub(crate) async fn another(&self) -> Arc<dyn Store> {
        match &self.backend {
            Backend::Sqlite(folder) => Arc::new(open(folder).await),
            Backend::Postgres(server) => {
                Arc::new(PostgresStore::open(&address(server)).await.unwrap())
            }
        }
    }

    /// Opens a second key store on the same database, like another process.
    pub(crate) async fn other_keys(&self) -> Arc<dyn KeyStore> {
        match &self.backend {
            Backend::Sqlite(folder) => Arc::new(open(folder).await),
            Backend::Postgres(server) => {
                Arc::new(PostgresStore::open(&address(server)).await.unwrap())
            }
        }
    }

    /// Opens a second study store on the same database, like another server.
    pub(crate) async fn other_studies(&self) -> Arc<dyn StudyStore> {
        match &self.backend {
            Backend::Sqlite(folder) => Arc::new(open(folder).await),
            Backend::Postgres(server) => {
                Arc::new(PostgresStore::open(&address(server)).await.unwrap())
            }
        }
    }

    /// Executes a statement on the database directly, without going through the store.
    pub(crate) async fn sql(&self, statement: &str) {
        match &self.backend {
            Backend::Sqlite(folder) => crate::files::sql(&folder.path().join("rhae.db"), statement),
            Backend::Postgres(server) => {
                sql(server, &format!("SET search_path TO rhae; {statement}")).await;
            }
        }
    }
}

pub(crate) fn address(server: &Postgres) -> PostgresAddress {
    server.url().parse().unwrap()
}

/// Connects without going through the store.
pub(crate) async fn connect(server: &Postgres) -> PgConnection {
    server
        .url()
        .parse::<PgConnectOptions>()
        .unwrap()
        .connect()
        .await
        .unwrap()
}

/// Executes statements without going through the store.
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

/// Generates one test per store from functions that are generic over the store.
macro_rules! on_both_stores {
    ($($rule:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                super::$rule(&crate::fixture::Fixture::sqlite().await).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                if let Some(fixture) = crate::fixture::Fixture::postgres().await {
                    super::$rule(&fixture).await;
                }
            })*
        }
    };
}
pub(crate) use on_both_stores;

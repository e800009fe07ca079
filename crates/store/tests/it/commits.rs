//! Commits whose connection to PostgreSQL is lost. The store must not claim that nothing was
//! written. The test of SQLite is in `cli`, because it needs a server process of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rhae_engine::Action;
use rhae_store::{IdempotencyKey, Owner, PostgresStore, Store, StoreError};
use rhae_testkit::Postgres;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream, UnixStream, tcp};

use crate::{card_with_play, entry};

/// What the proxy does with the next `COMMIT`.
const FORWARD: u8 = 0;
/// Drops the connection instead of forwarding the statement.
const CUT_BEFORE: u8 = 1;
/// Forwards the statement and drops the connection when the database replies.
const CUT_AFTER: u8 = 2;

/// The statement as sqlx sends it. Other statements contain the word, but not the zero byte.
const COMMIT: &[u8] = b"COMMIT\0";

/// A proxy on the loopback interface in front of a database.
struct Proxy {
    port: u16,
    mode: Arc<AtomicU8>,
}

impl Proxy {
    async fn start(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mode = Arc::new(AtomicU8::new(FORWARD));
        let shared = Arc::clone(&mode);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&socket).await.unwrap();
                tokio::spawn(forward(client, server, Arc::clone(&shared)));
            }
        });
        Self { port, mode }
    }
}

/// Forwards a connection until one side closes it or the mode says to cut it.
async fn forward(client: TcpStream, server: UnixStream, mode: Arc<AtomicU8>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let silent = Arc::new(AtomicU8::new(FORWARD));
    tokio::select! {
        () = requests(from_client, to_server, &mode, &silent) => {}
        () = replies(from_server, to_client, &silent) => {}
    }
}

async fn requests(
    mut from: tcp::OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mode: &AtomicU8,
    silent: &AtomicU8,
) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let bytes = &buffer[..length];
        if bytes.windows(COMMIT.len()).any(|part| part == COMMIT) {
            match mode.swap(FORWARD, Ordering::SeqCst) {
                CUT_BEFORE => return,
                chosen => silent.store(chosen, Ordering::SeqCst),
            }
        }
        if to.write_all(bytes).await.is_err() {
            return;
        }
    }
}

async fn replies(mut from: OwnedReadHalf, mut to: tcp::OwnedWriteHalf, silent: &AtomicU8) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let cut = silent.load(Ordering::SeqCst) == CUT_AFTER;
        if cut || to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connection_lost_in_a_commit_leaves_the_outcome_unknown() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let url = server.url();
    let (credentials, rest) = url.rsplit_once('@').unwrap();
    let folder = rest.split('/').next().unwrap().replace("%2F", "/");
    let proxy = Proxy::start(PathBuf::from(folder).join(".s.PGSQL.5432")).await;
    let address = format!("{credentials}@127.0.0.1:{}/postgres", proxy.port);
    let store = PostgresStore::open(&address.parse().unwrap())
        .await
        .unwrap();
    let (card, play) = card_with_play(&store).await;
    let mut stored = 1;
    for (round, (mode, is_stored)) in [(CUT_BEFORE, false), (CUT_AFTER, true)]
        .into_iter()
        .enumerate()
    {
        let key = || {
            Some(IdempotencyKey {
                owner: Owner([7; 32]),
                key: format!("action-{round}"),
                digest: [1; 32],
            })
        };
        let append =
            || store.append_idempotent(play, card, stored, entry(Action::Action1), 3_000, key());
        proxy.mode.store(mode, Ordering::SeqCst);
        let error = append().await.unwrap_err();
        assert!(matches!(error, StoreError::CommitUnknown(_)), "{error}");
        assert!(!error.is_retryable(), "a retry needs the idempotency key");
        // The same request with the same key tells the client what happened.
        let repeated = append().await;
        if is_stored {
            assert!(
                matches!(repeated, Err(StoreError::KeyUsed | StoreError::Conflict(_))),
                "{repeated:?}"
            );
        } else {
            repeated.unwrap();
        }
        stored += 1;
        assert_eq!(store.head(play).await.unwrap(), stored);
    }
    store.close().await;
}

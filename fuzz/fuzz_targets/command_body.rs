//! No body of a command makes the server fail. The first byte chooses the path.
#![no_main]

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use libfuzzer_sys::fuzz_target;
use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_server::{Config, Server, SystemClock, router};
use rhae_store::{SqliteOptions, SqliteStore};
use tokio::runtime::Runtime;
use tower::ServiceExt;

const PATHS: [&str; 6] = [
    "/api/cmd/RESET",
    "/api/cmd/ACTION1",
    "/api/cmd/ACTION6",
    "/api/scorecard/open",
    "/api/scorecard/close",
    "/api/scorecard/heartbeat",
];

/// A server with a file that lives as long as the process.
static SERVER: LazyLock<(Runtime, Router)> = LazyLock::new(|| {
    let runtime = Runtime::new().expect("the system gives threads");
    let folder = tempfile::tempdir()
        .expect("the system gives a folder")
        .keep();
    let store = runtime.block_on(SqliteStore::open(
        &folder.join("rhae.db"),
        SqliteOptions::default(),
    ));
    let store = Arc::new(store.expect("a new file can be opened"));
    let server = Server::new(
        Arc::new(Builtin),
        Builtin.list(),
        store,
        Arc::new(SystemClock),
        Config::default(),
    );
    (runtime, router(Arc::new(server)))
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, body)) = bytes.split_first() else {
        return;
    };
    let (runtime, router) = &*SERVER;
    let request = Request::post(PATHS[usize::from(choice) % PATHS.len()])
        .header("Content-Type", "application/json");
    let request = request
        .body(Body::from(body.to_vec()))
        .expect("a path of the list is one");
    let answer = runtime
        .block_on(router.clone().oneshot(request))
        .expect("routers cannot fail");
    assert!(!answer.status().is_server_error(), "{}", answer.status());
});

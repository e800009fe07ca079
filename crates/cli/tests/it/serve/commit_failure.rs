//! A disk that fails during a commit. The server must not claim that nothing was done.
//!
//! The operating system refuses to let the server's files grow beyond a limit, so that SQLite gets
//! an I/O error when it writes a commit to its write-ahead log.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::process::{RequestError, ServerProcess};
use crate::rhae::command;

/// The limit in blocks of 512 bytes. The write-ahead log reaches it before the first checkpoint.
const BLOCKS: u32 = 2048;

/// Starts a server whose files cannot grow beyond the limit.
fn start_limited(folder: &Path) -> ServerProcess {
    let server = command(folder, &["serve", "--addr", "127.0.0.1:0"]);
    // Without the trap, the signal SIGXFSZ would end the server instead of failing the write.
    let script = format!("trap '' XFSZ; ulimit -f {BLOCKS}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .arg(server.get_program())
        .args(server.get_args())
        .current_dir(folder);
    ServerProcess::run(shell)
}

#[test]
fn failed_commit_has_an_unknown_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start_limited(folder.path());
    let remote = server.remote();
    let (card, guid) = remote.start_play("kq19");
    let body = json!({"game_id": "kq19", "guid": guid, "reasoning": "x".repeat(16_000)});
    let path = "/api/cmd/ACTION1";
    let mut acknowledged = 0_u64;
    let key = |number: u64| format!("action-{number}");
    let (status, error) = loop {
        match remote.post_with_key(path, &body, Some(&key(acknowledged))) {
            Ok(_) => acknowledged += 1,
            Err(RequestError::Status(status, error)) => break (status, error),
            Err(RequestError::Disconnected) => panic!("the server ended"),
        }
        assert!(acknowledged < 1000, "the limit has no effect");
    };
    assert_eq!(
        (status, error["error"].as_str()),
        (503, Some("OUTCOME_UNKNOWN")),
        "{error}"
    );
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("idempotency key") && !message.contains("nothing"),
        "{message}"
    );
    assert!(acknowledged > 0);
    // A crash follows. After the restart, the repeated request is executed exactly once.
    server.kill();
    let server = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let remote = server.remote();
    let total = || {
        remote.get(&format!("/api/scorecard/{card}")).unwrap()["total_actions"]
            .as_u64()
            .unwrap()
    };
    assert!([acknowledged, acknowledged + 1].contains(&total()));
    for _ in 0..2 {
        remote
            .post_with_key(path, &body, Some(&key(acknowledged)))
            .unwrap();
        assert_eq!(total(), acknowledged + 1);
    }
    assert!(server.terminate().success());
}

//! `rhae db check` on live, damaged and unsupported databases.

use std::path::Path;

use rhae_engine::Action;
use rhae_store::{SqliteOptions, SqliteStore};

use crate::rhae::rhae;
use crate::serve::process::ServerProcess;

/// Executes a statement on the database file directly.
fn execute_sql(folder: &Path, statement: &'static str) {
    rusqlite::Connection::open(folder.join("rhae.db"))
        .unwrap()
        .execute_batch(statement)
        .unwrap();
}

/// Damages a copy of the database with `statement` and checks that `rhae db check` reports exactly
/// this finding. Restores the sound database.
fn assert_finding(
    folder: &Path,
    statement: &'static str,
    guid: &str,
    entry: Option<u32>,
    expected: &str,
) {
    // Move the write-ahead log into the file before it is copied.
    execute_sql(folder, "PRAGMA wal_checkpoint(TRUNCATE)");
    std::fs::copy(folder.join("rhae.db"), folder.join("sound.db")).unwrap();
    execute_sql(folder, statement);
    let outcome = rhae(folder, &["db", "check", "--json"]);
    assert_eq!(outcome.code, Some(1), "{statement}");
    let report = outcome.json();
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(
        (findings.len(), findings[0]["guid"].as_str()),
        (1, Some(guid)),
        "{statement}: {report}"
    );
    assert_eq!(
        findings[0]["entry"].as_u64(),
        entry.map(u64::from),
        "{statement}: {report}"
    );
    assert!(
        findings[0]["what"].as_str().unwrap().contains(expected),
        "{statement}: {report}"
    );
    let text = rhae(folder, &["db", "check"]);
    assert!(
        text.out.contains(guid) && text.out.ends_with("8 snapshots, 1 findings\n"),
        "{}",
        text.out
    );
    for leftover in ["rhae.db-wal", "rhae.db-shm"] {
        // They exist only if a reader left them.
        let _ = std::fs::remove_file(folder.join(leftover));
    }
    std::fs::copy(folder.join("sound.db"), folder.join("rhae.db")).unwrap();
    rhae(folder, &["db", "check", "--json"]).succeeded();
}

#[test]
fn database_in_use_is_checked_and_every_fault_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    rhae(folder.path(), &["db", "check"]).failed_with("cannot open the database `rhae.db`");
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &["--snapshot-every", "20"]);
    let remote = serving.remote();
    let guids = [(); 4].map(|()| {
        let (_, guid) = remote.start_play("kq19");
        for turn in 0..45 {
            remote
                .act(
                    "kq19",
                    &guid,
                    [Action::Action1, Action::Action4, Action::Reset][turn % 3],
                )
                .unwrap();
        }
        guid
    });
    let sound = rhae(folder.path(), &["db", "check", "--json"])
        .succeeded()
        .json();
    assert_eq!(
        (&sound["plays"], &sound["entries"], &sound["snapshots"]),
        (&4.into(), &(4 * 46).into(), &8.into())
    );
    assert_eq!(sound["findings"].as_array().unwrap().len(), 0);
    assert!(serving.terminate().success());

    let finding = |statement, guid: &str, entry, expected| {
        assert_finding(folder.path(), statement, guid, entry, expected);
    };
    finding(
        "UPDATE log SET hash = hash + 1 WHERE play = 2 AND entry = 43",
        &guids[1],
        Some(43),
        "the frames differ",
    );
    finding(
        "DELETE FROM log WHERE play = 1 AND entry = 7",
        &guids[0],
        Some(7),
        "is missing",
    );
    finding(
        "UPDATE runs SET resets = resets + 1 WHERE play = 3 AND run = 0",
        &guids[2],
        None,
        "counts",
    );
    finding(
        "UPDATE snapshots SET bytes = substr(bytes, 2) WHERE play = 4 AND entries = 40",
        &guids[3],
        Some(40),
        "checksum",
    );
    let another = "UPDATE snapshots SET bytes = (SELECT bytes FROM snapshots WHERE play = 4 AND entries = 20) WHERE play = 4 AND entries = 40";
    finding(
        another,
        &guids[3],
        Some(40),
        "the snapshot before this entry",
    );
}

#[test]
fn database_of_a_newer_version_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let path = folder.path().join("rhae.db");
    runtime.block_on(async {
        SqliteStore::open(&path, SqliteOptions::default())
            .await
            .unwrap()
            .close()
            .await;
    });
    let empty = rhae(folder.path(), &["db", "check"]).succeeded();
    assert_eq!(empty.out, "0 plays, 0 entries, 0 snapshots, 0 findings\n");
    execute_sql(folder.path(), "PRAGMA user_version = 99");
    rhae(folder.path(), &["db", "check"]).failed_with("use a newer binary");
}

#[test]
fn backup_of_a_running_server_is_restored_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &["--snapshot-every", "5"]);
    let remote = serving.remote();
    let (card, guid) = remote.start_play("kq19");
    for _ in 0..7 {
        remote.act("kq19", &guid, Action::Action1).unwrap();
    }
    let backup = rhae(folder.path(), &["db", "backup", "backup.db"]).succeeded();
    let counts =
        "1 scorecards, 1 plays, 8 entries, 0 keys, 0 links, 0 study records, 0 board records";
    assert_eq!(backup.out, format!("backup.db: {counts}\n"));
    rhae(folder.path(), &["db", "backup", "backup.db"]).failed_with("exists already");
    // What happens after the backup is not in it.
    remote.act("kq19", &guid, Action::Action1).unwrap();
    rhae(folder.path(), &["db", "restore", "backup.db"]).failed_with("exists already");
    let restore = ["db", "restore", "backup.db", "--db", "new.db"];
    let restored = rhae(folder.path(), &restore).succeeded();
    let checked = "1 plays, 8 entries, 1 snapshots, 0 findings";
    assert_eq!(restored.out, format!("restored {counts}\n{checked}\n"));
    assert!(serving.terminate().success());
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &["--db", "new.db"]);
    let remote = serving.remote();
    remote.act("kq19", &guid, Action::Action1).unwrap();
    let card = remote.get(&format!("/api/scorecard/{card}")).unwrap();
    assert_eq!(card["total_actions"], 8);
}

#[test]
fn restored_database_with_a_fault_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let (_, guid) = serving.remote().start_play("kq19");
    assert!(serving.terminate().success());
    execute_sql(folder.path(), "UPDATE log SET hash = hash + 1");
    rhae(folder.path(), &["db", "backup", "backup.db"]).succeeded();
    let restore = ["db", "restore", "backup.db", "--db", "new.db", "--json"];
    let restored = rhae(folder.path(), &restore);
    assert_eq!(restored.code, Some(1));
    let report = restored.json();
    assert_eq!(report["copied"]["plays"], 1);
    assert_eq!(report["check"]["findings"][0]["guid"], guid.as_str());
}

//! Logs of leaderboards.

use rhae_protocol::{BoardEvent, BoardId, BoardRecord, Digest, SealedName};
use rhae_store::{BoardAppend, BoardFile, StoreError};

use crate::fixture::{Fixture, on_both_stores};

on_both_stores!(
    records_are_appended_only_after_the_last_one,
    files_are_found_by_prefix_and_never_change,
    names_in_records_are_replaced_with_an_append
);

/// Returns an append of some records with a file.
pub(crate) fn append(board: &str, last_seq: u64, count: u64) -> BoardAppend {
    let record = |seq: u64| BoardRecord {
        seq,
        at_ms: 1_000 + seq,
        actor: "ä\"\0\n".to_owned(),
        event: BoardEvent::Closed {
            reason: String::new(),
        },
        previous: Digest::from("00"),
        hash: Digest::from("ff"),
        names: Vec::new(),
    };
    BoardAppend {
        board: board.into(),
        last_seq,
        records: (last_seq + 1..=last_seq + count).map(record).collect(),
        files: vec![BoardFile {
            name: format!("runs/{last_seq}/config.json"),
            content: "{}".to_owned(),
        }],
        replaced: Vec::new(),
    }
}

async fn records_are_appended_only_after_the_last_one(fixture: &Fixture) {
    let store = fixture.boards.as_ref();
    let (main, other) = (BoardId::from("main"), BoardId::from("Other"));
    assert_eq!(store.boards().await.unwrap(), []);
    let first = append("main", 0, 3);
    store.append_board(first.clone()).await.unwrap();
    let again = store.append_board(first.clone()).await;
    assert_eq!(again, Err(StoreError::BoardConflict(3)));
    assert!(again.unwrap_err().is_retryable());
    let ahead = store.append_board(append("main", 4, 1)).await;
    assert_eq!(ahead, Err(StoreError::BoardConflict(3)));
    assert_eq!(store.board_files(&main, "").await.unwrap(), first.files);
    store.append_board(append("main", 3, 2)).await.unwrap();
    store.append_board(append("Other", 0, 1)).await.unwrap();
    assert_eq!(store.boards().await.unwrap(), [other, main.clone()]);
    let all = store.board_records(&main, 0, 100).await.unwrap();
    assert_eq!(all[..3], first.records);
    let page = store.board_records(&main, 1, 2).await.unwrap();
    assert_eq!(page, all[1..3]);
}

async fn names_in_records_are_replaced_with_an_append(fixture: &Fixture) {
    let store = fixture.boards.as_ref();
    let main = BoardId::from("main");
    let mut named = append("main", 0, 2);
    let name = SealedName {
        salt: "salt".to_owned(),
        text: "Ada Lovelace".to_owned(),
    };
    named.records[0].names.push(name);
    store.append_board(named.clone()).await.unwrap();
    store.append_board(append("other", 0, 1)).await.unwrap();
    assert_eq!(
        store.board_records(&main, 0, 9).await.unwrap(),
        named.records
    );
    let mut erasing = append("main", 1, 1);
    erasing.replaced = append("main", 0, 1).records;
    // Nothing is replaced if another server has appended in the meantime.
    let late = store.append_board(erasing.clone()).await;
    assert_eq!(late, Err(StoreError::BoardConflict(2)));
    assert_eq!(
        store.board_records(&main, 0, 9).await.unwrap(),
        named.records
    );
    erasing.last_seq = 2;
    erasing.records = append("main", 2, 1).records;
    store.append_board(erasing).await.unwrap();
    let all = store.board_records(&main, 0, 9).await.unwrap();
    assert_eq!(all, append("main", 0, 3).records);
    let other = store.board_records(&"other".into(), 0, 9).await.unwrap();
    assert_eq!(other, append("other", 0, 1).records);
}

async fn files_are_found_by_prefix_and_never_change(fixture: &Fixture) {
    let store = fixture.boards.as_ref();
    let main = BoardId::from("main");
    store.append_board(append("main", 0, 1)).await.unwrap();
    let mut changed = append("main", 1, 1);
    changed.files[0].name = "runs/0/config.json".to_owned();
    changed.files[0].content = "changed".to_owned();
    changed.files.push(BoardFile {
        name: "runs/1/a%_b".to_owned(),
        content: "x".to_owned(),
    });
    store.append_board(changed).await.unwrap();
    let files = store.board_files(&main, "runs/0/").await.unwrap();
    assert_eq!(files, append("main", 0, 1).files);
    let names = |prefix: &'static str| async move {
        let files = store.board_files(&BoardId::from("main"), prefix).await;
        files.unwrap().len()
    };
    assert_eq!((names("runs/1/a%").await, names("runs/1/%").await), (1, 0));
    assert_eq!(names("").await, 2);
}

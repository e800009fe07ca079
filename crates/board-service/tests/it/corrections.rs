//! Corrections of rows that this program had counted wrongly.

use std::fs;

use rhae_board::{Audience, Board, Command, ORGANISER, Rejection};
use rhae_board_service::{BoardError, RunFiles, check_export, export_board, verify_run};
use rhae_games::Builtin;
use rhae_protocol::{BoardClaim, VerificationState};
use rhae_store::{BoardAppend, Database};

use crate::fixture::{Desk, play, system};

/// Adds a row as an earlier version with an error would have done: its counts have one completed level
/// more than the recordings.
async fn add_wrong_row(desk: &Desk, entry: &str, author: &str, seed: u64) {
    let run = play(desk.folder.path(), entry, seed, 1);
    let files = RunFiles::read(&run).unwrap();
    let mut verified = verify_run(&desk.definition, &files, &Builtin).unwrap();
    let counts = &mut verified.plays[0].runs[0];
    let open = counts.iter_mut().find(|count| !count.completed).unwrap();
    (open.actions, open.effective, open.completed) = (5, 5, true);
    let submit = Command::Submit {
        entry: entry.into(),
        system: Box::new(system(author, author)),
        registration: None,
        claim: BoardClaim::default(),
    };
    desk.execute(author, &submit).await.unwrap();
    let records = desk.service.records(&desk.id).await.unwrap();
    let board = Board::replay(&records).unwrap();
    let add = Command::AddRun {
        entry: entry.into(),
        run: Box::new(verified),
    };
    let append = BoardAppend {
        board: desk.id.clone(),
        last_seq: board.last_seq(),
        records: board.prepare(desk.now_ms, ORGANISER, &add).unwrap(),
        files: files.board_files(),
        replaced: Vec::new(),
    };
    let database = Database::open(&desk.folder.path().join("rhae.db"))
        .await
        .unwrap();
    database.boards().append_board(append).await.unwrap();
    database.close().await;
}

#[tokio::test]
async fn our_error_is_corrected_in_one_release_and_the_export_is_rebuilt() {
    let desk = Desk::community().await;
    let at = desk.folder.path();
    let right = play(at, "right", 9, 1);
    desk.submit("right", &system("Right", "Ada"), None, &[&right])
        .await
        .unwrap();
    let rescore = async || {
        let rescored =
            desk.service
                .rescore(&desk.id, desk.now_ms, "levels were counted twice", &Builtin);
        rescored.await
    };
    let nothing = rescore().await;
    assert_eq!(
        nothing,
        Err(BoardError::Rejected(Rejection::NothingToRescore))
    );

    add_wrong_row(&desk, "one", "Bo", 1).await;
    add_wrong_row(&desk, "two", "Cy", 2).await;
    desk.execute(ORGANISER, &Command::Release).await.unwrap();
    let before = [desk.row("one").await, desk.row("two").await].map(|row| row.score.unwrap().mean);
    let check = async |name: &str| {
        let export = at.join(name);
        let exported = export_board(
            &desk.service,
            &desk.id,
            &export,
            Audience::Public,
            Vec::new(),
        );
        exported.await.unwrap();
        check_export(&export, &Builtin).unwrap().findings
    };
    // The present program counts both runs differently.
    let findings = check("before").await;
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(
        findings[0].contains("differs from its files"),
        "{findings:?}"
    );

    let records = rescore().await.unwrap();
    let kinds: Vec<String> = records
        .iter()
        .map(|record| serde_json::to_value(&record.event).unwrap()["kind"].to_string())
        .collect();
    assert_eq!(kinds, ["\"rescored\"", "\"rescored\"", "\"released\""]);
    for (entry, before) in ["one", "two"].into_iter().zip(before) {
        let row = desk.row(entry).await;
        let rescored = row.rescored.unwrap();
        assert!((rescored.old - before).abs() < 1e-8, "{rescored:?}");
        assert!(rescored.new < rescored.old);
        assert!((rescored.new - row.score.unwrap().mean).abs() < 1e-8);
        assert_eq!(row.state, VerificationState::Replayed);
    }
    assert_eq!(desk.row("right").await.rescored, None);
    // Both releases and all rows follow from the export.
    assert_eq!(check("after").await, [""; 0]);
    let text = fs::read_to_string(at.join("after/rows.json")).unwrap();
    assert!(text.contains("levels were counted twice"));
    assert_eq!(
        rescore().await,
        Err(BoardError::Rejected(Rejection::NothingToRescore))
    );
}

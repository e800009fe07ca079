//! A community board from real run folders, end to end.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod answers;
mod corrections;
mod fixture;
mod tiered;

use std::fs;
use std::path::PathBuf;

use rhae_board::{Audience, Command, ORGANISER, Rejection};
use rhae_board_service::{
    BoardError, RunFiles, board_view, check_export, export_board, verify_run,
};
use rhae_games::Builtin;
use rhae_protocol::{
    BoardFlag, BoardRow, Entry, Format, Recording, RetractionReason, VerificationState,
};

use crate::fixture::{Desk, change_byte, files, now_ms, play, system};

fn flags(row: &BoardRow) -> Vec<BoardFlag> {
    row.flags.iter().map(|flag| flag.flag).collect()
}

#[tokio::test]
async fn rows_have_the_states_flags_and_ranks_of_the_rules() {
    let desk = Desk::community().await;
    let at = desk.folder.path();
    let ada = system("Walker", "Ada");
    desk.register("r1", &ada, &[1, 2]).await.unwrap();
    let registered = play(at, "registered", 1, 2);
    desk.submit("walker", &ada, Some("r1"), &[&registered])
        .await
        .unwrap();
    let row = desk.row("walker").await;
    assert_eq!(row.state, VerificationState::Replayed);
    assert_eq!((row.score.unwrap().repeats, row.registered), (2, true));
    assert_eq!(row.cost.usd, Some(0.0));

    // Bo submits the recordings of Ada.
    desk.submit("copy", &system("Runner", "Bo"), None, &[&registered])
        .await
        .unwrap();
    let copy = desk.row("copy").await;
    assert_eq!(flags(&copy), [BoardFlag::Copied]);
    assert_eq!(
        copy.rank.unwrap().rank,
        desk.row("walker").await.rank.unwrap().rank
    );
    assert_eq!(flags(&desk.row("walker").await), []);

    // The best of five unregistered runs replays, and cannot become more than that.
    let tries: Vec<PathBuf> = (11..16)
        .map(|seed| play(at, &format!("try-{seed}"), seed, 1))
        .collect();
    let score = |folder: &PathBuf| {
        let files = RunFiles::read(folder).unwrap();
        let run = verify_run(&desk.definition, &files, &Builtin).unwrap();
        let actions = run.plays.iter().flat_map(|play| play.logs.iter());
        actions.filter(|log| log.completed).count()
    };
    let best = tries.iter().max_by_key(|folder| score(folder)).unwrap();
    desk.submit("best", &system("Best", "Cy"), None, &[best])
        .await
        .unwrap();
    let row = desk.row("best").await;
    assert!(!row.registered && row.does_not_prove.contains("no other try was dropped"));
    let entry = || "best".into();
    let witness = Command::Witness {
        entry: entry(),
        cards: vec!["card".to_owned()],
    };
    let refused = desk.execute(ORGANISER, &witness).await;
    assert_eq!(refused, Err(BoardError::Rejected(Rejection::Unregistered)));
    let other = tries.iter().find(|folder| *folder != best).unwrap();
    let again = desk
        .submit("best-2", &system("Other", "Cy"), None, &[other])
        .await;
    assert_eq!(
        again,
        Err(BoardError::Rejected(Rejection::SameSystem(entry())))
    );

    let retract = Command::Retract {
        entry: "copy".into(),
        reason: RetractionReason::Cheating,
        note: "the recordings are those of `walker`".to_owned(),
    };
    desk.execute(ORGANISER, &retract).await.unwrap();
    let copy = desk.row("copy").await;
    assert_eq!((copy.rank, copy.score), (None, None));
    assert_eq!(flags(&copy), [BoardFlag::Copied, BoardFlag::Retracted]);
    assert_eq!(copy.retraction.unwrap().by, ORGANISER);
    let ranked = desk
        .rows()
        .await
        .into_iter()
        .filter(|row| row.rank.is_some());
    assert_eq!(ranked.count(), 2);
}

#[tokio::test]
async fn doctored_recording_stays_a_claim() {
    let desk = Desk::community().await;
    let run = play(desk.folder.path(), "doctored", 1, 1);
    let path = run.join("recordings/1-kq19-v1.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut recording = Recording::parse(&text).unwrap();
    // An action that changed the state is removed.
    let changed = |entry: &Entry| entry.counted && entry.changed == Some(true);
    let at = recording.entries.iter().position(changed).unwrap();
    recording.entries.remove(at);
    fs::write(&path, recording.to_text(Format::Rhae).unwrap()).unwrap();
    desk.submit("a", &system("A", "Ada"), None, &[&run])
        .await
        .unwrap();
    let row = desk.row("a").await;
    assert_eq!(
        (row.state, row.rank, row.score),
        (VerificationState::Claimed, None, None)
    );
    let failure = row.failure.unwrap();
    assert!(failure.contains("1-kq19-v1.jsonl"), "{failure}");
}

#[tokio::test]
async fn official_board_refuses_a_run_on_the_public_set() {
    let desk = Desk::official().await;
    let run = play(desk.folder.path(), "public", 1, 1);
    let refused = desk.submit("a", &system("A", "Ada"), None, &[&run]).await;
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains("no results of other sets, such as the public one"),
        "{text}"
    );
    assert_eq!(desk.rows().await, []);
}

#[tokio::test]
async fn run_that_exceeds_the_budget_is_not_accepted() {
    let desk = Desk::community().await;
    let run = play(desk.folder.path(), "long", 1, 1);
    let mut definition = desk.definition;
    for environment in &mut definition.set.environments {
        environment
            .levels
            .iter_mut()
            .for_each(|level| level.baseline = 2);
    }
    let files = RunFiles::read(&run).unwrap();
    let refused = verify_run(&definition, &files, &Builtin)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("after its budget `5x` was used up"),
        "{refused}"
    );
}

#[tokio::test]
async fn export_is_rebuilt_and_every_changed_byte_is_found() {
    let desk = Desk::community().await;
    let at = desk.folder.path();
    let run = play(at, "run", 1, 1);
    desk.submit("a", &system("A", "Ada"), None, &[&run])
        .await
        .unwrap();
    desk.execute(ORGANISER, &Command::Release).await.unwrap();
    let export = at.join("export");
    let exported = export_board(
        &desk.service,
        &desk.id,
        &export,
        Audience::Public,
        Vec::new(),
    )
    .await;
    assert!(exported.unwrap().complete);
    let check = check_export(&export, &Builtin).unwrap();
    assert_eq!(check.findings, [""; 0]);
    assert_eq!((check.rows, check.replayed, check.releases), (1, 3, 1));
    let all = files(&export);
    assert!(all.len() >= 8, "{all:?}");
    for path in &all {
        let old = change_byte(path);
        let check = check_export(&export, &Builtin);
        assert!(
            check.is_err() || !check.unwrap().findings.is_empty(),
            "{}",
            path.display()
        );
        fs::write(path, old).unwrap();
    }
    fs::write(export.join("extra.txt"), "x").unwrap();
    assert_eq!(check_export(&export, &Builtin).unwrap().findings.len(), 1);
    fs::remove_file(export.join("extra.txt")).unwrap();

    // Another database gets the same board.
    let copy = Desk::empty(now_ms()).await;
    let imported = copy.service.import(&export, &Builtin).await.unwrap();
    assert_eq!(imported.findings, [""; 0]);
    let view = |board| board_view(&board, Audience::Public, Vec::new());
    let (one, two) = (
        desk.service.load(&desk.id).await,
        copy.service.load(&desk.id).await,
    );
    assert_eq!(view(one.unwrap()), view(two.unwrap()));
    let again = copy.service.import(&export, &Builtin).await;
    assert!(matches!(again, Err(BoardError::Exists(_))));
}

#[tokio::test]
async fn paths_outside_the_run_folder_are_not_read() {
    let desk = Desk::community().await;
    let run = play(desk.folder.path(), "run", 1, 1);
    let journal = run.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(
        &journal,
        text.replace("recordings/1-kq19", "recordings/../../1-kq19"),
    )
    .unwrap();
    let refused = RunFiles::read(&run).unwrap_err().to_string();
    assert!(
        refused.contains("is not the name of a recording"),
        "{refused}"
    );
}

#[tokio::test]
async fn registration_must_precede_the_run() {
    let desk = Desk::community().await;
    let run = play(desk.folder.path(), "early", 1, 1);
    let late = Desk {
        now_ms: now_ms() + 60_000,
        ..desk
    };
    let ada = system("A", "Ada");
    late.register("r", &ada, &[1]).await.unwrap();
    let refused = late.submit("a", &ada, Some("r"), &[&run]).await;
    assert_eq!(refused, Err(BoardError::Rejected(Rejection::StartedBefore)));
    assert_eq!(late.rows().await, []);
}

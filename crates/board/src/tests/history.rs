//! What stays of a row: tombstones, objections, releases and corrections.

use rhae_protocol::{BoardEvent, BoardFlag, BoardRun, RetractionReason, VerificationState};

use super::{Desk, flags, later, on_server, rule_of};
use crate::fixtures::{community, official, run};
use crate::{
    Audience, Board, Command, Finding, ORGANISER, Rejection, Rule, VerifiedRow, board_rows,
    verify_board,
};

#[test]
fn b13_retraction_leaves_a_tombstone() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[30]))]);
    let retract = |reason: RetractionReason| Command::Retract {
        entry: "a".into(),
        reason,
        note: "a wrong prompt".to_owned(),
    };
    assert_eq!(
        desk.execute(retract(RetractionReason::Author)),
        Err(Rejection::Reason)
    );
    let wrong = desk.execute_as("Ada", &retract(RetractionReason::Cheating));
    assert_eq!(wrong, Err(Rejection::Reason));
    desk.execute_as("Ada", &retract(RetractionReason::Author))
        .unwrap();
    let row = desk.row("a");
    assert_eq!(
        (row.rank, row.score, flags(&row)),
        (None, None, vec![BoardFlag::Retracted])
    );
    let tombstone = row.retraction.unwrap();
    assert_eq!(
        (tombstone.by.as_str(), tombstone.note.as_str()),
        ("Ada", "a wrong prompt")
    );
    assert_eq!(row.name, "a");
    let again = desk.execute_as("Ada", &retract(RetractionReason::Author));
    assert_eq!(again, Err(Rejection::Retracted));
}

#[test]
fn b13_objection_and_answer_both_stay() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[30]))]);
    let contest = || Command::Contest {
        entry: "a".into(),
        text: "It uses my code.".to_owned(),
    };
    let answer = || Command::Answer {
        entry: "a".into(),
        text: "Its licence allows that.".to_owned(),
    };
    assert_eq!(desk.execute(answer()), Err(Rejection::NotContested));
    desk.execute_as("Bo", &contest()).unwrap();
    assert_eq!(
        desk.execute_as("Bo", &contest()),
        Err(Rejection::ContestedBefore)
    );
    desk.execute(answer()).unwrap();
    assert_eq!(desk.execute(answer()), Err(Rejection::AnsweredBefore));
    let row = desk.row("a");
    assert_eq!(flags(&row), [BoardFlag::Contested]);
    let contest = row.contest.unwrap();
    assert_eq!(contest.text, "It uses my code.");
    assert_eq!(contest.answer.as_deref(), Some("Its licence allows that."));
}

#[test]
fn b14_releases_are_recomputed_from_events() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[30, 50]))]);
    desk.execute(Command::Release).unwrap();
    desk.registered_row("b", "Bo", vec![later(run("b", 1, &[20]))]);
    desk.execute(Command::Release).unwrap();
    let releases = &desk.board.state().releases;
    let names: Vec<&str> = releases.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["main-2026.11.1", "main-2026.11.2"]);
    assert_eq!(verify_board(&desk.log), []);
    // A release whose rows were not those of the log is found, even if the chain is right.
    let at = desk.log.len() - 1;
    let mut forged = Desk {
        board: Board::replay(&desk.log[..at]).unwrap(),
        log: desk.log[..at].to_vec(),
        now_ms: desk.now_ms,
    };
    let event = BoardEvent::Released {
        release: "main-2026.11.2".to_owned(),
        rows: releases[0].rows.clone(),
    };
    let mut head = crate::chain::Head::default();
    forged
        .log
        .iter()
        .for_each(|record| head.accept(record).unwrap());
    forged.log.push(head.next(forged.now_ms, ORGANISER, event));
    assert_eq!(
        verify_board(&forged.log),
        [Finding::Release("main-2026.11.2".to_owned())]
    );
    let mut changed = desk.log.clone();
    changed[2].actor = "Bo".to_owned();
    assert!(matches!(verify_board(&changed)[..], [Finding::Log(_)]));
}

/// Returns the command that verifies the runs of rows again.
fn rescore(desk: &Desk, change: impl Fn(&mut BoardRun)) -> Command {
    let changed = |runs: &[BoardRun]| -> Vec<BoardRun> {
        let mut runs = runs.to_vec();
        runs.iter_mut().for_each(&change);
        runs
    };
    let entries = desk.board.state().entries.iter();
    let rows = entries.map(|(entry, old)| VerifiedRow {
        entry: entry.clone(),
        runs: changed(&old.runs),
        reruns: changed(&old.reruns),
        failure: None,
    });
    Command::Rescore {
        note: "levels were counted twice".to_owned(),
        rows: rows.collect(),
    }
}

/// Takes the last completed level from a play of the environment `aa11-v1` that has two.
fn without_second_level(run: &mut BoardRun) {
    for play in &mut run.plays {
        if play.environment.as_str() == "aa11-v1" && play.runs[0].len() > 1 {
            play.runs[0].truncate(1);
        }
    }
}

#[test]
fn b13_our_error_is_corrected_in_all_rows_in_one_release() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[20, 40]))]);
    desk.registered_row("b", "Bo", vec![later(run("b", 1, &[20, 40]))]);
    desk.registered_row("c", "Cy", vec![later(run("c", 1, &[30]))]);
    desk.execute(Command::Release).unwrap();
    let before = desk.row("a").score.unwrap().mean;
    let nothing = rescore(&desk, |_| {});
    assert_eq!(desk.execute(nothing), Err(Rejection::NothingToRescore));

    let records = desk.log.len();
    let correction = rescore(&desk, without_second_level);
    desk.execute(correction).unwrap();
    // Two rows are affected, and one release follows.
    let kinds: Vec<bool> = desk.log[records..]
        .iter()
        .map(|record| matches!(record.event, BoardEvent::Rescored { .. }))
        .collect();
    assert_eq!(kinds, [true, true, false]);
    let release = desk.board.state().releases.last().unwrap().name.clone();
    assert_eq!(release, "main-2026.11.2");
    for entry in ["a", "b"] {
        let row = desk.row(entry);
        let rescored = row.rescored.unwrap();
        assert_eq!(rescored.release, release);
        assert_eq!(rescored.note, "levels were counted twice");
        assert!((rescored.old - before).abs() < 1e-9);
        assert!((rescored.new - row.score.unwrap().mean).abs() < 1e-9);
        assert!(rescored.new < rescored.old);
        assert_eq!(row.state, VerificationState::Replayed);
    }
    assert_eq!(desk.row("c").rescored, None);
    // The earlier release still follows from the records before it.
    assert_eq!(verify_board(&desk.log), []);
}

#[test]
fn b13_closed_boards_are_corrected() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[20, 40]))]);
    let reason = "a newer set".to_owned();
    desk.execute(Command::Close { reason }).unwrap();
    let correction = rescore(&desk, without_second_level);
    desk.execute(correction).unwrap();
    assert!(desk.row("a").rescored.is_some());
}

#[test]
fn b13_correction_can_end_a_reproduction_and_a_replay() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[20, 40]))]);
    let reruns = [2, 3, 4].into_iter().zip([38, 41, 44]);
    let runs = reruns.map(|(seed, actions)| run("a", seed, &[20, actions]));
    desk.execute(Command::Reproduce {
        entry: "a".into(),
        runs: runs.collect(),
    })
    .unwrap();
    assert_eq!(desk.row("a").state, VerificationState::Reproduced);
    // Only the run of the author was counted wrongly, so the score no longer agrees.
    let correction = rescore(&desk, |run| {
        if run.plays[0].seed == 1 {
            run.plays.iter_mut().for_each(|play| play.runs[0].clear());
        }
    });
    desk.execute(correction).unwrap();
    assert_eq!(desk.row("a").state, VerificationState::Replayed);
    assert_eq!(flags(&desk.row("a")), [BoardFlag::Contested]);
    // A run that is not accepted any more leaves a claim.
    desk.execute(Command::Rescore {
        note: "replays were too lenient".to_owned(),
        rows: vec![VerifiedRow {
            entry: "a".into(),
            runs: Vec::new(),
            reruns: Vec::new(),
            failure: Some("entry 3 does not replay".to_owned()),
        }],
    })
    .unwrap();
    let row = desk.row("a");
    assert_eq!((row.state, row.score), (VerificationState::Claimed, None));
    assert_eq!(row.failure.as_deref(), Some("entry 3 does not replay"));
}

#[test]
fn b12_corrections_of_hidden_sets_are_rounded() {
    let mut desk = Desk::open(official());
    desk.registered_row("a", "organiser", vec![on_server(run("a", 1, &[30, 50]))]);
    let correction = rescore(&desk, without_second_level);
    desk.execute(correction).unwrap();
    let rescored = desk.row("a").rescored.unwrap();
    for value in [rescored.old, rescored.new] {
        assert_eq!(value, (value * 100.0).round() / 100.0);
    }
    let private = &board_rows(desk.board.state(), Audience::Organiser)[0];
    assert_ne!(private.rescored.as_ref().unwrap().old, rescored.old);
}

#[test]
fn corrections_need_a_text() {
    let mut desk = Desk::open(community());
    let rows = Vec::new();
    let note = " ".to_owned();
    let refused = desk.execute(Command::Rescore { note, rows });
    assert_eq!(rule_of(refused), Rule::B13);
}

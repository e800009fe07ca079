//! B15: boards of static tasks.

use rhae_protocol::{
    BoardAnswers, BoardDefinition, BoardFlag, BoardKind, BoardRun, BoardTasks, EvalParser,
    EvalProtocol, VerificationState,
};
use rhae_study::text_digest;

use super::{Desk, flags, later};
use crate::fixtures::{community, run, system};
use crate::{Command, Rejection, Rule, check_definition, compare_rows};

/// Returns a board of four tasks, the first of which has two tests.
fn tasks(protocol: EvalProtocol) -> BoardDefinition {
    let tests = [
        ("t1", vec![0, 1]),
        ("t2", vec![0]),
        ("t3", vec![0]),
        ("t4", vec![0]),
    ];
    let tasks = BoardTasks {
        revision: "1f2e".to_owned(),
        protocol,
        attempts: 2,
        parser: EvalParser::Lenient,
        tests: tests.map(|(id, tests)| (id.to_owned(), tests)).into(),
    };
    let mut definition = community();
    definition.method = tasks.method().to_owned();
    definition.budget = "none".to_owned();
    definition.set.environments.clear();
    definition.set.tasks = Some(tasks);
    definition
}

/// Returns an evaluation. A number is the attempt that solved a test, or 0.
fn answered(settings: &str, seed: u64, solved: &[&[u32]]) -> BoardRun {
    let answers = solved.iter().zip(1..).map(|(solved, task)| BoardAnswers {
        task: format!("t{task}"),
        solved: solved.to_vec(),
        grids: Some(text_digest(&format!("{settings} {task}"))),
    });
    BoardRun {
        budget: "none".to_owned(),
        plays: Vec::new(),
        answers: answers.collect(),
        ..later(run(settings, seed, &[]))
    }
}

#[test]
fn b15_definitions_fix_the_protocol() {
    assert_eq!(check_definition(&tasks(EvalProtocol::Standard)), Ok(()));
    let refused = |change: fn(&mut BoardDefinition)| {
        let mut changed = tasks(EvalProtocol::Standard);
        change(&mut changed);
        assert!(check_definition(&changed).is_err(), "{changed:?}");
    };
    refused(|one| one.kind = BoardKind::Official);
    refused(|one| one.budget = "5x".to_owned());
    refused(|one| one.method = "docs-2026-04".to_owned());
    refused(|one| one.set.environments = community().set.environments);
    refused(|one| one.set.tasks.as_mut().unwrap().attempts = 0);
    refused(|one| one.set.tasks.as_mut().unwrap().tests.clear());
    for tests in [vec![], vec![1, 0], vec![0, 0]] {
        let mut changed = tasks(EvalProtocol::Standard);
        let fixed = changed.set.tasks.as_mut().unwrap();
        fixed.tests.insert("t1".to_owned(), tests);
        assert!(check_definition(&changed).is_err());
    }
}

#[test]
fn b15_score_is_that_of_the_protocol() {
    let solved: &[&[u32]] = &[&[1, 0], &[2], &[0], &[0]];
    for (protocol, mean) in [(EvalProtocol::Standard, 37.5), (EvalProtocol::Plan, 25.0)] {
        let mut desk = Desk::open(tasks(protocol));
        desk.registered_row("a", "Ada", vec![answered("a", 1, solved)]);
        let row = desk.row("a");
        let score = row.score.unwrap();
        assert_eq!(
            (score.mean, score.levels_completed, score.levels),
            (mean, 2.0, 5)
        );
        assert_eq!(row.rank.unwrap().rank, 1);
        assert!(
            row.does_not_prove
                .contains("that the solutions were unknown")
        );
        assert!(row.proves.contains("its own solutions"));
    }
}

#[test]
fn b15_missing_answers_count_as_not_solved() {
    let mut desk = Desk::open(tasks(EvalProtocol::Standard));
    desk.submit("a", &system("a", "Ada"), None).unwrap();
    desk.add("a", answered("a", 1, &[&[1, 1], &[1]])).unwrap();
    let row = desk.row("a");
    assert_eq!(row.score.unwrap().mean, 50.0);
    assert_eq!(row.flags[0].evidence, "2 of 4 tasks were answered");
    assert_eq!(flags(&row), [BoardFlag::Partial]);
}

#[test]
fn b15_registered_runs_enter_the_mean() {
    let mut desk = Desk::open(tasks(EvalProtocol::Standard));
    let one = system("a", "Ada");
    desk.register("r", &one, &[0, 1]).unwrap();
    desk.submit("a", &one, Some("r")).unwrap();
    desk.now_ms += 2_000_000;
    let all: &[&[u32]] = &[&[1, 1], &[1], &[1], &[1]];
    desk.add("a", answered("a", 1, all)).unwrap();
    assert_eq!(desk.row("a").rank, None);
    // The same files are not another run.
    let again = desk.add("a", answered("a", 1, all));
    assert_eq!(again, Err(Rejection::RunTwice("a".into())));
    desk.add("a", answered("a", 2, &[&[0, 0], &[0], &[0], &[0]]))
        .unwrap();
    let row = desk.row("a");
    assert_eq!((row.score.unwrap().mean, row.rank.unwrap().rank), (50.0, 1));
    let third = desk.add("a", answered("a", 3, all));
    assert_eq!(third, Err(Rejection::RepeatsUsed(2)));
}

#[test]
fn b15_plays_and_answers_have_boards_of_their_own() {
    let mut desk = Desk::open(tasks(EvalProtocol::Standard));
    desk.submit("a", &system("a", "Ada"), None).unwrap();
    let mut plays = later(run("a", 1, &[20]));
    plays.budget = "none".to_owned();
    let refused = desk.add("a", plays).unwrap_err();
    assert_eq!(refused.rule(), Rule::B1, "{refused}");
    let mut other = answered("a", 1, &[&[1, 1]]);
    other.answers[0].task = "zz".to_owned();
    assert_eq!(
        desk.add("a", other),
        Err(Rejection::OtherTask("zz".to_owned()))
    );
    let fewer = answered("a", 1, &[&[1]]);
    assert_eq!(
        desk.add("a", fewer),
        Err(Rejection::OtherTask("t1".to_owned()))
    );

    let mut desk = Desk::open(community());
    desk.submit("a", &system("a", "Ada"), None).unwrap();
    let mut answers = answered("a", 1, &[&[1, 1]]);
    answers.budget = "5x".to_owned();
    let refused = desk.add("a", answers).unwrap_err();
    assert_eq!(refused.rule(), Rule::B15, "{refused}");
}

#[test]
fn b15_rows_are_compared_reproduced_and_flagged() {
    let mut desk = Desk::open(tasks(EvalProtocol::Standard));
    let solved: &[&[u32]] = &[&[1, 0], &[0], &[0], &[1]];
    desk.registered_row("a", "Ada", vec![answered("a", 1, solved)]);
    // The same wrong answers to three tasks.
    let mut copy = answered("a", 1, solved);
    copy.run_id = "other".to_owned();
    desk.registered_row("b", "Bo", vec![copy]);
    assert_eq!(flags(&desk.row("b")), [BoardFlag::Copied]);
    desk.registered_row(
        "c",
        "Cy",
        vec![answered("c", 1, &[&[1, 1], &[1], &[0], &[0]])],
    );
    assert_eq!(flags(&desk.row("c")), []);
    let compared = compare_rows(desk.board.state(), &"a".into(), &"c".into());
    let compared = compared.unwrap().unwrap();
    assert_eq!((compared.environments, compared.differing), (4, 3));
    assert_eq!((compared.mean_a, compared.mean_b), (37.5, 50.0));

    let witness = Command::Witness {
        entry: "a".into(),
        cards: vec!["card".to_owned()],
    };
    assert_eq!(desk.execute(witness), Err(Rejection::NotCompetition));
    let reproduce = |seeds: &[u64]| Command::Reproduce {
        entry: "a".into(),
        runs: seeds
            .iter()
            .map(|&seed| answered("a", seed, solved))
            .collect(),
    };
    let twice = desk.execute(reproduce(&[2, 3, 3]));
    assert_eq!(twice, Err(Rejection::RunTwice("a".into())));
    let two = desk.execute(reproduce(&[2, 3]));
    assert!(matches!(two, Err(Rejection::Reruns { found: 2, .. })));
    desk.execute(reproduce(&[2, 3, 4])).unwrap();
    assert_eq!(desk.row("a").state, VerificationState::Reproduced);
}

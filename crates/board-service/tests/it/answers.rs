//! A board of static tasks from real evaluations, end to end.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rhae_board::{Audience, Command, ORGANISER};
use rhae_board_service::{
    BoardError, board_view, check_export, export_board, parse_submission, submission_yaml,
    submitted_version, task_set, tasks_text,
};
use rhae_eval::solver::{RandomSolver, Solver};
use rhae_eval::{EvalSpec, Plan, PlannedSet, run};
use rhae_games::Builtin;
use rhae_protocol::{
    BoardDefinition, BoardFlag, EVAL_VERSION, EvalConfig, EvalLimits, EvalParser, EvalProtocol,
    RunIdentity, SOFTWARE, SetVisibility, VerificationState,
};
use rhae_runs::RunFolder;
use rhae_tasks::{Grid, Pair, Parser, Protocol, Task, TaskSet, Test};

use crate::fixture::{Desk, change_byte, files, now_ms, system};

/// Returns five tasks with outputs of one cell of colour 1, so that a random guess has that colour.
/// Only the first `solvable` tasks have it as their solution.
fn tasks(solvable: usize) -> TaskSet {
    let cell = |color: u8| Grid::new(&[vec![color]]).unwrap();
    let task = |number: usize| Task {
        train: vec![Pair {
            input: cell(3),
            output: cell(1),
        }],
        test: vec![Test {
            input: cell(4),
            output: Some(cell(if number < solvable { 1 } else { 2 })),
        }],
    };
    TaskSet {
        name: "arc-agi-2-five".to_owned(),
        tasks: (0..5)
            .map(|number| (format!("t{number}").parse().unwrap(), task(number)))
            .collect(),
    }
}

fn definition(desk: &Desk, set: &TaskSet, protocol: Protocol) -> BoardDefinition {
    let rules = protocol.rules();
    let selected = set.all_tests();
    let set = task_set(SetVisibility::Public, set, &selected, protocol, rules).unwrap();
    BoardDefinition {
        method: set.tasks.as_ref().unwrap().method().to_owned(),
        budget: "none".to_owned(),
        set,
        ..desk.definition.clone()
    }
}

/// Creates a board of five tasks, of which two can be solved.
async fn board() -> Desk {
    let mut desk = Desk::empty(now_ms()).await;
    let set = tasks(2);
    desk.definition = definition(&desk, &set, Protocol::Standard);
    let text = tasks_text(&set);
    let definition = desk.definition.clone();
    let created = desk
        .service
        .create_of_tasks(desk.now_ms, &desk.id, definition, Some(&text));
    created.await.unwrap();
    desk
}

/// Evaluates the random solver, and returns the run folder.
fn evaluate(
    folder: &Path,
    name: &str,
    set: &TaskSet,
    change: impl FnOnce(&mut EvalConfig),
) -> PathBuf {
    let planned = vec![PlannedSet {
        selection: set.all_tests(),
        set: set.clone(),
    }];
    let seed = name.len() as u64;
    let settings = BTreeMap::from([
        ("seed".to_owned(), seed.into()),
        ("models".to_owned(), "/home/ada/models.toml".into()),
    ]);
    let mut config = EvalConfig {
        version: EVAL_VERSION,
        software: SOFTWARE.to_owned(),
        run_id: name.to_owned(),
        solver: "random".to_owned(),
        solver_settings: settings,
        protocol: EvalProtocol::Standard,
        attempts: 2,
        parser: EvalParser::Lenient,
        stop_at_failure: false,
        shard: None,
        permuted_colors: None,
        data: vec!["/home/ada/data".to_owned()],
        sets: planned.iter().map(PlannedSet::record).collect(),
        limits: EvalLimits {
            concurrency: 1,
            ..EvalLimits::default()
        },
        identity: RunIdentity::default(),
    };
    change(&mut config);
    let at = folder.join(name);
    let run_folder = RunFolder::create(&at, &config).unwrap();
    let solver = RandomSolver { seed };
    let plan = Plan::new(planned, config.attempts, solver.unit());
    let spec = EvalSpec {
        folder: &run_folder,
        plan: &plan,
        solver: &solver,
        parser: Parser::Lenient,
        limits: config.limits,
        stop_at_failure: false,
        retry_failed: false,
        resumed: false,
    };
    run(&spec, &AtomicBool::new(false), &mut |_| {}).unwrap();
    at
}

#[tokio::test]
async fn answers_are_scored_with_the_solutions_of_the_board() {
    let desk = board().await;
    let at = desk.folder.path();
    // The answers to two of five tasks are right.
    let own = evaluate(at, "own", &tasks(2), |_| {});
    let config = fs::read_to_string(own.join("config.json")).unwrap();
    assert!(config.contains("/home/ada"));
    desk.submit("a", &system("A", "Ada"), None, &[&own])
        .await
        .unwrap();
    let row = desk.row("a").await;
    assert_eq!(row.state, VerificationState::Replayed);
    let score = row.score.unwrap();
    assert_eq!((score.mean, score.played, score.levels), (40.0, 5, 5));
    assert_eq!(row.cost.usd, Some(0.0));
    assert!(row.does_not_prove.contains("Who or what gave the answers"));

    // A doctored answer changes nothing but what it says: the board compares it itself.
    let other = evaluate(at, "other", &tasks(2), |_| {});
    let journal = other.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("[[1]]", "[[2]]")).unwrap();
    desk.submit("b", &system("B", "Bo"), None, &[&other])
        .await
        .unwrap();
    assert_eq!(desk.row("b").await.score.unwrap().mean, 60.0);

    // The same wrong answers by other authors.
    desk.submit("c", &system("C", "Cy"), None, &[&own])
        .await
        .unwrap();
    let flags: Vec<BoardFlag> = desk
        .row("c")
        .await
        .flags
        .iter()
        .map(|one| one.flag)
        .collect();
    assert_eq!(flags, [BoardFlag::Copied]);
    // Paths of the machine are not stored.
    let stored = desk.service.files(&desk.id).await.unwrap();
    assert!(
        stored
            .iter()
            .all(|file| !file.content.contains("/home/ada"))
    );
}

#[tokio::test]
async fn evaluations_must_have_what_the_board_fixes() {
    let desk = board().await;
    let at = desk.folder.path();
    let refused = async |name: &str, set: &TaskSet, change: fn(&mut EvalConfig), text: &str| {
        let run = evaluate(at, name, set, change);
        let system = system(name, name);
        let refused = desk.submit(name, &system, None, &[&run]).await;
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(text), "{name}: {error}");
    };
    refused("revision", &tasks(5), |_| {}, "revision of the data is").await;
    refused(
        "attempts",
        &tasks(2),
        |one| one.attempts = 3,
        "number of attempts is `3`",
    )
    .await;
    let plan: fn(&mut EvalConfig) = |one| one.protocol = EvalProtocol::Plan;
    refused(
        "protocol",
        &tasks(2),
        plan,
        "protocol is `plan`: the board has `standard`",
    )
    .await;
    let permuted: fn(&mut EvalConfig) = |one| one.permuted_colors = Some(1);
    refused("colours", &tasks(2), permuted, "colours is `permuted`").await;
    assert_eq!(desk.rows().await, []);

    // A repetition of stored answers says nothing about a solver.
    let replay = evaluate(at, "replay", &tasks(2), |one| {
        one.solver = "replay:x.json".to_owned();
    });
    desk.submit("a", &system("A", "Ada"), None, &[&replay])
        .await
        .unwrap();
    let row = desk.row("a").await;
    assert_eq!((row.state, row.score), (VerificationState::Claimed, None));
    assert!(row.failure.unwrap().contains("repeats a recording"));
    // Plays of environments belong on another board.
    let play = crate::fixture::play(at, "play", 1, 1);
    let refused = desk.submit("b", &system("B", "Bo"), None, &[&play]).await;
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains("the board ranks answers to static tasks"),
        "{error}"
    );
    let environments = Desk::community().await;
    let run = evaluate(environments.folder.path(), "run", &tasks(2), |_| {});
    let refused = environments
        .submit("a", &system("A", "Ada"), None, &[&run])
        .await;
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains("the board ranks plays of environments"),
        "{error}"
    );
}

#[tokio::test]
async fn boards_need_the_tasks_of_their_definition() {
    let desk = Desk::empty(now_ms()).await;
    let definition = definition(&desk, &tasks(2), Protocol::Standard);
    let create = async |text: Option<String>| {
        let definition = definition.clone();
        let created =
            desk.service
                .create_of_tasks(desk.now_ms, &desk.id, definition, text.as_deref());
        created.await.map(drop)
    };
    for text in [None, Some(tasks_text(&tasks(3))), Some("{}".to_owned())] {
        assert!(matches!(create(text).await, Err(BoardError::Tasks(_))));
    }
    create(Some(tasks_text(&tasks(2)))).await.unwrap();
    // A set without solutions cannot be scored.
    let mut unsolved = tasks(2);
    let first = unsolved.tasks.values_mut().next().unwrap();
    first.test[0].output = None;
    let rules = Protocol::Standard.rules();
    let selected = unsolved.all_tests();
    let set = task_set(
        SetVisibility::Public,
        &unsolved,
        &selected,
        Protocol::Standard,
        rules,
    );
    assert!(matches!(set, Err(BoardError::Tasks(_))));
}

#[tokio::test]
async fn export_is_rebuilt_from_its_own_tasks() {
    let desk = board().await;
    let at = desk.folder.path();
    let own = evaluate(at, "own", &tasks(2), |_| {});
    desk.submit("a", &system("A", "Ada"), None, &[&own])
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
    );
    assert!(exported.await.unwrap().complete);
    let check = check_export(&export, &Builtin).unwrap();
    assert_eq!(check.findings, [""; 0]);
    assert_eq!((check.rows, check.replayed, check.releases), (1, 5, 1));
    let all = files(&export);
    assert!(
        all.iter().any(|path| path.ends_with("tasks.json")),
        "{all:?}"
    );
    for path in &all {
        let old = change_byte(path);
        let check = check_export(&export, &Builtin);
        let is_found = check.is_err() || !check.unwrap().findings.is_empty();
        assert!(is_found, "{}", path.display());
        fs::write(path, old).unwrap();
    }
    // A copy can score further evaluations.
    let copy = Desk::empty(now_ms()).await;
    let imported = copy.service.import(&export, &Builtin).await.unwrap();
    assert_eq!(imported.findings, [""; 0]);
    let view = |board| board_view(&board, Audience::Public, Vec::new());
    let (one, two) = (
        desk.service.load(&desk.id).await,
        copy.service.load(&desk.id).await,
    );
    assert_eq!(view(one.unwrap()), view(two.unwrap()));
    let second = evaluate(at, "second", &tasks(2), |_| {});
    copy.submit("b", &system("B", "Bo"), None, &[&second])
        .await
        .unwrap();
    assert_eq!(copy.row("b").await.score.unwrap().mean, 40.0);
}

#[tokio::test]
async fn scored_row_is_a_submission_of_the_community_leaderboard() {
    let desk = board().await;
    let own = evaluate(desk.folder.path(), "own", &tasks(2), |_| {});
    desk.submit("a", &system("A", "Ada"), None, &[&own])
        .await
        .unwrap();
    let state = desk.service.load(&desk.id).await.unwrap();
    let version = submitted_version(state.state(), &"a".into())
        .unwrap()
        .unwrap();
    let text = submission_yaml(&version).unwrap();
    assert!(
        text.contains("benchmark: arc-agi-2") && text.contains("score: 40.0"),
        "{text}"
    );
    let parsed = parse_submission(&text, "arc-agi-2").unwrap();
    assert_eq!(parsed[0].claim.score_nano, Some(40_000_000_000));
    assert_eq!(submitted_version(state.state(), &"z".into()).unwrap(), None);
    // The claims of a submission are taken together or not at all.
    let mut renamed = parsed[0].clone();
    renamed.system.name = "Other".to_owned();
    let rows = vec![("b".into(), renamed.clone()), ("c".into(), renamed)];
    let refused = desk
        .service
        .submit_claims(&desk.id, desk.now_ms, rows)
        .await;
    assert!(matches!(refused, Err(BoardError::Rejected(_))));
    assert_eq!(desk.rows().await.len(), 1);
}

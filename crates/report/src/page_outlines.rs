//! Snapshots of the outlines of all pages, with hostile text wherever a page shows external text.

use rhae_engine::Frame;
use rhae_protocol::{Ending, EnvironmentVerdict, ModelUsage, RuleVerdict};
use rhae_tasks::{Grid, Rules, SourceFile, Submission, load, score};
use rhae_testkit::page_outline;

use crate::film::tests::walking_square;
use crate::graph_text::tests::gambler_graph;
use crate::run_page::tests::report;
use crate::{
    ArcAttempt, ArcReport, ArcSet, ArcTask, EvidenceFigure, FindingItem, GraphPage, GraphView,
    HeatMap, LevelGraph, RuleSection, SceneAttempt, ValidatedGame, ValidationPage, arc_page,
    graph_page, graph_picture, growth_plot, heat_page, replay_page, run_page, scene_svg,
    score_plot, task_scene, validation_page,
};

const HOSTILE: &str = "<b title=\"'x'\">&amp;";

fn hostile() -> String {
    HOSTILE.to_owned()
}

#[test]
fn run_page_of_one_card() {
    insta::assert_snapshot!(page_outline(&run_page(&report(1))));
}

#[test]
fn run_page_with_repeats_usage_and_failures() {
    let mut report = report(2);
    let spent = ModelUsage {
        calls: 3,
        input_tokens: 40_000,
        output_tokens: 2_345,
        cost_usd: Some(0.125),
        ..ModelUsage::default()
    };
    report.config.agent_cmd = Some(format!("agent {HOSTILE}"));
    report.summary.finished = false;
    report.summary.failed_plays = 1;
    report.summary.spent = Some(spent);
    report.summary.environments[0].spent = Some(spent);
    report.cards[0].spent = Some(spent);
    let run = &mut report.cards[0].environments[1].runs[0];
    run.level_spent = vec![spent];
    run.ending = Some(Ending::Failed);
    run.message = Some(hostile());
    let again = run.clone();
    report.cards[0].environments[1].runs.push(again);
    report.cards[1].environments[0].id = hostile();
    report.films[1].message = Some(hostile());
    report.films[1].ending = Some(Ending::Failed);
    insta::assert_snapshot!(page_outline(&run_page(&report)));
}

#[test]
fn replay_page_of_a_film() {
    let mut film = walking_square(2);
    film.subtitle = hostile();
    insta::assert_snapshot!(page_outline(&replay_page(&film)));
}

/// A report of one set with a solved test, a wrong cell, a wrong size and an answer without a grid.
fn arc_report() -> ArcReport {
    let file = |path: &str, text: &str| SourceFile {
        name: path.into(),
        text: text.into(),
    };
    let data = r#"{"aa": {"train": [{"input": [[1, 2]], "output": [[2], [1]]}],
        "test": [{"input": [[3, 4]], "output": [[4], [3]]}, {"input": [[5, 6]], "output": [[6], [5]]}]},
        "bb": {"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]], "output": [[4]]}]}}"#;
    let set = load(&[file("demo.json", data)]).unwrap().sets.remove(0);
    let answers =
        r#"{"aa": [{"attempt_1": [[4], [3]], "attempt_2": [[4], [1]]}, {"attempt_1": [[7]]}]}"#;
    let submission = Submission::read(&[file("submission.json", answers)]).unwrap();
    let score = score(&set, &set.all_tests(), &submission, Rules::default()).unwrap();
    let attempt = |test, attempt, grid: Result<&[Vec<u8>], &str>| ArcAttempt {
        test,
        attempt,
        grid: grid
            .map(|rows| Grid::new(rows).unwrap())
            .map_err(|kind| (kind.to_owned(), hostile())),
        how: (attempt == 1).then(hostile),
        text: Some(format!("{HOSTILE}\n  second line")),
        reasoning: (attempt == 2).then(|| "x".repeat(20_001)),
        spent: "0.10 s".to_owned(),
    };
    let tasks = set.tasks.iter().map(|(id, task)| ArcTask {
        set: set.name.clone(),
        id: id.clone(),
        task: task.clone(),
        tests: (0..task.test.len()).collect(),
        score: Some(if id.as_str() == "aa" { 0.5 } else { 0.0 }),
        cost: 0.25,
        attempts: if id.as_str() == "aa" {
            vec![
                attempt(0, 1, Ok(&[vec![4], vec![3]])),
                attempt(0, 2, Ok(&[vec![4], vec![1]])),
                attempt(1, 1, Ok(&[vec![7]])),
                attempt(1, 2, Err("no grid")),
            ]
        } else {
            Vec::new()
        },
    });
    ArcReport {
        solver: hostile(),
        notices: vec![hostile()],
        facts: vec![
            ("Solver".to_owned(), hostile()),
            ("Folder".to_owned(), "a long value ".repeat(5)),
        ],
        average: None,
        costs_money: false,
        tasks: tasks.collect(),
        sets: vec![ArcSet {
            name: set.name.clone(),
            revision: set.revision(),
            score: Some(score),
        }],
    }
}

#[test]
fn arc_page_of_one_set() {
    insta::assert_snapshot!(page_outline(&arc_page(&arc_report()).unwrap()));
}

#[test]
fn arc_page_of_two_sets_without_solutions() {
    let mut report = arc_report();
    let unknown = ArcSet {
        name: hostile(),
        revision: "r".to_owned(),
        score: None,
    };
    report.costs_money = true;
    report.average = Some(0.125);
    report.tasks.truncate(1);
    report.tasks[0].score = None;
    report.tasks[0].attempts.clear();
    report.sets.push(unknown.clone());
    insta::assert_snapshot!(page_outline(&arc_page(&report).unwrap()));
    report.average = None;
    report.sets = vec![unknown];
    report.tasks.clear();
    insta::assert_snapshot!(
        "arc_page_without_scores",
        page_outline(&arc_page(&report).unwrap())
    );
}

#[test]
fn scene_of_a_task() {
    let report = arc_report();
    let ArcTask { task, attempts, .. } = &report.tasks[0];
    let attempts: Vec<SceneAttempt<'_>> = attempts
        .iter()
        .map(|one| SceneAttempt {
            test: one.test,
            attempt: one.attempt,
            grid: one.grid.as_ref().map_err(|_| HOSTILE),
        })
        .collect();
    insta::assert_snapshot!(page_outline(&scene_svg(&task_scene(task, &attempts), 8)));
}

#[test]
fn graph_page_of_two_levels() {
    let level = |number: u32| LevelGraph {
        title: format!("Level {number}"),
        facts: vec![("States", "12".to_owned()), ("Win", hostile())],
        notices: if number == 1 { vec![hostile()] } else { vec![] },
        picture: "<svg></svg>".to_owned(),
    };
    let page = graph_page(&GraphPage {
        game_id: hostile(),
        subtitle: hostile(),
        growth: Some(growth_plot(&[(1, 120, true), (2, 40_000, false)])),
        levels: vec![level(1), level(2)],
    });
    insta::assert_snapshot!(page_outline(&page));
}

#[test]
fn graph_picture_of_four_states() {
    let (graph, _) = gambler_graph();
    let picture = graph_picture(&GraphView {
        graph: &graph,
        is_dead: &|_| false,
        shortest_win: &[0, 1, 3],
        frames: &[Frame::filled(1), Frame::filled(2)],
    });
    insta::assert_snapshot!(page_outline(&picture.unwrap()));
}

#[test]
fn heat_page_of_two_environments() {
    let map = HeatMap {
        title: "Rules",
        note: "share of common rules",
        names: vec!["ab12-v1".to_owned(), hostile()],
        cells: vec![vec![None, Some(0.625)], vec![Some(0.25), None]],
    };
    insta::assert_snapshot!(page_outline(&heat_page(&[map], &[hostile()])));
}

#[test]
fn score_plot_in_dollars() {
    let svg = score_plot(&[(0.02, 1.0), (0.5, 0.0)], crate::CostUnit::UsDollars).unwrap();
    insta::assert_snapshot!(page_outline(&svg));
}

fn validated_game(game_id: &str) -> ValidatedGame {
    let evidence = |replay: Option<String>, last: Option<String>, frames: usize| EvidenceFigure {
        caption: hostile(),
        replay,
        actions: 3,
        last,
        frames: vec![Frame::filled(3); frames],
    };
    let finding = FindingItem {
        level: Some(2),
        verdict: RuleVerdict::Fail,
        text: hostile(),
        evidence: vec![
            evidence(Some(hostile()), Some("ACTION6 at 1, 2".to_owned()), 2),
            evidence(None, None, 1),
            evidence(None, None, 0),
        ],
    };
    let whole = FindingItem {
        level: None,
        verdict: RuleVerdict::Pass,
        text: "nothing was found".to_owned(),
        evidence: Vec::new(),
    };
    let rule = |group, name, verdict, findings| RuleSection {
        group,
        name,
        requirement: "No input makes the game stop.",
        verdict,
        summary: hostile(),
        findings,
    };
    ValidatedGame {
        game_id: game_id.to_owned(),
        verdict: EnvironmentVerdict::Fail,
        subtitle: hostile(),
        levels: vec![Frame::filled(1), Frame::filled(2)],
        rules: vec![
            rule("structure", "levels", RuleVerdict::Pass, vec![whole]),
            rule("robustness", "failures", RuleVerdict::Fail, vec![finding]),
            rule("robustness", "memory", RuleVerdict::Open, Vec::new()),
        ],
    }
}

#[test]
fn validation_page_of_one_and_of_two_games() {
    let page = |games| {
        let report = ValidationPage {
            software: hostile(),
            strict: true,
            games,
        };
        page_outline(&validation_page(&report).unwrap())
    };
    insta::assert_snapshot!(
        "validation_page_of_one_game",
        page(vec![validated_game("ab12-v1")])
    );
    let mut passing = validated_game(HOSTILE);
    passing.verdict = EnvironmentVerdict::Pass;
    passing.levels.clear();
    passing.rules.clear();
    insta::assert_snapshot!(
        "validation_page_of_two_games",
        page(vec![validated_game("ab12-v1"), passing])
    );
}

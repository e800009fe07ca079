#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::thread;

use proptest::prelude::*;
use rhae_solve::{Budget, Solution, solve_test};
use rhae_tasks::{Grid, Pair, SourceFile, Task, Test, load};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn source(path: &Path) -> SourceFile {
    SourceFile {
        name: path.display().to_string(),
        text: std::fs::read_to_string(path).unwrap(),
    }
}

/// Loads the tasks of the fixtures, one for each family of rules.
fn fixture_tasks() -> Vec<(String, Task)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root().join("fixtures/arc/solve"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let files: Vec<SourceFile> = paths.iter().map(|path| source(path)).collect();
    load(&files)
        .unwrap()
        .sets
        .remove(0)
        .tasks
        .into_iter()
        .map(|(id, task)| (id.to_string(), task))
        .collect()
}

fn small_budget() -> Budget {
    Budget {
        work: 60_000_000,
        ..Budget::default()
    }
}

fn never() -> bool {
    false
}

fn is_right(task: &Task, test: usize, solution: &Solution) -> bool {
    solution
        .attempts(2)
        .iter()
        .any(|answer| Some(&answer.grid) == task.test[test].output.as_ref())
}

#[test]
fn every_family_of_rules_is_solved() {
    let tasks = fixture_tasks();
    assert!(tasks.len() >= 11);
    let unsolved: Vec<String> = tasks
        .iter()
        .filter(|(_, task)| !is_right(task, 0, &solve_test(task, 0, &small_budget(), &never)))
        .map(|(name, _)| name.clone())
        .collect();
    assert!(unsolved.is_empty(), "not solved: {unsolved:?}");
}

#[test]
fn solutions_do_not_depend_on_threads() {
    let tasks: Vec<Task> = fixture_tasks()
        .into_iter()
        .take(4)
        .map(|(_, task)| task)
        .collect();
    let alone: Vec<Solution> = tasks
        .iter()
        .map(|task| solve_test(task, 0, &small_budget(), &never))
        .collect();
    let together: Vec<Solution> = thread::scope(|scope| {
        let running: Vec<_> = tasks
            .iter()
            .map(|task| scope.spawn(|| solve_test(task, 0, &small_budget(), &never)))
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(alone, together);
}

#[test]
fn cancelled_search_returns_an_answer() {
    for (_, task) in fixture_tasks() {
        let solution = solve_test(&task, 0, &Budget::default(), &|| true);
        assert!(!solution.answers.is_empty());
    }
}

#[test]
fn number_of_solved_public_tasks_does_not_decrease() {
    let Some(folder) = rhae_testkit::arc_data() else {
        return;
    };
    let files = ["challenges", "solutions"]
        .map(|kind| source(&folder.join(format!("arc-agi-1_training_{kind}.json"))));
    let set = load(&files).unwrap().sets.remove(0);
    let tasks: Vec<&Task> = set.tasks.values().step_by(10).collect();
    let (one, other) = tasks.split_at(tasks.len() / 2);
    let count = |tasks: &[&Task]| {
        tasks
            .iter()
            .filter(|task| is_right(task, 0, &solve_test(task, 0, &small_budget(), &never)))
            .count()
    };
    let solved = thread::scope(|scope| {
        let running = scope.spawn(|| count(one));
        count(other) + running.join().unwrap()
    });
    assert!(solved >= 14, "{solved} of {} tasks", tasks.len());
}

fn any_grid() -> impl Strategy<Value = Grid> {
    (1_usize..7, 1_usize..7).prop_flat_map(|(w, h)| {
        proptest::collection::vec(proptest::collection::vec(0_u8..10, w), h)
            .prop_map(|rows| Grid::new(&rows).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every task gets one or two distinct answers, the same in each run, within the budget.
    #[test]
    fn any_task_gets_answers(grids in proptest::collection::vec(any_grid(), 3..8)) {
        let train = grids.chunks_exact(2).map(|two| Pair { input: two[0].clone(), output: two[1].clone() }).collect();
        let task = Task { train, test: vec![Test { input: grids[0].clone(), output: None }] };
        let budget = Budget { work: 2_000_000, ..Budget::default() };
        let solution = solve_test(&task, 0, &budget, &never);
        prop_assert!((1..=2).contains(&solution.attempts(2).len()));
        if let [one, other] = solution.attempts(2) {
            prop_assert_ne!(&one.grid, &other.grid);
        }
        // The search completes its last step, which may exceed the budget.
        prop_assert!(solution.work < 4 * budget.work, "{}", solution.work);
        prop_assert_eq!(solve_test(&task, 0, &budget, &never), solution);
    }
}

//! Runs of the built-in agents, loaded complete, without scorecards, and with missing plays.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhae_analysis::{CompareOptions, compare, load_run, load_runs, replays};
use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_harness::{HarnessError, LocationRequest, RunRequest};
use rhae_protocol::AnalysedRun;

/// Runs an agent on two environments, twice each.
fn play(folder: &Path, agent: &str, seed: u64) -> PathBuf {
    let out = folder.join(format!("{agent}-{seed}"));
    let request = RunRequest {
        agent: agent.to_owned(),
        games: Some("kq19,ym39".to_owned()),
        seed,
        repeat: 2,
        out: Some(out.clone()),
        ..RunRequest::default()
    };
    let load = |_: &[PathBuf]| Ok::<_, HarnessError>(Arc::new(Builtin) as Arc<dyn Catalog>);
    let run = LocationRequest::default()
        .prepare(request, load)
        .expect("the request is valid");
    run.execute(&AtomicBool::new(false), &mut |_| {}, &|_| {})
        .expect("the run succeeds");
    out
}

fn scores(run: &AnalysedRun) -> Vec<Vec<f64>> {
    run.environments
        .iter()
        .map(|one| one.scores.clone())
        .collect()
}

#[test]
fn killed_run_is_scored_from_its_journal_and_missing_plays_count_as_zero() {
    let temp = tempfile::tempdir().unwrap();
    let folder = play(temp.path(), "explorer", 1);
    let complete = load_run(&folder, &Builtin).unwrap();
    assert_eq!((complete.missing, complete.finished), (0, true));
    assert!(complete.score.mean > 0.0);
    assert!(complete.behaviour.distinct_states.unwrap() > 10.0);
    assert!(complete.behaviour.excess_levels.unwrap() >= 1.0);

    for name in ["summary.json", "scorecard-1.json", "scorecard-2.json"] {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    let killed = load_run(&folder, &Builtin).unwrap();
    assert_eq!(scores(&killed), scores(&complete));

    // Without the lines of two plays, their environments have one score each, and 0 for the other.
    let journal = std::fs::read_to_string(folder.join("journal.jsonl")).unwrap();
    let kept: String = journal
        .lines()
        .filter(|line| !line.contains("\"repeat\":2") && !line.contains("\"finished\""))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(folder.join("journal.jsonl"), kept).unwrap();
    let partial = load_run(&folder, &Builtin).unwrap();
    assert_eq!((partial.missing, partial.finished), (2, false));
    for (environment, before) in partial.environments.iter().zip(&complete.environments) {
        assert_eq!(environment.scores, [before.scores[0], 0.0]);
        assert!(environment.levels.iter().all(|level| level.plays == 2));
    }
    let other = play(temp.path(), "random", 5);
    let runs = vec![partial, load_run(&other, &Builtin).unwrap()];
    let comparison = compare(runs, &CompareOptions::default()).unwrap();
    assert!(
        comparison
            .notes
            .iter()
            .any(|note| note == "explorer: 2 plays without a result, counted as 0."),
        "{:?}",
        comparison.notes
    );
}

#[test]
fn parts_of_a_difference_add_up_and_replays_are_paired() {
    let temp = tempfile::tempdir().unwrap();
    let folders = [
        play(temp.path(), "explorer", 1),
        play(temp.path(), "random", 1),
    ];
    let runs = load_runs(&folders, &Builtin).unwrap();
    let (films, notes) = replays(&runs, &Builtin);
    assert_eq!(notes, [""; 0]);
    let names: Vec<(&str, Vec<&str>)> = films
        .iter()
        .map(|one| {
            let labels = one.films.iter().map(|film| film.label.as_str()).collect();
            (one.id.as_str(), labels)
        })
        .collect();
    let both = vec!["explorer", "random"];
    assert_eq!(names, [("kq19-v1", both.clone()), ("ym39-v1", both)]);

    let pair = compare(runs, &CompareOptions::default()).unwrap().pair;
    let pair = pair.unwrap();
    let parts = pair.sources.unwrap();
    let sum = parts.levels_completed + parts.actions + parts.cap;
    assert!((sum - pair.difference).abs() < 1e-8, "{parts:?}");
    assert_eq!(
        parts.levels_only_a + parts.levels_only_b + parts.levels_both + parts.levels_neither,
        16
    );
}

#[test]
fn folder_without_a_run_is_named_in_the_error() {
    let temp = tempfile::tempdir().unwrap();
    let error = load_run(temp.path(), &Builtin).unwrap_err().to_string();
    assert!(error.contains("is not a run folder"), "{error}");
}

//! `rhae compare` and `rhae report`, checked against computations from the files of the runs.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::rhae::rhae;

/// Runs an agent on all built-in environments, or on the named ones.
fn play(folder: &Path, out: &str, flags: &[&str]) {
    let arguments = [&["run", "--out", out, "--jobs", "2"], flags].concat();
    rhae(folder, &arguments).succeeded();
}

/// Returns the ids of the environments with the mean over the scorecards of a run.
fn card_means(folder: &Path, run: &str) -> Vec<(String, f64)> {
    let mut sums: Vec<(String, f64, f64)> = Vec::new();
    for entry in fs::read_dir(folder.join(run)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("scorecard") {
            continue;
        }
        let card: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        for environment in card["environments"].as_array().unwrap() {
            let id = environment["id"].as_str().unwrap();
            let score = environment["score"].as_f64().unwrap();
            match sums.iter_mut().find(|(known, _, _)| known == id) {
                Some((_, sum, count)) => (*sum, *count) = (*sum + score, *count + 1.0),
                None => sums.push((id.to_owned(), score, 1.0)),
            }
        }
    }
    let mean = |(id, sum, count): (String, f64, f64)| (id, sum / count);
    sums.into_iter().map(mean).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the p-value by enumerating all sign patterns.
fn sign_flips(differences: &[f64]) -> f64 {
    let observed = differences.iter().sum::<f64>().abs();
    let patterns = 1_u32 << differences.len();
    let hits = (0..patterns).filter(|pattern| {
        let signed = differences.iter().enumerate();
        let signed = signed.map(|(at, one)| if pattern >> at & 1 == 1 { -one } else { *one });
        signed.sum::<f64>().abs() >= observed - 1e-9
    });
    hits.count() as f64 / f64::from(patterns)
}

/// Returns the 2.5 % and the 97.5 % quantile of the mean by enumerating all resamples.
fn resampled(values: &[f64]) -> [f64; 2] {
    let count = values.len();
    let mut means: Vec<f64> = (0..count.pow(count as u32))
        .map(|mut code| {
            let mut sum = 0.0;
            for _ in 0..count {
                sum += values[code % count];
                code /= count;
            }
            sum / count as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    [0.025, 0.975].map(|share| means[(share * means.len() as f64).ceil() as usize - 1])
}

fn assert_near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!(
        (found - expected).abs() < 1e-8,
        "{found} instead of {expected}"
    );
}

#[test]
fn two_runs_match_an_independent_computation() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    // The independent computation enumerates all resamples, so it needs few environments.
    let games = ["--games", "kq19,ny40,ym39,bx20,hk26,pz19"];
    play(folder, "explorer", &[&games[..], &["--seed", "1"]].concat());
    let random = ["--agent", "random", "--seed", "2"];
    play(folder, "random", &[&games[..], &random].concat());
    let document = rhae(folder, &["compare", "explorer", "random", "--json"])
        .succeeded()
        .json();
    let (a, b) = (card_means(folder, "explorer"), card_means(folder, "random"));
    assert_eq!(a.len(), 6);
    let environments = document["environments"].as_array().unwrap();
    assert_eq!(environments.len(), 6);
    for ((environment, (id, score_a)), (_, score_b)) in environments.iter().zip(&a).zip(&b) {
        assert_eq!(environment["id"], **id);
        assert_near(&environment["a"], *score_a);
        assert_near(&environment["b"], *score_b);
    }
    let scores = |all: &[(String, f64)]| all.iter().map(|one| one.1).collect::<Vec<f64>>();
    let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a.1 - b.1).collect();
    assert_near(&document["mean_a"], mean(&scores(&a)));
    assert_near(&document["mean_b"], mean(&scores(&b)));
    assert_near(&document["difference"], mean(&differences));
    assert_near(&document["p"], sign_flips(&differences));
    assert_eq!(document["p_method"], "exact-sign-flip");
    let [low, high] = resampled(&differences);
    assert_near(&document["interval"][0], low);
    assert_near(&document["interval"][1], high);
    assert_eq!(document["interval_method"], "exact-bootstrap");
    let [low, high] = resampled(&scores(&a));
    let score = &document["runs"][0]["score"];
    assert_near(&score["interval"][0], low);
    assert_near(&score["interval"][1], high);
    assert!(low >= 0.0 && high <= 100.0);

    let text = rhae(folder, &["compare", "explorer", "random"]).succeeded();
    assert!(
        text.out.contains("A: explorer\nB: random\n"),
        "{}",
        text.out
    );
    let csv = rhae(folder, &["compare", "explorer", "random", "--csv"]).succeeded();
    assert_eq!(csv.out.lines().count(), 1 + 6 * (1 + 8));
    rhae(folder, &["compare", "explorer"]).failed_with("2 values required");
}

#[test]
fn repeats_are_averaged_and_three_runs_have_pairs() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let games = ["--games", "kq19,ym39", "--agent", "random"];
    for (out, seed) in [("one", "1"), ("two", "4"), ("three", "7")] {
        play(
            folder,
            out,
            &[&games[..], &["--repeat", "3", "--seed", seed]].concat(),
        );
    }
    let document = rhae(folder, &["compare", "one", "two", "three", "--json"])
        .succeeded()
        .json();
    let pairs = document["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 3);
    assert_eq!(document.get("mean_a"), None);
    let (one, three) = (card_means(folder, "one"), card_means(folder, "three"));
    let pair = &pairs[1];
    assert_eq!(
        (&pair["run_a"], &pair["run_b"]),
        (&"random, seed 1".into(), &"random, seed 7".into())
    );
    assert_near(
        &pair["mean_a"],
        mean(&one.iter().map(|one| one.1).collect::<Vec<_>>()),
    );
    assert_near(
        &pair["mean_b"],
        mean(&three.iter().map(|one| one.1).collect::<Vec<_>>()),
    );
    for pair in pairs {
        assert!(pair["p_holm"].as_f64().unwrap() >= pair["p"].as_f64().unwrap());
        assert_eq!(pair["environments"][0]["repeats_a"], 3);
    }
}

#[test]
fn incomparable_runs_are_refused_unless_forced() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let games = ["--games", "kq19,ym39"];
    play(folder, "five", &games);
    play(folder, "short", &[&games[..], &["--budget", "30"]].concat());
    play(
        folder,
        "draft",
        &[&games[..], &["--method", "draft-2025"]].concat(),
    );
    rhae(folder, &["compare", "five", "short"])
        .failed_with("budget: 5x in `explorer, seed 0, five`");
    rhae(folder, &["compare", "five", "draft"]).failed_with("add --force");
    let forced = rhae(folder, &["compare", "five", "draft", "--force"]).succeeded();
    assert!(forced.out.starts_with("FORCED"), "{}", forced.out);
    let document = rhae(folder, &["compare", "five", "draft", "--force", "--json"]).json();
    assert_eq!(document["forced"].as_array().unwrap().len(), 1);

    // Another baseline revision.
    let path = folder.join("short/scorecard.json");
    let card = fs::read_to_string(&path).unwrap();
    let changed = card.replace("\"solver\"", "\"humans\"");
    assert_ne!(card, changed);
    fs::write(&path, changed).unwrap();
    rhae(folder, &["compare", "five", "short"]).failed_with("baselines of kq19-v1");
    rhae(folder, &["compare", "five", "nothing"]).failed_with("is not a run folder");
}

#[test]
fn generalisation_gap_is_tested_over_all_divisions() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    play(folder, "explorer", &["--seed", "1"]);
    play(folder, "random", &["--agent", "random"]);
    let sets = ["--seen", "kq19,ym39", "--unseen", "ny40,bx20,hk26,pz19"];
    let document = rhae(
        folder,
        &[&["compare", "explorer", "random", "--json"], &sets[..]].concat(),
    )
    .succeeded()
    .json();
    let scores = card_means(folder, "explorer");
    let is_seen = |id: &str| id.starts_with("kq19") || id.starts_with("ym39");
    let gap = |chosen: &dyn Fn(usize) -> bool| {
        let (seen, unseen): (Vec<_>, Vec<_>) = (0..6).partition(|&at| chosen(at));
        let mean_of = |all: &[usize]| mean(&all.iter().map(|&at| scores[at].1).collect::<Vec<_>>());
        mean_of(&seen) - mean_of(&unseen)
    };
    let observed = gap(&|at| is_seen(&scores[at].0));
    let divisions: Vec<u32> = (0_u32..64).filter(|bits| bits.count_ones() == 2).collect();
    let hits = divisions
        .iter()
        .filter(|&&bits| gap(&|at| bits >> at & 1 == 1).abs() >= observed.abs() - 1e-9)
        .count();
    let found = &document["generalisation"]["runs"][0];
    assert_near(&found["gap"], observed);
    assert_near(&found["p"], hits as f64 / divisions.len() as f64);
    assert_eq!(found["p_method"], "exact-permutation");
    rhae(folder, &["compare", "explorer", "random", "--seen", "zz99"])
        .failed_with("`zz99` in --seen");
}

#[test]
fn page_and_report_formats_are_written() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let games = ["--games", "kq19,ym39"];
    play(
        folder,
        "explorer",
        &[&games[..], &["--name", "first & best"]].concat(),
    );
    play(
        folder,
        "random",
        &[&games[..], &["--agent", "random"]].concat(),
    );
    rhae(
        folder,
        &["compare", "explorer", "random", "--html", "page.html"],
    )
    .succeeded();
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert_eq!(page.matches("<rhae-duo><script ").count(), 2);
    assert!(page.contains("first &#38; best against random"));
    assert!(page.contains("Blind Squirrel") && page.contains("2025-08-19"));
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org").count()
    );

    let report = |flags: &[&str]| {
        rhae(folder, &[&["report", "explorer", "random"], flags].concat())
            .succeeded()
            .out
    };
    let markdown = report(&[]);
    assert!(
        markdown.starts_with("| System | Score % | 95 % interval | n |"),
        "{markdown}"
    );
    assert!(markdown.contains("| StochasticGoose (Tufa Labs) | 12.58 |"));
    assert!(
        markdown.contains("first & best ") && markdown.contains(" %: between “0%: AI never"),
        "{markdown}"
    );
    assert!(report(&["--format", "latex"]).contains("first \\& best & "));
    assert_eq!(report(&["--format", "csv"]).lines().count(), 1 + 2 + 6);
    assert!(report(&["--format", "svg"]).starts_with("<svg xmlns="));
    rhae(
        folder,
        &[
            "report",
            "random",
            "--format",
            "latex",
            "--out",
            "table.tex",
        ],
    )
    .succeeded();
    assert!(
        fs::read_to_string(folder.join("table.tex"))
            .unwrap()
            .contains("\\begin{tabular}")
    );
    rhae(folder, &["report", "nothing"]).failed_with("is not a run folder");
}

#[test]
fn evaluations_of_static_tasks_are_compared_task_by_task() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let pair = |input: &str, output: &str| format!(r#"{{"input": {input}, "output": {output}}}"#);
    let task = |test: &str| {
        let train = [
            pair("[[1, 2]]", "[[2, 1]]"),
            pair("[[3, 4, 5]]", "[[5, 4, 3]]"),
        ]
        .join(", ");
        format!(r#"{{"train": [{train}], "test": [{test}]}}"#)
    };
    let flip = task(&pair("[[6, 7, 8]]", "[[8, 7, 6]]"));
    let odd = task(&pair("[[6, 7, 8]]", "[[1, 1, 1, 9]]"));
    fs::write(
        folder.join("tasks.json"),
        format!(r#"{{"flip0001": {flip}, "odd00002": {odd}}}"#),
    )
    .unwrap();
    for (solver, out) in [("search", "search"), ("random", "guess")] {
        let arguments = [
            "arc",
            "eval",
            "--solver",
            solver,
            "--data",
            "tasks.json",
            "--out",
            out,
        ];
        rhae(folder, &arguments).succeeded();
    }
    let document = rhae(folder, &["compare", "search", "guess", "--json"])
        .succeeded()
        .json();
    let environments = document["environments"].as_array().unwrap();
    assert_eq!(environments.len(), 2);
    assert_eq!(environments[0]["id"], "flip0001");
    assert_eq!(
        (&environments[0]["a"], &environments[0]["b"]),
        (&100.0.into(), &0.0.into())
    );
    assert_eq!(
        (&document["mean_a"], &document["p"]),
        (&50.0.into(), &1.0.into())
    );
    assert_eq!(document["runs"][0]["kind"], "evaluation");
    rhae(
        folder,
        &["compare", "search", "guess", "--html", "page.html"],
    )
    .succeeded();
    let report = rhae(folder, &["report", "search"]).succeeded().out;
    assert!(
        report.contains("Arcgentica") && report.contains("85.28"),
        "{report}"
    );

    play(folder, "plays", &["--games", "kq19"]);
    rhae(folder, &["compare", "search", "plays"]).failed_with("kind of run");
    rhae(folder, &["compare", "search", "plays", "--force"])
        .failed_with("no environment in common");
}

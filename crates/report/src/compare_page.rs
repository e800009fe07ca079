//! The HTML page of a comparison of runs: tables, plots, and replays of the same environments next to
//! each other.
//!
//! Invariant: everything that qualifies the numbers (a forced comparison, missing plays, provisional
//! baselines) is above them, and every mean is next to its interval.

use askama::Template;
use rhae_protocol::{
    AnalysedRun, EnvironmentDifference, GeneralisationGap, PairComparison, PublishedResult,
    RunComparison, RunKind,
};

use crate::html::{Fact, render};
use crate::level_curves::{completion_curves, learning_plot};
use crate::level_plots::{compared_actions_plot, level_heat_map};
use crate::result::grouped;
use crate::run_marks::{MARKS, shape};
use crate::{Film, frontier_plot, player_data};

/// The style sheet of the page, in addition to that of all pages.
const STYLE: &str = include_str!("../assets/compare.css");
/// The script of the replays.
const SCRIPT: &str = include_str!("../assets/duo.js");

/// The plays of one environment by several runs.
#[derive(Clone, Debug)]
pub struct EnvironmentReplays {
    /// The id of the environment with its version.
    pub id: String,
    pub films: Vec<RunFilm>,
}

/// The play of one run.
#[derive(Clone, Debug)]
pub struct RunFilm {
    /// The label of the run.
    pub label: String,
    pub film: Film,
}

/// Returns the comparison as a self-contained HTML page. `published` are results of others, for
/// orientation.
pub fn compare_page(
    comparison: &RunComparison,
    replays: &[EnvironmentReplays],
    published: &[PublishedResult],
) -> String {
    let runs = &comparison.runs;
    let is_evaluation = runs.iter().any(|run| run.kind == RunKind::Evaluation);
    render(&Page {
        comparison,
        title: title(runs),
        unit: if is_evaluation { "task" } else { "environment" },
        facts: facts(runs),
        runs: runs
            .iter()
            .enumerate()
            .map(|(at, run)| RunRow::new(at, run))
            .collect(),
        has_behaviour: runs.iter().any(|run| run.behaviour.actions.is_some()),
        has_tokens: runs.iter().any(|run| run.input_tokens.is_some()),
        has_cap: comparison.all_pairs().any(|pair| {
            let sources = pair.sources.as_ref();
            sources.is_some_and(|sources| signed(sources.cap) != signed(0.0))
        }),
        pairs: comparison.all_pairs().collect(),
        gaps: gaps(comparison),
        frontier: frontier_plot(runs),
        heat: (!is_evaluation).then(|| level_heat_map(runs)),
        actions: compared_actions_plot(runs),
        completion: (!is_evaluation).then(|| completion_curves(runs)),
        learning: learning_plot(runs),
        published,
        replays,
    })
}

#[derive(Template)]
#[template(path = "compare.html")]
struct Page<'a> {
    comparison: &'a RunComparison,
    title: String,
    /// `environment` or `task`.
    unit: &'static str,
    facts: Vec<Fact<'static>>,
    runs: Vec<RunRow<'a>>,
    has_behaviour: bool,
    has_tokens: bool,
    /// Whether a part of a difference comes from the cap on scores.
    has_cap: bool,
    pairs: Vec<&'a PairComparison>,
    gaps: Vec<&'a GeneralisationGap>,
    /// SVG.
    frontier: String,
    heat: Option<String>,
    actions: Option<String>,
    completion: Option<String>,
    learning: Option<String>,
    published: &'a [PublishedResult],
    replays: &'a [EnvironmentReplays],
}

impl Page<'_> {
    /// Formats a difference with its sign.
    fn signed(&self, value: &f64) -> String {
        signed(*value)
    }

    fn p(&self, value: &f64) -> String {
        p_text(*value)
    }

    /// Returns the position and the width of the bar of a difference, in percent of the column, whose
    /// middle is 0.
    fn bar(&self, pair: &PairComparison, environment: &EnvironmentDifference) -> [f64; 2] {
        let all = pair.environments.iter().map(|one| one.difference.abs());
        let greatest = all.fold(0.0, f64::max);
        let width = if greatest > 0.0 {
            50.0 * environment.difference.abs() / greatest
        } else {
            0.0
        };
        let start = if environment.difference < 0.0 {
            50.0 - width
        } else {
            50.0
        };
        [start, width]
    }

    /// Returns the number of completed levels of an environment, as a mean over the repeats.
    fn levels(&self, environment: &EnvironmentDifference, is_first: bool) -> String {
        let (completed, repeats) = if is_first {
            let counts = environment.levels.iter().map(|level| level.completed_a);
            (counts.sum::<usize>(), environment.repeats_a)
        } else {
            let counts = environment.levels.iter().map(|level| level.completed_b);
            (counts.sum::<usize>(), environment.repeats_b)
        };
        number(completed as f64 / repeats.max(1) as f64, repeats)
    }

    /// Splits a sentence into text and the code between back-ticks.
    fn parts<'t>(&self, sentence: &'t str) -> Vec<(bool, &'t str)> {
        let parts = sentence.split('`').enumerate();
        parts.map(|(at, part)| (at % 2 == 1, part)).collect()
    }

    fn data(&self, film: &RunFilm) -> String {
        player_data(&film.film)
    }
}

/// One run in the table of runs.
struct RunRow<'a> {
    run: &'a AnalysedRun,
    /// The number of its mark.
    mark: usize,
    /// The outline of its mark.
    shape: String,
    n: String,
    rank: String,
    levels: String,
    actions: String,
    excess: String,
    states: String,
    deaths: String,
    resets: String,
    time: String,
    tokens: String,
    cost: String,
}

impl<'a> RunRow<'a> {
    fn new(at: usize, run: &'a AnalysedRun) -> Self {
        let dash = || "–".to_owned();
        let repeats = run.repeats;
        let optional = |value: Option<f64>| value.map_or_else(dash, |value| number(value, repeats));
        let behaviour = &run.behaviour;
        let excess = behaviour.excess_actions.zip(behaviour.excess_levels);
        let tokens = run.input_tokens.zip(run.output_tokens);
        Self {
            run,
            mark: at % MARKS,
            shape: shape(at, 7.0, 7.0),
            n: if repeats > 1 {
                format!("{} × {repeats}", run.score.environments)
            } else {
                run.score.environments.to_string()
            },
            rank: run.rank.map_or_else(dash, |rank| {
                if rank.best == rank.worst {
                    rank.rank.to_string()
                } else {
                    format!("{} ({}–{})", rank.rank, rank.best, rank.worst)
                }
            }),
            levels: format!("{} / {}", number(run.levels_completed, repeats), run.levels),
            actions: optional(behaviour.actions),
            excess: excess.map_or_else(dash, |(actions, levels)| {
                format!(
                    "{} on {}",
                    number(actions, repeats),
                    number(levels, repeats)
                )
            }),
            states: optional(behaviour.distinct_states),
            deaths: optional(behaviour.deaths),
            resets: optional(behaviour.resets),
            time: run.seconds.map_or_else(dash, |seconds| match seconds {
                ..10.0 => format!("{seconds:.2} s"),
                _ => format!("{seconds:.0} s"),
            }),
            tokens: tokens.map_or_else(dash, |(input, output)| {
                format!("{} / {}", grouped(input as u64), grouped(output as u64))
            }),
            cost: match run.cost_usd {
                None => "unknown".to_owned(),
                Some(0.0) => "$0".to_owned(),
                Some(usd) => format!("${usd:.4}"),
            },
        }
    }
}

/// Formats a count, or a mean over several repeats with one decimal.
fn number(value: f64, repeats: usize) -> String {
    if repeats > 1 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// Formats a difference in points with its sign.
pub(crate) fn signed(value: f64) -> String {
    let text = format!("{value:+.2}");
    if text == "-0.00" || text == "+0.00" {
        return "0.00".to_owned();
    }
    text.replace('-', "−")
}

/// Formats a p-value.
pub(crate) fn p_text(p: f64) -> String {
    if p < 0.0001 {
        "< 0.0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}

fn title(runs: &[AnalysedRun]) -> String {
    let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    match labels[..] {
        [one, other] => format!("{one} against {other}"),
        _ => format!("Comparison of {} runs", labels.len()),
    }
}

fn gaps(comparison: &RunComparison) -> Vec<&GeneralisationGap> {
    let gaps = comparison.generalisation.iter();
    gaps.flat_map(|one| one.runs.iter().chain(&one.pairs))
        .collect()
}

/// Returns the facts that the runs share, or all their values.
fn facts(runs: &[AnalysedRun]) -> Vec<Fact<'static>> {
    let all = |value: &dyn Fn(&AnalysedRun) -> Option<String>| {
        let mut values: Vec<String> = runs.iter().filter_map(value).collect();
        values.dedup();
        values.join(", ")
    };
    let day = |run: &AnalysedRun| {
        let time = run.started_ms.map(rhae_protocol::rfc3339_utc)?;
        Some(time.chars().take(10).collect())
    };
    let facts = [
        ("Method", all(&|run| Some(run.method.clone()))),
        ("Budget", all(&|run| run.budget.clone())),
        ("Repeats", all(&|run| Some(run.repeats.to_string()))),
        (
            "Agent seeds",
            all(&|run| run.seed.map(|seed| seed.to_string())),
        ),
        ("Date", all(&day)),
        ("Software", all(&|run| Some(run.software.clone()))),
    ];
    let fact = |(name, value): (&'static str, String)| Fact {
        name,
        value,
        is_line: false,
        is_code: false,
    };
    facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(fact)
        .collect()
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{DifferenceSources, Generalisation, RunRank};
    use rhae_testkit::page_outline;

    use super::*;
    use crate::film::tests::walking_square;
    use crate::level_plots::tests::run;

    fn pair(a: &str, b: &str) -> PairComparison {
        PairComparison {
            run_a: a.to_owned(),
            run_b: b.to_owned(),
            mean_a: 12.75,
            mean_b: 7.375,
            difference: 5.375,
            p: 0.09375,
            p_method: "exact-sign-flip".to_owned(),
            differing: 6,
            interval: [0.75, 11.5],
            interval_method: "exact-bootstrap".to_owned(),
            sources: Some(DifferenceSources {
                levels_completed: 4.0,
                actions: 1.375,
                ..DifferenceSources::default()
            }),
            environments: vec![
                EnvironmentDifference {
                    id: "<b>12-v1".to_owned(),
                    a: 12.0,
                    b: 10.0,
                    difference: 2.0,
                    repeats_a: 2,
                    repeats_b: 2,
                    ..EnvironmentDifference::default()
                },
                EnvironmentDifference {
                    id: "cd34-v1".to_owned(),
                    a: 0.0,
                    b: 3.0,
                    difference: -3.0,
                    ..EnvironmentDifference::default()
                },
            ],
            ..PairComparison::default()
        }
    }

    fn comparison() -> RunComparison {
        let mut runs = vec![run("<i>a", 2, 20), run("b", 1, 30)];
        runs[0].rank = Some(RunRank {
            rank: 1,
            best: 1,
            worst: 2,
            chance_of_first: 0.9925,
        });
        runs[0].interpretation = Some("“0%: never”".to_owned());
        RunComparison {
            version: 1,
            notes: vec!["A <note>.".to_owned()],
            pair: Some(pair("<i>a", "b")),
            runs,
            ..RunComparison::default()
        }
    }

    #[test]
    fn page_of_two_runs_with_replays() {
        let replays = [EnvironmentReplays {
            id: "<b>12-v1".to_owned(),
            films: ["<i>a", "b"]
                .map(|label| RunFilm {
                    label: label.to_owned(),
                    film: walking_square(2),
                })
                .to_vec(),
        }];
        let page = compare_page(&comparison(), &replays, &[]);
        assert!(!page.contains("<i>a") && !page.contains("<b>12"));
        assert!(!page.contains("NaN"));
        insta::assert_snapshot!(page_outline(&page));
    }

    #[test]
    fn page_of_a_forced_comparison_of_three_runs_with_sets() {
        let mut comparison = comparison();
        comparison.forced = vec!["budget: <5x>".to_owned()];
        comparison.runs.push(run("c", 0, 5));
        comparison.pair = None;
        comparison.pairs = vec![pair("<i>a", "b"), pair("<i>a", "c")];
        for pair in &mut comparison.pairs {
            pair.p_holm = Some(0.1875);
        }
        comparison.generalisation = Some(Generalisation {
            seen: vec!["ab12-v1".to_owned()],
            unseen: vec!["cd34-v1".to_owned()],
            runs: vec![GeneralisationGap {
                label: "<i>a".to_owned(),
                p: 0.1,
                ..GeneralisationGap::default()
            }],
            pairs: Vec::new(),
        });
        let published = [PublishedResult {
            system: "<u>".to_owned(),
            score: 12.58,
            ..PublishedResult::default()
        }];
        let page = compare_page(&comparison, &[], &published);
        assert!(!page.contains("<i>a") && !page.contains("<u>"));
        insta::assert_snapshot!(page_outline(&page));
    }

    #[test]
    fn differences_have_signs_and_small_p_values_are_bounded() {
        assert_eq!([1.0, -0.5, 0.001].map(signed), ["+1.00", "−0.50", "0.00"]);
        assert_eq!(
            [0.09375, 1.0, 1e-9].map(p_text),
            ["0.0938", "1.0000", "< 0.0001"]
        );
    }
}

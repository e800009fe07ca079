//! The comparison of runs as text for a terminal.
//!
//! The text contains labels of runs, which are external. Callers pass it through [`plain`](crate::plain)
//! before they print it.

use std::fmt::Write as _;

use rhae_protocol::{AnalysedRun, GeneralisationGap, PairComparison, RunComparison, RunKind};

use crate::compare_page::{p_text, signed};
use crate::run_marks::shortened;
use crate::wrap_text;

/// Formats a comparison: the runs, each pair, and the notes, in lines of about `width` columns.
pub fn comparison_text(comparison: &RunComparison, width: usize) -> String {
    let mut text = String::new();
    if !comparison.forced.is_empty() {
        text.push_str("FORCED: these runs are not comparable.\n");
        for reason in &comparison.forced {
            let _ = writeln!(text, "  {reason}");
        }
        text.push('\n');
    }
    let is_evaluation = comparison
        .runs
        .iter()
        .any(|run| run.kind == RunKind::Evaluation);
    let nouns = if is_evaluation {
        ["task", "tests"]
    } else {
        ["environment", "levels"]
    };
    text += &runs_table(&comparison.runs, nouns[1]);
    for run in &comparison.runs {
        if let Some(interpretation) = &run.interpretation {
            text.push('\n');
            text += &wrapped(
                &format!("{}, {:.2} %: {interpretation}", run.label, run.score.mean),
                width,
            );
        }
    }
    for pair in comparison.all_pairs() {
        text.push('\n');
        text += &pair_text(pair, comparison.pair.is_some().then_some(nouns), width);
    }
    if let Some(found) = &comparison.generalisation {
        text.push_str("\nGeneralisation gap: seen − unseen, in points\n");
        for gap in found.runs.iter().chain(&found.pairs) {
            text += &wrapped(&gap_text(gap, found.seen.len(), found.unseen.len()), width);
        }
    }
    for note in &comparison.notes {
        text.push('\n');
        text += &wrapped(note, width);
    }
    text
}

/// Breaks a paragraph into lines.
fn wrapped(paragraph: &str, width: usize) -> String {
    let lines = wrap_text(paragraph, width.max(40));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn runs_table(runs: &[AnalysedRun], levels: &str) -> String {
    let widest = runs.iter().map(|run| run.label.chars().count()).max();
    let name = widest.unwrap_or(0).clamp(3, 32);
    let has_cost = runs.iter().any(|run| run.cost_usd != Some(0.0));
    let mut text = format!(
        "{:<name$}  score %   95 % interval      n  {levels:<9}  actions  rank",
        "run"
    );
    if has_cost {
        text.push_str("       cost USD  tokens in/out");
    }
    text.push('\n');
    for run in runs {
        let [low, high] = run.score.interval;
        let n = if run.repeats > 1 {
            format!("{}×{}", run.score.environments, run.repeats)
        } else {
            run.score.environments.to_string()
        };
        let actions = run
            .behaviour
            .actions
            .map_or_else(|| "–".to_owned(), |n| format!("{n:.1}"));
        let rank = run.rank.map_or_else(String::new, |rank| {
            format!("{} ({}–{})", rank.rank, rank.best, rank.worst)
        });
        let levels = format!("{:.1}/{}", run.levels_completed, run.levels);
        let interval = format!("{low:.2} to {high:.2}");
        let mut line = format!(
            "{:<name$}  {:>7.2}   {interval:<14}  {n:>4}  {levels:<9}  {actions:>7}  {rank:<9}",
            shortened(&run.label, name),
            run.score.mean,
        );
        if has_cost {
            let cost = run
                .cost_usd
                .map_or_else(|| "unknown".to_owned(), |usd| format!("{usd:.4}"));
            let tokens = run.input_tokens.zip(run.output_tokens);
            let tokens = tokens.map_or_else(|| "–".to_owned(), |(i, o)| format!("{i:.0}/{o:.0}"));
            let _ = write!(line, "  {cost:>8}  {tokens}");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Formats a pair, with a table of its environments if `nouns` names them and their levels.
fn pair_text(pair: &PairComparison, nouns: Option<[&str; 2]>, width: usize) -> String {
    let mut text = format!("A: {}\nB: {}\n", pair.run_a, pair.run_b);
    if let Some(nouns) = nouns {
        text += &environments_table(pair, nouns);
    }
    let [low, high] = pair.interval;
    let _ = writeln!(
        text,
        "A − B = {} points, 95 % interval {} to {} ({}, n = {})",
        signed(pair.difference),
        signed(low),
        signed(high),
        pair.interval_method,
        pair.environments.len()
    );
    let holm = pair.p_holm.map_or_else(String::new, |p| {
        format!(", {} after Holm's correction", p_text(p))
    });
    let _ = writeln!(
        text,
        "p = {}{holm} ({}, {} of {} differ)",
        p_text(pair.p),
        pair.p_method,
        pair.differing,
        pair.environments.len()
    );
    if let Some(sources) = &pair.sources {
        let cap = if sources.cap == 0.0 {
            String::new()
        } else {
            format!(
                ", the rest from the cap on scores ({})",
                signed(sources.cap)
            )
        };
        let parts = format!(
            "The difference comes from completed levels ({}) and from actions on completed levels ({}){cap}. Levels completed only by A: {}, only by B: {}, by both: {}, by neither: {}.",
            signed(sources.levels_completed),
            signed(sources.actions),
            sources.levels_only_a,
            sources.levels_only_b,
            sources.levels_both,
            sources.levels_neither
        );
        text += &wrapped(&parts, width);
    }
    text
}

fn environments_table(pair: &PairComparison, [one, levels]: [&str; 2]) -> String {
    let widest = pair
        .environments
        .iter()
        .map(|one| one.id.chars().count())
        .max();
    let name = widest.unwrap_or(0).clamp(11, 40);
    let [levels_a, levels_b] = ["A", "B"].map(|run| format!("{levels} {run}"));
    let mut text =
        format!("{one:<name$}      A %      B %    A − B  {levels_a:>8}  {levels_b:>8}\n");
    for one in &pair.environments {
        let share = |completed: usize, repeats: usize| completed as f64 / repeats.max(1) as f64;
        let completed_a = one.levels.iter().map(|level| level.completed_a).sum();
        let completed_b = one.levels.iter().map(|level| level.completed_b).sum();
        let _ = writeln!(
            text,
            "{:<name$}  {:>7.2}  {:>7.2}  {:>7}  {:>8.1}  {:>8.1}",
            shortened(&one.id, name),
            one.a,
            one.b,
            signed(one.difference),
            share(completed_a, one.repeats_a),
            share(completed_b, one.repeats_b)
        );
    }
    let _ = writeln!(
        text,
        "{:<name$}  {:>7.2}  {:>7.2}  {:>7}",
        "mean",
        pair.mean_a,
        pair.mean_b,
        signed(pair.difference)
    );
    text
}

fn gap_text(gap: &GeneralisationGap, seen: usize, unseen: usize) -> String {
    format!(
        "{}: {} (seen {:.2} [{:.2} to {:.2}], n = {seen}; unseen {:.2} [{:.2} to {:.2}], n = {unseen}), p = {} ({})",
        gap.label,
        signed(gap.gap),
        gap.mean_seen,
        gap.interval_seen[0],
        gap.interval_seen[1],
        gap.mean_unseen,
        gap.interval_unseen[0],
        gap.interval_unseen[1],
        p_text(gap.p),
        gap.p_method
    )
}

#[cfg(test)]
mod tests {
    use rhae_protocol::EnvironmentDifference;

    use super::*;
    use crate::level_plots::tests::run;

    #[test]
    fn text_shows_every_number_with_its_interval_or_count() {
        let pair = PairComparison {
            run_a: "a".to_owned(),
            run_b: "b".to_owned(),
            mean_a: 12.75,
            mean_b: 7.375,
            difference: 5.375,
            p: 0.09375,
            p_method: "exact-sign-flip".to_owned(),
            differing: 1,
            interval: [0.75, 11.5],
            interval_method: "exact-bootstrap".to_owned(),
            environments: vec![EnvironmentDifference {
                id: "ab12-v1".to_owned(),
                a: 12.75,
                b: 7.375,
                difference: 5.375,
                repeats_a: 2,
                repeats_b: 2,
                ..EnvironmentDifference::default()
            }],
            ..PairComparison::default()
        };
        let comparison = RunComparison {
            forced: vec!["budget: 5x in `a`, none in `b`".to_owned()],
            notes: vec!["A note.".to_owned()],
            pair: Some(pair),
            runs: vec![run("a", 2, 20), run("b", 1, 30)],
            ..RunComparison::default()
        };
        insta::assert_snapshot!(comparison_text(&comparison, 80));
    }
}

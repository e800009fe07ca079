//! The summary printed after a human play: levels, actions compared with baselines, and the score.

use std::fmt::Write;

use rhae_engine::GameInfo;
use rhae_protocol::{RunOutcome, RunScore};
use rhae_report::{PROVISIONAL_BASELINES_NOTE, counted, wrap_text};
use rhae_scoring::{LevelCount, LevelResult, Method, score_game};
use rhae_session::{CardMetadata, EnvironmentRuns, scorecard};

/// Formats the summary of a play. Of several runs it shows the best, which is the one that is
/// scored. The note on baselines is wrapped to `width` columns.
pub(crate) fn summary(
    info: &GameInfo,
    seed: u64,
    levels: usize,
    runs: &[RunOutcome],
    width: usize,
) -> String {
    let method = Method::DEFAULT;
    let runs = runs
        .iter()
        .map(|run| (String::new(), run.clone()))
        .collect();
    let card = scorecard(
        CardMetadata::default(),
        method,
        &[EnvironmentRuns {
            info: info.clone(),
            runs,
        }],
    );
    let environment = card
        .environments
        .first()
        .expect("the card has the environment it was created from");
    let best = environment.runs.iter().rev().max_by(|a, b| {
        a.score
            .total_cmp(&b.score)
            .then(a.levels_completed.cmp(&b.levels_completed))
    });
    let best = best.expect("an environment on a card has at least one run");

    let actions = counted(best.actions, "action");
    let mut text = format!(
        "{}: {} of {levels} levels completed with {actions}",
        info.id, best.levels_completed
    );
    if environment.runs.len() > 1 {
        line(
            &mut text,
            format_args!(" in the best of {} runs", environment.runs.len()),
        );
    }
    text.push('\n');
    table(&mut text, best);
    match &best.message {
        None => {
            let cap = 100.0 * score_cap(method, info, best.levels_completed as usize);
            line(
                &mut text,
                format_args!(
                    "score {:.1} % ({}), of at most {cap:.1} % for the completed levels\n",
                    environment.score,
                    method.name()
                ),
            );
        }
        Some(problem) => line(&mut text, format_args!("no score: {problem}\n")),
    }
    if info
        .baselines
        .iter()
        .any(|baseline| baseline.source.is_provisional())
    {
        line(
            &mut text,
            format_args!(
                "{}\n",
                wrap_text(PROVISIONAL_BASELINES_NOTE, width).join("\n")
            ),
        );
    }
    if info.seeded && seed != 0 {
        line(
            &mut text,
            format_args!(
                "The baselines are for seed 0; this play used seed {seed}, whose levels differ.\n"
            ),
        );
    }
    text
}

/// Returns the maximum score, from 0 to 1, for completing the first `completed` levels.
fn score_cap(method: Method, info: &GameInfo, completed: usize) -> f64 {
    let baselines: Vec<u32> = info
        .baselines
        .iter()
        .map(|baseline| baseline.actions)
        .collect();
    let done = vec![LevelResult::Completed(LevelCount::all_effective(1)); completed];
    score_game(method, &baselines, &done).map_or(0.0, |game| game.cap)
}

/// Appends a table of the levels played.
fn table(text: &mut String, run: &RunScore) {
    let played = run
        .level_actions
        .iter()
        .rposition(|&actions| actions > 0)
        .map_or(0, |last| last + 1);
    if played == 0 {
        return;
    }
    text.push_str("level  actions  baseline  level score\n");
    for index in 0..played {
        let baseline = run
            .level_baseline_actions
            .get(index)
            .filter(|&&count| count >= 0);
        let baseline = baseline.map_or_else(|| "unknown".to_owned(), i64::to_string);
        let completed = u32::try_from(index).is_ok_and(|index| index < run.levels_completed);
        let score = run
            .level_scores
            .get(index)
            .filter(|_| completed && run.message.is_none());
        let score = match (completed, score) {
            (true, Some(score)) => format!("{score:>11.1} %"),
            (true, None) => "  completed".to_owned(),
            (false, _) => "  not completed".to_owned(),
        };
        line(
            text,
            format_args!(
                "{:>5}  {:>7}  {baseline:>8}{score}\n",
                index + 1,
                run.level_actions[index]
            ),
        );
    }
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    text.write_fmt(content)
        .expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use rhae_engine::Catalog;
    use rhae_games::Builtin;
    use rhae_protocol::LevelOutcome;

    use super::*;

    fn run(levels: &[(u32, bool)]) -> RunOutcome {
        let level = |&(actions, completed): &(u32, bool)| LevelOutcome {
            actions,
            effective: actions,
            completed,
        };
        RunOutcome {
            levels: levels.iter().map(level).collect(),
            ..RunOutcome::default()
        }
    }

    #[test]
    fn summary_compares_levels_with_their_baselines() {
        let info = Builtin.find("hk26").unwrap();
        insta::assert_snapshot!(summary(&info, 0, 8, &[run(&[(20, true), (13, true), (5, false)])], 80), @r"
        hk26-v1: 2 of 8 levels completed with 38 actions
        level  actions  baseline  level score
            1       20        14       49.0 %
            2       13        48      115.0 %
            3        5        44  not completed
        score 7.7 % (docs-2026-04), of at most 8.3 % for the completed levels
        Baselines are provisional: those of source `solver` are twice the optimal count
        found by search, because no people have played these levels yet.
        ");
    }

    #[test]
    fn best_of_several_runs_is_shown() {
        let info = Builtin.find("hk26").unwrap();
        let text = summary(&info, 0, 8, &[run(&[(14, true)]), run(&[(1, false)])], 80);
        assert!(
            text.starts_with(
                "hk26-v1: 1 of 8 levels completed with 14 actions in the best of 2 runs\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn missing_baselines_give_no_score() {
        let mut info = Builtin.find("hk26").unwrap();
        info.baselines.clear();
        let text = summary(&info, 0, 8, &[run(&[(14, true), (2, false)])], 80);
        assert!(
            text.contains("no score: ")
                && text.contains("unknown  completed")
                && !text.contains("provisional"),
            "{text}"
        );
    }

    #[test]
    fn play_without_actions_has_no_table() {
        let mut info = Builtin.find("hk26").unwrap();
        info.seeded = true;
        let text = summary(&info, 3, 8, &[run(&[])], 80);
        assert!(
            text.starts_with("hk26-v1: 0 of 8 levels completed with 0 actions\nscore 0.0 %")
                && text.contains("seed 3"),
            "{text}"
        );
    }
}

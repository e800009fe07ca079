//! Scores of levels as plain text for a terminal.

use std::fmt::Write as _;

use rhae_protocol::{LevelScores, Scorecard};

/// Formats scores that were computed from action counts.
pub fn level_table(scores: &LevelScores) -> String {
    let mut text = format!(
        "method {}\n\nlevel  baseline  actions  score %\n",
        scores.method
    );
    for level in &scores.levels {
        let actions = level
            .actions
            .map_or_else(|| "-".to_owned(), |count| count.to_string());
        let _ = writeln!(
            text,
            "{:>5}  {:>8}  {actions:>7}  {:>7.2}",
            level.level, level.baseline, level.score
        );
    }
    let _ = writeln!(
        text,
        "\ngame {:.2} %, at most {:.2} % possible with the completed levels",
        scores.score, scores.cap
    );
    text
}

/// Formats the runs on the scorecard of replayed recordings, level by level.
pub fn runs_table(card: &Scorecard) -> String {
    let mut text = format!("method {}, replayed and verified\n", card.method);
    for environment in &card.environments {
        for run in &environment.runs {
            let _ = writeln!(
                text,
                "{}  score {:.2} %  levels {}/{}  actions {} ({} without effect)  {}",
                environment.id,
                run.score,
                run.levels_completed,
                run.number_of_levels,
                run.actions,
                run.unchanged_actions,
                run.state.name()
            );
            for (index, score) in run.level_scores.iter().enumerate() {
                let (actions, baseline) =
                    (run.level_actions[index], run.level_baseline_actions[index]);
                let source = environment
                    .baseline_source
                    .get(index)
                    .map_or("", String::as_str);
                let _ = writeln!(
                    text,
                    "  level {:>2}  {actions:>5} actions  baseline {baseline:>5} ({source})  {score:>6.2} %",
                    index + 1
                );
            }
        }
    }
    let _ = writeln!(text, "\nscore {:.2} %", card.score);
    text
}

#[cfg(test)]
mod tests {
    use rhae_protocol::LevelScore;

    use super::*;

    #[test]
    fn level_that_was_not_completed_has_a_dash() {
        let level = |level, actions, score| LevelScore {
            level,
            baseline: 10,
            actions,
            score,
        };
        let scores = LevelScores {
            method: "docs-2026-04".to_owned(),
            levels: vec![level(1, Some(10), 100.0), level(2, None, 0.0)],
            score: 33.333,
            cap: 38.3,
        };
        assert_eq!(
            level_table(&scores),
            "method docs-2026-04\n\nlevel  baseline  actions  score %\n    1        10       10   100.00\n    2        10        -     0.00\n\ngame 33.33 %, at most 38.30 % possible with the completed levels\n"
        );
    }
}

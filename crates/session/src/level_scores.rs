//! The scores of levels from their action counts alone, without a play.

use rhae_protocol::{LevelScore, LevelScores};
use rhae_scoring::{LevelCount, LevelResult, Method, ScoreError, score_game};

/// Scores a game from the baseline and the action count of each level; `None` is the count of a
/// level that was not completed. All actions count as effective.
///
/// # Errors
///
/// Returns an error if the numbers of baselines and counts differ, or if a number is invalid.
///
/// # Examples
///
/// ```
/// use rhae_scoring::Method;
/// use rhae_session::score_levels;
///
/// let scores = score_levels(Method::DEFAULT, &[10, 20], &[Some(10), None])?;
/// assert_eq!(scores.levels[0].score, 100.0);
/// assert_eq!(scores.levels[1].score, 0.0);
/// # Ok::<(), rhae_scoring::ScoreError>(())
/// ```
pub fn score_levels(
    method: Method,
    baselines: &[u32],
    actions: &[Option<u32>],
) -> Result<LevelScores, ScoreError> {
    let results: Vec<LevelResult> = actions
        .iter()
        .map(|count| {
            count.map_or(LevelResult::NotCompleted, |count| {
                LevelResult::Completed(LevelCount::all_effective(count))
            })
        })
        .collect();
    let game = score_game(method, baselines, &results)?;
    let levels = baselines.iter().zip(actions).zip(&game.levels).enumerate();
    Ok(LevelScores {
        method: method.name().to_owned(),
        levels: levels
            .map(|(index, ((&baseline, &actions), score))| LevelScore {
                level: index + 1,
                baseline,
                actions,
                score: percent(*score),
            })
            .collect(),
        score: percent(game.score),
        cap: percent(game.cap),
    })
}

/// Converts a fraction to percent. The result is rounded to 12 decimals, because the product of a
/// decimal fraction and 100 may end in `…99999`.
fn percent(fraction: f64) -> f64 {
    (fraction * 1e14).round() / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_printed_without_errors_of_binary_fractions() {
        // One action instead of ten: the level has the highest score of the method, 115 %.
        let scores = score_levels(Method::DEFAULT, &[10, 10], &[Some(1), Some(30)]).unwrap();
        let json = serde_json::to_value(&scores).unwrap();
        assert_eq!(json["levels"][0]["score"].to_string(), "115.0");
        let third: f64 = 100.0 / 9.0;
        assert!((scores.levels[1].score - third).abs() < 1e-11);
    }
}

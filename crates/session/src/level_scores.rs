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
                score: 100.0 * score,
            })
            .collect(),
        score: 100.0 * game.score,
        cap: 100.0 * game.cap,
    })
}

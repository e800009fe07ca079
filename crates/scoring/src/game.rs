//! The score of one run of an environment from its action counts.

use crate::Method;

/// The number of actions that a level took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LevelCount {
    /// All actions, level resets included.
    pub actions: u32,
    /// The actions that changed the state: the only ones that [`Method::Draft2025`] counts.
    pub effective: u32,
}

impl LevelCount {
    /// Creates a count in which every action changed the state. Use it also if it is unknown which
    /// actions had an effect.
    pub const fn all_effective(actions: u32) -> Self {
        Self {
            actions,
            effective: actions,
        }
    }

    /// Returns the number of actions that `method` counts.
    pub const fn counted_by(self, method: Method) -> u32 {
        if method.ignores_unchanged() {
            self.effective
        } else {
            self.actions
        }
    }
}

/// The result of one level of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LevelResult {
    /// The level was completed with this number of actions.
    Completed(LevelCount),
    /// The level was started but not completed, or not reached.
    NotCompleted,
}

/// The score of one run of one environment, in fractions.
#[derive(Clone, Debug, PartialEq)]
pub struct GameScore {
    /// One score for each baseline, in the order of the levels; 0 for a level that was not
    /// completed.
    pub levels: Vec<f64>,
    /// The weighted mean of the levels, at most [`cap`](Self::cap).
    pub score: f64,
    /// The completed levels' share of the weights, which is the maximum score of this run. A
    /// completed level that scores 0 is not part of the share.
    pub cap: f64,
}

/// The reason why a run cannot be scored.
///
/// Scorecards count such a run as 0 and carry the error as the message of the run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScoreError {
    /// The environment has no baselines.
    #[error("no baselines are known for this environment")]
    NoBaselines,
    /// The run completed a level that has no baseline.
    #[error("{completed} levels were completed but only {baselines} have a baseline")]
    TooFewBaselines {
        /// The number of the last completed level.
        completed: usize,
        baselines: usize,
    },
}

/// Returns the score of a completed level as a fraction.
///
/// A baseline or a count of 0 scores 0, because neither can come from a level that was played.
///
/// # Examples
///
/// ```
/// use rhae_scoring::{LevelCount, Method, level_score};
///
/// // 20 actions against a baseline of 10: half the efficiency.
/// let count = LevelCount::all_effective(20);
/// assert_eq!(level_score(Method::Draft2025, 10, count), 0.5);
/// assert_eq!(level_score(Method::Paper202603, 10, count), 0.25);
/// assert_eq!(level_score(Method::Docs202604, 10, count), 0.25);
/// ```
pub fn level_score(method: Method, baseline: u32, count: LevelCount) -> f64 {
    let actions = count.counted_by(method);
    if baseline == 0 || actions == 0 {
        return 0.0;
    }
    let efficiency = f64::from(baseline) / f64::from(actions);
    method.level_score(efficiency)
}

/// Scores one run of an environment.
///
/// `baselines` holds the human baseline of every level of the environment, from level 1.
/// `results` holds the results of the levels that the run reached, also from level 1. It may be
/// shorter than `baselines`: the missing levels count as not completed. It may be longer as long as
/// no level beyond the last baseline was completed.
///
/// The score is the weighted mean of the level scores over *all* baselines, at most the completed
/// levels' share of the weights. [`Method`] lists the formulas of the three versions.
///
/// # Errors
///
/// Returns [`ScoreError::NoBaselines`] if `baselines` is empty, and
/// [`ScoreError::TooFewBaselines`] if a level without a baseline was completed.
///
/// # Examples
///
/// An agent completes only level 1 of eight, with 24 actions against a baseline of 14. The level
/// scores (14/24)² = 34 %. Its weight is 1 of 1 + 2 + … + 8 = 36, so the run scores 0.95 %. The cap
/// for completing only level 1 is 1/36 = 2.8 %.
///
/// ```
/// use rhae_scoring::{LevelCount, LevelResult, Method, score_game};
///
/// let baselines = [14, 20, 26, 30, 34, 40, 44, 52];
/// let results = [
///     LevelResult::Completed(LevelCount::all_effective(24)),
///     LevelResult::NotCompleted,
/// ];
/// let game = score_game(Method::Docs202604, &baselines, &results)?;
///
/// assert_eq!(format!("{:.0} %", 100.0 * game.levels[0]), "34 %");
/// assert_eq!(format!("{:.2} %", 100.0 * game.score), "0.95 %");
/// assert_eq!(game.cap, 1.0 / 36.0);
/// # Ok::<(), rhae_scoring::ScoreError>(())
/// ```
///
/// The same run scores differently under the other versions: the draft is linear and unweighted.
///
/// ```
/// # use rhae_scoring::{LevelCount, LevelResult, Method, score_game};
/// # let baselines = [14, 20, 26, 30, 34, 40, 44, 52];
/// # let results = [LevelResult::Completed(LevelCount::all_effective(24))];
/// let game = score_game(Method::Draft2025, &baselines, &results)?;
/// assert_eq!(format!("{:.2} %", 100.0 * game.score), "7.29 %");
/// # Ok::<(), rhae_scoring::ScoreError>(())
/// ```
pub fn score_game(
    method: Method,
    baselines: &[u32],
    results: &[LevelResult],
) -> Result<GameScore, ScoreError> {
    if baselines.is_empty() {
        return Err(ScoreError::NoBaselines);
    }
    let last_completed = results
        .iter()
        .rposition(|result| matches!(result, LevelResult::Completed(_)));
    if let Some(completed) = last_completed
        .map(|last| last + 1)
        .filter(|&completed| completed > baselines.len())
    {
        return Err(ScoreError::TooFewBaselines {
            completed,
            baselines: baselines.len(),
        });
    }
    let (mut sum, mut weights, mut completed_weights) = (0.0, 0.0, 0.0);
    let mut levels = Vec::with_capacity(baselines.len());
    for (index, &baseline) in baselines.iter().enumerate() {
        let score = match results.get(index) {
            Some(LevelResult::Completed(count)) => level_score(method, baseline, *count),
            Some(LevelResult::NotCompleted) | None => 0.0,
        };
        let weight = method.weight(index + 1);
        sum += weight * score;
        weights += weight;
        if score > 0.0 {
            completed_weights += weight;
        }
        levels.push(score);
    }
    let cap = completed_weights / weights;
    Ok(GameScore {
        levels,
        score: (sum / weights).min(cap),
        cap,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn done(actions: u32) -> LevelResult {
        LevelResult::Completed(LevelCount::all_effective(actions))
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn draft_is_linear_and_capped_at_the_baseline() {
        // From the document: 1,000 actions against a human's 10 score 1 %, and a 2-action exploit
        // of a 20-action level scores 100 %.
        assert!(close(
            level_score(Method::Draft2025, 10, LevelCount::all_effective(1000)),
            0.01
        ));
        assert!(close(
            level_score(Method::Draft2025, 20, LevelCount::all_effective(2)),
            1.0
        ));
        let score = score_game(
            Method::Draft2025,
            &[10, 10, 10, 10],
            &[done(10), done(20), done(40)],
        )
        .unwrap();
        assert!(close(score.score, (1.0 + 0.5 + 0.25) / 4.0));
        assert!(close(score.cap, 0.75));
    }

    #[test]
    fn draft_ignores_actions_that_changed_nothing() {
        let count = LevelCount {
            actions: 40,
            effective: 20,
        };
        assert!(close(level_score(Method::Draft2025, 10, count), 0.5));
        assert!(close(
            level_score(Method::Paper202603, 10, count),
            1.0 / 16.0
        ));
    }

    #[test]
    fn paper_is_squared_and_weighted() {
        // From the document: 100 actions against 10 score 1 %, the weights of five levels are 1/15
        // to 5/15, and a level faster than the baseline is capped.
        assert!(close(
            level_score(Method::Paper202603, 10, LevelCount::all_effective(100)),
            0.01
        ));
        assert!(close(
            level_score(Method::Paper202603, 20, LevelCount::all_effective(2)),
            1.0
        ));
        for solved in 0..5 {
            let results: Vec<_> = (0..5)
                .map(|level| {
                    if level == solved {
                        done(10)
                    } else {
                        LevelResult::NotCompleted
                    }
                })
                .collect();
            let score = score_game(Method::Paper202603, &[10; 5], &results).unwrap();
            assert!(close(score.score, (solved + 1) as f64 / 15.0));
        }
    }

    #[test]
    fn docs_cap_levels_at_115_percent_and_games_by_their_completed_share() {
        // From the document: a baseline of 10 against 10, 20 and 100 actions.
        for (actions, expected) in [(10, 1.0), (20, 0.25), (100, 0.01), (1, 1.15)] {
            assert!(close(
                level_score(Method::Docs202604, 10, LevelCount::all_effective(actions)),
                expected
            ));
        }
        // From the document: four of five levels score at most 66.7 %.
        let score = score_game(
            Method::Docs202604,
            &[10; 5],
            &[done(1), done(1), done(1), done(1)],
        )
        .unwrap();
        assert!(close(score.score, 10.0 / 15.0) && close(score.cap, 10.0 / 15.0));
    }

    #[test]
    fn docs_agree_with_the_official_toolkit() {
        // Scores computed by the official toolkit 0.9.9.
        let score = |baselines: &[u32], results: &[LevelResult]| {
            score_game(Method::Docs202604, baselines, results)
                .unwrap()
                .score
        };
        assert!(close(score(&[10, 10], &[done(10), done(10)]), 1.0));
        assert!(close(score(&[10, 10], &[done(5), done(5)]), 1.0));
        assert!(close(score(&[10, 10], &[done(5), done(100)]), 0.39));
        assert!(close(score(&[10, 10], &[done(5)]), 1.0 / 3.0));
        let with_zero = score_game(Method::Docs202604, &[0, 10], &[done(5), done(10)]).unwrap();
        assert!(close(with_zero.levels[0], 0.0) && close(with_zero.cap, 2.0 / 3.0));
    }

    #[test]
    fn missing_baselines_are_reported() {
        assert_eq!(
            score_game(Method::DEFAULT, &[], &[done(3)]),
            Err(ScoreError::NoBaselines)
        );
        let error = score_game(Method::DEFAULT, &[4], &[done(3), done(3)]).unwrap_err();
        assert_eq!(
            error,
            ScoreError::TooFewBaselines {
                completed: 2,
                baselines: 1
            }
        );
        // Levels that were reached but not completed need no baseline.
        assert!(score_game(Method::DEFAULT, &[4], &[done(3), LevelResult::NotCompleted]).is_ok());
    }

    fn any_method() -> impl Strategy<Value = Method> {
        prop::sample::select(Method::ALL.to_vec())
    }

    fn any_run() -> impl Strategy<Value = (Vec<u32>, Vec<LevelResult>)> {
        prop::collection::vec(
            (1_u32..500, prop::option::of((1_u32..5000, 0_u32..5000))),
            1..12,
        )
        .prop_map(|levels| {
            let result = |level: &(u32, Option<(u32, u32)>)| {
                level
                    .1
                    .map_or(LevelResult::NotCompleted, |(actions, effective)| {
                        LevelResult::Completed(LevelCount {
                            actions,
                            effective: effective.min(actions),
                        })
                    })
            };
            (
                levels.iter().map(|level| level.0).collect(),
                levels.iter().map(result).collect(),
            )
        })
    }

    proptest! {
        #[test]
        fn scores_are_between_zero_and_their_cap(method in any_method(), (baselines, results) in any_run()) {
            let score = score_game(method, &baselines, &results).unwrap();
            prop_assert!((0.0..=1.0).contains(&score.cap));
            prop_assert!((0.0..=score.cap).contains(&score.score));
            prop_assert!(score.levels.iter().all(|level| (0.0..=method.level_cap()).contains(level)));
        }

        #[test]
        fn one_more_action_never_raises_the_score(method in any_method(), (baselines, results) in any_run(), which in any::<prop::sample::Index>()) {
            let mut slower = results.clone();
            if let LevelResult::Completed(count) = &mut slower[which.index(results.len())] {
                count.actions += 1;
                count.effective += 1;
            }
            let before = score_game(method, &baselines, &results).unwrap().score;
            let after = score_game(method, &baselines, &slower).unwrap().score;
            // Without counted actions a level scores 0, so the first action may raise the score.
            // No real play completes a level without an action.
            let played = results.iter().all(|result| matches!(result, LevelResult::Completed(c) if c.effective > 0) || *result == LevelResult::NotCompleted);
            prop_assert!(!played || after <= before + 1e-12);
        }

        #[test]
        fn completing_another_level_never_lowers_the_score(method in any_method(), (baselines, results) in any_run(), which in any::<prop::sample::Index>()) {
            let mut fewer = results.clone();
            fewer[which.index(results.len())] = LevelResult::NotCompleted;
            let with = score_game(method, &baselines, &results).unwrap().score;
            let without = score_game(method, &baselines, &fewer).unwrap().score;
            prop_assert!(without <= with + 1e-12);
        }
    }
}

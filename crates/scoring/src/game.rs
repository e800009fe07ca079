//! From the action counts of one run to its score.

use crate::Method;

/// How many actions a level took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LevelCount {
    /// All actions, level resets included.
    pub actions: u32,
    /// Those that changed the state; the only ones that [`Method::Draft2025`] counts.
    pub effective: u32,
}

impl LevelCount {
    /// A count of which nothing is known to have been without effect.
    pub const fn all(actions: u32) -> Self {
        Self {
            actions,
            effective: actions,
        }
    }

    /// What a method counts.
    pub const fn under(self, method: Method) -> u32 {
        if method.ignores_unchanged() {
            self.effective
        } else {
            self.actions
        }
    }
}

/// How a level ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LevelResult {
    /// It was completed with so many actions.
    Completed(LevelCount),
    /// It was begun or not even reached.
    NotCompleted,
}

/// The score of one run of one environment, as fractions.
#[derive(Clone, Debug, PartialEq)]
pub struct GameScore {
    /// The score of each level that has a baseline.
    pub levels: Vec<f64>,
    /// The score of the run.
    pub score: f64,
    /// The most that the completed levels could have given.
    pub cap: f64,
}

/// Why a run cannot be scored. It then counts as 0 and says so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unscored {
    /// Nobody has set a baseline.
    #[error("no baselines are known for this environment")]
    NoBaselines,
    /// The run completed a level that has no baseline.
    #[error("{completed} levels were completed but only {baselines} have a baseline")]
    TooFewBaselines {
        /// Levels completed.
        completed: usize,
        /// Baselines known.
        baselines: usize,
    },
}

/// The score of a completed level.
///
/// A baseline or a count of 0 gives 0: neither can come from a level that was played.
pub fn level_score(method: Method, baseline: u32, count: LevelCount) -> f64 {
    let actions = count.under(method);
    if baseline == 0 || actions == 0 {
        return 0.0;
    }
    let efficiency = f64::from(baseline) / f64::from(actions);
    let score = match method {
        Method::Draft2025 => efficiency,
        Method::Paper202603 | Method::Docs202604 => efficiency * efficiency,
    };
    score.min(method.level_cap())
}

/// The score of a run from its levels in order. Baselines without a level in the run count as not completed.
pub fn score_game(
    method: Method,
    baselines: &[u32],
    results: &[LevelResult],
) -> Result<GameScore, Unscored> {
    if baselines.is_empty() {
        return Err(Unscored::NoBaselines);
    }
    let last_completed = results
        .iter()
        .rposition(|result| matches!(result, LevelResult::Completed(_)));
    if let Some(completed) = last_completed
        .map(|last| last + 1)
        .filter(|&completed| completed > baselines.len())
    {
        return Err(Unscored::TooFewBaselines {
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
        LevelResult::Completed(LevelCount::all(actions))
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn the_draft_is_linear_and_capped_at_the_baseline() {
        // Document: a human's 10 actions against 1,000 score 1 %; a 2-action exploit of a 20-action level scores 100 %.
        assert!(close(
            level_score(Method::Draft2025, 10, LevelCount::all(1000)),
            0.01
        ));
        assert!(close(
            level_score(Method::Draft2025, 20, LevelCount::all(2)),
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
    fn the_draft_does_not_count_actions_that_changed_nothing() {
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
    fn the_paper_is_squared_and_weighted() {
        // Document: 10 against 100 gives 1 %; in five levels the weights are 1/15 to 5/15; n × the baseline's speed is capped.
        assert!(close(
            level_score(Method::Paper202603, 10, LevelCount::all(100)),
            0.01
        ));
        assert!(close(
            level_score(Method::Paper202603, 20, LevelCount::all(2)),
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
    fn the_docs_cap_levels_at_115_and_games_by_their_completed_share() {
        // Document: 10 against 10, 20 and 100 actions.
        for (actions, expected) in [(10, 1.0), (20, 0.25), (100, 0.01), (1, 1.15)] {
            assert!(close(
                level_score(Method::Docs202604, 10, LevelCount::all(actions)),
                expected
            ));
        }
        // Document: four of five levels give at most 66.7 %.
        let score = score_game(
            Method::Docs202604,
            &[10; 5],
            &[done(1), done(1), done(1), done(1)],
        )
        .unwrap();
        assert!(close(score.score, 10.0 / 15.0) && close(score.cap, 10.0 / 15.0));
    }

    #[test]
    fn the_docs_agree_with_the_official_toolkit() {
        // Answers of the official toolkit 0.9.9.
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
    fn what_cannot_be_scored_says_why() {
        assert_eq!(
            score_game(Method::DEFAULT, &[], &[done(3)]),
            Err(Unscored::NoBaselines)
        );
        let error = score_game(Method::DEFAULT, &[4], &[done(3), done(3)]).unwrap_err();
        assert_eq!(
            error,
            Unscored::TooFewBaselines {
                completed: 2,
                baselines: 1
            }
        );
        // Levels that were only reached need no baseline.
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
        fn scores_lie_between_zero_and_their_cap(method in any_method(), (baselines, results) in any_run()) {
            let score = score_game(method, &baselines, &results).unwrap();
            prop_assert!((0.0..=1.0).contains(&score.cap));
            prop_assert!((0.0..=score.cap).contains(&score.score));
            prop_assert!(score.levels.iter().all(|level| (0.0..=method.level_cap()).contains(level)));
        }

        #[test]
        fn one_action_more_never_scores_more(method in any_method(), (baselines, results) in any_run(), which in any::<prop::sample::Index>()) {
            let mut slower = results.clone();
            if let LevelResult::Completed(count) = &mut slower[which.index(results.len())] {
                count.actions += 1;
                count.effective += 1;
            }
            let before = score_game(method, &baselines, &results).unwrap().score;
            let after = score_game(method, &baselines, &slower).unwrap().score;
            // With no counted action a level scores 0, so the first one may raise the score: such runs cannot be played.
            let played = results.iter().all(|result| matches!(result, LevelResult::Completed(c) if c.effective > 0) || *result == LevelResult::NotCompleted);
            prop_assert!(!played || after <= before + 1e-12);
        }

        #[test]
        fn completing_a_further_level_never_costs(method in any_method(), (baselines, results) in any_run(), which in any::<prop::sample::Index>()) {
            let mut fewer = results.clone();
            fewer[which.index(results.len())] = LevelResult::NotCompleted;
            let with = score_game(method, &baselines, &results).unwrap().score;
            let without = score_game(method, &baselines, &fewer).unwrap().score;
            prop_assert!(without <= with + 1e-12);
        }
    }
}

//! The scores of people themselves, each against the baselines of the others.
//!
//! People who complete nothing score 0. The mean of these scores shows what "100 %" means: typical
//! people score below it.

use rhae_protocol::{EnvironmentVersion, LevelPlay, ParticipantId};
use rhae_scoring::{LevelCount, LevelResult, Method, human_baseline, level_score, score_game};

use crate::baselines::level_count;
use crate::rows::{AttemptRow, Selection, live_attempts};
use crate::state::StudyState;

/// The score of one person on one environment.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnScore {
    pub participant: ParticipantId,
    /// The score of the environment as a fraction.
    pub score: f64,
    /// The number of levels without a baseline, because too few others completed them. The score
    /// leaves them out.
    pub levels_without_baseline: usize,
}

/// Returns the score of each person on one level, against the baseline of the other people. `None`
/// in `people` is a person who did not complete the level, and scores 0. `None` in the result is a
/// person for whom the others give no baseline.
///
/// # Examples
///
/// ```
/// use rhae_scoring::{LevelCount, Method};
/// use rhae_study::own_level_scores;
///
/// let people = [Some(10), Some(20), Some(30), Some(40), None];
/// let people = people.map(|actions| actions.map(LevelCount::all_effective));
/// let scores = own_level_scores(Method::Docs202604, &people);
/// assert_eq!(scores[0], Some(1.15));
/// assert_eq!(scores[4], Some(0.0));
/// ```
pub fn own_level_scores(method: Method, people: &[Option<LevelCount>]) -> Vec<Option<f64>> {
    people
        .iter()
        .enumerate()
        .map(|(own, count)| match count {
            None => Some(0.0),
            Some(count) => {
                let baseline = baseline_of_others(method, people, own)?;
                Some(level_score(method, baseline, *count))
            }
        })
        .collect()
}

/// Returns the baseline of one level without the person at `own`; `None` if too few others completed
/// it.
fn baseline_of_others(method: Method, people: &[Option<LevelCount>], own: usize) -> Option<u32> {
    let others = people.iter().enumerate().filter(|&(at, _)| at != own);
    let counts: Vec<u32> = others
        .filter_map(|(_, count)| count.map(|count| count.counted_by(method)))
        .collect();
    human_baseline(method.baseline_rule(), &counts).ok()
}

/// Returns the scores of all people with a valid attempt at an environment. A person for whom the
/// others give no baseline at all has no score.
pub fn own_scores(
    state: &StudyState,
    environment: &EnvironmentVersion,
    method: Method,
    selection: Selection,
) -> Vec<OwnScore> {
    let Some(pooled) = state.environments.get(environment) else {
        return Vec::new();
    };
    let rows: Vec<AttemptRow<'_>> = live_attempts(state)
        .filter(|row| row.environment == environment && row.standing(selection).contributes())
        .collect();
    let plays: Vec<&[LevelPlay]> = rows
        .iter()
        .map(|row| &row.attempt.counts.levels[..])
        .collect();
    let levels: Vec<Vec<Option<LevelCount>>> = (0..usize::try_from(pooled.levels).unwrap_or(0))
        .map(|level| plays.iter().map(|play| completion(play, level)).collect())
        .collect();
    let valid = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.standing(selection).is_valid());
    valid
        .filter_map(|(own, row)| {
            let (score, baselines) = against_others(method, &levels, own)?;
            Some(OwnScore {
                participant: row.participant.clone(),
                score,
                levels_without_baseline: levels.len() - baselines,
            })
        })
        .collect()
}

fn completion(play: &[LevelPlay], level: usize) -> Option<LevelCount> {
    let play = play.get(level).filter(|play| play.completed)?;
    Some(level_count(*play))
}

/// Returns the score of the person at `own` against the baselines of all others, and the number of
/// levels with a baseline. Fewer people complete later levels, so these are the first ones.
fn against_others(
    method: Method,
    levels: &[Vec<Option<LevelCount>>],
    own: usize,
) -> Option<(f64, usize)> {
    let baselines: Vec<u32> = levels
        .iter()
        .map_while(|people| baseline_of_others(method, people, own))
        .collect();
    let results: Vec<LevelResult> = levels
        .iter()
        .take(baselines.len())
        .map(|people| match people[own] {
            Some(count) => LevelResult::Completed(count),
            None => LevelResult::NotCompleted,
        })
        .collect();
    let score = score_game(method, &baselines, &results).ok()?;
    Some((score.score, baselines.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people(actions: &[Option<u32>]) -> Vec<Option<LevelCount>> {
        let count = |actions: &Option<u32>| actions.map(LevelCount::all_effective);
        actions.iter().map(count).collect()
    }

    #[test]
    fn four_solvers_and_a_failure_have_the_worked_scores() {
        let level = people(&[Some(10), Some(20), Some(30), Some(40), None]);
        let scores: Vec<f64> = own_level_scores(Method::Docs202604, &level)
            .into_iter()
            .map(Option::unwrap)
            .collect();
        let shown: Vec<String> = scores.iter().map(|score| format!("{score:.4}")).collect();
        assert_eq!(shown, ["1.1500", "1.1500", "0.4444", "0.2500", "0.0000"]);
        assert_eq!(format!("{:.4}", scores.iter().sum::<f64>() / 5.0), "0.5989");
        // The score of an environment is capped by the completed share of its levels.
        let game =
            |own| against_others(Method::Docs202604, std::slice::from_ref(&level), own).unwrap();
        assert_eq!((game(0), game(4)), ((1.0, 1), (0.0, 1)));
    }

    #[test]
    fn level_that_no_other_person_completed_is_left_out() {
        let levels = [people(&[Some(10), Some(20)]), people(&[Some(10), None])];
        assert_eq!(
            against_others(Method::Docs202604, &levels, 0),
            Some((1.0, 1))
        );
        assert_eq!(against_others(Method::Paper202603, &levels, 0), None);
        assert_eq!(
            own_level_scores(Method::Docs202604, &levels[1]),
            [None, Some(0.0)]
        );
    }
}

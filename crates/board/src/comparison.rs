//! The comparison of two rows.

use rhae_protocol::{EntryId, RowComparison};
use rhae_stats::{bootstrap_difference_95, sign_flip_test};

use crate::rejection::Rejection;
use crate::scores::entry_scores;
use crate::state::BoardState;

/// Compares two rows on the environments or tasks that both played; `None` without a common one.
///
/// # Errors
///
/// Returns [`Rejection::UnknownEntry`] if the board does not have a row.
pub fn compare_rows(
    state: &BoardState,
    a: &EntryId,
    b: &EntryId,
) -> Result<Option<RowComparison>, Rejection> {
    let find = |id: &EntryId| {
        let unknown = || Rejection::UnknownEntry(id.clone());
        state.entries.get(id).ok_or_else(unknown)
    };
    let (first, second) = (find(a)?, find(b)?);
    let (scores_a, scores_b) = (entry_scores(state, first), entry_scores(state, second));
    let common: Vec<usize> = (0..scores_a.is_played.len())
        .filter(|&index| scores_a.is_played[index] && scores_b.is_played[index])
        .collect();
    let repeats: Vec<(Vec<f64>, Vec<f64>)> = common
        .iter()
        .map(|&index| {
            let of =
                |scores: &crate::scores::EntryScores| scores.environments[index].scores.clone();
            (of(&scores_a), of(&scores_b))
        })
        .collect();
    let Some(interval) = bootstrap_difference_95(&repeats) else {
        return Ok(None);
    };
    let pick = |means: Vec<f64>| -> Vec<f64> { common.iter().map(|&index| means[index]).collect() };
    let (means_a, means_b) = (pick(scores_a.means()), pick(scores_b.means()));
    let differences: Vec<f64> = means_a.iter().zip(&means_b).map(|(a, b)| a - b).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let test = sign_flip_test(&differences);
    Ok(Some(RowComparison {
        a: a.clone(),
        b: b.clone(),
        environments: common.len(),
        mean_a: mean(&means_a),
        mean_b: mean(&means_b),
        difference: mean(&differences),
        interval: [interval.low, interval.high],
        p: test.p,
        differing: test.differing,
    }))
}

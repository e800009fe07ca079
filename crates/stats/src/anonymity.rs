//! k-anonymity: every released combination of attributes is shared by at least k people.
//!
//! Sweeney (International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10, 2002)
//! defines the property. [`k_anonymous`] reaches it by local recoding: attributes are removed in a
//! declared order, only from rows that need it. [`suppress_small`] protects a table of counts.

use std::collections::BTreeMap;

/// A row after generalisation: each attribute or `None` if it was removed.
pub type GeneralisedRow = Vec<Option<String>>;

/// Removes attributes until every combination occurs at least `k` times.
///
/// `drop_order` contains the indices of the attributes in the order in which they are removed.
/// Attributes that it does not name are never removed. The result contains a row for each input row
/// in the same order; `None` is a row that must not be released at all.
///
/// If `drop_order` names all attributes, fewer than `k` rows are suppressed.
///
/// # Panics
///
/// Panics if a row has fewer attributes than `drop_order` needs.
///
/// # Examples
///
/// ```
/// use rhae_stats::k_anonymous;
///
/// let row = |age: &str, work: &str| vec![age.to_owned(), work.to_owned()];
/// let rows = [row("25-34", "yes"), row("25-34", "yes"), row("35-44", "yes"), row("35-44", "no")];
/// let released = k_anonymous(&rows, &[1, 0], 2);
/// assert_eq!(released[0], Some(vec![Some("25-34".to_owned()), Some("yes".to_owned())]));
/// assert_eq!(released[2], Some(vec![Some("35-44".to_owned()), None]));
/// ```
pub fn k_anonymous(
    rows: &[Vec<String>],
    drop_order: &[usize],
    k: usize,
) -> Vec<Option<GeneralisedRow>> {
    let mut current: Vec<GeneralisedRow> = rows
        .iter()
        .map(|row| row.iter().cloned().map(Some).collect())
        .collect();
    for &attribute in drop_order {
        let sizes = class_sizes(&current);
        for row in &mut current {
            if sizes[row] < k {
                row[attribute] = None;
            }
        }
    }
    let sizes = class_sizes(&current);
    let released = |row: GeneralisedRow| (sizes[&row] >= k).then_some(row);
    current.into_iter().map(released).collect()
}

fn class_sizes(rows: &[GeneralisedRow]) -> BTreeMap<GeneralisedRow, usize> {
    let mut sizes = BTreeMap::new();
    for row in rows {
        *sizes.entry(row.clone()).or_insert(0) += 1;
    }
    sizes
}

/// Hides the counts of a table whose total is known. Positive counts below `k` are hidden. If the
/// hidden counts could be computed from the total, because there is only one or because they sum to
/// less than `k`, the smallest other counts are hidden as well.
///
/// # Examples
///
/// ```
/// use rhae_stats::suppress_small;
///
/// assert_eq!(suppress_small(&[12, 3, 9, 0], 5), [Some(12), None, None, Some(0)]);
/// assert_eq!(suppress_small(&[12, 9], 5), [Some(12), Some(9)]);
/// ```
pub fn suppress_small(counts: &[u64], k: u64) -> Vec<Option<u64>> {
    let mut shown: Vec<Option<u64>> = counts
        .iter()
        .map(|&count| (count == 0 || count >= k).then_some(count))
        .collect();
    loop {
        let hidden: Vec<u64> = counts
            .iter()
            .zip(&shown)
            .filter(|(_, shown)| shown.is_none())
            .map(|(&count, _)| count)
            .collect();
        if hidden.is_empty() || (hidden.len() > 1 && hidden.iter().sum::<u64>() >= k) {
            return shown;
        }
        let next = (0..counts.len())
            .filter(|&at| shown[at].is_some_and(|count| count > 0))
            .min_by_key(|&at| counts[at]);
        match next {
            Some(at) => shown[at] = None,
            // Only zeros are left. They would reveal the total of the hidden counts.
            None => return vec![None; counts.len()],
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(classes: &[(&str, &str, usize)]) -> Vec<Vec<String>> {
        let class = |&(age, work, count): &(&str, &str, usize)| {
            vec![vec![age.to_owned(), work.to_owned()]; count]
        };
        classes.iter().flat_map(class).collect()
    }

    #[test]
    fn employment_is_dropped_for_one_age_band() {
        let rows = rows(&[
            ("25-34", "employed", 6),
            ("35-44", "employed", 4),
            ("35-44", "not", 3),
        ]);
        let released: Vec<_> = k_anonymous(&rows, &[1, 0], 5)
            .into_iter()
            .map(Option::unwrap)
            .collect();
        let mut sizes: Vec<_> = class_sizes(&released).into_iter().collect();
        sizes.sort_by_key(|class| class.1);
        assert_eq!(
            sizes,
            [
                (
                    vec![Some("25-34".to_owned()), Some("employed".to_owned())],
                    6
                ),
                (vec![Some("35-44".to_owned()), None], 7),
            ]
        );
    }

    #[test]
    fn fewer_people_than_k_are_all_suppressed() {
        let released = k_anonymous(&rows(&[("25-34", "employed", 4)]), &[1, 0], 5);
        assert_eq!(released, vec![None; 4]);
    }

    #[test]
    fn single_hidden_count_hides_another_one() {
        assert_eq!(suppress_small(&[20, 1, 8], 5), [Some(20), None, None]);
        assert_eq!(
            suppress_small(&[20, 1, 1, 8], 5),
            [Some(20), None, None, None]
        );
        assert_eq!(suppress_small(&[3, 0], 5), [None, None]);
        assert_eq!(suppress_small(&[], 5), []);
    }

    proptest! {
        #[test]
        fn released_classes_have_at_least_k_people(
            cells in prop::collection::vec((0_u8..3, 0_u8..3, 0_u8..2), 0..40),
            k in 1_usize..7,
        ) {
            let rows: Vec<Vec<String>> = cells
                .iter()
                .map(|(a, b, c)| vec![a.to_string(), b.to_string(), c.to_string()])
                .collect();
            let released = k_anonymous(&rows, &[2, 0, 1], k);
            let kept: Vec<GeneralisedRow> = released.iter().flatten().cloned().collect();
            prop_assert!(class_sizes(&kept).values().all(|&size| size >= k));
            prop_assert!(rows.len() - kept.len() < k);
            for (row, released) in rows.iter().zip(&released) {
                for (value, shown) in row.iter().zip(released.iter().flatten()) {
                    prop_assert!(shown.as_ref().is_none_or(|shown| shown == value));
                }
            }
        }

        #[test]
        fn hidden_counts_cannot_be_computed_from_the_total(counts in prop::collection::vec(0_u64..12, 0..8), k in 1_u64..7) {
            let shown = suppress_small(&counts, k);
            let hidden: Vec<u64> = counts.iter().zip(&shown).filter(|(_, shown)| shown.is_none()).map(|(&count, _)| count).collect();
            let small = counts.iter().any(|&count| 0 < count && count < k);
            prop_assert_eq!(hidden.is_empty(), !small);
            let all_hidden = shown.iter().all(Option::is_none);
            prop_assert!(all_hidden || hidden.is_empty() || (hidden.len() > 1 && hidden.iter().sum::<u64>() >= k));
        }
    }
}

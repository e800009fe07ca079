//! Names of data sets and ids of tasks in a text.

use std::collections::BTreeSet;
use std::ops::Range;

/// Names that identify ARC-AGI or its data, compared letter by letter: "arc" in lower case is a
/// shape.
const DATASET_NAMES: &[&str] = &[
    "ARC-AGI",
    "ARC AGI",
    "ARC Prize",
    "ARC challenge",
    "ARC dataset",
    "ARC puzzle",
    "ARC task",
    "ARC problem",
    "Abstraction and Reasoning",
    "ConceptARC",
    "RE-ARC",
    "Chollet",
];

/// Returns the places of data set names in a text, except names that occur in `given`.
pub(super) fn dataset_names(text: &str, given: &str) -> Vec<Range<usize>> {
    let unknown = DATASET_NAMES.iter().filter(|name| !given.contains(**name));
    let mut found: Vec<Range<usize>> = unknown
        .flat_map(|name| text.match_indices(name))
        .filter(|(at, _)| !text[..*at].ends_with(char::is_alphanumeric))
        .map(|(at, name)| at..at + name.len())
        .collect();
    found.sort_unstable_by_key(|range| range.start);
    found
}

/// Returns the places of task ids in a text, except ids that occur in `given`. An id of digits alone
/// is left out, because a row of a grid can look the same.
pub(super) fn task_ids(text: &str, given: &str, ids: &BTreeSet<&str>) -> Vec<Range<usize>> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric();
    let mut found = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(|letter| !is_part(letter)) {
        let id = word.trim_end_matches(|letter| !is_part(letter));
        let is_named = id.bytes().any(|byte| byte.is_ascii_alphabetic());
        if is_named && ids.contains(id) && !given.contains(id) {
            found.push(at..at + id.len());
        }
        at += word.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dataset_names_are_found_unless_they_were_given() {
        let text = "This looks like an ARC task from ARC-AGI-2; draw an arc. MARC task.";
        let found = |given: &str| -> Vec<&str> {
            let places = dataset_names(text, given);
            places.into_iter().map(|range| &text[range]).collect()
        };
        assert_eq!(found(""), ["ARC task", "ARC-AGI"]);
        assert_eq!(found("You solve an ARC-AGI task."), ["ARC task"]);
    }

    #[test]
    fn only_known_ids_with_letters_are_found() {
        let ids = BTreeSet::from(["007bbfb7", "00576224"]);
        let text = "I recall (007bbfb7). Row 00576224, word x007bbfb7.";
        let found = task_ids(text, "", &ids);
        assert_eq!(found.len(), 1);
        assert_eq!(&text[found[0].clone()], "007bbfb7");
        assert!(task_ids(text, "task 007bbfb7", &ids).is_empty());
    }
}

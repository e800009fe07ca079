//! Pages of the runs of a scorecard. A client may restart a game any number of times, so a response
//! lists a limited number of runs and links to the next page. Scores and totals always cover all
//! runs.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rhae_protocol::{RunScore, Scorecard};

use crate::ApiError;

/// The number of runs in one response of the API.
pub(crate) const MAX_RUNS: usize = 5000;

/// Returns the number of runs to skip, from the query parameter `after`.
pub(crate) fn runs_after(query: Option<&str>) -> Result<usize, ApiError> {
    let value = query.and_then(|query| {
        let mut pairs = query.split('&');
        pairs.find_map(|pair| pair.strip_prefix("after="))
    });
    value.map_or(Ok(0), |text| {
        text.parse().map_err(|_| ApiError::Field {
            field: "after",
            expected: "the number of runs to skip, from 0",
        })
    })
}

/// Returns the response with one page of a card's runs. If there are more, the header `Link` names
/// the next page, at `path`.
pub(crate) fn page_response(mut card: Scorecard, after: usize, path: &str) -> Response {
    match keep_page(&mut card, after, MAX_RUNS) {
        Some(next) => {
            let link = format!("<{path}?after={next}>; rel=\"next\"");
            ([(header::LINK, link)], Json(card)).into_response()
        }
        None => Json(card).into_response(),
    }
}

/// Removes all runs of a card except the best of every environment and the `max` that follow the
/// first `after`. Returns the number of runs up to the end of this page if there are more.
///
/// The best run stays because clients derive the score of an environment from its runs, and because
/// an environment has at least one run.
pub(crate) fn keep_page(card: &mut Scorecard, after: usize, max: usize) -> Option<usize> {
    let end = after.saturating_add(max);
    let mut position = 0;
    for environment in &mut card.environments {
        let best = best_index(&environment.runs);
        let mut index = 0;
        environment.runs.retain(|_| {
            let keep = (after..end).contains(&position) || index == best;
            position += 1;
            index += 1;
            keep
        });
    }
    (position > end).then_some(end)
}

/// Returns the index of the first run with the highest score.
fn best_index(runs: &[RunScore]) -> usize {
    let mut best = 0;
    for (index, run) in runs.iter().enumerate() {
        if run.score > runs[best].score {
            best = index;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn card() -> Scorecard {
        let run = |guid: &str, score: f64| {
            json!({
                "id": "ab12-v1", "guid": guid, "score": score, "levels_completed": 0, "actions": 1,
                "resets": 0, "state": "NOT_FINISHED", "completed": false, "level_scores": [],
                "level_actions": [], "level_baseline_actions": [], "number_of_levels": 0,
                "number_of_environments": 1
            })
        };
        let environment = |runs: &[(&str, f64)]| {
            let runs: Vec<_> = runs.iter().map(|(guid, score)| run(guid, *score)).collect();
            json!({
                "id": "ab12-v1", "score": 1.0, "actions": 1, "levels_completed": 0,
                "completed": false, "level_count": 0, "resets": 0, "runs": runs
            })
        };
        let card = json!({
            "card_id": "c", "score": 1.0, "method": "m", "software": "s",
            "environments": [
                environment(&[("a", 1.0), ("b", 2.0), ("c", 2.0), ("d", 0.0)]),
                environment(&[("e", 0.0), ("f", 0.0)]),
            ],
            "total_environments_completed": 0, "total_environments": 2,
            "total_levels_completed": 0, "total_levels": 0, "total_actions": 6
        });
        serde_json::from_value(card).unwrap()
    }

    #[test]
    fn pages_contain_every_run_and_always_the_best() {
        for (after, guids, next) in [
            (0, ["ab", "e"], Some(2)),
            (2, ["bcd", "e"], Some(4)),
            (4, ["b", "ef"], None),
            (9, ["b", "e"], None),
        ] {
            let mut card = card();
            assert_eq!(keep_page(&mut card, after, 2), next, "{after}");
            let shown: Vec<String> = card
                .environments
                .iter()
                .map(|environment| environment.runs.iter().map(|run| &*run.guid).collect())
                .collect();
            assert_eq!(shown, guids, "{after}");
        }
    }

    #[test]
    fn position_is_a_number() {
        assert_eq!(runs_after(None), Ok(0));
        assert_eq!(runs_after(Some("a=b&after=12")), Ok(12));
        assert!(runs_after(Some("after=-1")).is_err());
        assert!(runs_after(Some("after=")).is_err());
    }
}

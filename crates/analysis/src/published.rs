//! Published results, with their sources and dates.

use rhae_protocol::{AnalysedRun, PublishedResult};

use crate::comparable::is_evaluation;

/// Returns the published results that ship with Rhae, grouped by benchmark.
///
/// They were measured on other environments and partly under other methods than a local run, so they
/// give orientation and no comparison.
///
/// # Panics
///
/// Panics if the data that ship with this crate are malformed, which a test excludes.
///
/// # Examples
///
/// ```
/// let results = rhae_analysis::published_results();
/// let best = results.iter().find(|one| one.system == "StochasticGoose").unwrap();
/// assert_eq!((best.score, best.date.as_deref()), (12.58, Some("2025-08-19")));
/// ```
pub fn published_results() -> Vec<PublishedResult> {
    serde_json::from_str(include_str!("../data/published.json"))
        .expect("a test reads the published results")
}

/// Returns the published results of the benchmarks to which runs belong.
pub fn published_for(runs: &[AnalysedRun]) -> Vec<PublishedResult> {
    let mut published = published_results();
    published.retain(|result| {
        runs.iter()
            .any(|run| is_evaluation(run) == (result.benchmark != "arc-agi-3"))
    });
    published
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_results_are_those_of_the_sources() {
        let results = published_results();
        let scores: Vec<(&str, f64)> = results
            .iter()
            .map(|one| (one.system.as_str(), one.score))
            .collect();
        assert_eq!(
            scores,
            [
                ("Gemini 3.1 Pro Preview", 0.37),
                ("GPT 5.4 (High)", 0.26),
                ("Opus 4.6 (Max)", 0.25),
                ("Grok-4.20 (Beta 0309 Reasoning)", 0.0),
                ("StochasticGoose", 12.58),
                ("Blind Squirrel", 6.71),
                ("Arcgentica", 85.28),
            ]
        );
        assert!(results.iter().all(|one| !one.source.is_empty()));
    }
}

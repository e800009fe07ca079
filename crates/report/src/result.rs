//! Rows of a result and number formats, shared by tables, plots and pages.
//!
//! Invariant: scores and counts are the means of the summary, which include missing and failed
//! plays.

use rhae_protocol::{
    Ending, EnvironmentScore, MOCK_PROVIDER, ModelUsage, RunScore, RunSummary, Scorecard,
    ValidResults,
};

/// One environment over all cards.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) score: f64,
    pub(crate) levels_completed: f64,
    pub(crate) levels: u32,
    pub(crate) actions: f64,
    /// The sum of the completed levels' baselines, as a mean over the cards; `None` if no level was
    /// completed.
    pub(crate) baseline: Option<f64>,
    pub(crate) endings: Vec<Ending>,
}

/// Returns one row for each environment of the summary.
pub(crate) fn rows(cards: &[Scorecard], summary: &RunSummary) -> Vec<Row> {
    let row = |environment: &rhae_protocol::SummaryEnvironment| {
        let runs: Vec<&RunScore> = cards
            .iter()
            .filter_map(|card| find(card, &environment.game_id))
            .filter_map(best_run)
            .collect();
        let baselines: i64 = runs.iter().flat_map(|run| completed_baselines(run)).sum();
        Row {
            name: environment.game_id.clone(),
            score: environment.score,
            levels_completed: environment.levels_completed,
            levels: environment.levels,
            actions: environment.actions,
            baseline: (baselines > 0).then(|| baselines as f64 / runs.len() as f64),
            endings: environment.endings.clone(),
        }
    };
    summary.environments.iter().map(row).collect()
}

/// Returns the sums of the rows. Scores are not summed, so the score of the result is 0.
pub(crate) fn total(rows: &[Row]) -> Row {
    Row {
        name: "total".to_owned(),
        score: 0.0,
        levels_completed: rows.iter().map(|row| row.levels_completed).sum(),
        levels: rows.iter().map(|row| row.levels).sum(),
        actions: rows.iter().map(|row| row.actions).sum(),
        baseline: rows
            .iter()
            .filter_map(|row| row.baseline)
            .reduce(|a, b| a + b),
        endings: Vec::new(),
    }
}

pub(crate) fn find<'a>(card: &'a Scorecard, game_id: &str) -> Option<&'a EnvironmentScore> {
    card.environments
        .iter()
        .find(|environment| environment.id == game_id)
}

/// Returns the run with the highest score; if several have it, the first of them.
pub(crate) fn best_run(environment: &EnvironmentScore) -> Option<&RunScore> {
    best_index(environment).map(|index| &environment.runs[index])
}

/// Returns the index of the best run.
pub(crate) fn best_index(environment: &EnvironmentScore) -> Option<usize> {
    let better = |best: usize, index: usize| {
        if environment.runs[index].score > environment.runs[best].score {
            index
        } else {
            best
        }
    };
    (0..environment.runs.len()).reduce(better)
}

fn completed_baselines(run: &RunScore) -> impl Iterator<Item = i64> {
    run.level_baseline_actions
        .iter()
        .take(run.levels_completed as usize)
        .copied()
        .filter(|&baseline| baseline > 0)
}

/// Formats a count of one card, or a mean over several cards with one decimal, so that numbers
/// align.
pub(crate) fn count(number: f64, cards: usize) -> String {
    if cards > 1 {
        format!("{number:.1}")
    } else {
        format!("{number:.0}")
    }
}

/// Returns the ends of the 95 % interval of the mean score, between 0 and 100; `None` for one card.
pub(crate) fn interval(summary: &RunSummary) -> Option<[f64; 2]> {
    // Summaries of earlier versions contain only half the width.
    let computed = summary
        .score_half_width
        .map(|half| [summary.score - half, summary.score + half]);
    let [low, high] = summary.score_interval.or(computed)?;
    Some([low.max(0.0), high.min(100.0)])
}

/// Returns the total over the valid results if it differs from the headline, because results are
/// missing.
pub(crate) fn missing(summary: &RunSummary) -> Option<ValidResults> {
    summary.valid_results.filter(|valid| valid.n < valid.of)
}

/// Describes the usage of the models of a run, and whether its cost is real.
pub(crate) fn spent_text(spent: &ModelUsage, summary: &RunSummary) -> String {
    let text = usage_text(spent);
    if is_mock(summary) && spent.cost_usd.is_some() {
        format!("{text}; the provider is a mock, so the cost is not real")
    } else {
        text
    }
}

/// Returns whether configured replies were played instead of those of a model.
pub(crate) fn is_mock(summary: &RunSummary) -> bool {
    summary.provider.as_deref() == Some(MOCK_PROVIDER)
}

/// Describes the usage of models in one line.
pub(crate) fn usage_text(spent: &ModelUsage) -> String {
    let cost = spent
        .cost_usd
        .map_or_else(|| "cost not known".to_owned(), |_| dollars(spent));
    let calls = if spent.calls == 1 {
        "1 call".to_owned()
    } else {
        format!("{} calls", grouped(spent.calls))
    };
    let uncounted = match spent.uncounted {
        0 => String::new(),
        number => {
            let paid = spent.possibly_paid_usd.map_or_else(String::new, |usd| {
                format!(" (possibly paid: up to {} more)", format_usd(usd))
            });
            format!(", {number} of them cut off and not fully counted{paid}")
        }
    };
    format!(
        "{cost}, {calls}{uncounted}, {} tokens in, {} out",
        grouped(spent.input_tokens),
        grouped(spent.output_tokens)
    )
}

/// Formats the cost of models; a dash if it is unknown.
pub(crate) fn dollars(spent: &ModelUsage) -> String {
    mean_dollars(spent, 1)
}

/// Formats the cost of models as a mean over the cards; a dash if it is unknown.
pub(crate) fn mean_dollars(spent: &ModelUsage, cards: usize) -> String {
    match spent.cost_usd {
        None => "–".to_owned(),
        Some(usd) => format_usd(usd / cards.max(1) as f64),
    }
}

fn format_usd(usd: f64) -> String {
    if usd > 0.0 && usd < 1.0 {
        format!("${usd:.4}")
    } else {
        format!("${usd:.2}")
    }
}

/// Formats a number with commas between the thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Counts how often each ending occurs, in the order of first occurrence. Examples of the result
/// are `won` and `won 3 · budget 2`.
pub(crate) fn tally(endings: &[Ending]) -> String {
    let mut kinds: Vec<(&Ending, usize)> = Vec::new();
    for ending in endings {
        match kinds.iter_mut().find(|(kind, _)| *kind == ending) {
            Some((_, times)) => *times += 1,
            None => kinds.push((ending, 1)),
        }
    }
    if let [(kind, _)] = kinds[..] {
        return kind.to_string();
    }
    kinds
        .iter()
        .map(|(kind, times)| format!("{kind} {times}"))
        .collect::<Vec<_>>()
        .join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_page::tests::report;

    #[test]
    fn baseline_is_summed_over_the_completed_levels() {
        let report = report(3);
        let rows = rows(&report.cards, &report.summary);
        assert_eq!(
            rows.iter().map(|row| row.baseline).collect::<Vec<_>>(),
            [Some(59.0), Some(13.0)]
        );
        assert_eq!(total(&rows).baseline, Some(72.0));
    }

    #[test]
    fn first_of_equally_good_runs_is_the_best() {
        let mut environment = report(1).cards.remove(0).environments.remove(0);
        environment.runs = [10.0, 30.0, 30.0]
            .map(|score| RunScore {
                score,
                ..environment.runs[0].clone()
            })
            .to_vec();
        assert_eq!(best_index(&environment), Some(1));
        environment.runs.clear();
        assert_eq!(best_index(&environment), None);
    }

    #[test]
    fn counts_have_no_decimals_and_means_have_one() {
        assert_eq!(
            [0.0, 12.0, 1999.0].map(|number| count(number, 1)),
            ["0", "12", "1999"]
        );
        assert_eq!(
            [0.0, 12.0, 1.0 / 3.0].map(|number| count(number, 3)),
            ["0.0", "12.0", "0.3"]
        );
    }

    #[test]
    fn costs_below_one_dollar_have_four_decimals() {
        let spent = |cost_usd| ModelUsage {
            calls: 1200,
            input_tokens: 12_345_678,
            output_tokens: 999,
            cost_usd,
            ..ModelUsage::default()
        };
        assert_eq!(
            usage_text(&spent(Some(12.345))),
            "$12.35, 1,200 calls, 12,345,678 tokens in, 999 out"
        );
        assert_eq!(dollars(&spent(Some(0.01234))), "$0.0123");
        assert_eq!(dollars(&spent(Some(0.0))), "$0.00");
        let broken = ModelUsage {
            uncounted: 2,
            ..spent(None)
        };
        assert_eq!(
            usage_text(&broken),
            "cost not known, 1,200 calls, 2 of them cut off and not fully counted, 12,345,678 tokens in, 999 out"
        );
        let killed = ModelUsage {
            uncounted: 1,
            possibly_paid_usd: Some(0.25),
            ..spent(Some(2.0))
        };
        assert_eq!(
            usage_text(&killed),
            "$2.00, 1,200 calls, 1 of them cut off and not fully counted (possibly paid: up to $0.2500 more), 12,345,678 tokens in, 999 out"
        );
    }

    #[test]
    fn different_endings_are_counted() {
        let endings =
            |names: &[&str]| tally(&names.iter().map(|&name| name.into()).collect::<Vec<_>>());
        assert_eq!(endings(&["won", "won"]), "won");
        assert_eq!(endings(&["budget", "won", "budget"]), "budget 2 · won 1");
        assert_eq!(endings(&[]), "");
    }
}

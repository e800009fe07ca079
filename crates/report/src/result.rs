//! What tables, plots and pages have in common: the rows of a result, and how numbers are written.
//!
//! Invariant: a play that is missing or failed stays in the denominator, because the means are those of the summary.

use rhae_protocol::{EnvironmentScore, RunScore, RunSummary, Scorecard, Spent};

/// One environment over all cards.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) score: f64,
    pub(crate) levels_completed: f64,
    pub(crate) levels: u32,
    pub(crate) actions: f64,
    /// Sum of the completed levels' baselines, as a mean over the cards; `None` where no level was completed.
    pub(crate) baseline: Option<f64>,
    pub(crate) endings: Vec<String>,
}

/// A row for each environment of the summary.
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

/// The sums of the rows; the score, which is no sum, is left at 0.
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

/// An environment on a card.
pub(crate) fn find<'a>(card: &'a Scorecard, game_id: &str) -> Option<&'a EnvironmentScore> {
    card.environments
        .iter()
        .find(|environment| environment.id == game_id)
}

/// The run that gave the environment its score: the first of the best.
pub(crate) fn best_run(environment: &EnvironmentScore) -> Option<&RunScore> {
    best_index(environment).map(|index| &environment.runs[index])
}

/// Where the best run stands among the runs.
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

/// A count or, over several cards, a mean of counts with one decimal, so that numbers align.
pub(crate) fn count(number: f64, cards: usize) -> String {
    if cards > 1 {
        format!("{number:.1}")
    } else {
        format!("{number:.0}")
    }
}

/// What models consumed, in words.
pub(crate) fn spent_words(spent: &Spent) -> String {
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
        number => format!(", {number} of them uncounted because they broke off"),
    };
    format!(
        "{cost}, {calls}{uncounted}, {} tokens in, {} out",
        grouped(spent.input_tokens),
        grouped(spent.output_tokens)
    )
}

/// What models cost; a dash if that is not known.
pub(crate) fn dollars(spent: &Spent) -> String {
    match spent.cost_usd {
        None => "–".to_owned(),
        Some(usd) if usd > 0.0 && usd < 1.0 => format!("${usd:.4}"),
        Some(usd) => format!("${usd:.2}"),
    }
}

/// A number with its thousands apart.
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

/// Different endings with how often each occurred, in the order of their first occurrence: `won`, or `won 3 · budget 2`.
pub(crate) fn tally(endings: &[String]) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for ending in endings {
        match kinds.iter_mut().find(|(kind, _)| kind == ending) {
            Some((_, times)) => *times += 1,
            None => kinds.push((ending, 1)),
        }
    }
    if let [(kind, _)] = kinds[..] {
        return kind.to_owned();
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
    fn the_baseline_is_that_of_the_completed_levels() {
        let report = report(3);
        let rows = rows(&report.cards, &report.summary);
        assert_eq!(
            rows.iter().map(|row| row.baseline).collect::<Vec<_>>(),
            [Some(59.0), Some(13.0)]
        );
        assert_eq!(total(&rows).baseline, Some(72.0));
    }

    #[test]
    fn the_first_of_the_best_runs_counts() {
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
    fn only_means_have_decimals() {
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
    fn money_is_shown_as_finely_as_it_matters() {
        let spent = |cost_usd| Spent {
            calls: 1200,
            input_tokens: 12_345_678,
            output_tokens: 999,
            cost_usd,
            ..Spent::default()
        };
        assert_eq!(
            spent_words(&spent(Some(12.345))),
            "$12.35, 1,200 calls, 12,345,678 tokens in, 999 out"
        );
        assert_eq!(dollars(&spent(Some(0.01234))), "$0.0123");
        assert_eq!(dollars(&spent(Some(0.0))), "$0.00");
        let broken = Spent {
            uncounted: 2,
            ..spent(None)
        };
        assert_eq!(
            spent_words(&broken),
            "cost not known, 1,200 calls, 2 of them uncounted because they broke off, 12,345,678 tokens in, 999 out"
        );
    }

    #[test]
    fn endings_are_counted_if_they_differ() {
        let endings = |names: &[&str]| {
            tally(
                &names
                    .iter()
                    .map(|&name| name.to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(endings(&["won", "won"]), "won");
        assert_eq!(endings(&["budget", "won", "budget"]), "budget 2 · won 1");
        assert_eq!(endings(&[]), "");
    }
}

//! The HTML report of a run.

use rhae_protocol::{EvalConfig, EvalEnd, EvalProtocol, EvalUsage};
use rhae_report::{ArcAttempt, ArcReport, ArcSet, ArcTask, arc_page};

use crate::EvalError;
use crate::plan::PlannedSet;
use crate::results::{AttemptResult, EvalResults};

/// Renders the HTML report of a run.
///
/// # Errors
///
/// Returns an error if an image cannot be rendered.
pub fn report(
    config: &EvalConfig,
    sets: &[PlannedSet],
    results: &EvalResults,
) -> Result<String, EvalError> {
    let costs_money = results.spent.cost_usd > 0.0 && results.spent.unpriced == 0;
    let mut tasks = Vec::new();
    for planned in sets {
        let score = results
            .sets
            .iter()
            .find(|set| set.set == planned.set.name)
            .and_then(|set| set.score.as_ref());
        for (id, tests) in &planned.selection {
            let Some(task) = planned.set.tasks.get(id) else {
                continue;
            };
            let attempt_results: Vec<&AttemptResult> = results
                .attempt_results
                .iter()
                .filter(|one| one.task == *id && one.set == planned.set.name)
                .collect();
            tasks.push(ArcTask {
                set: planned.set.name.clone(),
                id: id.clone(),
                task: task.clone(),
                tests: tests.clone(),
                score: score
                    .and_then(|score| score.results.iter().find(|result| result.task == *id))
                    .map(|result| result.score),
                cost: cost(&attempt_results, costs_money),
                attempts: attempt_results.into_iter().map(attempt).collect(),
            });
        }
    }
    let set = |set: &crate::SetResult| ArcSet {
        name: set.set.clone(),
        revision: set.revision.clone(),
        score: set.score.clone(),
    };
    Ok(arc_page(&ArcReport {
        solver: results.solver.clone(),
        notices: notices(results),
        facts: facts(config, results),
        sets: results.sets.iter().map(set).collect(),
        average: results.average().filter(|_| results.sets.len() > 1),
        costs_money,
        tasks,
    })?)
}

/// Returns the cost of a task in US dollars or, if the run has no known cost, the duration of its
/// requests in seconds.
fn cost(attempt_results: &[&AttemptResult], costs_money: bool) -> f64 {
    if costs_money {
        return attempt_results
            .iter()
            .fold(0.0, |sum, one| sum + one.spent.cost_usd);
    }
    let mut requests: Vec<(u64, u64)> = attempt_results
        .iter()
        .filter_map(|one| Some((one.request?, one.ms)))
        .collect();
    requests.sort_unstable();
    requests.dedup();
    requests.iter().map(|(_, ms)| *ms as f64 / 1000.0).sum()
}

fn attempt(one: &AttemptResult) -> ArcAttempt {
    ArcAttempt {
        test: one.test,
        attempt: one.attempt,
        grid: one
            .grid
            .clone()
            .map_err(|failure| (failure.reason.name().to_owned(), failure.message)),
        how: one.how.clone(),
        text: one.text.clone(),
        reasoning: one.reasoning.clone(),
        spent: spent(one.ms, &one.spent),
    }
}

fn spent(ms: u64, spent: &EvalUsage) -> String {
    let mut text = format!("{:.2} s", ms as f64 / 1000.0);
    if spent.tokens() > 0 {
        text += &format!(
            ", {} tokens in, {} out, {}",
            spent.input_tokens,
            spent.output_tokens,
            spent.cost()
        );
    }
    text
}

fn notices(results: &EvalResults) -> Vec<String> {
    let mut notices = Vec::new();
    if !results.finished {
        let why = results
            .ended
            .as_ref()
            .map_or("its process was killed", EvalEnd::text);
        notices.push(format!(
            "The run is not finished ({why}). Missing answers count as not solved."
        ));
    }
    let failed = results
        .attempt_results
        .iter()
        .filter(|one| one.request.is_some() && one.grid.is_err())
        .count();
    if failed > 0 {
        notices.push(format!(
            "{failed} of {} attempts have no grid and count as wrong.",
            results.attempt_results.len()
        ));
    }
    if results.lost_in_flight > 0 {
        notices.push(format!(
            "{} requests were in flight when a process was killed. They were repeated; the first transmission was possibly paid.",
            results.lost_in_flight
        ));
    }
    if results.spent.unmeasured > 0 {
        notices.push(format!(
            "{} transmissions failed before they reported their tokens.",
            results.spent.unmeasured
        ));
    }
    notices
}

fn facts(config: &EvalConfig, results: &EvalResults) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
    for set in &results.sets {
        add("Set", set.set.clone());
        add("Revision", set.revision.chars().take(12).collect());
        add(
            "Tasks, test inputs",
            format!("{}, {}", set.tasks, set.test_inputs),
        );
    }
    add("Attempts", results.attempts.to_string());
    add("Parser", results.parser.to_owned());
    if results.protocol != EvalProtocol::Standard {
        add("Protocol", results.protocol.name().to_owned());
    }
    if let Some([part, parts]) = config.shard {
        add("Part", format!("{part} of {parts}"));
    }
    add("Requests", results.requests.to_string());
    add("Duration", duration(results.seconds));
    add(
        "Time per task",
        format!(
            "median {:.2} s, maximum {:.2} s",
            results.task_seconds.median, results.task_seconds.max
        ),
    );
    if results.spent.tokens() > 0 {
        add("Tokens in", results.spent.input_tokens.to_string());
        add("Tokens out", results.spent.output_tokens.to_string());
        add("Cost", results.spent.cost());
    }
    // The full configuration of a model is in config.json.
    for (name, value) in config
        .solver_settings
        .iter()
        .filter(|(_, value)| !value.is_object())
    {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        // The full hash is in config.json.
        let short = if name.ends_with("sha256") {
            text.chars().take(12).collect()
        } else {
            text
        };
        add(&name.replace('_', " "), short);
    }
    add("Software", results.software.clone());
    add("Run", results.run_id.clone());
    facts
}

fn duration(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let minutes = (seconds / 60.0).floor();
    if minutes < 60.0 {
        format!("{minutes} min {:.0} s", seconds - minutes * 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

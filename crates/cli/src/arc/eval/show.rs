//! Output of a run: an estimate at the start, a progress bar, and the results at the end.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use rhae_eval::{Estimate, EvalResults, Ledger, Plan, Progress, results_json};
use rhae_protocol::{EvalConfig, EvalEnd, EvalProtocol};
use rhae_runs::RunFolder;
use serde_json::json;

use crate::arc::score::{measures, warnings};
use crate::interrupt::INTERRUPTED;
use crate::output;

/// Prints the number of requests to send and their minimum cost to standard error.
pub(super) fn print_plan(plan: &Plan, ledger: &Ledger, estimate: &Estimate, folder: &RunFolder) {
    let tasks: usize = plan.sets.iter().map(|set| set.selection.len()).sum();
    let tests: usize = plan.sets.iter().map(rhae_eval::PlannedSet::tests).sum();
    let done = plan.requests() - estimate.requests;
    let mut text = format!(
        "{tasks} tasks, {tests} test inputs, {} attempts each: {} requests{}\n",
        plan.attempts,
        estimate.requests,
        if done > 0 {
            format!(", {done} already done")
        } else {
            String::new()
        }
    );
    if let Some(min_cost) = &estimate.min_cost {
        text += &format!(
            "minimum, without reasoning: {} input tokens and {} output tokens, {}\n",
            min_cost.input_tokens,
            min_cost.answer_tokens,
            min_cost.usd.map_or_else(
                || "cost not known because the model has no `prices`".to_owned(),
                |usd| format!("{usd:.2} USD")
            )
        );
    }
    let lost = ledger.in_flight().count();
    if lost > 0 {
        text += &format!(
            "{lost} requests were in flight when a process ended; they are sent again, and the first transmissions were possibly paid\n"
        );
    }
    eprintln!(
        "{}folder: {}",
        output::plain(&text),
        output::plain(&folder.path().display().to_string())
    );
}

/// The progress bar. It is hidden with `--json` and if standard error is not a terminal.
pub(super) struct RunProgress(ProgressBar);

impl RunProgress {
    pub(super) fn new(json: bool) -> Self {
        if json || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{bar:20} {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        Self(ProgressBar::new(0).with_style(style))
    }

    pub(super) fn show(&self, progress: &Progress) {
        if self.0.length() == Some(0) {
            // Exclude the requests of earlier processes from the estimate of the remaining time.
            self.0.set_length(progress.total as u64);
            self.0.set_position(progress.done as u64);
            self.0.reset_eta();
        }
        self.0.set_position(progress.done as u64);
        let Progress {
            done,
            total,
            solved,
            tasks_done,
            spent,
            in_flight,
            ..
        } = progress;
        let cost = if spent.tokens() > 0 {
            format!(", {}", spent.cost())
        } else {
            String::new()
        };
        let left = if *done > 0 {
            format!(", about {} s left", self.0.eta().as_secs())
        } else {
            String::new()
        };
        self.0.set_message(format!(
            "{done}/{total} requests, {in_flight} in flight, {solved} of {tasks_done} tasks solved{cost}, {} s{left}",
            self.0.elapsed().as_secs()
        ));
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// Prints the results. The exit code is 0 only if the run is finished.
pub(super) fn print_results(
    config: &EvalConfig,
    results: &EvalResults,
    folder: &RunFolder,
    json: bool,
) -> Result<ExitCode> {
    if json {
        let mut value = results_json(config, results)?;
        value["folder"] = json!(folder.path().display().to_string());
        output::print_json(&value)?;
    } else {
        output::print(&output::plain(&text(config, results)))?;
        output::print(&output::plain(&format!(
            "results: {}",
            folder.path().display()
        )))?;
    }
    if !results.finished {
        let why = results.ended.as_ref().unwrap_or(&EvalEnd::Interrupted);
        eprintln!(
            "not finished ({}): missing answers count as not solved; continue with `rhae arc eval --resume {}`",
            output::plain(why.text()),
            output::plain(&folder.path().display().to_string())
        );
        return Ok(ExitCode::from(if *why == EvalEnd::Interrupted {
            INTERRUPTED
        } else {
            1
        }));
    }
    Ok(ExitCode::SUCCESS)
}

fn text(config: &EvalConfig, results: &EvalResults) -> String {
    let mut text = String::new();
    for set in &results.sets {
        text += &format!(
            "{}, revision {}, {} tasks, {} test inputs, {} attempts, parser {}\n\n",
            set.set,
            &set.revision[..12],
            set.tasks,
            set.test_inputs,
            results.attempts,
            results.parser
        );
        match &set.score {
            Some(score) => {
                let headline = if config.protocol == EvalProtocol::Plan {
                    "tasks_solved"
                } else {
                    "mean_task_score"
                };
                text += &measures(score, headline);
                text += &warnings(&score.warnings);
            }
            None => text.push_str("not scored: the solutions are not known\n"),
        }
        text.push('\n');
    }
    if results.sets.len() > 1
        && let Some(average) = results.average()
    {
        text += &format!(
            "average of the {} sets: {:.2} %\n\n",
            results.sets.len(),
            100.0 * average
        );
    }
    text += &format!(
        "{:.1} s in total, median {:.2} s and maximum {:.2} s per task",
        results.seconds, results.task_seconds.median, results.task_seconds.max
    );
    let spent = &results.spent;
    if spent.tokens() > 0 {
        text += &format!(
            "; {} input tokens, {} output tokens, {}",
            spent.input_tokens,
            spent.output_tokens,
            spent.cost()
        );
    }
    let failed = results
        .attempt_results
        .iter()
        .filter(|result| result.request.is_some() && result.grid.is_err())
        .count();
    if failed > 0 {
        text += &format!(
            "; {failed} of {} attempts have no grid",
            results.attempt_results.len()
        );
    }
    text
}

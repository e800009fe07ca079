//! `rhae llm`: lists and checks the language models of a configuration file.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use rhae_llm::{
    Attempt, AttemptStart, CallObserver, CallOutcome, CancelToken, Failure, FailureKind, Finish,
    Halt, Model, ModelConfig, Reply, Request,
};
use serde_json::{Value, json};

use crate::models::ModelsArgs;
use crate::output;

/// Prompt of `rhae llm check`.
const CHECK_PROMPT: &str = "Reply with the single word: ready";

/// List and check the language models of a configuration file.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae llm list
  rhae llm check my-model
  rhae llm check my-model --models lab.toml --json")]
pub(crate) struct LlmArgs {
    #[command(subcommand)]
    command: LlmCommand,
}

#[derive(Subcommand)]
enum LlmCommand {
    /// Send a short request to a model and report the reply, or the cause of the failure
    Check {
        /// Name of the model in the file, or PROVIDER/MODEL
        name: String,
        #[command(flatten)]
        models: ModelsArgs,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the models of a file without sending a request
    List {
        #[command(flatten)]
        models: ModelsArgs,
        /// Print the configurations as JSON, without keys and header values
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: &LlmArgs) -> Result<ExitCode> {
    match &args.command {
        LlmCommand::Check { name, models, json } => check(name, models, *json),
        LlmCommand::List { models, json } => list(models, *json),
    }
}

fn list(models: &ModelsArgs, json: bool) -> Result<ExitCode> {
    let models = models.load()?;
    if json {
        output::print_json(&models.iter().collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    for config in models.iter() {
        let key = match config.key_variable() {
            Some(variable) if std::env::var_os(variable).is_none() => {
                format!(", {variable} is not set")
            }
            Some(variable) => format!(", key from {variable}"),
            None => String::new(),
        };
        let prices = config.prices.as_ref().map_or_else(
            || ", no prices".to_owned(),
            |prices| format!(", prices of {}", prices.date),
        );
        let model = if config.model.is_empty() {
            String::new()
        } else {
            format!(" {}", config.model)
        };
        output::print(&output::plain(&format!(
            "{}: {}{model}{key}{prices}",
            config.name,
            config.provider.name()
        )))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check(name: &str, models: &ModelsArgs, json: bool) -> Result<ExitCode> {
    let model = models.open(name)?;
    let outcome = model.ask(
        &Request::text(CHECK_PROMPT),
        &CancelToken::default(),
        None,
        &mut AttemptLog { silent: json },
    );
    let notes = notes(&model, &outcome);
    if json {
        output::print_json(&outcome_json(&model, &outcome, &notes))?;
    } else {
        print_outcome(&outcome, &notes)?;
    }
    Ok(if outcome.reply.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Prints each retry and each failed attempt to standard error, because retries can take a while.
struct AttemptLog {
    silent: bool,
}

impl CallObserver for AttemptLog {
    fn before(&mut self, start: &AttemptStart) -> Result<(), Halt> {
        if start.number > 1 && !self.silent {
            eprintln!("attempt {}", start.number);
        }
        Ok(())
    }

    fn after(&mut self, attempt: &Attempt, _reply: Option<&Reply>) -> Result<(), Halt> {
        if let (Some(failure), false) = (&attempt.failure, self.silent) {
            eprintln!(
                "attempt {} failed after {} ms: {}",
                attempt.number,
                attempt.ms,
                output::plain(&failure.message)
            );
        }
        Ok(())
    }
}

fn print_outcome(outcome: &CallOutcome, notes: &[String]) -> Result<()> {
    match &outcome.reply {
        Ok(reply) => {
            let answer: String = reply.text.trim().chars().take(200).collect();
            output::print(&output::plain(&format!(
                "it works: `{}` answered `{answer}`",
                reply.model
            )))?;
            let last = outcome.attempts.last();
            let usage = outcome.usage();
            let cost = last
                .and_then(|attempt| attempt.cost_usd)
                .map_or_else(|| "cost not known".to_owned(), |usd| format!("${usd:.6}"));
            output::print(&format!(
                "{} ms, {} input tokens ({} cached), {} output tokens ({} reasoning), {cost}",
                last.map_or(0, |attempt| attempt.ms),
                usage.input_tokens,
                usage.cached_tokens,
                usage.output_tokens,
                usage.reasoning_tokens
            ))?;
        }
        Err(failure) => output::print(&output::plain(&format!("it does not work: {failure}")))?,
    }
    for note in notes {
        output::print(&output::plain(&format!("note: {note}")))?;
    }
    Ok(())
}

fn outcome_json(model: &Model, outcome: &CallOutcome, notes: &[String]) -> Value {
    json!({
        "model": model.name(),
        "works": outcome.reply.is_ok(),
        "reply": outcome.reply.as_ref().ok(),
        "failure": outcome.reply.as_ref().err(),
        "attempts": outcome.attempts,
        "notes": notes,
    })
}

/// Returns advice about a failure, or about problems that a run with this model would have.
fn notes(model: &Model, outcome: &CallOutcome) -> Vec<String> {
    let config = model.config();
    match &outcome.reply {
        Err(failure) => remedy(config, failure).into_iter().collect(),
        Ok(reply) => {
            let mut notes = Vec::new();
            if reply.usage.is_none() {
                notes.push(
                    "the provider reports no token counts, so tokens and cost can be neither counted \
                     nor limited"
                        .to_owned(),
                );
            } else if outcome
                .attempts
                .last()
                .is_some_and(|attempt| attempt.cost_usd.is_none())
            {
                notes.push(
                    "the model has no `prices`, so its cost is unknown and cannot be limited"
                        .to_owned(),
                );
            }
            match &reply.finish {
                Finish::Length => notes.push(
                    "the answer was cut off by the output token limit in `request`".to_owned(),
                ),
                Finish::Refused(why) => notes.push(format!("the model refused to answer: {why}")),
                _ if reply.text.trim().is_empty() => notes.push("the answer is empty".to_owned()),
                _ => {}
            }
            notes
        }
    }
}

fn remedy(config: &ModelConfig, failure: &Failure) -> Option<String> {
    let key_source = config.key_variable().map_or_else(
        || "no key is sent because `key_env` is empty".to_owned(),
        |name| format!("the key is read from {name}"),
    );
    Some(match (failure.kind, failure.status) {
        (FailureKind::Status, Some(401 | 403)) => {
            format!("the key is missing, invalid, or not authorized for this model; {key_source}")
        }
        (FailureKind::Status, Some(404)) => format!(
            "check `base_url`, and the name `{}` in `model`",
            config.model
        ),
        (FailureKind::Status, Some(400 | 422)) => {
            "the provider rejects a parameter in `request`, or the name in `model`".to_owned()
        }
        (FailureKind::Status, Some(429)) => {
            "the account has no credit, or its rate limits are lower than `limits` of the model"
                .to_owned()
        }
        (FailureKind::NotSent, _) => "no server responds at `base_url`".to_owned(),
        (FailureKind::Garbled, _) => {
            "the server at `base_url` does not use the API named by `provider`".to_owned()
        }
        (FailureKind::TimedOut | FailureKind::Lost, _) => {
            "for a model that reasons for a long time, increase `timeouts` or set `stream = true`"
                .to_owned()
        }
        _ => return None,
    })
}

//! `rhae llm`: the language models that a file describes.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use rhae_llm::{
    Attempt, Cancel, Failure, FailureKind, Finish, Halt, Model, ModelConfig, Outcome, Reply,
    Request, Sending, Watch,
};
use serde_json::{Value, json};

use crate::models::ModelsArgs;
use crate::output;

/// What a model is asked to see whether it answers.
const QUESTION: &str = "Reply with the single word: ready";

/// List and try the language models of a file.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae llm list
  rhae llm check my-model
  rhae llm check my-model --models lab.toml --json")]
pub(crate) struct LlmArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Ask a model for one word, and say what is wrong if it does not come
    Check {
        /// Its name in the file
        name: String,
        #[command(flatten)]
        models: ModelsArgs,
        /// Print the outcome as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the models of a file, without asking any
    List {
        #[command(flatten)]
        models: ModelsArgs,
        /// Print the configurations as JSON; keys and values of headers are not in it
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: &LlmArgs) -> Result<ExitCode> {
    match &args.what {
        What::Check { name, models, json } => check(name, models, *json),
        What::List { models, json } => list(models, *json),
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
        &Request::text(QUESTION),
        &Cancel::default(),
        None,
        &mut Aloud { silent: json },
    );
    let advice = advice(&model, &outcome);
    if json {
        output::print_json(&as_json(&model, &outcome, &advice))?;
    } else {
        tell(&outcome, &advice)?;
    }
    Ok(if outcome.reply.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Says on standard error why a request is sent again, because that may take a while.
struct Aloud {
    silent: bool,
}

impl Watch for Aloud {
    fn before(&mut self, sending: &Sending) -> Result<(), Halt> {
        if sending.number > 1 && !self.silent {
            eprintln!("attempt {}", sending.number);
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

fn tell(outcome: &Outcome, advice: &[String]) -> Result<()> {
    match &outcome.reply {
        Ok(reply) => {
            let said: String = reply.text.trim().chars().take(200).collect();
            output::print(&output::plain(&format!(
                "it works: `{}` answered `{said}`",
                reply.model
            )))?;
            let last = outcome.attempts.last();
            let usage = outcome.usage();
            let cost = last.and_then(|attempt| attempt.cost_usd).map_or_else(
                || "an unknown amount".to_owned(),
                |usd| format!("${usd:.6}"),
            );
            output::print(&format!(
                "{} ms, {} tokens in ({} cached), {} out ({} reasoning), {cost}",
                last.map_or(0, |attempt| attempt.ms),
                usage.input_tokens,
                usage.cached_tokens,
                usage.output_tokens,
                usage.reasoning_tokens
            ))?;
        }
        Err(failure) => output::print(&output::plain(&format!("it does not work: {failure}")))?,
    }
    for line in advice {
        output::print(&output::plain(&format!("note: {line}")))?;
    }
    Ok(())
}

fn as_json(model: &Model, outcome: &Outcome, advice: &[String]) -> Value {
    json!({
        "model": model.name(),
        "works": outcome.reply.is_ok(),
        "reply": outcome.reply.as_ref().ok(),
        "failure": outcome.reply.as_ref().err(),
        "attempts": outcome.attempts,
        "notes": advice,
    })
}

/// What to do about what went wrong, or may go wrong later.
fn advice(model: &Model, outcome: &Outcome) -> Vec<String> {
    let config = model.config();
    match &outcome.reply {
        Err(failure) => remedy(config, failure).into_iter().collect(),
        Ok(reply) => {
            let mut notes = Vec::new();
            if reply.usage.is_none() {
                notes.push("the provider tells no tokens, so neither they nor their cost can be counted or limited".to_owned());
            } else if outcome
                .attempts
                .last()
                .is_some_and(|attempt| attempt.cost_usd.is_none())
            {
                notes.push("without `prices` in its table the cost is not known, and no limit on money can be kept".to_owned());
            }
            match &reply.finish {
                Finish::Length => notes.push(
                    "the answer was cut off by the limit of output tokens in `request`".to_owned(),
                ),
                Finish::Refused(why) => notes.push(format!("it refused: {why}")),
                _ if reply.text.trim().is_empty() => notes.push("the answer is empty".to_owned()),
                _ => {}
            }
            notes
        }
    }
}

fn remedy(config: &ModelConfig, failure: &Failure) -> Option<String> {
    let variable = config.key_variable().map_or_else(
        || "no key is sent: `key_env` is empty".to_owned(),
        |name| format!("the key comes from {name}"),
    );
    Some(match (failure.kind, failure.status) {
        (FailureKind::Status, Some(401 | 403)) => {
            format!("the key is missing, wrong, or not allowed to use this model; {variable}")
        }
        (FailureKind::Status, Some(404)) => format!(
            "`base_url` or the name `{}` in `model` is wrong",
            config.model
        ),
        (FailureKind::Status, Some(400 | 422)) => {
            "the provider does not like a parameter in `request`, or the name in `model`".to_owned()
        }
        (FailureKind::Status, Some(429)) => {
            "the account has no credit, or its limits are lower than `limits` in the table"
                .to_owned()
        }
        (FailureKind::NotSent, _) => "nothing answers at `base_url`".to_owned(),
        (FailureKind::Garbled, _) => {
            "what answers at `base_url` does not speak as `provider` says".to_owned()
        }
        (FailureKind::TimedOut | FailureKind::Lost, _) => {
            "a model that thinks long needs larger `timeouts`, or `stream = true`".to_owned()
        }
        _ => return None,
    })
}

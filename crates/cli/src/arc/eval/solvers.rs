//! From names and flags to solvers, with all settings that their answers depend on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use rhae_engine::Rng;
use rhae_eval::load_lines;
use rhae_eval::solver::{Ask, Random, Replay, Search, Solver};
use rhae_solve::Budget;
use rhae_tasks::Prompt;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::EvalArgs;
use crate::arc::data::{read, submission};

/// Settings as a configuration holds them.
pub(super) type Settings = BTreeMap<String, Value>;

/// What flags say about a solver.
pub(super) fn given(args: &EvalArgs, name: &str) -> Result<Settings> {
    let mut settings = Settings::new();
    if let Some(work) = args.work {
        ensure!(name == "search", "--work is for `--solver search`");
        settings.insert("work".to_owned(), json!(work * 1_000_000));
    }
    if let Some(seed) = args.seed {
        ensure!(name == "random", "--seed is for `--solver random`");
        settings.insert("seed".to_owned(), json!(seed));
    }
    if name.starts_with("model:") {
        let prompt = args.prompt.as_deref().unwrap_or(args.protocol.prompt());
        settings.insert("prompt".to_owned(), json!(prompt));
        let models = args
            .models
            .models
            .canonicalize()
            .unwrap_or_else(|_| args.models.models.clone());
        settings.insert("models".to_owned(), json!(models.display().to_string()));
    } else {
        ensure!(
            args.prompt.is_none(),
            "--prompt is for `--solver model:NAME`"
        );
    }
    Ok(settings)
}

/// The solver of a name, and all settings that its answers depend on: those given, and what follows from them.
pub(super) fn solver(
    args: &EvalArgs,
    name: &str,
    settings: Settings,
) -> Result<(Box<dyn Solver>, Settings)> {
    match name.split_once(':') {
        None if name == "search" => Ok(search(settings)),
        None if name == "random" => Ok(random(settings)),
        Some(("replay", file)) => replay(file, settings),
        Some(("model", model)) => ask(args, model, settings),
        _ => bail!(
            "`{name}` is not a solver: expected `search`, `random`, `model:NAME` or `replay:FILE`"
        ),
    }
}

fn search(mut settings: Settings) -> (Box<dyn Solver>, Settings) {
    let work = settings
        .get("work")
        .and_then(Value::as_u64)
        .unwrap_or(Budget::default().work);
    let budget = Budget {
        work,
        ..Budget::default()
    };
    settings.insert("work".to_owned(), json!(budget.work));
    settings.insert("cells".to_owned(), json!(budget.cells));
    (Box::new(Search { budget }), settings)
}

fn random(mut settings: Settings) -> (Box<dyn Solver>, Settings) {
    let seed = settings.get("seed").and_then(Value::as_u64).unwrap_or(0);
    settings.insert("seed".to_owned(), json!(seed));
    settings.insert("generator".to_owned(), json!(Rng::NAME));
    (Box::new(Random { seed }), settings)
}

fn replay(given: &str, mut settings: Settings) -> Result<(Box<dyn Solver>, Settings)> {
    // Recordings are read again when a run is resumed, so their places must not depend on where that happens.
    let before: Option<Vec<PathBuf>> = settings
        .get("files")
        .and_then(Value::as_object)
        .map(|files| files.keys().map(PathBuf::from).collect());
    let paths = before.unwrap_or_else(|| match Path::new(given).exists() {
        true => vec![PathBuf::from(given)],
        false => given.split(',').map(PathBuf::from).collect(),
    });
    let mut all: Option<Replay> = None;
    let mut files = Map::new();
    for path in paths {
        let path = path
            .canonicalize()
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let journal = if path.is_dir() {
            path.join("journal.jsonl")
        } else {
            path.clone()
        };
        let of_a_run =
            journal.extension().is_some_and(|ending| ending == "jsonl") && journal.is_file();
        let replay = if of_a_run {
            Replay::of_journal(&load_lines(journal.parent().unwrap_or(Path::new(".")))?)
        } else {
            Replay::of_submission(&submission(&path)?)
        };
        let content = if of_a_run { &journal } else { &path };
        let sha256 = if content.is_file() {
            json!(hash(&read(content)?))
        } else {
            Value::Null
        };
        files.insert(path.display().to_string(), sha256);
        match &mut all {
            Some(all) => all.join(replay),
            None => all = Some(replay),
        }
    }
    settings.insert("files".to_owned(), Value::Object(files));
    Ok((
        Box::new(all.context("`replay:` needs a file or a folder")?),
        settings,
    ))
}

fn ask(args: &EvalArgs, name: &str, mut settings: Settings) -> Result<(Box<dyn Solver>, Settings)> {
    let mut models = args.models.clone();
    if args.resume.is_some()
        && let Some(path) = settings.get("models").and_then(Value::as_str)
    {
        models.models = PathBuf::from(path);
    }
    let model = models.open(name)?;
    let wanted = settings
        .get("prompt")
        .and_then(Value::as_str)
        .unwrap_or("official")
        .to_owned();
    let prompt = match Path::new(&wanted).is_file() {
        true => Prompt::parse(&wanted, &read(Path::new(&wanted))?)?,
        false => Prompt::built_in(&wanted)?,
    };
    let shown = if Path::new(&wanted).is_file() {
        Path::new(&wanted)
            .canonicalize()
            .map_or(wanted.clone(), |path| path.display().to_string())
    } else {
        wanted
    };
    settings.insert("prompt".to_owned(), json!(shown));
    settings.insert("prompt_sha256".to_owned(), json!(prompt.hash()));
    let config = serde_json::to_value(model.config())?;
    settings.insert("model_sha256".to_owned(), json!(hash(&config.to_string())));
    settings.insert("priced".to_owned(), json!(model.config().prices.is_some()));
    settings.insert("model".to_owned(), config);
    Ok((Box::new(Ask { model, prompt }), settings))
}

fn hash(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

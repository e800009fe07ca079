//! Creates solvers from their names and flags, with all settings that determine their answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use rhae_engine::Rng;
use rhae_eval::solver::{ModelSolver, RandomSolver, ReplaySolver, SearchSolver, Solver};
use rhae_runs::load_lines;
use rhae_solve::Budget;
use rhae_tasks::Prompt;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::EvalArgs;
use crate::arc::data::{load_submission, read};

/// Settings of a solver, as stored in the configuration of a run.
pub(super) type Settings = BTreeMap<String, Value>;

/// Returns the solver settings that the flags of a new run specify.
///
/// # Errors
///
/// Returns an error if a flag belongs to another solver.
pub(super) fn settings_from_flags(args: &EvalArgs, name: &str) -> Result<Settings> {
    let mut settings = Settings::new();
    if let Some(work) = args.work {
        ensure!(name == "search", "--work requires `--solver search`");
        settings.insert("work".to_owned(), json!(work * 1_000_000));
    }
    if let Some(seed) = args.seed {
        ensure!(name == "random", "--seed requires `--solver random`");
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
            "--prompt requires `--solver model:NAME`"
        );
    }
    Ok(settings)
}

/// Creates the solver called `name`. Returns it with all settings that determine its answers: the
/// given settings, the defaults of missing ones, and checksums of files and models.
pub(super) fn create_solver(
    args: &EvalArgs,
    name: &str,
    settings: Settings,
) -> Result<(Box<dyn Solver>, Settings)> {
    match name.split_once(':') {
        None if name == "search" => Ok(search(settings)),
        None if name == "random" => Ok(random(settings)),
        Some(("replay", file)) => replay(file, settings),
        Some(("model", model_name)) => model(args, model_name, settings),
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
    (Box::new(SearchSolver { budget }), settings)
}

fn random(mut settings: Settings) -> (Box<dyn Solver>, Settings) {
    let seed = settings.get("seed").and_then(Value::as_u64).unwrap_or(0);
    settings.insert("seed".to_owned(), json!(seed));
    settings.insert("generator".to_owned(), json!(Rng::NAME));
    (Box::new(RandomSolver { seed }), settings)
}

fn replay(files_argument: &str, mut settings: Settings) -> Result<(Box<dyn Solver>, Settings)> {
    // A resumed run reads the files again, possibly from another working directory, so the settings
    // store absolute paths.
    let recorded: Option<Vec<PathBuf>> = settings
        .get("files")
        .and_then(Value::as_object)
        .map(|files| files.keys().map(PathBuf::from).collect());
    let paths = recorded.unwrap_or_else(|| match Path::new(files_argument).exists() {
        true => vec![PathBuf::from(files_argument)],
        false => files_argument.split(',').map(PathBuf::from).collect(),
    });
    let mut solver: Option<ReplaySolver> = None;
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
        let is_journal =
            journal.extension().is_some_and(|ending| ending == "jsonl") && journal.is_file();
        let replay = if is_journal {
            ReplaySolver::from_journal(&load_lines(journal.parent().unwrap_or(Path::new(".")))?)
        } else {
            ReplaySolver::from_submission(&load_submission(&path)?)
        };
        let content = if is_journal { &journal } else { &path };
        let sha256 = if content.is_file() {
            json!(hash(&read(content)?))
        } else {
            Value::Null
        };
        files.insert(path.display().to_string(), sha256);
        match &mut solver {
            Some(solver) => solver.join(replay),
            None => solver = Some(replay),
        }
    }
    settings.insert("files".to_owned(), Value::Object(files));
    Ok((
        Box::new(solver.context("`replay:` needs a file or a folder")?),
        settings,
    ))
}

fn model(
    args: &EvalArgs,
    name: &str,
    mut settings: Settings,
) -> Result<(Box<dyn Solver>, Settings)> {
    let mut models = args.models.clone();
    if args.resume.is_some()
        && let Some(path) = settings.get("models").and_then(Value::as_str)
    {
        models.models = PathBuf::from(path);
    }
    let model = models.open(name)?;
    let prompt_name = settings
        .get("prompt")
        .and_then(Value::as_str)
        .unwrap_or("official")
        .to_owned();
    let prompt = match Path::new(&prompt_name).is_file() {
        true => Prompt::parse(&prompt_name, &read(Path::new(&prompt_name))?)?,
        false => Prompt::built_in(&prompt_name)?,
    };
    let recorded_name = if Path::new(&prompt_name).is_file() {
        Path::new(&prompt_name)
            .canonicalize()
            .map_or(prompt_name.clone(), |path| path.display().to_string())
    } else {
        prompt_name
    };
    settings.insert("prompt".to_owned(), json!(recorded_name));
    settings.insert("prompt_sha256".to_owned(), json!(prompt.hash()));
    let config = serde_json::to_value(model.config())?;
    settings.insert("model_sha256".to_owned(), json!(hash(&config.to_string())));
    settings.insert("priced".to_owned(), json!(model.config().prices.is_some()));
    settings.insert("model".to_owned(), config);
    Ok((Box::new(ModelSolver { model, prompt }), settings))
}

fn hash(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

//! Creates solvers from their names, with all settings that determine their answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhae_agents::{CONTEXT_TOKENS, ModelPlayer};
use rhae_agents_llm::{
    ChatSettings, JavaScriptSettings, Limits, PythonSettings, Rlm, TaskSolver, ToolMode, TrimPolicy,
};
use rhae_datasets::{load_submission, read_text};
use rhae_engine::Rng;
use rhae_llm::Model;
use rhae_runs::{JOURNAL, RunsError, load_lines};
use rhae_solve::Budget;
use rhae_tasks::Prompt;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{
    ModelSolver, OrchestratorSolver, RandomSolver, ReplaySolver, RlmSolver, SearchSolver, Solver,
};
use crate::EvalError;

/// Settings of a solver, as stored in the configuration of a run.
pub type SolverSettings = BTreeMap<String, Value>;

/// The default number of iterations of a recursive language model, and of the requests of an agent.
const MAX_ITERATIONS: u64 = 25;
/// The default depth of calls of a recursive language model.
const MAX_DEPTH: u64 = 2;
/// The default depth of the agents of an orchestrator.
const MAX_AGENT_DEPTH: u64 = 1;

/// What solvers need from the program that runs them.
pub struct SolverHost<'a> {
    /// Opens a model of a configuration file.
    pub open_model: &'a dyn Fn(&Path, &str) -> Result<Model, EvalError>,
    /// The configuration file of models that the user named. The run in a folder that other users
    /// can change may not use another one.
    pub models: PathBuf,
    /// How the code of a model is executed. JavaScript uses the same sandbox and no interpreter.
    pub python: PythonSettings,
}

impl SolverHost<'_> {
    /// Returns whether the user named this configuration file of models, which a run stores as an
    /// absolute path.
    pub(crate) fn has_named(&self, models: &str) -> bool {
        models == absolute(&self.models)
    }
}

/// The options of a new run that only some solvers use.
#[derive(Clone, Debug, Default)]
pub struct SolverOptions {
    /// For `search`: the budget for each test, in examined cells.
    pub work: Option<u64>,
    /// For `random`: the seed of the generator.
    pub seed: Option<u64>,
    /// For models: the name of a prompt template, or its file; the protocol's if absent.
    pub prompt: Option<String>,
    /// For all solvers with a model: the configuration file.
    pub models: PathBuf,
    /// For recursive language models and orchestrators: the iterations of an invocation, or the
    /// requests of an agent.
    pub max_iterations: Option<u32>,
    /// For recursive language models and orchestrators: the depth of calls.
    pub max_depth: Option<u32>,
    /// For recursive language models and orchestrators: the folder whose prompts replace the embedded
    /// ones.
    pub prompts: Option<PathBuf>,
}

impl SolverOptions {
    /// Returns the settings of the solver `name`. `default_prompt` is the prompt of the protocol.
    ///
    /// # Errors
    ///
    /// Returns an error if an option belongs to another solver.
    pub fn settings(&self, name: &str, default_prompt: &str) -> Result<SolverSettings, EvalError> {
        let is_model = name.starts_with("model:");
        let is_orchestrator = name.starts_with("orchestrator:");
        let uses_code = is_orchestrator || name.starts_with("rlm:");
        for (is_given, belongs, message) in [
            (
                self.work.is_some(),
                name == "search",
                "--work requires `--solver search`",
            ),
            (
                self.seed.is_some(),
                name == "random",
                "--seed requires `--solver random`",
            ),
            (
                self.prompt.is_some(),
                is_model,
                "--prompt requires `--solver model:NAME`",
            ),
            (
                self.max_iterations.is_some(),
                uses_code,
                "--max-iterations requires `--solver rlm:NAME` or `--solver orchestrator:NAME`",
            ),
            (
                self.max_depth.is_some(),
                uses_code,
                "--max-depth requires `--solver rlm:NAME` or `--solver orchestrator:NAME`",
            ),
            (
                self.prompts.is_some(),
                uses_code,
                "--prompts requires `--solver rlm:NAME` or `--solver orchestrator:NAME`",
            ),
        ] {
            if is_given && !belongs {
                return Err(EvalError::Config(message.to_owned()));
            }
        }
        let mut settings = SolverSettings::new();
        let mut set = |name: &str, value: Value| settings.insert(name.to_owned(), value);
        if let Some(work) = self.work {
            set("work", json!(work));
        }
        if let Some(seed) = self.seed {
            set("seed", json!(seed));
        }
        if is_model {
            set(
                "prompt",
                json!(self.prompt.as_deref().unwrap_or(default_prompt)),
            );
        }
        if uses_code {
            let iterations = self.max_iterations.map_or(MAX_ITERATIONS, u64::from);
            set("max_iterations", json!(iterations));
            let default = if is_orchestrator {
                MAX_AGENT_DEPTH
            } else {
                MAX_DEPTH
            };
            set(
                "max_depth",
                json!(self.max_depth.map_or(default, u64::from)),
            );
            if let Some(folder) = &self.prompts {
                set("prompts", json!(absolute(folder)));
            }
        }
        if is_model || uses_code {
            set("models", json!(absolute(&self.models)));
        }
        Ok(settings)
    }
}

/// Returns an absolute path as text, so that a run can be resumed in another folder.
fn absolute(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.display().to_string()
}

/// Creates the solver called `name`. Returns it with all settings that determine its answers: the
/// given settings, the defaults of missing ones, and checksums of files and models.
///
/// # Errors
///
/// Returns an error if there is no such solver, or a file or model that it needs cannot be read.
pub fn create_solver(
    name: &str,
    settings: SolverSettings,
    host: &SolverHost<'_>,
) -> Result<(Box<dyn Solver>, SolverSettings), EvalError> {
    match name.split_once(':') {
        None if name == "search" => Ok(search(settings)),
        None if name == "random" => Ok(random(settings)),
        Some(("replay", file)) => replay(file, settings),
        Some(("model", model_name)) => model(model_name, settings, host),
        Some(("rlm", model_name)) => rlm(model_name, settings, host),
        Some(("orchestrator", model_name)) => orchestrator(model_name, settings, host),
        _ => Err(EvalError::Config(format!(
            "`{name}` is not a solver: expected `search`, `random`, `model:NAME`, `rlm:NAME`, `orchestrator:NAME` or `replay:FILE`"
        ))),
    }
}

fn search(mut settings: SolverSettings) -> (Box<dyn Solver>, SolverSettings) {
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

fn random(mut settings: SolverSettings) -> (Box<dyn Solver>, SolverSettings) {
    let seed = settings.get("seed").and_then(Value::as_u64).unwrap_or(0);
    settings.insert("seed".to_owned(), json!(seed));
    settings.insert("generator".to_owned(), json!(Rng::NAME));
    (Box::new(RandomSolver { seed }), settings)
}

fn replay(
    files_argument: &str,
    mut settings: SolverSettings,
) -> Result<(Box<dyn Solver>, SolverSettings), EvalError> {
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
            .map_err(RunsError::file("read", &path))?;
        let (replay, content) = replayed_file(&path)?;
        let sha256 = if content.is_file() {
            json!(hash(&read_text(&content)?))
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
    let no_file = || EvalError::Config("`replay:` needs a file or a folder".to_owned());
    Ok((Box::new(solver.ok_or_else(no_file)?), settings))
}

/// Reads a submission or the journal of a run folder. Also returns the file that contains it.
fn replayed_file(path: &Path) -> Result<(ReplaySolver, PathBuf), EvalError> {
    let journal = if path.is_dir() {
        path.join(JOURNAL)
    } else {
        path.to_owned()
    };
    let is_journal =
        journal.extension().is_some_and(|ending| ending == "jsonl") && journal.is_file();
    if is_journal {
        let folder = journal.parent().unwrap_or(Path::new("."));
        return Ok((ReplaySolver::from_journal(&load_lines(folder)?), journal));
    }
    let submission = load_submission(path)?;
    Ok((ReplaySolver::from_submission(&submission), path.to_owned()))
}

fn model(
    name: &str,
    mut settings: SolverSettings,
    host: &SolverHost<'_>,
) -> Result<(Box<dyn Solver>, SolverSettings), EvalError> {
    let model = open_model(name, &mut settings, host)?;
    let prompt_name = text(&settings, "prompt").unwrap_or_else(|| "official".to_owned());
    let file = Path::new(&prompt_name);
    let (prompt, recorded_name) = if file.is_file() {
        let path = file.canonicalize();
        let path = path.map_or(prompt_name.clone(), |path| path.display().to_string());
        (Prompt::parse(&prompt_name, &read_text(file)?)?, path)
    } else {
        (Prompt::built_in(&prompt_name)?, prompt_name)
    };
    settings.insert("prompt".to_owned(), json!(recorded_name));
    settings.insert("prompt_sha256".to_owned(), json!(prompt.hash()));
    Ok((Box::new(ModelSolver { model, prompt }), settings))
}

/// Opens the model of the settings, and adds its configuration to them.
fn open_model(
    name: &str,
    settings: &mut SolverSettings,
    host: &SolverHost<'_>,
) -> Result<Model, EvalError> {
    let models = text(settings, "models").unwrap_or_default();
    let model = (host.open_model)(Path::new(&models), name)?;
    let config = serde_json::to_value(model.config())
        .map_err(|error| EvalError::Config(error.to_string()))?;
    settings.insert("model_sha256".to_owned(), json!(hash(&config.to_string())));
    settings.insert("priced".to_owned(), json!(model.config().prices.is_some()));
    settings.insert("model".to_owned(), config);
    Ok(model)
}

fn text(settings: &SolverSettings, key: &str) -> Option<String> {
    settings.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn rlm(
    name: &str,
    mut settings: SolverSettings,
    host: &SolverHost<'_>,
) -> Result<(Box<dyn Solver>, SolverSettings), EvalError> {
    let model = open_model(name, &mut settings, host)?;
    let limits = limits(&settings, MAX_DEPTH);
    let context_tokens = context_tokens(&model);
    let chat = ChatSettings {
        mode: ToolMode::Fenced,
        keep_reasoning: false,
        trim: TrimPolicy::new(context_tokens),
    };
    let runtime = JavaScriptSettings::from(&host.python).open();
    let runtime = runtime.map_err(EvalError::Config)?;
    let folder = text(&settings, "prompts").map(PathBuf::from);
    let rlm = Rlm::open(folder.as_deref(), chat, runtime)
        .map_err(|error| EvalError::Config(error.to_string()))?;
    settings.insert("prompts_sha256".to_owned(), json!(rlm.prompts_digest()));
    let player = player(model, context_tokens);
    let solver = RlmSolver {
        rlm,
        player,
        limits,
    };
    Ok((Box::new(solver), settings))
}

fn orchestrator(
    name: &str,
    mut settings: SolverSettings,
    host: &SolverHost<'_>,
) -> Result<(Box<dyn Solver>, SolverSettings), EvalError> {
    let model = open_model(name, &mut settings, host)?;
    let limits = limits(&settings, MAX_AGENT_DEPTH);
    let context_tokens = context_tokens(&model);
    let chat = ChatSettings::of_model(&model, false, context_tokens);
    let runtime = host.python.open().map_err(EvalError::Config)?;
    let folder = text(&settings, "prompts").map(PathBuf::from);
    let solver = TaskSolver::open(folder.as_deref(), chat, runtime)
        .map_err(|error| EvalError::Config(error.to_string()))?;
    settings.insert("prompts_sha256".to_owned(), json!(solver.prompts_digest()));
    let player = player(model, context_tokens);
    let solver = OrchestratorSolver {
        solver,
        player,
        limits,
    };
    Ok((Box::new(solver), settings))
}

/// Returns the limits of a conversation.
fn limits(settings: &SolverSettings, default_depth: u64) -> Limits {
    let number = |key: &str, default: u64| {
        let number = settings.get(key).and_then(Value::as_u64);
        u32::try_from(number.unwrap_or(default)).unwrap_or(u32::MAX)
    };
    Limits {
        max_iterations: number("max_iterations", MAX_ITERATIONS),
        max_depth: number("max_depth", default_depth),
        ..Limits::DEFAULT
    }
}

fn context_tokens(model: &Model) -> u64 {
    let configured = model.config().limits.context_tokens;
    configured.unwrap_or(CONTEXT_TOKENS)
}

fn player(model: Model, context_tokens: u64) -> Arc<ModelPlayer> {
    Arc::new(ModelPlayer {
        model: Arc::new(model),
        keep_reasoning: false,
        context_tokens,
        // The journal reserves the worst case of each transmission.
        spend_guard: Arc::new(()),
        request_timeout: None,
    })
}

fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

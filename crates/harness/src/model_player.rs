//! A language model as the agent of a run: its settings, its spend limit and its resumption.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rhae_agents::{
    AgentSpec, CONTEXT_TOKENS, LOG_SUFFIX, ModelPlayer, SYSTEM_PROMPT, spent_in_log,
};
use rhae_agents_llm::{HarnessAgent, Limits, PythonSettings, role_models, split_name};
use rhae_llm::{Model, Models, Rate, Request, SpendGuard};
use rhae_protocol::{ModelRun, ModelUsage};
use rhae_runs::{RunFolder, RunsError, SpendLimit, SpendLimits, Spent};
use serde_json::Value;

use crate::HarnessError;

/// Configuration fields that determine the replies. They must not change when a run is resumed.
const FIXED: [&str; 9] = [
    "provider",
    "base_url",
    "model",
    "stream",
    "tool_calls",
    "request",
    "replies",
    "file",
    "of",
];

/// The options of a language model that plays.
#[derive(Clone, Debug, Default)]
pub struct ModelOptions {
    /// The configured models, among them the one that plays.
    pub models: Models,
    /// Whether the provider's reasoning is sent back with the conversation.
    pub keep_reasoning: bool,
    /// The spend limit of the run in US dollars.
    pub max_cost_usd: Option<f64>,
    /// The limit of a conversation in tokens; as configured for the model if absent.
    pub context_tokens: Option<u64>,
    /// The rate of requests; as configured for the model if absent.
    pub rate_limit: Option<Rate>,
    /// The time limit of one request in seconds, retries included.
    pub request_timeout_s: Option<f64>,
    /// The folder whose prompts replace those of an agent with tools.
    pub prompts: Option<PathBuf>,
    /// The requests of one turn of an agent with tools; as the agent defines it if absent.
    pub max_iterations: Option<u32>,
    /// The depth of nested conversations of an agent with tools; as the agent defines it if absent.
    pub max_depth: Option<u32>,
    /// How the code of a model is executed, for agents with tools.
    pub python: PythonSettings,
}

impl ModelOptions {
    /// Returns whether an option that only a model uses is set.
    pub(crate) fn is_used(&self) -> bool {
        self.keep_reasoning
            || self.max_cost_usd.is_some()
            || self.context_tokens.is_some()
            || self.rate_limit.is_some()
            || self.request_timeout_s.is_some()
            || self.prompts.is_some()
            || self.max_iterations.is_some()
            || self.max_depth.is_some()
    }
}

/// Returns the name of the model in `model:NAME`, `AGENT:NAME` and `AGENT:NAME,ROLE=NAME`, or `None`
/// if the agent has no model.
pub(crate) fn model_of(agent: &str) -> Option<&str> {
    agent
        .strip_prefix("model:")
        .or_else(|| split_name(agent).map(|(_, model)| model))
}

/// An agent with a model, and the settings of its run.
pub(crate) struct OpenedAgent {
    pub(crate) agent: AgentSpec,
    pub(crate) run: ModelRun,
    /// A warning if requests have no bound, so that the spend limit may be exceeded.
    pub(crate) warning: Option<String>,
}

impl OpenedAgent {
    /// Opens the agent of a new run, `model:NAME` or another agent with a model.
    pub(crate) fn open(options: &ModelOptions, agent: &str) -> Result<Self, HarnessError> {
        let player = OpenedPlayer::open(options, agent)?;
        let mut opened = player.into_agent(agent, options.prompts.as_deref(), options)?;
        let folder = options.prompts.as_deref().map(absolute_text);
        opened.run.prompts_dir = folder.transpose()?;
        Ok(opened)
    }

    /// Opens the agent of a resumed run. What earlier processes spent or possibly paid counts towards
    /// the limit.
    pub(crate) fn resume(
        options: &ModelOptions,
        agent: &str,
        run: ModelRun,
        folder: &RunFolder,
    ) -> Result<Self, HarnessError> {
        let started_with = run.prompts_sha256.clone();
        let prompts = run.prompts_dir.clone().map(PathBuf::from);
        let prompts = options.prompts.clone().or(prompts);
        let player = OpenedPlayer::resume(options, agent, run, folder)?;
        let opened = player.into_agent(agent, prompts.as_deref(), options)?;
        check(
            opened.run.prompts_sha256 == started_with,
            "the prompts of the agent differ from the start of the run; restore them, or start a new run",
        )?;
        Ok(opened)
    }
}

impl OpenedAgent {
    /// Opens the agent of one play in a worker. `guard` reserves money from the limit of the run, and
    /// stores the log. The rate limits are divided evenly among the workers.
    pub(crate) fn in_worker(
        options: &ModelOptions,
        agent: &str,
        run: ModelRun,
        guard: Arc<dyn SpendGuard>,
        workers: u32,
    ) -> Result<Self, HarnessError> {
        let started_with = run.prompts_sha256.clone();
        let prompts = run.prompts_dir.clone().map(PathBuf::from);
        let mut player = OpenedPlayer::continue_run(options, agent, run, ModelUsage::default())?;
        player.divide_rates(workers)?;
        player.player.spend_guard = guard;
        let opened = player.into_agent(agent, prompts.as_deref(), options)?;
        check(
            opened.run.prompts_sha256 == started_with,
            "the prompts of the agent differ from those of the coordinator; copy them to this machine",
        )?;
        Ok(opened)
    }
}

/// An opened model with the limit of its run.
struct OpenedPlayer {
    player: ModelPlayer,
    /// The models of roles that have their own, by role.
    roles: BTreeMap<String, Arc<Model>>,
    run: ModelRun,
    limit: Arc<SpendLimit>,
}

impl OpenedPlayer {
    /// Opens the model of a new run.
    fn open(options: &ModelOptions, agent: &str) -> Result<Self, HarnessError> {
        let name = model_of(agent).unwrap_or_default();
        let model = Model::open(&options.models, name)?;
        let roles = open_roles(&options.models, agent)?;
        let run = ModelRun {
            config: config_json(&options.models, name)?,
            system_prompt: SYSTEM_PROMPT.to_owned(),
            keep_reasoning: options.keep_reasoning,
            context_tokens: options
                .context_tokens
                .or(model.config().limits.context_tokens)
                .unwrap_or(CONTEXT_TOKENS),
            max_cost_usd: options.max_cost_usd,
            rate_limit: options.rate_limit.map(|rate| rate.to_string()),
            request_timeout_s: options.request_timeout_s,
            prompts_sha256: None,
            prompts_dir: None,
            max_iterations: options.max_iterations,
            max_depth: options.max_depth,
            roles: role_configs(&options.models, agent)?,
        };
        Self::new((model, roles), run, ModelUsage::default())
    }

    /// Opens the model of a resumed run.
    fn resume(
        options: &ModelOptions,
        agent: &str,
        run: ModelRun,
        folder: &RunFolder,
    ) -> Result<Self, HarnessError> {
        let spent = logged_usage(&folder.file("recordings"))?;
        Self::continue_run(options, agent, run, spent)
    }

    /// Opens the model of a run that another process started.
    fn continue_run(
        options: &ModelOptions,
        agent: &str,
        mut run: ModelRun,
        spent: ModelUsage,
    ) -> Result<Self, HarnessError> {
        let name = model_of(agent).unwrap_or_default();
        check_unchanged(name, &run.config, &config_json(&options.models, name)?)?;
        for (role, now) in role_configs(&options.models, agent)? {
            let then = run.roles.get(&role).unwrap_or(&Value::Null);
            check_unchanged(&format!("of the role {role}"), then, &now)?;
        }
        run.max_cost_usd = options.max_cost_usd.or(run.max_cost_usd);
        run.rate_limit = options
            .rate_limit
            .map(|rate| rate.to_string())
            .or(run.rate_limit);
        run.request_timeout_s = options.request_timeout_s.or(run.request_timeout_s);
        let roles = open_roles(&options.models, agent)?;
        let model = Model::open(&options.models, name)?;
        Self::new((model, roles), run, spent)
    }

    /// Divides the rate limits of all models evenly.
    fn divide_rates(&mut self, workers: u32) -> Result<(), HarnessError> {
        let models = self.roles.values_mut().chain([&mut self.player.model]);
        for model in models {
            let Some(rate) = model.config().limits.rate() else {
                continue;
            };
            let rate = Rate::per_minute(rate.in_a_minute() / f64::from(workers.max(1)));
            let rate = rate.map_err(|error| HarnessError::Config(error.to_string()))?;
            if let Some(model) = Arc::get_mut(model) {
                model.limit_rate(rate);
            }
        }
        Ok(())
    }

    fn new(
        (mut model, mut roles): (Model, BTreeMap<String, Model>),
        run: ModelRun,
        spent: ModelUsage,
    ) -> Result<Self, HarnessError> {
        if let Some(limit) = run.max_cost_usd {
            check(
                limit.is_finite() && limit > 0.0,
                "--max-cost must be more than 0",
            )?;
            for model in roles.values().chain([&model]) {
                check(
                    model.config().prices.is_some(),
                    &format!(
                        "--max-cost needs `prices` in the configuration of the model `{}`; without them the cost is unknown",
                        model.name()
                    ),
                )?;
            }
        }
        let request_timeout = run.request_timeout_s.map(Duration::try_from_secs_f64);
        let request_timeout = request_timeout
            .transpose()
            .ok()
            .filter(|timeout| *timeout != Some(Duration::ZERO))
            .ok_or_else(|| HarnessError::Request("--timeout must be more than 0".to_owned()))?;
        if let Some(rate) = &run.rate_limit {
            let rate = rate
                .parse()
                .map_err(|error: rhae_llm::RateError| HarnessError::Config(error.to_string()))?;
            for model in roles.values_mut().chain([&mut model]) {
                model.limit_rate(rate);
            }
        }
        let limits = SpendLimits {
            usd: run.max_cost_usd,
            tokens: None,
        };
        let usd = spent.cost_usd.unwrap_or(0.0) + spent.possibly_paid_usd.unwrap_or(0.0);
        let tokens = spent.input_tokens.saturating_add(spent.output_tokens);
        let limit = Arc::new(SpendLimit::new(limits, Spent { usd, tokens }));
        let player = ModelPlayer {
            model: Arc::new(model),
            keep_reasoning: run.keep_reasoning,
            context_tokens: run.context_tokens,
            spend_guard: Arc::clone(&limit) as _,
            request_timeout,
        };
        let roles = roles.into_iter();
        Ok(Self {
            player,
            roles: roles.map(|(role, model)| (role, Arc::new(model))).collect(),
            run,
            limit,
        })
    }

    /// Creates the agent that plays with the model.
    fn into_agent(
        self,
        agent: &str,
        prompts: Option<&Path>,
        options: &ModelOptions,
    ) -> Result<OpenedAgent, HarnessError> {
        let Self {
            player,
            roles,
            mut run,
            limit,
        } = self;
        let empty = Request::text("");
        let warning = roles
            .values()
            .chain([&player.model])
            .find_map(|model| limit.warning(&model.cost_bound(&empty)));
        let agent = match split_name(agent) {
            Some((name, _)) => {
                let opened = HarnessAgent::open(name, player, prompts, &options.python);
                let opened = opened.and_then(|agent| agent.with_role_models(roles));
                let opened = opened.map_err(|error| HarnessError::Request(error.to_string()))?;
                let default = *opened.limits();
                let opened = opened.with_limits(Limits {
                    max_iterations: run.max_iterations.unwrap_or(default.max_iterations),
                    max_depth: run.max_depth.unwrap_or(default.max_depth),
                    ..default
                });
                run.prompts_sha256 = Some(opened.prompts_digest());
                run.system_prompt = opened.system_prompt();
                AgentSpec::External(Arc::new(opened))
            }
            None => {
                check(
                    prompts.is_none(),
                    "--prompts replaces the prompts of agents with tools; `model:NAME` has none",
                )?;
                check(
                    run.max_iterations.is_none() && run.max_depth.is_none(),
                    "--max-iterations and --max-depth limit agents with tools; `model:NAME` sends one request for each action",
                )?;
                AgentSpec::Model(Arc::new(player))
            }
        };
        Ok(OpenedAgent {
            agent,
            run,
            warning,
        })
    }
}

/// Returns a folder as the text of an absolute path, for the configuration of a run.
fn absolute_text(folder: &Path) -> Result<String, HarnessError> {
    let path = folder
        .canonicalize()
        .map_err(RunsError::file("find", folder))?;
    path.into_os_string()
        .into_string()
        .map_err(|name| HarnessError::Request(format!("`{}` is not a UTF-8 path", name.display())))
}

fn check(holds: bool, message: &str) -> Result<(), HarnessError> {
    if holds {
        Ok(())
    } else {
        Err(HarnessError::Request(message.to_owned()))
    }
}

/// Opens the models of the roles that an agent's name selects.
fn open_roles(models: &Models, agent: &str) -> Result<BTreeMap<String, Model>, HarnessError> {
    let open = |(role, name): (&str, &str)| {
        check(
            !name.is_empty(),
            &format!("`{role}` in `{agent}` must be ROLE=MODEL, such as `theorist=big`"),
        )?;
        Ok((role.to_owned(), Model::open(models, name)?))
    };
    role_models(agent).into_iter().map(open).collect()
}

/// Returns the tables of the models of roles.
fn role_configs(models: &Models, agent: &str) -> Result<BTreeMap<String, Value>, HarnessError> {
    let config = |(role, name): (&str, &str)| Ok((role.to_owned(), config_json(models, name)?));
    role_models(agent).into_iter().map(config).collect()
}

/// Returns an error if a field that determines replies has changed since the start of the run.
fn check_unchanged(name: &str, then: &Value, now: &Value) -> Result<(), HarnessError> {
    match FIXED.into_iter().find(|field| then[field] != now[field]) {
        Some(field) => Err(HarnessError::Request(format!(
            "`{field}` of the model `{name}` differs from the start of the run; restore it, or start a new run"
        ))),
        None => Ok(()),
    }
}

fn config_json(models: &Models, name: &str) -> Result<Value, HarnessError> {
    serde_json::to_value(models.resolve(name)?)
        .map_err(|error| HarnessError::Config(error.to_string()))
}

/// Sums up the usage in the model logs of a run.
pub(crate) fn logged_usage(recordings: &Path) -> Result<ModelUsage, HarnessError> {
    let failed = RunsError::file("read", recordings);
    let entries = match std::fs::read_dir(recordings) {
        Ok(entries) => entries,
        // The run was stopped before its first play.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(ModelUsage::default());
        }
        Err(error) => return Err(failed(error).into()),
    };
    let mut spent = ModelUsage::default();
    for entry in entries {
        let path = entry.map_err(RunsError::file("read", recordings))?.path();
        if path.to_string_lossy().ends_with(LOG_SUFFIX) {
            spent += spent_in_log(&path).map_err(HarnessError::Request)?;
        }
    }
    Ok(spent)
}

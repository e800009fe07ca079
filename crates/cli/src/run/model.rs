//! A language model as the agent of a run: its flags, and how a run with it is gone on with.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_agents::{
    AgentSpec, CONTEXT_TOKENS, LOG_ENDING, ModelPlayer, Purse, SYSTEM_PROMPT, spent_in,
};
use rhae_harness::RunFolder;
use rhae_llm::Models;
use rhae_protocol::{ModelRun, RunConfig, Spent};
use serde_json::Value;

use crate::models::ModelsArgs;

/// What of a model's table says who answers, and how; the rest may change while a run is interrupted.
const FIXED: [&str; 8] = [
    "provider", "base_url", "model", "stream", "request", "replies", "file", "of",
];

/// Where the help lists the flags.
const HEADING: &str = "Models (--agent model:NAME)";

#[derive(Args)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    models: ModelsArgs,
    /// Send the provider's reasoning back with the conversation, where it offers that; the official setting is not to
    #[arg(long, help_heading = HEADING)]
    keep_reasoning: bool,
    /// Stop when so many US dollars are spent, as measured by the tokens that the provider reports
    #[arg(long, value_name = "USD", help_heading = HEADING)]
    max_cost: Option<f64>,
    /// Drop the oldest turns of a conversation beyond so many tokens, as the provider counts them [default: the table's, or 175,000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1000..), help_heading = HEADING)]
    context_tokens: Option<u64>,
}

impl ModelArgs {
    /// A model that begins a run, and what is written down about it.
    pub(crate) fn open(&self, name: &str) -> Result<(ModelPlayer, ModelRun)> {
        let models = self.models.load()?;
        let model = self.models.open(name)?;
        let run = ModelRun {
            config: table(&models, name)?,
            system_prompt: SYSTEM_PROMPT.to_owned(),
            keep_reasoning: self.keep_reasoning,
            context_tokens: self
                .context_tokens
                .or(model.config().limits.context_tokens)
                .unwrap_or(CONTEXT_TOKENS),
            max_cost_usd: self.max_cost,
        };
        let player = player(Arc::new(model), &run, Spent::default())?;
        Ok((player, run))
    }

    /// The model of a run that is gone on with. What earlier processes spent is spent.
    pub(crate) fn resume(
        &self,
        mut config: RunConfig,
        folder: &RunFolder,
    ) -> Result<(AgentSpec, RunConfig)> {
        let name = config
            .agent
            .as_deref()
            .and_then(|agent| agent.strip_prefix("model:"))
            .unwrap_or_default()
            .to_owned();
        let Some(run) = &mut config.model else {
            bail!("the run's configuration names no model")
        };
        let now = table(&self.models.load()?, &name)?;
        for field in FIXED {
            ensure!(
                run.config[field] == now[field],
                "`{field}` of the model `{name}` is not what the run was begun with; answers of two models are no result"
            );
        }
        run.max_cost_usd = self.max_cost.or(run.max_cost_usd);
        let spent = spent_before(&folder.file("recordings"))?;
        let player = player(Arc::new(self.models.open(&name)?), run, spent)?;
        Ok((AgentSpec::Model(Arc::new(player)), config))
    }

    /// Flags for a model make no sense for another agent.
    pub(crate) fn check_unused(&self) -> Result<()> {
        ensure!(
            !self.keep_reasoning && self.max_cost.is_none() && self.context_tokens.is_none(),
            "--keep-reasoning, --max-cost and --context-tokens are for `--agent model:NAME`"
        );
        Ok(())
    }
}

fn player(model: Arc<rhae_llm::Model>, run: &ModelRun, spent: Spent) -> Result<ModelPlayer> {
    if let Some(limit) = run.max_cost_usd {
        ensure!(
            limit.is_finite() && limit > 0.0,
            "--max-cost must be more than 0"
        );
        ensure!(
            model.config().prices.is_some(),
            "--max-cost needs `prices` in the table of the model `{}`: without them nobody knows what is spent",
            model.name()
        );
    }
    let purse = Purse::new(run.max_cost_usd, spent);
    Ok(ModelPlayer {
        model,
        keep_reasoning: run.keep_reasoning,
        context_tokens: run.context_tokens,
        purse,
    })
}

fn table(models: &Models, name: &str) -> Result<Value> {
    Ok(serde_json::to_value(models.find(name)?)?)
}

/// What the logs of a run say that was spent.
fn spent_before(recordings: &Path) -> Result<Spent> {
    let mut spent = Spent::default();
    for entry in
        std::fs::read_dir(recordings).with_context(|| format!("`{}`", recordings.display()))?
    {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(LOG_ENDING) {
            spent += spent_in(&path).map_err(anyhow::Error::msg)?;
        }
    }
    Ok(spent)
}

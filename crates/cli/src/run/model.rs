//! A language model as the agent of a run: its flags, and how such a run is resumed.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_agents::{
    AgentSpec, CONTEXT_TOKENS, LOG_SUFFIX, ModelPlayer, SYSTEM_PROMPT, SpendLimit, spent_in_log,
};
use rhae_harness::RunFolder;
use rhae_llm::Models;
use rhae_protocol::{ModelRun, ModelUsage, RunConfig};
use serde_json::Value;

use crate::models::ModelsArgs;

/// Configuration fields that determine the replies. They must not change when a run is resumed.
const FIXED: [&str; 8] = [
    "provider", "base_url", "model", "stream", "request", "replies", "file", "of",
];

/// Heading of these flags in the help text.
const HEADING: &str = "Models (--agent model:NAME)";

#[derive(Args)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    models: ModelsArgs,
    /// Send the provider's reasoning back with the conversation, if the provider supports it; off in
    /// the official setting
    #[arg(long, help_heading = HEADING)]
    keep_reasoning: bool,
    /// Stop when this many US dollars are spent, measured by the tokens that the provider reports
    #[arg(long, value_name = "USD", help_heading = HEADING)]
    max_cost: Option<f64>,
    /// Drop the oldest turns of a conversation beyond this many tokens, as counted by the provider
    /// [default: as configured for the model, or 175,000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1000..), help_heading = HEADING)]
    context_tokens: Option<u64>,
}

impl ModelArgs {
    /// Opens the model of a new run. Also returns what the run's configuration records about it.
    pub(crate) fn open(&self, name: &str) -> Result<(ModelPlayer, ModelRun)> {
        let models = self.models.load_for(name)?;
        let model = self.models.open(name)?;
        let run = ModelRun {
            config: config_json(&models, name)?,
            system_prompt: SYSTEM_PROMPT.to_owned(),
            keep_reasoning: self.keep_reasoning,
            context_tokens: self
                .context_tokens
                .or(model.config().limits.context_tokens)
                .unwrap_or(CONTEXT_TOKENS),
            max_cost_usd: self.max_cost,
        };
        let player = player(Arc::new(model), &run, ModelUsage::default())?;
        Ok((player, run))
    }

    /// Opens the model of a resumed run. Spending of earlier processes counts towards the limit.
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
        let now = config_json(&self.models.load_for(&name)?, &name)?;
        for field in FIXED {
            ensure!(
                run.config[field] == now[field],
                "`{field}` of the model `{name}` differs from the start of the run; restore it, or start a new run"
            );
        }
        run.max_cost_usd = self.max_cost.or(run.max_cost_usd);
        let spent = logged_usage(&folder.file("recordings"))?;
        let player = player(Arc::new(self.models.open(&name)?), run, spent)?;
        Ok((AgentSpec::Model(Arc::new(player)), config))
    }

    /// Returns an error if a model flag is given for another agent.
    pub(crate) fn check_unused(&self) -> Result<()> {
        ensure!(
            !self.keep_reasoning && self.max_cost.is_none() && self.context_tokens.is_none(),
            "--keep-reasoning, --max-cost and --context-tokens require `--agent model:NAME`"
        );
        Ok(())
    }
}

fn player(model: Arc<rhae_llm::Model>, run: &ModelRun, spent: ModelUsage) -> Result<ModelPlayer> {
    if let Some(limit) = run.max_cost_usd {
        ensure!(
            limit.is_finite() && limit > 0.0,
            "--max-cost must be more than 0"
        );
        ensure!(
            model.config().prices.is_some(),
            "--max-cost needs `prices` in the configuration of the model `{}`; without them the cost is unknown",
            model.name()
        );
    }
    let spend_limit = SpendLimit::new(run.max_cost_usd, spent);
    Ok(ModelPlayer {
        model,
        keep_reasoning: run.keep_reasoning,
        context_tokens: run.context_tokens,
        spend_limit,
    })
}

fn config_json(models: &Models, name: &str) -> Result<Value> {
    Ok(serde_json::to_value(models.resolve(name)?)?)
}

/// Sums up the usage in the model logs of a run.
fn logged_usage(recordings: &Path) -> Result<ModelUsage> {
    let mut spent = ModelUsage::default();
    for entry in
        std::fs::read_dir(recordings).with_context(|| format!("`{}`", recordings.display()))?
    {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(LOG_SUFFIX) {
            spent += spent_in_log(&path).map_err(anyhow::Error::msg)?;
        }
    }
    Ok(spent)
}

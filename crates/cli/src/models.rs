//! The `--models` flag, shared by all commands that use language models.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use rhae_llm::{Model, Models};

#[derive(Args, Clone, Debug)]
pub(crate) struct ModelsArgs {
    /// Configuration file of the models (docs/models.md)
    #[arg(
        long,
        env = "RHAE_MODELS",
        default_value = "models.toml",
        value_name = "FILE"
    )]
    pub(crate) models: PathBuf,
}

impl ModelsArgs {
    /// Loads the configuration of all models.
    pub(crate) fn load(&self) -> Result<Models> {
        let path = self.models.display();
        let text = std::fs::read_to_string(&self.models).with_context(|| {
            format!(
                "cannot read the model configuration `{path}`; choose a file with `--models FILE`"
            )
        })?;
        Models::parse(&text).with_context(|| format!("`{path}`"))
    }

    /// Opens a model of the file. This reads its API key from the environment.
    pub(crate) fn open(&self, name: &str) -> Result<Model> {
        let models = self.load()?;
        Model::open(&models, name).with_context(|| format!("`{}`", self.models.display()))
    }
}

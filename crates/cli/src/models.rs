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
                "cannot read the model configuration `{path}`; choose a file with `--models FILE`, or name a model as PROVIDER/MODEL (docs/models.md)"
            )
        })?;
        Models::parse(&text).with_context(|| format!("`{path}`"))
    }

    /// Loads the configuration that names `name`. `PROVIDER/MODEL` needs no file.
    pub(crate) fn load_for(&self, name: &str) -> Result<Models> {
        if name.contains('/') {
            return Ok(Models::default());
        }
        self.load()
    }

    /// Opens a model of the file, or `PROVIDER/MODEL`. This reads its API key from the environment.
    pub(crate) fn open(&self, name: &str) -> Result<Model> {
        let models = self.load_for(name)?;
        let opened = Model::open(&models, name);
        if name.contains('/') {
            return Ok(opened?);
        }
        opened.with_context(|| format!("`{}`", self.models.display()))
    }
}

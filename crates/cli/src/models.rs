//! The file of models, as every command that asks one finds it.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use rhae_llm::{Model, Models};

/// Where models are described.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelsArgs {
    /// The file that describes models (docs/models.md)
    #[arg(
        long,
        env = "RHAE_MODELS",
        default_value = "models.toml",
        value_name = "FILE"
    )]
    pub(crate) models: PathBuf,
}

impl ModelsArgs {
    /// All models of the file.
    pub(crate) fn load(&self) -> Result<Models> {
        let path = self.models.display();
        let text = std::fs::read_to_string(&self.models)
            .with_context(|| format!("cannot read `{path}`, which must describe the models; `--models FILE` names another file"))?;
        Models::parse(&text).with_context(|| format!("`{path}`"))
    }

    /// A model of the file, ready to be asked.
    pub(crate) fn open(&self, name: &str) -> Result<Model> {
        let models = self.load()?;
        Model::open(&models, name).with_context(|| format!("`{}`", self.models.display()))
    }
}

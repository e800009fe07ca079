//! The `--models` flag, shared by all commands that use language models.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use rhae_llm::{MODELS_FILE, MODELS_VARIABLE, Model, Models};

#[derive(Args, Clone, Debug)]
pub(crate) struct ModelsArgs {
    /// Configuration file of the models (docs/models.md)
    #[arg(
        long,
        env = MODELS_VARIABLE,
        default_value = MODELS_FILE,
        value_name = "FILE"
    )]
    pub(crate) models: PathBuf,
}

impl ModelsArgs {
    /// Loads the configuration of all models.
    pub(crate) fn load(&self) -> Result<Models> {
        Ok(Models::load(&self.models)?)
    }

    /// Opens a model of the file, or `PROVIDER/MODEL`. This reads its API key from the environment.
    pub(crate) fn open(&self, name: &str) -> Result<Model> {
        Ok(Model::open(&Models::load_for(&self.models, name)?, name)?)
    }
}

//! Reading the models file, and naming it in errors.

use std::path::{Path, PathBuf};

use super::Models;
use crate::LlmError;

/// The name of the models file, unless the user chooses another.
pub const MODELS_FILE: &str = "models.toml";
/// The environment variable with the path of the models file.
pub const MODELS_VARIABLE: &str = "RHAE_MODELS";

/// Returns the path of the models file for a user who chooses none: the value of
/// [`MODELS_VARIABLE`] or [`MODELS_FILE`].
pub fn default_models_file() -> PathBuf {
    std::env::var_os(MODELS_VARIABLE).map_or_else(|| MODELS_FILE.into(), PathBuf::from)
}

impl Models {
    /// Reads a models file. Later errors about its models name the file.
    ///
    /// # Errors
    ///
    /// Returns [`LlmError::Unreadable`] if the file cannot be read, and the errors of
    /// [`Models::parse`], each within [`LlmError::InFile`].
    pub fn load(path: &Path) -> Result<Self, LlmError> {
        let text = std::fs::read_to_string(path).map_err(|error| LlmError::Unreadable {
            path: path.display().to_string(),
            reason: error.to_string(),
        })?;
        let located = |error| LlmError::InFile {
            path: path.display().to_string(),
            error: Box::new(error),
        };
        Ok(Self {
            path: Some(path.to_owned()),
            ..Self::parse(&text).map_err(located)?
        })
    }

    /// Reads the models file for the model `name`. `PROVIDER/MODEL` needs no file, so none is read.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Models::load`].
    pub fn load_for(path: &Path, name: &str) -> Result<Self, LlmError> {
        if name.contains('/') {
            return Ok(Self::default());
        }
        Self::load(path)
    }

    /// Adds the path of the file to an error about one of its models.
    pub(crate) fn located(&self, error: LlmError) -> LlmError {
        match &self.path {
            Some(path) => LlmError::InFile {
                path: path.display().to_string(),
                error: Box::new(error),
            },
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;

    #[test]
    fn errors_name_the_file_from_which_the_models_were_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.toml");
        let shown = path.display().to_string();
        let missing = Models::load(&path).unwrap_err().to_string();
        assert!(missing.contains(&format!("cannot read the model configuration `{shown}`")));

        std::fs::write(&path, "[models.words]\nprovider = \"mock\"\nsteam = 1\n").unwrap();
        let malformed = Models::load(&path).unwrap_err().to_string();
        assert!(malformed.starts_with(&format!("`{shown}`: the models file cannot be read")));

        std::fs::write(
            &path,
            "[models.words]\nprovider = \"mock\"\nreplies = [\"a\"]\n",
        )
        .unwrap();
        let models = Models::load_for(&path, "words").unwrap();
        let expected = format!("`{shown}`: there is no model `other`; the file has `words`");
        assert_eq!(models.resolve("other").unwrap_err().to_string(), expected);
        let opened = Model::open(&models, "other").map(drop);
        assert_eq!(opened.unwrap_err().to_string(), expected);
    }

    #[test]
    fn model_of_a_provider_needs_no_file() {
        let models = Models::load_for(Path::new("missing.toml"), "openai/gpt-5").unwrap();
        assert_eq!(models, Models::default());
    }
}

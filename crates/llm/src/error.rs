//! What is wrong with a configuration, before anything is asked.

/// Why a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// The file is not TOML, or not of this form.
    #[error("the file of models cannot be read: {0}")]
    File(String),
    /// A model's configuration contradicts itself.
    #[error("the model `{model}`: {reason}")]
    Model {
        /// Its name.
        model: String,
        /// What is wrong.
        reason: String,
    },
    /// No model has this name.
    #[error("there is no model `{name}`; the file has {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// The key is not there.
    #[error("the environment variable `{variable}` must hold the key, without blanks or line ends")]
    NoKey {
        /// The variable.
        variable: String,
    },
    /// A file of recorded answers cannot be used.
    #[error("`{path}`: {reason}")]
    Recording {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
}

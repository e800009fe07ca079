//! Errors of configuration and setup, before any request is sent.

/// The reason why a model cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// The models file is not TOML or does not match the schema.
    #[error("the models file cannot be read: {0}")]
    File(String),
    /// The models file cannot be read from disk.
    #[error(
        "cannot read the model configuration `{path}`; choose a file with `--models FILE`, or name a model as PROVIDER/MODEL (docs/models.md): {reason}"
    )]
    Unreadable { path: String, reason: String },
    /// An error about a model of the file at `path`.
    #[error("`{path}`: {error}")]
    InFile { path: String, error: Box<Self> },
    /// The configuration of a model is invalid.
    #[error("the model `{model}`: {reason}")]
    Model { model: String, reason: String },
    /// The file has no model of this name.
    #[error("there is no model `{name}`; the file has {known}")]
    Unknown {
        name: String,
        /// The names in the file, for the message.
        known: String,
    },
    /// The text before the slash in `PROVIDER/MODEL` is not the name of a provider.
    #[error("there is no provider `{provider}` for the model `{name}`: expected {known}")]
    UnknownProvider {
        name: String,
        provider: String,
        /// The names of the providers, for the message.
        known: String,
    },
    /// The environment variable with the API key is unset or malformed.
    #[error(
        "the environment variable `{variable}` must hold the API key, without spaces or line breaks"
    )]
    NoKey { variable: String },
    /// A file of recorded replies cannot be read or written.
    #[error("`{path}`: {reason}")]
    Recording { path: String, reason: String },
}

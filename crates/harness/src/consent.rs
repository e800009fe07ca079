//! What a run folder may make a process do without asking its user.
//!
//! The configuration of a run can name a shell command to execute and a server that receives the
//! user's API key. If other users can change the folder, the user must repeat both.

use std::fmt;

use rhae_protocol::RunConfig;
use rhae_runs::{RunFolder, changeable_by_others, load_config};

use crate::{HarnessError, ResumeOptions};

/// What a run folder asks for, and what the user must allow if others can change the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Executing this shell command.
    AgentCommand(String),
    /// Sending the API key to this address.
    Server(String),
}

impl Consent {
    /// Returns the flag with which the user allows it.
    pub fn flag(&self) -> String {
        match self {
            Self::AgentCommand(command) => format!("--agent-cmd {}", shell_word(command)),
            Self::Server(url) => format!("--server {}", shell_word(url)),
        }
    }

    /// Adds the consent of the user to the options of a resumed run.
    pub fn grant(&self, options: &mut ResumeOptions) {
        match self {
            Self::AgentCommand(command) => options.agent_cmd = Some(command.clone()),
            Self::Server(url) => options.server = Some(url.clone()),
        }
    }
}

impl fmt::Display for Consent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AgentCommand(command) => write!(f, "execute the agent command `{command}`"),
            Self::Server(url) => write!(f, "send your API key to the server at {url}"),
        }
    }
}

/// Checks that the user allows what the run in `folder` would execute: the options repeat it, or
/// only the user can change the folder.
///
/// # Errors
///
/// Returns [`HarnessError::NeedsConsent`] if the user must repeat it, and
/// [`HarnessError::Request`] if the options differ from the run.
pub(crate) fn check_consent(
    folder: &RunFolder,
    config: &RunConfig,
    options: &ResumeOptions,
) -> Result<(), HarnessError> {
    let asked = [
        (
            "--agent-cmd",
            config.agent_cmd.as_deref(),
            options.agent_cmd.as_deref(),
        ),
        (
            "--server",
            config.server.as_deref(),
            options.server.as_deref().map(without_slash),
        ),
    ];
    for (flag, stored, given) in asked {
        match (stored, given) {
            (stored, Some(given)) if stored == Some(given) => {}
            (Some(stored), Some(given)) => {
                return Err(HarnessError::Request(format!(
                    "the run was started with `{flag} {}`, not with `{}`; a resumed run cannot change it",
                    shell_word(stored),
                    shell_word(given)
                )));
            }
            (None, Some(_)) => {
                return Err(HarnessError::Request(format!(
                    "the run was started without {flag}; a resumed run cannot change that"
                )));
            }
            (None, None) => {}
            (Some(stored), None) => check_folder(folder, config, flag, stored)?,
        }
    }
    Ok(())
}

/// Checks that only the user can change the folder.
fn check_folder(
    folder: &RunFolder,
    config: &RunConfig,
    flag: &str,
    stored: &str,
) -> Result<(), HarnessError> {
    let reason = match changeable_by_others(folder.path())? {
        Some(reason) => reason,
        None => {
            // The configuration was read before the check, perhaps through a path that led
            // elsewhere. The folder that was checked must contain the same one.
            let checked = folder.path().canonicalize();
            let checked: Option<RunConfig> = checked.ok().and_then(|path| load_config(&path).ok());
            if checked.as_ref() == Some(config) {
                return Ok(());
            }
            "its configuration has just changed".to_owned()
        }
    };
    Err(HarnessError::NeedsConsent {
        folder: folder.path().to_owned(),
        consent: if flag == "--server" {
            Consent::Server(stored.to_owned())
        } else {
            Consent::AgentCommand(stored.to_owned())
        },
        reason,
    })
}

/// Addresses are stored without a trailing slash.
fn without_slash(url: &str) -> &str {
    url.trim_end_matches('/')
}

/// Quotes a text as one word for a shell.
fn shell_word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

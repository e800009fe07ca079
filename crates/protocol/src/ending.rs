//! Why a play, or one run of a play, ended.
//!
//! Recordings, journals, summaries, scorecards and the agent protocol all use this type. The text of
//! an error is a separate field next to it, because only some endings have one.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why a play, or one run of a play, ended.
///
/// The serialised form is the [`name`](Self::name). A name that this version does not know becomes
/// [`Other`](Self::Other), so that scorecards of other programs can be read and written back
/// unchanged.
///
/// # Examples
///
/// ```
/// use rhae_protocol::Ending;
///
/// let ending: Ending = serde_json::from_str(r#""budget""#)?;
/// assert_eq!(ending, Ending::Budget);
/// assert_eq!(serde_json::to_string(&Ending::Won)?, r#""won""#);
///
/// let foreign: Ending = serde_json::from_str(r#""abandoned""#)?;
/// assert_eq!(foreign, Ending::Other("abandoned".to_owned()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Ending {
    /// All levels were completed.
    Won,
    /// The action budget was exhausted.
    Budget,
    /// The time limit of the play was reached.
    Timeout,
    /// The agent chose to stop.
    Stopped,
    /// The agent failed, for example because it crashed, gave no action in time or violated the
    /// protocol.
    Failed,
    /// The environment failed, for example because it could not be opened, crashed or did not
    /// respond. The agent is not at fault, so the play is not a valid result.
    EnvironmentFailed,
    /// A full reset started another run of the play.
    Reset,
    /// The process that ran the play was interrupted. Such plays are never journalled.
    Interrupted,
    /// The environment was never played.
    NotPlayed,
    /// A name from another program.
    Other(String),
}

impl Ending {
    /// Every ending that has a fixed name.
    const KNOWN: [Self; 9] = [
        Self::Won,
        Self::Budget,
        Self::Timeout,
        Self::Stopped,
        Self::Failed,
        Self::EnvironmentFailed,
        Self::Reset,
        Self::Interrupted,
        Self::NotPlayed,
    ];

    /// Returns the name that files, scorecards and messages use.
    pub fn name(&self) -> &str {
        match self {
            Self::Won => "won",
            Self::Budget => "budget",
            Self::Timeout => "timeout",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::EnvironmentFailed => "environment failed",
            Self::Reset => "reset",
            Self::Interrupted => "interrupted",
            Self::NotPlayed => "not played",
            Self::Other(name) => name,
        }
    }

    /// Returns whether a recording may close with this ending. A play that was reset or interrupted
    /// has no closing line.
    pub(crate) const fn closes_recording(&self) -> bool {
        matches!(
            self,
            Self::Won
                | Self::Budget
                | Self::Timeout
                | Self::Stopped
                | Self::Failed
                | Self::EnvironmentFailed
        )
    }

    /// Returns whether the agent or the environment failed.
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Failed | Self::EnvironmentFailed)
    }

    /// Returns whether a play with this ending is a valid result of its agent. A play that never
    /// started, was interrupted or ended because the environment failed is not.
    pub const fn is_valid_result(&self) -> bool {
        !matches!(
            self,
            Self::EnvironmentFailed | Self::Interrupted | Self::NotPlayed
        )
    }
}

impl From<String> for Ending {
    fn from(name: String) -> Self {
        Self::KNOWN
            .into_iter()
            .find(|ending| ending.name() == name)
            .unwrap_or(Self::Other(name))
    }
}

impl From<&str> for Ending {
    fn from(name: &str) -> Self {
        Self::from(name.to_owned())
    }
}

impl From<Ending> for String {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Other(name) => name,
            known => known.name().to_owned(),
        }
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Serialises `None`, a run in progress, as the empty string. Journals use this form.
pub(crate) mod or_empty {
    use super::{Deserialize, Deserializer, Ending, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        ending: &Option<Ending>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(ending.as_ref().map_or("", Ending::name))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Ending>, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok((!name.is_empty()).then(|| Ending::from(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunOutcome;

    #[test]
    fn every_known_name_is_read_back_as_its_variant() {
        for ending in Ending::KNOWN {
            assert_eq!(Ending::from(ending.name()), ending);
        }
    }

    #[test]
    fn run_in_progress_has_an_empty_ending() {
        let run = RunOutcome::default();
        let json = serde_json::to_value(&run).unwrap();
        assert_eq!(json["ending"], "");
        assert_eq!(serde_json::from_value::<RunOutcome>(json).unwrap(), run);
    }

    #[test]
    fn run_with_a_foreign_ending_is_kept() {
        let run = RunOutcome {
            ending: Some(Ending::Other("abandoned".to_owned())),
            ..RunOutcome::default()
        };
        let json = serde_json::to_value(&run).unwrap();
        assert_eq!(json["ending"], "abandoned");
        assert_eq!(serde_json::from_value::<RunOutcome>(json).unwrap(), run);
    }
}

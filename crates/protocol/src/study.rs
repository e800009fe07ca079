//! Ids and small values that occur in all forms of a human study.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

pub(crate) use texts;

texts! {
    StudyId,
    /// The random pseudonym of a person within a study.
    ParticipantId,
    /// The keyed hash of a person's external id. It is equal for one person in all studies of a
    /// panel, and does not reveal the external id.
    PersonKey,
    SittingId,
    SiteId,
    ArmId,
    /// A date in the calendar of a site.
    SessionId,
    /// The idempotency key of a line of the ledger.
    PaymentKey,
    ExclusionId,
    /// An environment with its version: `ab12-v1`.
    EnvironmentVersion,
    /// A SHA-256 hash in hexadecimal form.
    Digest,
}

impl EnvironmentVersion {
    /// Returns the family, which all versions share: the id without the version.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_protocol::EnvironmentVersion;
    ///
    /// assert_eq!(EnvironmentVersion::from("ab12-v3").family(), "ab12");
    /// ```
    pub fn family(&self) -> &str {
        self.0.split('-').next().unwrap_or(&self.0)
    }
}

/// The purpose of a row. Only live rows count for targets, baselines and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum StudyStage {
    /// Simulated people, or the researchers themselves.
    Test,
    /// Real people before the protocol is frozen.
    Pilot,
    Live,
}

impl StudyStage {
    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Pilot => "pilot",
            Self::Live => "live",
        }
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// All levels were completed.
    Solved,
    /// The participant left the environment by choice.
    Left,
    /// The hard limit of the environment was reached.
    HardLimit,
    /// The sitting ended during the attempt. The attempt is censored.
    SittingEnd,
    /// The connection was lost for too long. The attempt is censored.
    Lost,
    /// The participant withdrew during the attempt. The attempt is censored.
    Withdrawn,
}

impl AttemptOutcome {
    pub const ALL: [Self; 6] = [
        Self::Solved,
        Self::Left,
        Self::HardLimit,
        Self::SittingEnd,
        Self::Lost,
        Self::Withdrawn,
    ];

    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Left => "left",
            Self::HardLimit => "hard_limit",
            Self::SittingEnd => "sitting_end",
            Self::Lost => "lost",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Returns whether the attempt was interrupted, so that it neither succeeded nor failed.
    pub const fn is_censored(self) -> bool {
        matches!(self, Self::SittingEnd | Self::Lost | Self::Withdrawn)
    }
}

/// Why a sitting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SittingEndReason {
    /// The time of the sitting was used up.
    TimeUp,
    /// No environment was left for this participant.
    NothingLeft,
    /// The participant left before the time was used up.
    Left,
    Withdrawn,
    /// The connection was lost for too long.
    Lost,
    /// Staff ended the sitting.
    Staff,
}

impl SittingEndReason {
    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TimeUp => "time_up",
            Self::NothingLeft => "nothing_left",
            Self::Left => "left",
            Self::Withdrawn => "withdrawn",
            Self::Lost => "lost",
            Self::Staff => "staff",
        }
    }
}

/// The role of a member of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StudyRole {
    Owner,
    Researcher,
    /// Runs sittings at a site and sees no results.
    SiteStaff,
    /// The author of environments, who sees the results of their own environments only.
    Author,
    /// Reads everything except identities, and changes nothing.
    Auditor,
}

impl StudyRole {
    pub const ALL: [Self; 5] = [
        Self::Owner,
        Self::Researcher,
        Self::SiteStaff,
        Self::Author,
        Self::Auditor,
    ];

    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Researcher => "researcher",
            Self::SiteStaff => "site_staff",
            Self::Author => "author",
            Self::Auditor => "auditor",
        }
    }
}

/// The kind of a completion. A recruiting platform has one code for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompletionKind {
    Complete,
    NoConsent,
    /// The person may not take part, for example because every environment is already known.
    ScreenedOut,
    /// The sitting ended for a technical reason.
    Technical,
}

/// The code by which a recruiting platform recognises a completion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CompletionCode {
    pub code: String,
    /// The address on the platform to which the participant returns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
}

/// The counts of one level of an attempt, from the replayed log of the play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelPlay {
    /// All actions over all tries of the level, level resets included.
    pub actions: u32,
    /// The actions that changed the state.
    pub effective: u32,
    /// The actions since the last reset of the level. They are never a baseline, because people
    /// reset a level to look better.
    pub actions_last_try: u32,
    pub resets: u32,
    /// How often the level was lost.
    pub deaths: u32,
    pub completed: bool,
    /// The time on the attempt's clock at which the level was completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_ms: Option<u64>,
}

/// The counts of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayCounts {
    /// The levels that were reached, from level 1.
    pub levels: Vec<LevelPlay>,
    /// Whether all levels of the environment were completed.
    pub solved: bool,
}

impl PlayCounts {
    /// Returns the number of actions on all levels.
    pub fn actions(&self) -> u64 {
        let actions = self.levels.iter().map(|level| u64::from(level.actions));
        actions.sum()
    }

    pub fn completed_levels(&self) -> usize {
        self.levels.iter().filter(|level| level.completed).count()
    }
}

/// The devices of a participant, or the devices that an environment needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Devices {
    pub keyboard: bool,
    pub pointer: bool,
}

impl Devices {
    /// Returns whether `self` offers everything that `needed` lists.
    pub const fn offer(self, needed: Self) -> bool {
        (self.keyboard || !needed.keyboard) && (self.pointer || !needed.pointer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialised_names_are_the_names_in_reports() {
        for outcome in AttemptOutcome::ALL {
            let json = serde_json::to_value(outcome).unwrap();
            assert_eq!(json, outcome.name());
        }
        for stage in [StudyStage::Test, StudyStage::Pilot, StudyStage::Live] {
            assert_eq!(serde_json::to_value(stage).unwrap(), stage.name());
        }
    }

    #[test]
    fn only_interrupted_attempts_are_censored() {
        let censored: Vec<_> = AttemptOutcome::ALL
            .into_iter()
            .filter(|outcome| outcome.is_censored())
            .map(AttemptOutcome::name)
            .collect();
        assert_eq!(censored, ["sitting_end", "lost", "withdrawn"]);
    }

    #[test]
    fn device_offers_what_an_environment_needs() {
        let keyboard = Devices {
            keyboard: true,
            pointer: false,
        };
        assert!(keyboard.offer(Devices::default()) && keyboard.offer(keyboard));
        assert!(!keyboard.offer(Devices {
            pointer: true,
            ..keyboard
        }));
    }
}

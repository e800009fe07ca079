//! Why a command is not accepted.

use rhae_protocol::{EntryId, EnvironmentVersion, RegistrationId, VerificationState};

use crate::rule::Rule;

/// The reason why a command is not accepted. A rejected command changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("the definition is not valid: {0}")]
    Definition(String),
    #[error("an official board never has a public set")]
    PublicSet,
    #[error("the baselines of `{0}` are provisional: an official board needs those of people")]
    ProvisionalBaselines(EnvironmentVersion),
    #[error("`{0}` is part of the public program, so an official board cannot use it")]
    BuiltIn(EnvironmentVersion),
    #[error("the board is closed")]
    Closed,
    #[error("`{0}` is already in use")]
    Duplicate(String),
    #[error("unknown row `{0}`")]
    UnknownEntry(EntryId),
    #[error("unknown registration `{0}`")]
    UnknownRegistration(RegistrationId),
    #[error("the system is not described: {0}")]
    System(String),
    #[error("the name `{0}` is taken by other authors")]
    NameTaken(String),
    #[error("the claim is not valid: {0}")]
    Claim(String),
    #[error("the registration is not valid: {0}")]
    Registration(String),
    #[error("the registration `{0}` is of another system")]
    OtherSystem(RegistrationId),
    #[error("the registration `{0}` already has the row `{1}`")]
    RegistrationUsed(RegistrationId, EntryId),
    #[error("the row was retracted")]
    Retracted,
    #[error("the run started before it was registered")]
    StartedBefore,
    #[error("the run started in the future: check the clock of the machine that played")]
    StartedInFuture,
    #[error("the seed {0} was not registered")]
    Seed(u64),
    #[error("a run with these plays is already part of the row `{0}`")]
    RunTwice(EntryId),
    #[error(
        "the row `{0}` of the same authors is of the same system: a system has one row, so add the run to it"
    )]
    SameSystem(EntryId),
    #[error("the runs of a row must have the same agent and settings")]
    MixedSettings,
    #[error("`{environment}` is not in the set of this board{hint}")]
    OtherSet {
        environment: EnvironmentVersion,
        hint: &'static str,
    },
    #[error("the budget is `{found}`: the board has `{expected}`")]
    Budget { found: String, expected: String },
    #[error("the environments were played with the seed {0}: boards use the seed 0")]
    EnvironmentSeed(u64),
    #[error("the run has no plays")]
    NoPlays,
    #[error("the agent `{0}` is not a model without tools, as an official board requires")]
    Agent(String),
    #[error("the system prompt is not the published one")]
    Prompt,
    #[error("the model's earlier reasoning was kept")]
    Reasoning,
    #[error("the run was not played on a server in competition mode")]
    NotCompetition,
    #[error("the row is {found}: expected {expected}")]
    State {
        found: &'static str,
        expected: &'static str,
    },
    #[error("the row has no registration, so it stays {}", VerificationState::Replayed.name())]
    Unregistered,
    #[error("{missing} of {announced} plays of the set are missing")]
    Incomplete { missing: usize, announced: usize },
    #[error("{found} reruns of the whole set were given: expected at least {expected}")]
    Reruns { found: usize, expected: usize },
    #[error("the seed {0} was used by the row itself: reruns need other seeds")]
    UsedSeed(u64),
    #[error("only an author can give the reason `author`, and an author can give no other")]
    Reason,
    #[error("a text is required: {0}")]
    NoText(&'static str),
    #[error("the log has no names of this row that can be erased")]
    NoNames,
    #[error("no row changes: the stored runs are verified as before")]
    NothingToRescore,
    #[error("`{0}` is not one of the tasks of this board")]
    OtherTask(String),
    #[error("the board ranks {expected}, and the run has {found}")]
    OtherKind {
        found: &'static str,
        expected: &'static str,
    },
    #[error("the registration announced {0} runs, and the row has them all")]
    RepeatsUsed(usize),
    #[error("the row has been contested before: both texts stay")]
    ContestedBefore,
    #[error("the row is not contested")]
    NotContested,
    #[error("the objection was answered before")]
    AnsweredBefore,
    #[error("the flag `{0}` cannot be changed, because it follows from the rules")]
    Flag(&'static str),
}

impl Rejection {
    /// Returns the rule from which the rejection follows.
    pub const fn rule(&self) -> Rule {
        match self {
            Self::Definition(_) | Self::Closed | Self::EnvironmentSeed(_) => Rule::B1,
            Self::OtherSet { .. } | Self::Budget { .. } => Rule::B1,
            Self::PublicSet | Self::ProvisionalBaselines(_) | Self::BuiltIn(_) => Rule::B2,
            Self::Agent(_) | Self::Prompt | Self::Reasoning | Self::NotCompetition => Rule::B2,
            Self::Registration(_) | Self::UnknownRegistration(_) | Self::OtherSystem(_) => Rule::B3,
            Self::RegistrationUsed(..) | Self::StartedBefore | Self::Seed(_) => Rule::B3,
            Self::RunTwice(_) | Self::SameSystem(_) | Self::MixedSettings => Rule::B3,
            Self::System(_) | Self::NameTaken(_) | Self::Claim(_) | Self::Duplicate(_) => Rule::B4,
            Self::UnknownEntry(_) | Self::NoPlays | Self::StartedInFuture => Rule::B4,
            Self::State { .. } | Self::Unregistered | Self::Incomplete { .. } => Rule::B5,
            Self::Reruns { .. } | Self::UsedSeed(_) => Rule::B5,
            Self::Flag(_) => Rule::B6,
            Self::RepeatsUsed(_) => Rule::B3,
            Self::OtherTask(_) | Self::OtherKind { .. } => Rule::B15,
            Self::Retracted | Self::Reason | Self::NoText(_) => Rule::B13,
            Self::NothingToRescore | Self::NoNames => Rule::B13,
            Self::ContestedBefore | Self::NotContested | Self::AnsweredBefore => Rule::B13,
        }
    }
}

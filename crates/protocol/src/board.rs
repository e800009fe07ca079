//! Leaderboards: what a board fixes, the systems on it, and what a row proves.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::PeopleCompletion;
use crate::eval::{EvalParser, EvalProtocol};
use crate::study::{Digest, EnvironmentVersion, texts};

texts! {
    BoardId,
    /// A row of a board.
    EntryId,
    /// An announcement of runs before they start.
    RegistrationId,
}

/// The version of the rules by which boards decide.
pub const BOARD_RULES: u32 = 1;

/// What a board fixes. A change of any of it makes a new board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardDefinition {
    /// The version of the rules, see [`BOARD_RULES`].
    pub rules_version: u32,
    pub kind: BoardKind,
    pub title: String,
    pub set: BoardSet,
    /// The name of the scoring method; on a board of static tasks [`BoardTasks::method`].
    pub method: String,
    /// The budget of a play, such as `5x`; on a board of static tasks `none`.
    pub budget: String,
    /// The SHA-256 hash of the only system prompt that an official board accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_sha256: Option<Digest>,
    /// The score of people on this set, which the plot shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<PeopleScore>,
}

/// Who runs a board, and what it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoardKind {
    /// General models without tools on a hidden set, run by the organiser.
    Official,
    /// Anybody's systems, from recordings that replay.
    Community,
    /// Systems that play on the organiser's server.
    Competition,
}

impl BoardKind {
    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Official => "official",
            Self::Community => "community",
            Self::Competition => "competition",
        }
    }
}

/// The environments of a board, easiest first, or its static tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardSet {
    /// The name; of static tasks, that of the set in the data.
    pub name: String,
    pub visibility: SetVisibility,
    pub environments: Vec<BoardEnvironment>,
    /// The static tasks of a board that has no environments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<BoardTasks>,
}

impl BoardSet {
    /// Returns the number of environments or of tasks.
    pub fn len(&self) -> usize {
        let tasks = self.tasks.as_ref();
        tasks.map_or(self.environments.len(), |tasks| tasks.tests.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns what the set consists of: `environments` or `tasks`.
    pub const fn items(&self) -> &'static str {
        match self.tasks {
            Some(_) => "tasks",
            None => "environments",
        }
    }

    /// Returns what a state proves, and what it does not prove, about results on this set.
    pub const fn proofs(&self, state: VerificationState) -> (&'static str, &'static str) {
        match self.tasks {
            Some(_) => (state.proves_of_answers(), state.does_not_prove_of_answers()),
            None => (state.proves(), state.does_not_prove()),
        }
    }
}

/// The static tasks of a board, and how answers are scored. A change of any of it makes a new board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardTasks {
    /// The revision of the complete set, before any selection.
    pub revision: String,
    pub protocol: EvalProtocol,
    /// The number of attempts at each test.
    pub attempts: u32,
    /// The parser that finds grids in answers.
    pub parser: EvalParser,
    /// The indices of the tests of each task, from 0.
    pub tests: BTreeMap<String, Vec<u32>>,
}

impl BoardTasks {
    /// Returns the number of tests of all tasks.
    pub fn test_count(&self) -> usize {
        self.tests.values().map(Vec::len).sum()
    }

    /// Returns the name of the scoring method, which follows from the protocol: the share of the tests
    /// of a task that are solved, or the share of tasks of which all tests are solved.
    pub const fn method(&self) -> &'static str {
        match self.protocol {
            EvalProtocol::Plan => "tasks-solved",
            EvalProtocol::Standard | EvalProtocol::Official | EvalProtocol::Nejumi => {
                "mean-task-score"
            }
        }
    }
}

/// Who can see the environments of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SetVisibility {
    Public,
    /// Frames are sent to the makers of systems or of models, and nothing else is published.
    SemiPrivate,
    Private,
}

impl SetVisibility {
    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::SemiPrivate => "semi-private",
            Self::Private => "private",
        }
    }

    /// Returns whether only aggregates of results may be shown.
    pub const fn is_hidden(self) -> bool {
        !matches!(self, Self::Public)
    }
}

/// One environment of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardEnvironment {
    pub id: EnvironmentVersion,
    /// Whether the environment is part of the public program, so that its rules can be read.
    #[serde(default)]
    pub built_in: bool,
    /// The digest of the source of a hosted game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_digest: Option<String>,
    /// The frozen upper bound of the probability that random play completes a level within the budget,
    /// in units of 1e-9; present if the environments are in the order of ease for tiered runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub luck_nano: Option<u64>,
    /// The people by whose share of completions the environments are ordered, if a study has measured
    /// it. Without them the chances of random play order the environments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<PeopleCompletion>,
    pub levels: Vec<BoardLevel>,
}

/// The baseline of one level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardLevel {
    pub baseline: u32,
    /// The origin of the baseline, such as `humans`.
    pub source: String,
    /// Whether a study with people is expected to replace the baseline.
    #[serde(default)]
    pub provisional: bool,
    /// The proved length of the shortest solution, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimum: Option<u32>,
}

/// The score of people, in units of 1e-9 points and millionths of a US dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PeopleScore {
    pub score_nano: u64,
    /// What one person was paid for the whole set; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd_micro: Option<u64>,
}

/// A system on a board: an agent in one version with one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardSystem {
    pub name: String,
    pub version: String,
    pub authors: Vec<BoardAuthor>,
    pub description: String,
    /// Where the code is published.
    pub code_url: String,
    /// The models that the system uses, or `none`.
    pub models: Vec<String>,
    #[serde(default)]
    pub exposure: Exposure,
    /// The hardware of a system that runs locally.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper_url: Option<String>,
}

/// An author with a link by which readers can tell who it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardAuthor {
    pub name: String,
    pub link: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affiliation: Option<String>,
}

/// Whether the authors, or the training data, saw the set before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exposure {
    /// The authors say that neither they nor the training data saw it.
    None,
    Seen,
    #[default]
    Unknown,
}

/// How far a row is verified. A state is raised only by evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerificationState {
    Claimed,
    Replayed,
    Witnessed,
    Reproduced,
    Official,
}

impl VerificationState {
    /// All states, from the weakest to the strongest.
    pub const ALL: [Self; 5] = [
        Self::Claimed,
        Self::Replayed,
        Self::Witnessed,
        Self::Reproduced,
        Self::Official,
    ];

    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Replayed => "replayed",
            Self::Witnessed => "witnessed",
            Self::Reproduced => "reproduced",
            Self::Official => "official",
        }
    }

    /// Returns what a row in this state proves about plays of environments.
    pub const fn proves(self) -> &'static str {
        match self {
            Self::Claimed => "An author submitted it.",
            Self::Replayed => {
                "These actions, on these environments, give this score: every recording was replayed and scored by the board."
            }
            Self::Witnessed => {
                "The plays took place on the organiser's server, on a card in competition mode that counts the whole set."
            }
            Self::Reproduced => {
                "The organiser ran the published code with other seeds, and the score agrees."
            }
            Self::Official => {
                "The organiser ran the model itself, without tools and with the published prompt, on a hidden set."
            }
        }
    }

    /// Returns what a row in this state does not prove about plays of environments.
    pub const fn does_not_prove(self) -> &'static str {
        match self {
            Self::Claimed => "Anything: no recording was replayed.",
            Self::Replayed => {
                "Who chose the actions, that this was the first contact with the environments, or that no other try was dropped."
            }
            Self::Witnessed => {
                "Which program chose the actions, or that its authors did not practise before with another key."
            }
            Self::Reproduced => "That the authors never saw the set.",
            Self::Official => "That the set was not in the training data of the model.",
        }
    }

    /// Returns what a row in this state proves about answers to static tasks.
    pub const fn proves_of_answers(self) -> &'static str {
        match self {
            Self::Replayed => {
                "These answers to these tasks give this score: the board read every answer and compared it with its own solutions."
            }
            Self::Reproduced => "The organiser ran the published code again, and the score agrees.",
            other => other.proves(),
        }
    }

    /// Returns what a row in this state does not prove about answers to static tasks.
    pub const fn does_not_prove_of_answers(self) -> &'static str {
        match self {
            Self::Claimed => "Anything: no answer was scored.",
            Self::Replayed => {
                "Who or what gave the answers, that the solutions were unknown to it, or that no other try was dropped."
            }
            Self::Reproduced => "That neither the authors nor the training data saw the tasks.",
            other => other.does_not_prove(),
        }
    }
}

/// A mark on a row. Flags never change a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoardFlag {
    /// Not every environment was played.
    Partial,
    /// A newer version of an environment or of the method exists.
    Stale,
    /// The set was seen before, or that is not known.
    Exposed,
    Contested,
    /// Levels were completed in the proved minimum of actions at first contact.
    Suspicious,
    /// The actions equal those of an older row of other authors.
    Copied,
    /// Registered runs were not finished in time.
    Abandoned,
    /// A newer version of the system has a row.
    Superseded,
    Retracted,
}

impl BoardFlag {
    /// All flags in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::Partial,
        Self::Stale,
        Self::Exposed,
        Self::Contested,
        Self::Suspicious,
        Self::Copied,
        Self::Abandoned,
        Self::Superseded,
        Self::Retracted,
    ];

    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Partial => "partial",
            Self::Stale => "stale",
            Self::Exposed => "exposed",
            Self::Contested => "contested",
            Self::Suspicious => "suspicious",
            Self::Copied => "copied",
            Self::Abandoned => "abandoned",
            Self::Superseded => "superseded",
            Self::Retracted => "retracted",
        }
    }
}

/// How the cost of a row is known.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CostBasis {
    /// No model was used, or the provider reported the cost.
    Measured,
    /// Tokens times the prices of the run's model table.
    Priced,
    SelfReported,
    #[default]
    Unknown,
}

impl CostBasis {
    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Priced => "priced",
            Self::SelfReported => "self-reported",
            Self::Unknown => "unknown",
        }
    }
}

/// Why a row was retracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RetractionReason {
    Cheating,
    Leak,
    BugOurs,
    BugTheirs,
    Rules,
    /// The author withdraws the row.
    Author,
}

impl RetractionReason {
    pub const ALL: [Self; 6] = [
        Self::Cheating,
        Self::Leak,
        Self::BugOurs,
        Self::BugTheirs,
        Self::Rules,
        Self::Author,
    ];

    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cheating => "cheating",
            Self::Leak => "leak",
            Self::BugOurs => "bug-ours",
            Self::BugTheirs => "bug-theirs",
            Self::Rules => "rules",
            Self::Author => "author",
        }
    }
}

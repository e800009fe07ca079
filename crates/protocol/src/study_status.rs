//! The documents by which commands and the REST API show the state of a human study.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::study::{ArmId, Digest, EnvironmentVersion, StudyId, StudyStage};
use crate::study_event::PaymentItem;
use crate::study_protocol::AttemptRule;
use crate::study_terms::{PaymentState, StudyPhase, StudyVerdict};

/// A line of the list of studies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StudyListing {
    pub study: StudyId,
    pub title: String,
    pub phase: StudyPhase,
    /// The people who are enrolled, test and pilot people included.
    pub participants: usize,
    /// The number of the last record in the log.
    pub records: u64,
}

/// The state of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StudyStatus {
    #[serde(flatten)]
    pub listing: StudyListing,
    pub seed: u64,
    /// The current protocol; absent before one was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ProtocolStatus>,
    /// The people by stage.
    #[schema(value_type = Object)]
    pub people: BTreeMap<StudyStage, usize>,
    pub withdrawn: usize,
    pub erased: usize,
    pub open_sittings: usize,
    pub ended_sittings: usize,
    pub environments: Vec<EnvironmentCoverage>,
    pub money: MoneyStatus,
    pub publications: Vec<PublicationStatus>,
}

/// The protocol that is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProtocolStatus {
    pub hash: Digest,
    pub version: u32,
    pub preset: String,
    pub attempt_rule: AttemptRule,
    pub target: u32,
    /// The times at which the protocol was frozen and amended.
    pub frozen: Vec<FrozenStatus>,
}

/// A protocol that was frozen, or an amendment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FrozenStatus {
    pub hash: Digest,
    pub at_ms: u64,
    /// The reason of an amendment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How far the data of an environment version is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EnvironmentCoverage {
    pub environment: EnvironmentVersion,
    pub arm: ArmId,
    pub levels: u32,
    pub verdict: StudyVerdict,
    /// Reservations that are not yet started.
    pub reserved: u32,
    pub playing: u32,
    /// People who saw the first frame.
    pub started: u32,
    pub valid: u32,
    pub solved: u32,
    /// Interrupted attempts.
    pub censored: u32,
    pub excluded: u32,
    /// The people that are still needed, in tenths; 0 if the environment is not assigned any more.
    pub need_tenths: u64,
    /// The share of valid attempts that solved the environment, with Wilson's 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solve_rate: Option<RateInterval>,
    /// The reason why the environment was withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<String>,
}

/// A share with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RateInterval {
    pub rate: f64,
    pub low: f64,
    pub high: f64,
}

/// The sums of the ledger in minor units.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MoneyStatus {
    /// The currency; empty before a protocol was set.
    pub currency: String,
    pub due_minor: i64,
    pub sent_minor: i64,
    pub confirmed_minor: i64,
    /// Whether the ledger contains exactly what the sittings give rise to.
    pub books_balance: bool,
}

/// A published revision of the baselines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PublicationStatus {
    pub revision: u32,
    /// The hash of the file.
    pub file: Digest,
    pub at_ms: u64,
    /// The number of attempts that contributed.
    pub inputs: usize,
    /// The number of them that were erased since.
    pub inputs_erased: usize,
}

/// The check of a protocol before money is spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StudyCheck {
    pub study: StudyId,
    /// The hash that freezing would record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Digest>,
    /// What must be corrected before the protocol can be frozen and the study opened.
    pub violations: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlannedStudy>,
}

/// The expected size of a study.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlannedStudy {
    pub environments: u32,
    /// The assumed number of environments that a sitting starts.
    pub per_sitting: u32,
    /// The assumed share of starts that become valid attempts, in tenths.
    pub share_tenths: u32,
    /// The assumed share of valid attempts that solve an environment.
    pub solve_rate: f64,
    pub sittings: u64,
    pub fees_minor: u64,
    pub bonuses_minor: u64,
    /// The probability that an environment of the assumed solve rate is accepted.
    pub pass_probability: f64,
}

/// The ledger of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StudyPayments {
    pub study: StudyId,
    pub money: MoneyStatus,
    pub lines: Vec<PaymentRow>,
}

/// A line of the ledger with its status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PaymentRow {
    pub key: String,
    pub participant: String,
    pub item: PaymentItem,
    pub amount_minor: i64,
    pub currency: String,
    pub status: PaymentState,
    /// The batch in which the line was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    pub note: String,
}

/// What a command changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StudyChange {
    pub study: StudyId,
    /// The records that the command added to the log, by the kinds of their events.
    pub events: Vec<String>,
    /// The number of the last record in the log.
    pub records: u64,
}

/// The verification of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StudyVerification {
    pub study: StudyId,
    pub records: usize,
    /// The attempts whose plays were replayed.
    pub replayed: usize,
    /// The published revisions that were computed again.
    pub publications: usize,
    /// What does not agree; empty if everything does.
    pub findings: Vec<String>,
}

/// The list of the files of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StudyExport {
    pub study: StudyId,
    pub software: String,
    /// Whether the export may be published.
    pub public: bool,
    /// The number of the last record that the export contains.
    pub records: u64,
    pub files: Vec<ExportedFile>,
}

/// A file of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExportedFile {
    /// The path within the folder of the export.
    pub path: String,
    /// The rows of a table without its header; absent for other files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    pub bytes: u64,
    pub sha256: Digest,
}

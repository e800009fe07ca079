//! What participants of a human study send and get.
//!
//! *Invariant:* no form contains the id, title, tags or version of an environment. Participants know
//! an environment only by its number in their sitting.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::play::CompactResponse;
use crate::request::{Coordinate, Field};
use crate::study::{AttemptOutcome, CompletionKind, Digest, SittingEndReason};
use crate::study_event::WithdrawnData;
use crate::study_protocol::DemographicQuestion;

/// What a participant does.
///
/// # Examples
///
/// ```
/// use rhae_protocol::SittingRequest;
///
/// let request: SittingRequest = serde_json::from_str(r#"{"command":"start","environment":2}"#)?;
/// assert_eq!(request, SittingRequest::Start { environment: 2 });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum SittingRequest {
    Consent {
        language: String,
        /// The hash of the text that was shown.
        text: Digest,
        publish_replays: bool,
        later_contact: bool,
    },
    Decline,
    Describe {
        /// The chosen bands by question.
        #[schema(value_type = Object)]
        answers: BTreeMap<String, String>,
    },
    CheckDevice {
        keyboard: bool,
        pointer: bool,
        colours_distinguished: bool,
    },
    /// Asks for the next environment. The first request starts the sitting.
    Next,
    /// Shows the first frame of the reserved environment, which starts its clock.
    Start {
        environment: u32,
    },
    /// Tells the server that the participant is present.
    Contact {
        /// Whether the page is hidden; absent if that has not changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hidden: Option<bool>,
    },
    /// Leaves an environment permanently.
    Leave {
        environment: u32,
    },
    Pause,
    Resume,
    Comment {
        text: String,
    },
    /// Ends the sitting early.
    Finish,
    Withdraw {
        data: WithdrawnData,
    },
}

/// An action in an environment.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
pub struct ParticipantAction {
    /// The number of the environment in the sitting, from 1.
    #[serde(default)]
    #[schema(value_type = u32, required)]
    pub environment: Field<u32>,
    /// The column of a click; required for ACTION6.
    #[serde(default)]
    #[schema(value_type = Option<u8>, maximum = 63)]
    pub x: Field<Coordinate>,
    /// The row of a click; required for ACTION6.
    #[serde(default)]
    #[schema(value_type = Option<u8>, maximum = 63)]
    pub y: Field<Coordinate>,
}

/// Where a participant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SittingStep {
    /// The link belongs to a recruiting platform, which names the person.
    Arrival,
    /// No participant is checked in at the seat of the link.
    SeatFree,
    /// The study is not open, and the person has nothing in progress.
    Unavailable,
    Consent,
    Declined,
    About,
    Check,
    /// Before the first environment, and between two.
    Between,
    Paused,
    /// An environment is reserved.
    Ready,
    /// An environment is played.
    Environment,
    Ended,
    Withdrawn,
    /// The person withdrew, and the data was deleted.
    Erased,
}

/// The state of a participant, from which the page is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SittingView {
    pub step: SittingStep,
    /// The title of the study.
    pub title: String,
    /// Whether the link belongs to a seat rather than to a person.
    pub kiosk: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u32>,
    /// The languages of the consent text.
    pub languages: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sitting_minutes: Option<u64>,
    /// What the sitting pays, without bonus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee: Option<FeeView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<ConsentView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<DemographicQuestion>>,
    /// The number of the environment that is reserved or played, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<u32>,
    /// The number of environments that ended in this sitting.
    pub finished: u32,
    /// How the last environment ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_outcome: Option<AttemptOutcome>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<SittingClock>,
    /// What the environment shows now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<CompactResponse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<SittingEnd>,
    /// Present when everything is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<CompletionView>,
    /// The receipt of a withdrawal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

/// The fee of a sitting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FeeView {
    pub amount_minor: u64,
    pub currency: String,
}

/// The consent text that the participant reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConsentView {
    pub language: String,
    pub version: u32,
    pub text: String,
    /// The hash of the text, which the answer must repeat.
    pub hash: Digest,
}

/// The clocks of an open sitting, by the server's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SittingClock {
    pub now_ms: u64,
    pub sitting_ms: u64,
    pub remaining_ms: u64,
    /// The clock of the environment that is played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_ms: Option<u64>,
    /// The limit of `attempt_ms`.
    pub hard_ms: u64,
    /// The values of `attempt_ms` at which the participant is asked to conclude.
    pub prompts_ms: Vec<u64>,
    /// Whether the clock is stopped.
    pub stopped: bool,
    /// The time that is left for pauses.
    pub pause_left_ms: u64,
}

/// The end of a sitting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SittingEnd {
    pub reason: SittingEndReason,
    /// The number of solved environments.
    pub solved: u32,
    pub fee_minor: i64,
    pub bonus_minor: i64,
    pub total_minor: i64,
    pub currency: String,
}

/// What the participant takes back to a recruiting platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CompletionView {
    pub kind: CompletionKind,
    /// The code of the platform, if the site has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
}

/// The arrival of a person from a recruiting platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ArrivalBody {
    /// The token of the site's link.
    pub link: String,
    /// The id of the person on the platform.
    pub external_id: String,
    /// The platform's id of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study_ref: Option<String>,
    /// The platform's id of the person's visit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_ref: Option<String>,
}

/// The personal link of a person who arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ArrivalPath {
    /// `/s/` and the token.
    pub path: String,
}

//! Why a command is not accepted.

use rhae_protocol::{
    ArmId, Digest, EnvironmentVersion, ExclusionId, ParticipantId, PaymentKey, SessionId, SiteId,
    SittingId,
};

use crate::clock::Limit;
use crate::protocol_check::ProtocolViolation;

/// The reason why a command is not accepted. A rejected command changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("the study is {found}: expected {expected}")]
    Phase {
        found: &'static str,
        expected: &'static str,
    },
    #[error("the study has no protocol: set one first")]
    NoProtocol,
    #[error("the protocol is not valid: {}", list(.0))]
    Protocol(Vec<ProtocolViolation>),
    #[error("the protocol is frozen: amend it with a reason")]
    Frozen,
    #[error("the protocol is not frozen: freeze it first")]
    NotFrozen,
    #[error("the amendment has version {found}: expected {expected}")]
    AmendmentVersion { found: u32, expected: u32 },
    #[error("a reason is required")]
    NoReason,
    #[error("the study has no environments: add one first")]
    EmptyPool,
    #[error("`{0}` is already in use")]
    Duplicate(String),
    #[error("unknown arm `{0}`")]
    UnknownArm(ArmId),
    #[error("unknown environment `{0}`")]
    UnknownEnvironment(EnvironmentVersion),
    #[error("`{0}` is not an environment version: expected an id such as `ab12-v1`")]
    EnvironmentId(EnvironmentVersion),
    #[error("unknown site `{0}`")]
    UnknownSite(SiteId),
    #[error("the key `{0}` has no role in this study")]
    UnknownMember(String),
    #[error("unknown session `{0}`")]
    UnknownSession(SessionId),
    #[error("unknown participant `{0}`")]
    UnknownParticipant(ParticipantId),
    #[error("unknown sitting `{0}`")]
    UnknownSitting(SittingId),
    #[error("unknown exclusion `{0}`")]
    UnknownExclusion(ExclusionId),
    #[error("unknown payment `{0}`")]
    UnknownPayment(PaymentKey),
    #[error("the environment `{0}` was withdrawn")]
    EnvironmentWithdrawn(EnvironmentVersion),
    #[error("the person is already enrolled as `{0}`")]
    AlreadyEnrolled(ParticipantId),
    #[error("no arm has a free place")]
    NoFreeArm,
    #[error("the protocol has no consent text in `{0}`")]
    Language(String),
    #[error("the consent text has changed to `{current}`: ask again")]
    ConsentText { current: Digest },
    #[error("the participant has not consented")]
    NoConsent,
    #[error("`{answer}` is not a band of the question `{question}`")]
    Answer { question: String, answer: String },
    #[error("the participant has withdrawn")]
    Withdrawn,
    #[error("the session is full: its capacity is {0}")]
    SessionFull(u32),
    #[error("seat {0} is not free")]
    Seat(u32),
    #[error("the sitting `{0}` of this participant is still open")]
    SittingOpen(SittingId),
    #[error("the participant has had all {0} sittings")]
    NoSittingLeft(u32),
    #[error("the sitting has ended")]
    SittingEnded,
    #[error("no environment is reserved")]
    NoReservation,
    #[error("no attempt is in progress")]
    NoAttempt,
    #[error("an attempt is in progress: end it first")]
    AttemptOpen,
    #[error("the person has already seen the family `{0}`")]
    FamilySeen(String),
    #[error("the limit was reached: {0:?}")]
    LimitReached(Limit),
    #[error("no limit was reached, and the participant did not ask to leave")]
    NotDue,
    #[error("the counts of the open attempt are missing")]
    NoCounts,
    #[error("the counts are not valid: {0}")]
    Counts(&'static str),
    #[error("the sitting is already paused")]
    AlreadyPaused,
    #[error("the sitting is not paused")]
    NotPaused,
    #[error("the pauses of this sitting are used up")]
    NoPauseLeft,
    #[error("the position {0} has no ended attempt")]
    NoEndedAttempt(u32),
    #[error("the exclusion `{0}` is already undone")]
    AlreadyUndone(ExclusionId),
    #[error("the payment `{key}` is {found}: expected {expected}")]
    PaymentStatus {
        key: PaymentKey,
        found: &'static str,
        expected: &'static str,
    },
    #[error("the amount is not valid: {0}")]
    Amount(&'static str),
    #[error("the revision is {found}: expected {expected}")]
    Revision { found: u32, expected: u32 },
    #[error("the baselines differ from those that the log gives")]
    Baselines,
}

fn list(violations: &[ProtocolViolation]) -> String {
    let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

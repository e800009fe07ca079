//! The commands of a study.
//!
//! A command is validated against the state and yields events. Ids are chosen by the caller, because
//! this crate has no randomness.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{
    ArmId, BaselineFile, CompletionCode, CompletionKind, Devices, Digest, EnvironmentVersion,
    ExclusionId, ParticipantId, PaymentKey, PaymentLine, PersonKey, PlayCounts, SessionId, SiteId,
    SittingId, StudyProtocol, StudyRole, StudyStage, WithdrawnData,
};

/// What a researcher, a participant or the server wants to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Setup(SetupCommand),
    Person(ParticipantId, PersonCommand),
    Sitting(SittingId, SittingCommand),
    Review(SittingId, ReviewCommand),
    Money(MoneyCommand),
    /// Publishes baselines. The file must be the one that the log gives.
    Publish(Box<BaselineFile>),
    /// Removes all records of a person who has no open sitting.
    Erase(ParticipantId),
}

/// Commands of researchers that set up and steer a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupCommand {
    SetProtocol(Box<StudyProtocol>),
    Freeze,
    Amend {
        protocol: Box<StudyProtocol>,
        reason: String,
    },
    Open,
    Pause {
        reason: String,
    },
    Close,
    AddArm {
        arm: ArmId,
        weight: u32,
        max_participants: Option<u32>,
    },
    /// Adds an environment version to the pool of an arm. It is allowed while the study is running.
    AddEnvironment {
        environment: EnvironmentVersion,
        arm: ArmId,
        levels: u32,
        needs: Devices,
    },
    WithdrawEnvironment {
        environment: EnvironmentVersion,
        reason: String,
    },
    AddSite {
        site: SiteId,
        seats: u32,
        languages: BTreeSet<String>,
        fee_minor: Option<u64>,
    },
    ScheduleSession {
        session: SessionId,
        site: SiteId,
        starts_ms: u64,
        capacity: u32,
    },
    /// Makes the holder of an API key a member, or changes the member's role.
    Grant {
        member: String,
        role: StudyRole,
        environments: BTreeSet<EnvironmentVersion>,
        by: String,
    },
    Revoke {
        member: String,
        by: String,
    },
    SetRecruiter {
        site: SiteId,
        recruiter: String,
        codes: BTreeMap<CompletionKind, CompletionCode>,
    },
    /// Estimates again which share of plays becomes valid. The server issues it once a day.
    EstimateShare,
}

/// Commands about a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonCommand {
    Enrol {
        person_key: PersonKey,
        site: SiteId,
        source: String,
        stage: StudyStage,
        /// The families that the person has seen in other studies or in public play.
        families_seen: BTreeSet<String>,
    },
    Consent {
        /// The hash of the text that was shown.
        text: Digest,
        language: String,
        publish_replays: bool,
        later_contact: bool,
    },
    DeclineConsent,
    Describe {
        answers: BTreeMap<String, String>,
    },
    CheckDevice {
        devices: Devices,
        colours_distinguished: bool,
    },
    Book {
        session: SessionId,
    },
    CheckIn {
        session: SessionId,
        seat: u32,
    },
    /// Ends an open sitting and the participation. If the data is to be deleted, [`Command::Erase`]
    /// must follow.
    Withdraw {
        data: WithdrawnData,
        receipt: String,
        /// The counts of an attempt in progress.
        counts: Option<PlayCounts>,
    },
}

/// Commands of a sitting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SittingCommand {
    Start {
        participant: ParticipantId,
        seat: Option<u32>,
    },
    /// Reserves the next environment, or ends the sitting if no environment is left. It does nothing if an
    /// environment is already reserved or played.
    Next,
    /// The participant saw the first frame of the reserved environment.
    StartAttempt {
        play: String,
    },
    /// Shows the prompts to conclude that are due.
    Prompt,
    /// The participant is in contact.
    Contact,
    SetFocus {
        hidden: bool,
    },
    StartPause,
    EndPause,
    /// Ends the attempt in progress: because it was solved, because a limit was reached, or because
    /// the participant leaves it.
    EndAttempt {
        leave: bool,
        counts: PlayCounts,
    },
    End {
        request: EndRequest,
        /// The counts of an attempt in progress.
        counts: Option<PlayCounts>,
    },
    Comment {
        text: String,
    },
}

/// Who ends a sitting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndRequest {
    Participant,
    Staff {
        by: String,
        reason: String,
    },
    /// The server, because a limit was reached.
    Due,
}

/// Commands of researchers about a sitting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewCommand {
    Exclude {
        exclusion: ExclusionId,
        /// The excluded attempt; `None` for the whole sitting.
        position: Option<u32>,
        by: String,
        reason: String,
        evidence: String,
    },
    Undo {
        exclusion: ExclusionId,
        by: String,
        reason: String,
    },
    MarkHelped {
        position: u32,
        by: String,
        reason: String,
    },
    Extend {
        seconds: u64,
        by: String,
        reason: String,
    },
}

/// Commands about payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoneyCommand {
    Send {
        key: PaymentKey,
        batch: String,
    },
    Confirm {
        key: PaymentKey,
    },
    /// Adds a line manually, which may be negative. The note is required.
    Adjust(PaymentLine),
}

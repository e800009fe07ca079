//! The serialised forms that the crates of Rhae share, with their versions: recordings, scorecards,
//! run and evaluation folders, REST bodies, and the lines exchanged with an agent's process.
//!
//! # Overview
//!
//! | form | types | where it occurs |
//! | --- | --- | --- |
//! | action log and official recordings | [`Recording`], [`Entry`], [`RecordingWriter`] | `*.jsonl` files, `rhae replay` |
//! | scorecard | [`Scorecard`], [`EnvironmentScore`], [`RunScore`] | run folders, REST, `--json` |
//! | run folder | [`RunConfig`], [`JournalLine`], [`RunSummary`], [`ServerRecord`] | `rhae run` |
//! | evaluation folder | [`EvalConfig`], [`EvalLine`] | `rhae arc eval` |
//! | agent lines | [`AgentMessage`], [`AgentReply`] | standard input and output of an agent's process |
//! | comparisons of runs | [`RunComparison`], [`RunsReport`], [`AnalysedRun`] | `--json` of `rhae compare` and `rhae report` |
//! | analysis | [`ExploredLevel`], [`ValidationReport`], [`DatabaseReport`] | `--json` of `rhae explore`, `rhae validate` and `rhae db check` |
//! | REST bodies | [`CommandBody`], [`OpeningBody`], [`FrameResponse`], [`GameListing`], [`PlayListing`], [`PlayEvent`] | the HTTP API |
//! | facts, scores, keys | [`GameFacts`], [`LevelScores`], [`KeyListing`], [`NoveltyReport`] | `--json` of commands |
//! | leaderboards | [`BoardDefinition`], [`BoardRecord`], [`BoardView`] | what a board fixes, its log and its rows |
//! | human studies | [`StudyProtocol`], [`StudyRecord`], [`StudySummary`], [`BaselineFile`] | the log, the protocol, the numbers and the published baselines of a study |
//! | packed frames | [`Packer`], [`ObservationView`] | browser player, event streams |
//!
//! # Invariants
//!
//! * Engine types are not serialised directly. This crate defines the forms in which plays,
//!   scorecards and runs are written to files or sent over a connection, and converts engine types
//!   to them. The name of a field is part of its form and does not change.
//! * Input is untrusted. The parsers of recordings and agent replies never panic: they return a
//!   typed error with the reason. An error in a line of a recording also names the number of the
//!   line.
//!
//! This crate opens no files, does not use the network, and computes neither counts nor scores.
//!
//! # Examples
//!
//! A recording is one JSON object per line: a header, one entry for each observation, and a closing
//! line. Entries carry hashes instead of frames, because a replay reproduces the frames.
//!
//! ```
//! use rhae_engine::Action;
//! use rhae_protocol::{Ending, Format, Recording};
//!
//! let text = r#"
//! {"format":"rhae-recording","version":1,"game_id":"ab12-v1","seed":0,"agent":"random","agent_seed":7,"software":"rhae 0.1.0","resets":"official","win_levels":2,"available_actions":[1,2,3,4,6]}
//! {"action":"0","hash":"ed73aa316c86b6fc","levels":0,"full_reset":true}
//! {"action":"1","hash":"50988597695e881c","levels":0}
//! {"action":"6@3,9","hash":"fabb57a524ad1044","levels":1,"reasoning":"the red block"}
//! {"end":"budget"}
//! "#;
//! let recording = Recording::parse(text)?;
//! assert_eq!(recording.header.agent, "random");
//! assert_eq!(recording.entries[2].action, Action::Action6 { x: 3, y: 9 });
//! assert_eq!(recording.ending, Some(Ending::Budget));
//! assert_eq!(recording.to_text(Format::Rhae)?, text.trim_start());
//! # Ok::<(), rhae_protocol::RecordingError>(())
//! ```

mod action;
mod agent;
mod analysis;
mod board;
mod board_api;
mod board_event;
mod board_view;
mod contamination;
mod database_check;
mod ending;
mod error_code;
mod eval;
mod eval_end;
mod eval_failure;
mod exploration;
mod frames;
mod game_facts;
mod human_baselines;
mod identity;
mod key_listing;
mod level_scores;
mod money;
mod novelty;
mod packed;
mod play;
mod play_state;
mod recording;
mod request;
mod rest;
mod run;
mod scorecard;
mod sent_reasoning;
mod share;
mod study;
mod study_api;
mod study_baselines;
mod study_event;
mod study_protocol;
mod study_result;
mod study_simulation;
mod study_sitting;
mod study_status;
mod study_summary;
mod study_terms;
mod tiers;
mod time;
mod traced_request;
mod usage;
mod validation;
mod work;
mod work_api;
mod work_kind;

pub use agent::{AgentMessage, AgentReply, ReplyError};
pub use analysis::{
    ANALYSIS_VERSION, AnalysedEnvironment, AnalysedLevel, AnalysedRun, Behaviour,
    DifferenceSources, EnvironmentDifference, Generalisation, GeneralisationGap, LevelAttempt,
    LevelDifference, MeanScore, PairComparison, PublishedResult, RunComparison, RunRank,
    RunsReport,
};
pub use board::{
    BOARD_RULES, BoardAuthor, BoardDefinition, BoardEnvironment, BoardFlag, BoardId, BoardKind,
    BoardLevel, BoardSet, BoardSystem, BoardTasks, CostBasis, EntryId, Exposure, PeopleScore,
    RegistrationId, RetractionReason, SetVisibility, VerificationState,
};
pub use board_api::{
    BoardCreation, BoardListing, BoardPage, BoardRequest, EntryEvent, EntryPlay, EntryRun,
    EntryView, RegistrationBody, SubmissionBody,
};
pub use board_event::{
    BoardAnswers, BoardClaim, BoardCost, BoardCount, BoardEvent, BoardPlay, BoardRecord, BoardRun,
    LevelLog, SealedName,
};
pub use board_view::{
    BoardChange, BoardCheck, BoardManifest, BoardRow, BoardView, Contest, ManifestFile,
    RegistrationRow, ReleaseRow, Rescoring, RowComparison, RowCost, RowEnvironment, RowFlag,
    RowRank, RowScore, TaskFacts, Tombstone,
};
pub use contamination::{
    CONTAMINATION_VERSION, ColorAssociation, ColorProbe, ColorTest, ContaminationReport,
    KnowledgeCounts, KnowledgeExample, KnowledgeKind,
};
pub use database_check::{DatabaseCopy, DatabaseCounts, DatabaseFinding, DatabaseReport};
pub use ending::Ending;
pub use error_code::ErrorCode;
pub use eval::{
    EVAL_VERSION, EvalAnswer, EvalConfig, EvalGrid, EvalLimits, EvalLine, EvalParser, EvalProtocol,
    EvalSet, EvalTarget, EvalUsage,
};
pub use eval_end::EvalEnd;
pub use eval_failure::EvalFailureKind;
pub use exploration::{
    ComponentCounts, ExplorationReport, ExploredLevel, SearchedClicks, ShortestWinForm,
    TerminalCounts, WinProbability, WinWithin,
};
pub use frames::{Cell, FrameShapeError, WireFrames, frames_from_wire, frames_to_wire};
pub use game_facts::GameFacts;
pub use human_baselines::{HumanBaselines, HumanLevel};
pub use identity::{RunIdentity, RunKind, RunListing, RunStatus};
pub use key_listing::{InvitationListing, KeyLimitsListing, KeyListing};
pub use level_scores::{LevelScore, LevelScores};
pub use money::{amount_text, money_text};
pub use novelty::{NoveltyPair, NoveltyReport};
pub use packed::{ObservationView, PACKED_VERSION, Packer};
pub use play::{CompactResponse, PlayEvent, PlayListing, current_level};
pub use recording::{
    Details, Entry, FORMAT, FORMAT_VERSION, Format, Header, Recording, RecordingError,
    RecordingWriter, ResetRule, ToolkitLine,
};
pub use request::{CardBody, CommandBody, Coordinate, Field, OpeningBody, ShareBody};
pub use rest::{ActionBody, FrameBody, FrameResponse, GameListing};
pub use run::{
    CardRecord, JournalLine, LevelOutcome, MOCK_PROVIDER, ModelRun, PlayRecord, PlayResult,
    REPLAY_MARK, RUN_VERSION, RunConfig, RunOutcome, RunSummary, ServerRecord, SummaryEnvironment,
    ValidResults, is_replay,
};
pub use scorecard::{CardOwner, EnvironmentScore, RunScore, Scorecard, TagScore};
pub use sent_reasoning::{SENT_USAGE, sent_reasoning, sent_usage};
pub use share::ShareListing;
pub use study::{
    ArmId, AttemptOutcome, CompletionCode, CompletionKind, Devices, Digest, EnvironmentVersion,
    ExclusionId, LevelPlay, ParticipantId, PaymentKey, PersonKey, PlayCounts, SessionId, SiteId,
    SittingEndReason, SittingId, StudyId, StudyRole, StudyStage,
};
pub use study_api::{
    ArrivalLink, AttemptRow, CheckBody, EffortRow, ExclusionRow, LiveSitting, NewParticipants,
    NewStudyBody, NewStudySite, PersonalLink, SeatLink, SessionRow, SiteRow, SittingEndRow,
    SittingRow, StudyLinks, StudyOverview, StudyRequest,
};
pub use study_baselines::{
    BASELINE_FILE_VERSION, BaselineFile, CountInterval, EnvironmentBaselines, LevelBaseline,
    MethodBaseline, ResamplingRange,
};
pub use study_event::{
    ExclusionBasis, PaymentItem, PaymentLine, ReleaseReason, StudyChain, StudyEvent, StudyRecord,
    WithdrawnData,
};
pub use study_protocol::{
    AnalysisPlan, AssignmentDesign, AttemptRule, ConsentText, DemographicQuestion, EarlyLeave,
    LowEffortRule, STUDY_PROTOCOL_VERSION, StudyLimits, StudyMoney, StudyProtocol, TargetCounts,
};
pub use study_result::{
    BandCount, ClickedCell, DurationBin, EnvironmentResults, LevelClicks, LevelResults,
    StoppedPlayResult, StudyResults, TimeResults,
};
pub use study_simulation::StudySimulation;
pub use study_sitting::{
    ArrivalBody, ArrivalPath, CompletionView, ConsentView, FeeView, ParticipantAction,
    SittingClock, SittingEnd, SittingRequest, SittingStep, SittingView,
};
pub use study_status::{
    EnvironmentCoverage, ExportedFile, FrozenStatus, MoneyStatus, PaymentRow, PlannedStudy,
    ProtocolStatus, PublicationStatus, RateInterval, StudyChange, StudyCheck, StudyExport,
    StudyListing, StudyPayments, StudyStatus, StudyVerification,
};
pub use study_summary::{MedianMinutes, StudySummary};
pub use study_terms::{
    AttemptStanding, AttemptState, EffortVerdict, PaymentState, StudyPermission, StudyPhase,
    StudyVerdict,
};
pub use tiers::{PeopleCompletion, RunTiers, TierEnvironment, TierFile, TierResult, TierSummary};
pub use time::{compact_utc, rfc3339_utc};
pub use traced_request::{TRACED_REQUESTS, TRACED_REQUESTS_LEFT_OUT, TracedCall, TracedRequest};
pub use usage::ModelUsage;
pub use validation::{
    EnvironmentVerdict, FindingEvidence, RuleFinding, RuleResult, RuleVerdict,
    ValidatedEnvironment, ValidationReport,
};
pub use work::{
    LeaseLoss, SHARD_VERSION, Shard, ShardError, ShardRecord, UnitKey, WorkCost, WorkEvent,
};
pub use work_api::{
    LeaseName, LeaseReply, LeaseRequest, ReserveReply, WorkErrorCode, WorkJob, WorkLease,
    WorkLines, WorkRefusal, WorkRelease, WorkReport, WorkReserve, WorkSettle, WorkerHello,
};
pub use work_kind::{
    EvaluationReport, EvaluationTask, EvaluationWork, ExplorationTask, ExplorationUnitReport,
    ExplorationWork, PlayReport, PlayTask, ValidationTask, ValidationUnitReport, ValidationWork,
    WorkEvidence, WorkFinding, WorkKind, WorkLevel, WorkRule,
};

/// The name and version of this software, as they are written to results and recordings.
pub const SOFTWARE: &str = concat!("rhae ", env!("CARGO_PKG_VERSION"));

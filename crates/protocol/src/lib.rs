//! Every serialised form, with its version: recordings, scorecards, folders of runs and evaluations, and the lines spoken with an agent's process.
//!
//! **Boundary:** types of the engine are not serialised; what goes to a file or over a wire is defined here and converted.
//! Text comes in as untrusted input: every parser gives a typed error that names the line and the reason, and never panics.
//!
//! What this crate deliberately does not know: files, the network, how a score is computed.

mod action;
mod agent;
mod counts;
mod eval;
mod frames;
mod packed;
mod play;
mod recording;
mod rest;
mod run;
mod scorecard;
mod spent;
mod time;

pub use agent::{AgentMessage, AgentReply, ReplyError};
pub use counts::Seen;
pub use eval::{
    EVAL_VERSION, EvalAnswer, EvalAsked, EvalConfig, EvalGrid, EvalLimits, EvalLine, EvalSet,
    EvalSpent,
};
pub use frames::{Cell, FrameShapeError, WireFrames, frames_from_wire, frames_to_wire};
pub use packed::{PACKED_VERSION, Packer, Shown, base64};
pub use play::{CompactAnswer, PlayEvent, PlayListing, level_of};
pub use recording::{
    Details, Ending, Entry, FORMAT, FORMAT_VERSION, Format, Header, Recording, RecordingError,
    RecordingWriter, ResetRule, ToolkitLine,
};
pub use rest::{ActionBody, FrameAnswer, FrameBody, GameListing};
pub use run::{
    CardRecord, JournalLine, LevelOutcome, ModelRun, PlayOutcome, PlayRecord, PlayResult,
    RunConfig, RunSummary, ServerRecord, SummaryEnvironment,
};
pub use scorecard::{EnvironmentScore, RunScore, Scorecard, TagScore};
pub use spent::Spent;
pub use time::{compact_utc, rfc3339_utc};

/// The name and version that results carry.
pub const SOFTWARE: &str = concat!("rhae ", env!("CARGO_PKG_VERSION"));

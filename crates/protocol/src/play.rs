//! What the REST API answers about a play: its facts, and the events of one that is under way.

use rhae_engine::{Action, ActionKind, ActionSet, PlayState};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{Packer, Shown, base64, rfc3339_utc};

/// A play and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlayListing {
    /// The play.
    pub guid: String,
    /// The environment with its version.
    pub game_id: String,
    /// The scorecard that it counts on.
    pub card_id: String,
    /// Whether that is open.
    pub card_open: bool,
    /// `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    pub state: String,
    /// The level being played, from 1.
    pub level: u8,
    /// Levels completed.
    pub levels_completed: u8,
    /// All levels.
    pub win_levels: u8,
    /// Actions, level resets included, over all runs.
    pub actions: u64,
    /// Entries of its log, the opening RESET and commands that were not counted included.
    pub entries: u32,
    /// When it was opened.
    pub opened_at: String,
    /// When its last command was carried out.
    pub last_action_at: String,
    /// Why it takes no commands, if this server has found that its log does not give the frames that it gave.
    pub frozen: Option<String>,
}

/// The level being played, from 1; after a win the last one.
pub fn level_of(levels_completed: u8, win_levels: u8) -> u8 {
    levels_completed.saturating_add(1).min(win_levels)
}

/// What a command led to, for a page: as [`FrameAnswer`](crate::FrameAnswer), with the frames packed against an empty one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompactAnswer {
    /// The play.
    pub guid: String,
    /// `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    pub state: String,
    /// The level being played, from 1.
    pub level: u8,
    /// Levels completed.
    pub levels_completed: u8,
    /// All levels.
    pub win_levels: u8,
    /// Whether the command started the game anew.
    pub full_reset: bool,
    /// Whether it counted as an action.
    pub counted: bool,
    /// The actions that are offered.
    pub available_actions: Vec<u8>,
    /// The observation in the packed form, in base64.
    pub packed: String,
}

impl CompactAnswer {
    /// The kind of body that a page asks for.
    pub const CONTENT_TYPE: &'static str = "application/vnd.rhae.compact+json";

    /// The answer of an observation.
    pub fn new(guid: &str, shown: Shown<'_>, win_levels: u8, available: ActionSet) -> Self {
        let mut bytes = Vec::new();
        Packer::default().pack(shown, &mut bytes);
        Self {
            guid: guid.to_owned(),
            state: PlayState::name(shown.state).to_owned(),
            level: level_of(shown.levels_completed, win_levels),
            levels_completed: shown.levels_completed,
            win_levels,
            full_reset: shown.full_reset,
            counted: shown.counted,
            available_actions: available.iter().map(ActionKind::id).collect(),
            packed: base64(&bytes),
        }
    }
}

/// One command of a play, for somebody who watches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlayEvent {
    /// Which entry of the log it is, from 0.
    pub index: u32,
    /// The command's official name.
    pub action: String,
    /// The column of a click.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<u8>,
    /// The row of a click.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<u8>,
    /// `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    pub state: String,
    /// The level being played, from 1.
    pub level: u8,
    /// Levels completed.
    pub levels_completed: u8,
    /// All levels.
    pub win_levels: u8,
    /// Whether the command counted as an action.
    pub counted: bool,
    /// When it was carried out.
    pub timestamp: String,
    /// Whether the frames are packed against an empty frame, as in the first event of a stream, instead of the last frame of the event before.
    pub whole: bool,
    /// The observation in the packed form, in base64.
    pub packed: String,
}

impl PlayEvent {
    /// The event of an observation; `packer` is the stream's, `None` for its first event.
    pub fn new(
        index: u32,
        shown: Shown<'_>,
        win_levels: u8,
        at_ms: u64,
        packer: &mut Option<Packer>,
    ) -> Self {
        let whole = packer.is_none();
        let mut bytes = Vec::new();
        packer.get_or_insert_default().pack(shown, &mut bytes);
        let (x, y) = match shown.action {
            Action::Action6 { x, y } => (Some(x), Some(y)),
            _ => (None, None),
        };
        Self {
            index,
            action: shown.action.kind().name().to_owned(),
            x,
            y,
            state: PlayState::name(shown.state).to_owned(),
            level: level_of(shown.levels_completed, win_levels),
            levels_completed: shown.levels_completed,
            win_levels,
            counted: shown.counted,
            timestamp: rfc3339_utc(at_ms),
            whole,
            packed: base64(&bytes),
        }
    }
}

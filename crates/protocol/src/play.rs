//! REST bodies about a play: its state, and the events of a play in progress.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rhae_engine::{Action, ActionKind, ActionSet, PlayState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{ObservationView, Packer, rfc3339_utc};

/// A play and its current state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlayListing {
    /// Id of the play.
    pub guid: String,
    /// Id of the environment with its version.
    pub game_id: String,
    /// Id of the scorecard to which the play belongs.
    pub card_id: String,
    /// Whether the scorecard is open.
    pub card_open: bool,
    /// `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    #[serde(with = "crate::play_state")]
    #[schema(value_type = String)]
    pub state: PlayState,
    /// Number of the current level, from 1.
    pub level: u8,
    /// Number of completed levels.
    pub levels_completed: u8,
    /// Number of levels of the environment.
    pub win_levels: u8,
    /// Actions over all runs, including level resets.
    pub actions: u64,
    /// Number of log entries, including the opening RESET and commands that were not counted.
    pub entries: u32,
    /// Time at which the play was opened.
    pub opened_at: String,
    /// Time of the last command.
    pub last_action_at: String,
    /// SHA-256 digest of the source of a hosted game that the play executes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_digest: Option<String>,
    /// Why the play is frozen: a replay of its log produced other frames. Normally `null`.
    pub frozen: Option<String>,
}

/// Returns the number of the current level, from 1; after a win, the number of the last level.
///
/// ```
/// assert_eq!(rhae_protocol::current_level(0, 3), 1);
/// assert_eq!(rhae_protocol::current_level(3, 3), 3);
/// ```
pub fn current_level(levels_completed: u8, win_levels: u8) -> u8 {
    levels_completed.saturating_add(1).min(win_levels)
}

/// The response to a command of the web app. In contrast to
/// [`FrameResponse`](crate::FrameResponse), its frames are in the packed form, and the first one is
/// encoded relative to a frame of colour 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CompactResponse {
    pub guid: String,
    /// `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    #[serde(with = "crate::play_state")]
    #[schema(value_type = String)]
    pub state: PlayState,
    /// The current level, from 1.
    pub level: u8,
    pub levels_completed: u8,
    /// The number of levels of the environment.
    pub win_levels: u8,
    /// Whether the command restarted the game at its first level.
    pub full_reset: bool,
    /// Whether the command counted as an action.
    pub counted: bool,
    /// The ids of the actions that the environment offers.
    pub available_actions: Vec<u8>,
    /// The observation in the packed form (see [`Packer`]), base64-encoded.
    pub packed: String,
}

impl CompactResponse {
    /// The media type with which the web app requests this form.
    pub const CONTENT_TYPE: &'static str = "application/vnd.rhae.compact+json";

    /// Creates the response for an observation.
    pub fn new(
        guid: &str,
        observation: ObservationView<'_>,
        win_levels: u8,
        available: ActionSet,
    ) -> Self {
        let mut bytes = Vec::new();
        Packer::default().pack(observation, &mut bytes);
        Self {
            guid: guid.to_owned(),
            state: observation.state,
            level: current_level(observation.levels_completed, win_levels),
            levels_completed: observation.levels_completed,
            win_levels,
            full_reset: observation.full_reset,
            counted: observation.counted,
            available_actions: available.iter().map(ActionKind::id).collect(),
            packed: BASE64_STANDARD.encode(&bytes),
        }
    }
}

/// One command of a play, as the event stream of the play sends it to viewers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlayEvent {
    /// Index of the entry in the log, from 0.
    pub index: u32,
    /// Official name of the command.
    pub action: String,
    /// Column of a click.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<u8>,
    /// Row of a click.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<u8>,
    /// `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    #[serde(with = "crate::play_state")]
    #[schema(value_type = String)]
    pub state: PlayState,
    /// Number of the current level, from 1.
    pub level: u8,
    /// Number of completed levels.
    pub levels_completed: u8,
    /// Number of levels of the environment.
    pub win_levels: u8,
    /// Whether the command counted as an action.
    pub counted: bool,
    /// Time of the command.
    pub timestamp: String,
    /// Whether the frames are encoded relative to an empty frame, not to the previous event.
    #[serde(rename = "whole")]
    pub keyframe: bool,
    /// The observation in the packed form, base64-encoded.
    pub packed: String,
}

impl PlayEvent {
    /// Creates the event of an observation. `packer` holds the encoding state of the event stream.
    /// The caller passes `None` for the first event, which becomes a keyframe.
    pub fn new(
        index: u32,
        observation: ObservationView<'_>,
        win_levels: u8,
        at_ms: u64,
        packer: &mut Option<Packer>,
    ) -> Self {
        let keyframe = packer.is_none();
        let mut bytes = Vec::new();
        packer.get_or_insert_default().pack(observation, &mut bytes);
        let (x, y) = match observation.action {
            Action::Action6 { x, y } => (Some(x), Some(y)),
            _ => (None, None),
        };
        Self {
            index,
            action: observation.action.kind().name().to_owned(),
            x,
            y,
            state: observation.state,
            level: current_level(observation.levels_completed, win_levels),
            levels_completed: observation.levels_completed,
            win_levels,
            counted: observation.counted,
            timestamp: rfc3339_utc(at_ms),
            keyframe,
            packed: BASE64_STANDARD.encode(&bytes),
        }
    }
}

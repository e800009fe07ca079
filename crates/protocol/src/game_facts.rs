//! The facts of an environment, as commands list them.

use rhae_engine::{ActionKind, BaselineSource, GameInfo};
use serde::{Deserialize, Serialize};

/// The facts of an environment.
///
/// # Examples
///
/// ```
/// use rhae_protocol::GameFacts;
///
/// let facts: GameFacts = serde_json::from_str(
///     r#"{"game_id": "ab12-v1", "title": "ab12", "levels": 1, "actions": [1, 6],
///         "tags": ["keys"], "baseline_actions": [10], "baseline_source": ["solver"],
///         "default_fps": 20, "seeded": false}"#,
/// )?;
/// assert_eq!(facts.folder, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameFacts {
    pub game_id: String,
    pub title: String,
    /// The number of levels; `None` if it is unknown, because a hosted game has no baselines and has
    /// not been played yet.
    pub levels: Option<usize>,
    /// The numbers of the available actions.
    pub actions: Vec<u8>,
    pub tags: Vec<String>,
    /// The baseline of each level.
    pub baseline_actions: Vec<u32>,
    /// The source of each baseline.
    pub baseline_source: Vec<String>,
    /// The speed of animations, in frames per second.
    pub default_fps: u8,
    /// Whether the levels depend on the seed.
    pub seeded: bool,
    /// The folder of a hosted game; `None` for a native game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The SHA-256 digest of the source of a hosted game; `None` for a native game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_digest: Option<String>,
}

impl GameFacts {
    /// Creates the form of an environment's facts.
    pub fn new(info: &GameInfo, folder: Option<String>) -> Self {
        let baselines = &info.baselines;
        Self {
            game_id: info.id.to_string(),
            title: info.title.clone(),
            levels: Some(info.level_count()).filter(|&levels| levels > 0),
            actions: info.actions.iter().map(ActionKind::id).collect(),
            tags: info.tags.clone(),
            baseline_actions: baselines.iter().map(|baseline| baseline.actions).collect(),
            baseline_source: baselines
                .iter()
                .map(|baseline| baseline.source.to_string())
                .collect(),
            default_fps: info.frames_per_second,
            seeded: info.seeded,
            folder,
            source_digest: info.source_digest.clone(),
        }
    }

    /// Returns whether the baseline of a level is provisional: computed by a solver, not from plays
    /// by people.
    pub fn is_provisional(&self, level: usize) -> bool {
        self.baseline_source
            .get(level)
            .and_then(|source| BaselineSource::parse(source))
            .is_some_and(BaselineSource::is_provisional)
    }
}

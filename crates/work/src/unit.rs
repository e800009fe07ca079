//! The units of a run: its plays.

use rhae_protocol::{Digest, RunConfig, UnitKey};

use crate::{settings_digest, text_digest};

/// One play of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The hash of everything that determines the play.
    pub key: UnitKey,
    /// The repeat, from 1.
    pub repeat: u32,
    /// The environment with its version.
    pub game_id: String,
}

/// Returns the plays of a run, in the order in which they are started. A shard is defined by the
/// positions in this list.
///
/// # Examples
///
/// ```
/// use rhae_protocol::RunConfig;
///
/// let config: RunConfig = serde_json::from_str(r#"{
///     "version": 1, "software": "rhae 0.1.0", "run_id": "a", "agent": "random", "seed": 7,
///     "env_seed": 0, "games": ["ab12-v1", "cd34-v1"], "repeat": 2, "budget": "5x",
///     "method": "docs-2026-04", "step_timeout_ms": 10000, "generator": "pcg32-v1"
/// }"#)?;
/// let units = rhae_work::units(&config);
/// assert_eq!((units[1].repeat, units[1].game_id.as_str()), (1, "cd34-v1"));
/// assert_eq!((units[2].repeat, units[2].game_id.as_str()), (2, "ab12-v1"));
/// // Keys do not depend on the id of the run.
/// let again = RunConfig { run_id: "b".to_owned(), ..config };
/// assert_eq!(rhae_work::units(&again), units);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn units(config: &RunConfig) -> Vec<Unit> {
    let settings = settings_digest(config);
    let unit = |repeat: u32, id: &String| Unit {
        key: key(&settings, config, repeat, id),
        repeat,
        game_id: id.clone(),
    };
    (1..=config.repeat)
        .flat_map(|repeat| config.games.iter().map(move |id| unit(repeat, id)))
        .collect()
}

fn key(settings: &Digest, config: &RunConfig, repeat: u32, id: &str) -> UnitKey {
    // The settings contain the agent.
    let seed = config.agent_seed(repeat);
    let text = format!("{}\n{id}\n{seed}\n{repeat}\n", settings.as_str());
    UnitKey(text_digest(&text).0)
}

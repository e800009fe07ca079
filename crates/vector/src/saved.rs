//! The binary form of all plays of a vector, for checkpoints and other processes.
//!
//! ```text
//! saved = format:u8 environments plays
//! ```
//!
//! All parts are encoded with postcard. A play contains the snapshot of its environment, which has a
//! version and a checksum of its own. Without the environment that it names, a play cannot be loaded.

use serde::{Deserialize, Serialize};

use crate::{Ending, VectorError};

/// The version of this format.
const FORMAT: u8 = 1;

/// The plays of a vector with the ids of their environments.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedPlays {
    format: u8,
    /// The environment of each block, in order.
    pub(crate) environments: Vec<String>,
    pub(crate) plays: Vec<SavedPlay>,
}

/// The state of one play.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedPlay {
    /// The seed of the current episode.
    pub(crate) seed: u64,
    /// The snapshot of the environment. `None` if a hosted game has failed.
    pub(crate) environment: Option<Vec<u8>>,
    /// Whether an action was taken since the last level change or RESET.
    pub(crate) acted: bool,
    pub(crate) actions: u32,
    pub(crate) ending: Ending,
    /// The reward of the last action.
    pub(crate) reward: u8,
    /// Whether the last action changed the state.
    pub(crate) changed: bool,
}

impl SavedPlays {
    pub(crate) const fn new(environments: Vec<String>, plays: Vec<SavedPlay>) -> Self {
        Self {
            format: FORMAT,
            environments,
            plays,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("writing to memory does not fail")
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, VectorError> {
        let invalid = |reason: String| VectorError::Saved(reason);
        // The first byte is the format in every version.
        match bytes.first() {
            Some(&FORMAT) => {}
            Some(found) => {
                return Err(invalid(format!(
                    "their format is {found}, expected {FORMAT}"
                )));
            }
            None => return Err(invalid("they are empty".to_owned())),
        }
        postcard::from_bytes(bytes)
            .map_err(|error| invalid(format!("they cannot be decoded: {error}")))
    }
}

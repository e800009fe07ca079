//! Many plays of one or several environments, stepped in parallel for training and search.
//!
//! [`Vector`] owns the plays and a pool of threads. Each call steps all plays and writes their
//! settled frames into a buffer that the caller owns, one play after the other, in one of the forms
//! of [`Encoding`]. By default a frame has [`CELLS`] bytes. [`Vector::reports`] returns the reward of
//! each play, whether its episode has ended, and the actions that are available.
//!
//! [`Vector::new`] plays a built-in environment. [`Vector::of_games`] plays several environments of
//! a [`Catalog`], which may contain hosted games.
//!
//! Animation frames are not drawn. RESET restarts the level and never the whole game, as in
//! competitions, so that an agent cannot earn the same reward twice in an episode.
//!
//! **Invariant:** the frames and reports of a play depend only on its seed, its actions and the
//! [`EpisodeRules`], not on the number of threads or the other plays.
//!
//! ```
//! use std::num::NonZero;
//!
//! use rhae_engine::{Action, CELLS};
//! use rhae_vector::{Ending, EpisodeRules, Vector};
//!
//! let (plays, threads) = (NonZero::new(4).unwrap(), NonZero::new(2).unwrap());
//! let rules = EpisodeRules {
//!     max_actions: Some(100),
//!     ..EpisodeRules::default()
//! };
//! let mut vector = Vector::new("kq19", plays, threads, rules)?;
//! let mut frames = vec![0; 4 * CELLS];
//! vector.reset(None, &mut frames)?;
//! vector.step(&[Action::Action1; 4], &mut frames)?;
//!
//! let report = vector.reports()[0];
//! assert_eq!((report.reward, report.ending, report.actions), (0, Ending::None, 1));
//! assert_eq!(frames[..CELLS], frames[CELLS..2 * CELLS], "identical plays, identical frames");
//! # Ok::<(), rhae_vector::VectorError>(())
//! ```

mod batch;
mod encoding;
mod environments;
mod error;
mod saved;
mod slot;
mod vector;
mod workers;

use rhae_engine::LevelIndex;
#[cfg(doc)]
use rhae_engine::{CELLS, Catalog};

pub use crate::encoding::Encoding;
pub use crate::error::VectorError;
pub use crate::slot::{Ending, Report};
pub use crate::vector::{Block, Snapshot, Vector};

/// The rules for the start and the end of an episode. By default an episode plays all levels, ends
/// with a win or a loss, and has no limit on actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EpisodeRules {
    /// Plays only this level instead of all levels from the first.
    pub level: Option<LevelIndex>,
    /// Truncates an episode after this many actions.
    pub max_actions: Option<u32>,
    /// Continues an episode after a loss instead of ending it, so that RESET can restart the level.
    pub continue_after_loss: bool,
}

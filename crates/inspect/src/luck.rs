//! How likely random play makes progress in an environment.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhae_engine::{Catalog, LevelIndex};

use crate::{ExploreOptions, Explorer, InspectError, LevelOutputs};

/// Returns a proved upper bound of the probability that uniform random play completes the first level
/// of an environment within [`ExploreOptions::within`] actions. A level that is too large for the
/// limits gives a bound of up to 1.
///
/// # Errors
///
/// Fails if the environment is unknown or fails, or if the exploration is interrupted.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use rhae_games::Builtin;
/// use rhae_inspect::{ExploreOptions, first_level_luck};
///
/// let luck = first_level_luck(&Builtin, "bx20", ExploreOptions::default(), Arc::default())?;
/// assert!((0.0..=1.0).contains(&luck));
/// # Ok::<(), rhae_inspect::InspectError>(())
/// ```
pub fn first_level_luck(
    catalog: &dyn Catalog,
    id: &str,
    options: ExploreOptions,
    interrupt: Arc<AtomicBool>,
) -> Result<f64, InspectError> {
    let explorer = Explorer::open(catalog, id, options, interrupt)?;
    let level = explorer.explore(LevelIndex(0), &LevelOutputs::default(), &mut |_| ())?;
    Ok(level.report.p_win_within.upper.clamp(0.0, 1.0))
}

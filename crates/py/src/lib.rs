//! The extension module `rhae._native` of the Python package `rhae`.
//!
//! The module has two parts:
//!
//! - **Kernels** for `rhae.arcengine`, the drop-in replacement of the official engine: drawing
//!   (`draw`), collisions (`collide`), queries (`find`), clicks (`clicks`), copies
//!   (`copy`, `construct`). They work on the Python objects of a game. `state_key` and `memento`
//!   serve searches in a game's process.
//! - **Bindings** to the libraries: one play (`play`, `game_set`), many plays (`vector`), scorecards, replays
//!   and pictures (`results`), exploration and validation (`analysis`), runs of agents (`run`,
//!   `run_tables`), perception
//!   (`percept`).
//!
//! # Invariants
//!
//! - A kernel returns exactly what the Python code at its call site would return, or it declines:
//!   it returns `NotImplemented` before it has any effect, and the Python code runs instead.
//!   Kernels therefore handle the common case only. Unusual objects behave, and fail, as the
//!   Python code defines.
//! - Users never call this module directly. The package wraps and documents every function.

mod class_cache;
mod classes;
mod clicks;
mod clock;
mod collide;
mod construct;
mod copy;
mod draw;
mod find;
mod memento;
mod pixels;
mod raw;
mod rendered;
mod state_key;

mod action;
mod aligned;
mod analysis;
mod argument_names;
mod background;
mod errors;
mod game_set;
mod hosting;
mod percept;
mod play;
mod results;
mod run;
mod run_tables;
mod vector;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::action::check_actions;
    #[pymodule_export]
    use crate::analysis::{ExploreProgress, ValidateProgress, explore, validate};
    #[pymodule_export]
    use crate::classes::{register_camera_class, register_sprite_class};
    #[pymodule_export]
    use crate::clicks::{click_inputs, click_points};
    #[pymodule_export]
    use crate::clock::{Clock, ClockReading};
    #[pymodule_export]
    use crate::collide::{collides, collisions};
    #[pymodule_export]
    use crate::construct::{clone_sprites, frame_data, new_model};
    #[pymodule_export]
    use crate::copy::{Copier, cached_classes};
    #[pymodule_export]
    use crate::draw::{
        draw_on_view, draw_pairs, draw_sprite, enlarge_view, remap_colors, render_frame,
        render_sprite, render_view, rendered_size,
    };
    #[pymodule_export]
    use crate::find::{
        sprite_at, sprites_with_all_tags, sprites_with_any_tag, sprites_with_name, sprites_with_tag,
    };
    #[pymodule_export]
    use crate::game_set::GameSet;
    #[pymodule_export]
    use crate::hosting::launch;
    #[pymodule_export]
    use crate::memento::{Memento, Recorder};
    #[pymodule_export]
    use crate::percept::{
        Composites, PyAnimationEvent, PyChange, PyClickCandidate, PyGrid, PyIndicator, PyIsland,
        PyObject, StatusBars, animation, changes, clicks, grid, islands, objects,
    };
    #[pymodule_export]
    use crate::play::{GameFacts, Play, StepResult};
    #[pymodule_export]
    use crate::results::{
        Replay, games, level_score, methods, palette, png, replay_recording, scorecard,
    };
    #[pymodule_export]
    use crate::run::{RunProgress, run};
    #[pymodule_export]
    use crate::run_tables::{Comparison, ComparisonPage, compare, load_runs};
    #[pymodule_export]
    use crate::state_key::{representative_clicks, state_key};
    #[pymodule_export]
    use crate::vector::{Snapshot, Vector, observation, observation_shape};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Converts the result of a kernel for Python. `None` means that the kernel declines and becomes
/// `NotImplemented`.
fn or_not_implemented<'py, T: IntoPyObjectExt<'py>>(
    py: Python<'py>,
    result: Option<T>,
) -> PyResult<Bound<'py, PyAny>> {
    match result {
        Some(value) => value.into_bound_py_any(py),
        None => Ok(py.NotImplemented().into_bound(py)),
    }
}

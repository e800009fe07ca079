//! Exploration and validation of built-in environments through the catalogue.

mod exploration;
mod validation;

use std::sync::Arc;

use rhae_games::Builtin;
use rhae_pyhost::{Games, GamesOptions, Limits};

/// Returns the catalogue of the built-in environments.
fn games() -> Games {
    let options = GamesOptions {
        folders: Vec::new(),
        launcher: vec!["unused".into()],
        python: None,
        unsafe_host: false,
        limits: Limits::default(),
    };
    Games::load(Arc::new(Builtin), options).expect("there is no folder to read")
}

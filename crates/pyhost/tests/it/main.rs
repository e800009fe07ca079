//! Hosted games in real processes in the real sandbox.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod containment;
mod example;
mod hostile;
mod launcher;
mod playing;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rhae_engine::{Catalog, Environment};
use rhae_games::Builtin;
use rhae_pyhost::{Games, GamesOptions, Limits};

/// Returns the root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
}

/// Returns the Python with the official packages, or `None` if it is missing and the environment
/// allows that.
fn python() -> Option<PathBuf> {
    let python = root().join("target/python/arc-agi-0.9.9/bin/python");
    if python.is_file() {
        return Some(python);
    }
    rhae_testkit::skip("the Python package arc-agi is not installed");
    None
}

/// Loads the games of a folder with the real launcher.
fn games(folder: &Path, limits: Limits) -> Option<Games> {
    let options = GamesOptions {
        folders: vec![folder.to_owned()],
        launcher: vec![env!("CARGO_BIN_EXE_rhae-sandboxed").into()],
        python: Some(python()?),
        unsafe_host: false,
        limits,
    };
    Some(Games::load(Arc::new(Builtin), options).unwrap())
}

/// Loads a folder of the repository's fixtures, with a generous time limit for busy machines.
fn fixtures(folder: &str) -> Option<Games> {
    games(
        &root().join("fixtures").join(folder),
        Limits {
            action: Duration::from_secs(60),
            ..Limits::default()
        },
    )
}

fn open(games: &Games, name: &str) -> Box<dyn Environment> {
    games
        .open(name, 0)
        .unwrap_or_else(|error| panic!("{error}"))
}

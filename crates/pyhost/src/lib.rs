//! Games from outside: Python files written for the official engine, and programs in any language, each in a sandboxed process
//! behind the [`Environment`](rhae_engine::Environment) interface.
//!
//! * [`Games`] is the catalogue of everything that can be played: the built-in environments and the folders of a user.
//! * [`launch`] is the program that enters the sandbox and becomes the game's interpreter.
//! * docs/hosting.md describes the folders, the protocol and the sandbox.
//!
//! **Invariant:** foreign code runs only in processes of its own, which are started through the launcher. A game can end its own
//! play, with a reason, and nothing else. **Boundary:** knows no terminal, no HTTP and no scores.

mod catalog;
mod fetched;
mod folder;
mod game;
mod host;
mod metadata;
mod play;
mod pool;
mod python;
mod sandbox;
mod snapshot;
mod wire;

pub use catalog::{Games, GamesOptions};
pub use fetched::{Fetched, Written};
pub use folder::GameFolder;
pub use host::Limits;
pub use metadata::{Metadata, is_class_name};
pub use sandbox::{Layers, launch};
pub use wire::{MOST_FRAMES, PROTOCOL};

use std::path::PathBuf;

use rhae_engine::GameId;

/// Why games from outside cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A file or folder cannot be read or written.
    #[error("cannot {what} `{}`: {error}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A field of a game's metadata has a value that cannot be.
    #[error("`{}`: {problem}", file.display())]
    Metadata {
        /// The file.
        file: PathBuf,
        /// The field, and what is wrong with it.
        problem: String,
    },
    /// A folder without the file that its metadata speaks of.
    #[error("`{}` has no `{expected}`, which its metadata.json leads to", folder.display())]
    NoSource {
        /// The folder.
        folder: PathBuf,
        /// The file's name.
        expected: String,
    },
    /// There are two games with one id.
    #[error("there are two environments with the id `{id}`: {one} and {other}")]
    Twice {
        /// The id.
        id: GameId,
        /// Where the first comes from.
        one: String,
        /// Where the second comes from.
        other: String,
    },
    /// A folder that goes on and on.
    #[error("`{}` holds {problem}; name a smaller folder", folder.display())]
    TooLarge {
        /// The folder.
        folder: PathBuf,
        /// What there is too much of.
        problem: &'static str,
    },
    /// No interpreter that could host games.
    #[error("{0}")]
    NoPython(String),
    /// The sandbox lacks what it may not lack.
    #[error(
        "games from outside are not run: this system lacks {0}. `--unsafe-host` runs them all the same, with your files and network \
         open to them"
    )]
    Unsafe(String),
    /// The launcher gave no answer.
    #[error("the sandbox cannot be tried: {0}")]
    Launcher(String),
}

//! Hosted games: Python games written for the official engine, and programs in any language, each
//! in a sandboxed process behind the [`Environment`](rhae_engine::Environment) interface.
//!
//! | item | role |
//! | --- | --- |
//! | [`Games`] | the catalogue of the built-in environments and the games in a user's folders |
//! | [`GameFolder`], [`Metadata`] | a game on disk; [`FoundGames`] are those below a folder |
//! | [`Limits`] | the time and memory that a game may use |
//! | [`FetchRecord`] | the files that were downloaded from a server, with their checksums |
//!
//! A play sends each action to the game's process over a pipe and waits for the observation. Plays
//! of one game share a few processes. `docs/hosting.md` describes the folders, the protocol and the
//! sandbox.
//!
//! # Invariants
//!
//! - Foreign code runs only in separate processes, which are started through the launcher of `rhae-sandbox`.
//! - A request to a process returns in bounded time, whatever the process does.
//! - All processes of a game execute the source whose digest identifies the game, even if the file
//!   changes afterwards.
//! - Of a game's folder, only regular files are read, and no link is followed. A game that cannot be
//!   loaded is skipped with a reason and does not affect the others.
//! - A faulty game fails its own play, with a reason. If its process has to be killed, the other
//!   plays in that process are rebuilt from their actions in a new process.
//!
//! # Protection
//!
//! With the required layers ([`Layers::missing`](rhae_sandbox::Layers::missing) is empty), a game cannot read or change the user's
//! files, use the network, start or signal processes, exceed its memory limit, or block its caller
//! indefinitely. The sandbox does **not** protect against flaws in the kernel or against timing
//! side channels. It does not isolate plays of one game from each other, because they share
//! processes. A game can read the files that it needs to run: its own folder, the Python
//! interpreter with its modules, and the folders of its shared libraries. Without a private root it
//! can also find out whether a path exists and read the size and times of that file. It can read the
//! system time and general facts about the system such as the kernel version. On systems other than
//! Linux there is no sandbox at all; games then run only with
//! [`GamesOptions::unsafe_host`].
//!
//! This crate knows nothing about terminals, HTTP or scores.
//!
//! # Examples
//!
//! Load a folder with one game. No process is started before a play is opened:
//!
//! ```
//! use std::sync::Arc;
//!
//! use rhae_engine::Catalog;
//! use rhae_games::Builtin;
//! use rhae_pyhost::{Games, GamesOptions, Limits};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(
//!     folder.path().join("metadata.json"),
//!     r#"{"game_id": "zz99-v1", "title": "Example", "baseline_actions": [4]}"#,
//! )?;
//! std::fs::write(folder.path().join("zz99.py"), "class Zz99: ...")?;
//!
//! let options = GamesOptions {
//!     folders: vec![folder.path().to_owned()],
//!     launcher: vec!["rhae-sandboxed".into()],
//!     python: None,
//!     unsafe_host: false,
//!     limits: Limits::default(),
//! };
//! let games = Games::load(Arc::new(Builtin), options)?;
//! let info = games.find("zz99")?;
//! assert_eq!((info.id.as_str(), info.title.as_str()), ("zz99-v1", "Example"));
//! assert_eq!(info.class_name.as_deref(), Some("Zz99"));
//! // `games.open("zz99", 0)` starts the game in the sandbox and opens a play.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod catalog;
mod expansion;
mod expansion_wire;
mod fetch_record;
mod folder;
mod game;
mod host;
mod metadata;
mod play;
mod pool;
mod python;
mod regular_file;
mod snapshot;
mod source;
mod wire;

pub use catalog::{Games, GamesOptions};
pub use fetch_record::{FetchRecord, WriteOutcome};
pub use folder::{FoundGames, GameFolder};
pub use host::Limits;
pub use metadata::{Metadata, is_class_name};
pub use python::Python;
pub use wire::{MAX_FRAMES, PROTOCOL};

use std::path::PathBuf;

/// The reason why hosted games cannot be loaded or run.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A file or folder cannot be read or written.
    #[error("cannot {operation} `{}`: {error}", path.display())]
    File {
        /// The verb of the failed operation, such as `read`.
        operation: &'static str,
        path: PathBuf,
        error: std::io::Error,
    },
    /// A file of a game is malformed.
    #[error("`{}`: {problem}", file.display())]
    Metadata {
        file: PathBuf,
        /// The faulty field and the reason why it is invalid.
        problem: String,
    },
    /// A file that the metadata refers to does not exist.
    #[error("`{}` has no `{expected}`, which its metadata.json requires", folder.display())]
    NoSource {
        folder: PathBuf,
        /// The name of the missing file.
        expected: String,
    },
    /// A file of a game is a symbolic link, a folder, a pipe or a device.
    #[error("`{}` is not a regular file; links in a game's folder are not followed", path.display())]
    NotRegular { path: PathBuf },
    /// The files of a program are not those that were loaded.
    #[error(
        "the files in `{}` have changed since they were loaded; restart this program to load the new version",
        folder.display()
    )]
    Changed { folder: PathBuf },
    /// A folder or file exceeds a limit.
    #[error("`{}` contains {problem}; choose a smaller folder", folder.display())]
    TooLarge {
        folder: PathBuf,
        /// What exceeds the limit.
        problem: &'static str,
    },
    /// No suitable Python interpreter was found.
    #[error("{0}")]
    NoPython(String),
    /// The system lacks required layers of the sandbox.
    #[error(
        "hosted games cannot run: this system lacks {0}. `--unsafe-host` runs them without that protection, with access to your \
         files and network"
    )]
    SandboxIncomplete(String),
    /// The launcher did not report the layers of the sandbox.
    #[error("the sandbox cannot be tested: {0}")]
    Launcher(String),
}

//! The errors of the crate.

use rhae_engine::{CatalogError, UnknownGame};

/// The reason why plays could not be created, stepped or restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    #[error(transparent)]
    Unknown(#[from] UnknownGame),
    /// The environment cannot be started, or the system cannot run hosted games.
    #[error("{0}")]
    Unavailable(String),
    /// No environment was named.
    #[error("expected at least one environment, found none")]
    NoGames,
    /// There are more environments than plays.
    #[error("{plays} plays cannot be divided among {games} environments")]
    TooFewPlays { games: usize, plays: usize },
    /// The requested level does not exist.
    #[error("`{id}` has {levels} levels, so there is no level {level}")]
    Level {
        id: String,
        /// The number of levels of the environment.
        levels: usize,
        /// The requested level, starting at 1.
        level: usize,
    },
    /// A play of a hosted game can only start at its first level.
    #[error("`{id}` is a hosted game, whose plays start at level 1, found level {level}")]
    HostedLevel {
        id: String,
        /// The requested level, starting at 1.
        level: usize,
    },
    /// A list does not have one entry for each play.
    #[error("expected {expected} {what}, one for each play, found {found}")]
    Length {
        /// The name of the entries, in the plural.
        what: &'static str,
        /// The number of plays.
        expected: usize,
        found: usize,
    },
    /// The buffer of observations has the wrong length.
    #[error("expected {expected} bytes for the observations of all plays, found {found}")]
    Bytes { expected: usize, found: usize },
    /// The snapshot belongs to other environments.
    #[error("the snapshot is of `{theirs}`, the plays are of `{ours}`")]
    Foreign {
        /// The environments of the snapshot.
        theirs: String,
        /// The environments of this vector.
        ours: String,
    },
    /// The snapshot has no play with this index.
    #[error("the snapshot has {plays} plays, so there is no play {index}")]
    NoSuchPlay {
        /// The number of plays in the snapshot.
        plays: usize,
        /// The requested play.
        index: usize,
    },
    /// A play cannot take the state of a play of another environment.
    #[error("play {play} is of `{id}`, so it cannot take the state of play {index}")]
    OtherGame {
        play: usize,
        /// The environment of the play.
        id: String,
        /// The requested play of the snapshot.
        index: usize,
    },
    /// A play of a hosted game failed. The other plays have executed their actions.
    #[error("play {play} failed: {reason}")]
    Failed { play: usize, reason: String },
    /// Saved plays are damaged, or were saved by another version of the software.
    #[error("cannot load the saved plays: {0}")]
    Saved(String),
    /// The operating system refused to start the threads.
    #[error("cannot start {threads} threads: {reason}")]
    Threads { threads: usize, reason: String },
}

impl From<CatalogError> for VectorError {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::Unknown(error) => Self::Unknown(error),
            CatalogError::Environment(_) | CatalogError::Unavailable(_) => {
                Self::Unavailable(error.to_string())
            }
        }
    }
}

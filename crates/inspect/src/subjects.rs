//! Environments of the catalogue as subjects of an analysis.

use rhae_engine::{Catalog, CatalogError, EnvironmentError, Game, GameInfo};
use rhae_explore::Identity;
use rhae_games::Visitor;
use rhae_validate::{EnvironmentSubject, GraphLimits, NativeSubject, StoredRecording, Subject};

use crate::InspectError;
use crate::stored_recordings::StoredRecordings;

/// Returns whether the environment is a hosted game, that is, one from a folder.
pub fn is_hosted(games: &dyn Catalog, info: &GameInfo) -> bool {
    games.hosted_games().iter().any(|game| game.id == info.id)
}

/// Finds environments by name, in the order of `names`.
///
/// # Errors
///
/// Fails if a name is unknown, or if two names mean the same environment.
pub fn find_each(catalog: &dyn Catalog, names: &[String]) -> Result<Vec<GameInfo>, InspectError> {
    let mut found: Vec<GameInfo> = Vec::new();
    for name in names {
        let info = catalog.find(name)?;
        if found.iter().any(|earlier| earlier.id == info.id) {
            return Err(InspectError::Duplicate(info.id.to_string()));
        }
        found.push(info);
    }
    Ok(found)
}

/// Returns a native game as a subject, with recordings that must replay.
///
/// # Errors
///
/// Returns [`InspectError::NotNative`] if the registry has no game with this full id.
pub fn native_subject(
    id: &str,
    seed: u64,
    stored: Vec<StoredRecording>,
) -> Result<Box<dyn Subject>, InspectError> {
    rhae_games::visit(id, OpenNative { seed, stored })
        .ok_or_else(|| InspectError::NotNative(id.to_owned()))
}

/// Opens a hosted game as a subject. `search` limits the search for wins that are not stored.
pub(crate) fn hosted_subject<'a>(
    games: &'a dyn Catalog,
    info: &GameInfo,
    seed: u64,
    search: GraphLimits,
    identity: Identity,
    stored: &StoredRecordings,
) -> Result<EnvironmentSubject<'a>, EnvironmentError> {
    let id = info.id.to_string();
    let open = move |seed: u64| {
        games.open(&id, seed).map_err(|error| match error {
            CatalogError::Environment(error) => error,
            other => EnvironmentError::Failed(other.to_string()),
        })
    };
    Ok(EnvironmentSubject::new(open, seed, search)?
        .with_solutions(stored.solutions(info, seed))
        .with_recordings(stored.replayed(games, info))
        .with_identity(identity))
}

struct OpenNative {
    seed: u64,
    stored: Vec<StoredRecording>,
}

impl Visitor for OpenNative {
    type Output = Box<dyn Subject>;

    fn visit<G: Game>(self) -> Box<dyn Subject> {
        Box::new(NativeSubject::<G>::new(self.seed, self.stored))
    }
}

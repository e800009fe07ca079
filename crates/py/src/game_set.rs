//! The environments of a `rhae.Arcade`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rhae_engine::{Catalog, CatalogError, GameInfo};
use rhae_protocol::{GameListing, ResetRule};
use rhae_pyhost::Games;
use rhae_session::Play as Session;

use crate::errors::invalid;
use crate::hosting::GamesRequest;
use crate::play::Play;

/// The built-in environments, or the hosted games of some folders.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct GameSet {
    games: Games,
    /// Whether the set consists of the hosted games.
    hosted: bool,
}

#[pymethods]
impl GameSet {
    /// Loads the games of the folders; the built-in environments if there are no folders.
    #[new]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "arguments from Python arrive by value"
    )]
    fn new(request: GamesRequest) -> PyResult<Self> {
        let games = request.load()?;
        games.ready().map_err(catalog_error)?;
        Ok(Self {
            games,
            hosted: !request.folders.is_empty(),
        })
    }

    /// Returns the list of environments as JSON, in the format of the REST API.
    fn list(&self) -> PyResult<String> {
        let listings: Vec<GameListing> = self.infos().iter().map(GameListing::from).collect();
        serde_json::to_string(&listings).map_err(invalid)
    }

    /// Starts a play in the state after its first RESET. With `levels_only`, RESET restarts the
    /// level and never the game.
    fn open(&self, py: Python<'_>, id: &str, seed: u64, levels_only: bool) -> PyResult<Play> {
        let opened = py.detach(|| self.games.open(id, seed));
        let rule = if levels_only {
            ResetRule::LevelsOnly
        } else {
            ResetRule::Official
        };
        Ok(Session::new(opened.map_err(catalog_error)?, rule).into())
    }
}

impl GameSet {
    /// Returns the environments of the set.
    pub(crate) fn infos(&self) -> Vec<GameInfo> {
        let hosted = self.games.hosted_games();
        let is_hosted = |info: &GameInfo| hosted.iter().any(|game| game.id == info.id);
        let mut infos = self.games.list();
        infos.retain(|info| is_hosted(info) == self.hosted);
        infos
    }
}

fn catalog_error(error: CatalogError) -> PyErr {
    match error {
        CatalogError::Unknown(_) => invalid(error),
        CatalogError::Environment(_) | CatalogError::Unavailable(_) => {
            PyRuntimeError::new_err(error.to_string())
        }
    }
}

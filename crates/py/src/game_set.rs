//! A set of environments: the built-in ones, or those of some folders.

use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rhae_engine::{Catalog, CatalogError, GameInfo};
use rhae_protocol::GameListing;
use rhae_pyhost::Games;

use crate::argument_names::with_argument_names;
use crate::errors::invalid;
use crate::hosting::GamesRequest;
use crate::play::{Play, open_at_level};

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
        games.ready().map_err(|error| catalog_error(&error))?;
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

    /// Starts a play in the state after its first RESET, or continues a saved one. With
    /// `levels_only`, RESET restarts the level and never the game. A play of a built-in environment
    /// can start at a later `level`, counted from 1.
    #[pyo3(signature = (id, seed, levels_only, level = 1, saved = None))]
    fn open(
        &self,
        py: Python<'_>,
        id: &str,
        seed: u64,
        levels_only: bool,
        level: u8,
        saved: Option<&[u8]>,
    ) -> PyResult<Play> {
        let info = self.games.find(id).map_err(|error| catalog_error(&error))?;
        let environment = if info.source_digest.is_none() {
            open_at_level(&info, seed, level)?
        } else if level == 1 {
            let opened = py.detach(|| self.games.open(info.id.as_str(), seed));
            opened.map_err(|error| catalog_error(&error))?
        } else {
            return Err(PyValueError::new_err(format!(
                "`{}` is a hosted game, whose plays start at level 1, found level {level}",
                info.id
            )));
        };
        Play::of(environment, seed, levels_only, saved)
    }
}

impl GameSet {
    /// Returns the built-in environments and those of the folders.
    pub(crate) fn catalog(&self) -> Arc<dyn Catalog> {
        Arc::new(self.games.clone())
    }

    /// Returns the environments of the set.
    pub(crate) fn infos(&self) -> Vec<GameInfo> {
        let hosted = self.games.hosted_games();
        let is_hosted = |info: &GameInfo| hosted.iter().any(|game| game.id == info.id);
        let mut infos = self.games.list();
        infos.retain(|info| is_hosted(info) == self.hosted);
        infos
    }
}

fn catalog_error(error: &CatalogError) -> PyErr {
    match error {
        CatalogError::Unknown(_) => invalid(with_argument_names(&error.to_string())),
        CatalogError::Environment(_) | CatalogError::Unavailable(_) => {
            PyRuntimeError::new_err(error.to_string())
        }
    }
}

//! The environments of a server as a catalogue that opens every play on one card.

use std::sync::{Arc, Mutex, PoisonError};

use rhae_engine::{Catalog, CatalogError, Environment, EnvironmentError, GameInfo, UnknownGame};

use crate::response::{find, nearest};
use crate::{Card, CardOptions, Server};

/// The environments of a server as a [`Catalog`].
///
/// All plays count on one card, which is opened with the first play. The caller closes it with
/// [`Card::close`].
pub struct RemoteCatalog {
    server: Arc<Server>,
    options: CardOptions,
    card: Mutex<Option<Arc<Card>>>,
}

impl RemoteCatalog {
    /// Creates the catalogue of a server. Its card will be opened with these options.
    pub fn new(server: Arc<Server>, options: CardOptions) -> Self {
        Self {
            server,
            options,
            card: Mutex::new(None),
        }
    }

    /// Returns the card, or `None` before the first play.
    pub fn card(&self) -> Option<Arc<Card>> {
        self.card
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the card and opens it if necessary. Concurrent first plays wait for the one that
    /// opens it.
    fn card_or_open(&self) -> Result<Arc<Card>, EnvironmentError> {
        let mut card = self.card.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(card) = &*card {
            return Ok(Arc::clone(card));
        }
        let opened = Card::open(&self.server, &self.options)
            .map_err(|error| EnvironmentError::Failed(error.to_string()))?;
        Ok(Arc::clone(card.insert(opened)))
    }
}

impl Catalog for RemoteCatalog {
    fn list(&self) -> Vec<GameInfo> {
        self.server.games().to_vec()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        let games = self.server.games();
        let unknown = || UnknownGame {
            name: name.to_owned(),
            nearest: nearest(games, name),
            hint: "",
        };
        Ok(find(games, name).cloned().ok_or_else(unknown)?)
    }

    /// Opens a play. The API has no seeds, so `seed` must be 0.
    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        if seed != 0 {
            return Err(EnvironmentError::Failed(format!(
                "a server supports only seed 0, not {seed}"
            ))
            .into());
        }
        let info = self.find(name)?;
        Ok(Box::new(self.card_or_open()?.play(&info)?))
    }
}

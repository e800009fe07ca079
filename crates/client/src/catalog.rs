//! The environments of a server as a catalogue: every play is opened on one card.

use std::sync::{Arc, Mutex, PoisonError};

use rhae_engine::{Environment, EnvironmentError, GameInfo};
use rhae_games::UnknownGame;
use rhae_session::{Catalog, CatalogError};

use crate::answer::{find, nearest};
use crate::{Card, CardOrder, Server};

/// A server's environments, played on one card, which is opened with the first play.
pub struct RemoteCatalog {
    server: Arc<Server>,
    order: CardOrder,
    card: Mutex<Option<Arc<Card>>>,
}

impl RemoteCatalog {
    /// The environments of a server, with what their card is to be opened with.
    pub fn new(server: Arc<Server>, order: CardOrder) -> Self {
        Self {
            server,
            order,
            card: Mutex::new(None),
        }
    }

    /// The card, if a play was opened.
    pub fn card(&self) -> Option<Arc<Card>> {
        self.card
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The card, which is opened if it is not yet. Plays that come first together wait for the one that opens it.
    fn opened(&self) -> Result<Arc<Card>, EnvironmentError> {
        let mut card = self.card.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(card) = &*card {
            return Ok(Arc::clone(card));
        }
        let opened = Card::open(&self.server, &self.order)
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

    /// Servers play the canonical game, so the seed must be 0.
    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        if seed != 0 {
            return Err(EnvironmentError::Failed(format!(
                "a server plays under seed 0 only, not {seed}"
            ))
            .into());
        }
        let info = self.find(name)?;
        Ok(Box::new(self.opened()?.play(&info)?))
    }
}

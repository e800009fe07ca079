//! The names of the owners of cards, which only an administrator sees.

use std::collections::HashMap;

use rhae_protocol::CardOwner;
use rhae_store::{Card, Key, Owner};

use super::{Access, Caller};
use crate::ApiError;

impl Access {
    /// Returns the holders of the keys that opened some cards. For a caller that is not an
    /// administrator there are none.
    pub(crate) async fn owners(
        &self,
        caller: &Caller,
        cards: &[Card],
    ) -> Result<HashMap<Owner, CardOwner>, ApiError> {
        let Some(keys) = self.keys.as_ref().filter(|_| caller.admin) else {
            return Ok(HashMap::new());
        };
        let mut owners: Vec<Owner> = cards.iter().map(|card| card.owner).collect();
        owners.sort_by_key(|owner| owner.0);
        owners.dedup();
        let found = keys.store().owner_keys(owners).await?;
        let holder = |key: Key| CardOwner {
            key_id: key.id.to_string(),
            name: key.name,
        };
        let named = found.into_iter().map(|key| (Owner(key.hash), holder(key)));
        Ok(named.collect())
    }

    /// Returns the holder of the key that opened a card, for an administrator.
    pub(crate) async fn owner(
        &self,
        caller: &Caller,
        card: &Card,
    ) -> Result<Option<CardOwner>, ApiError> {
        let mut owners = self.owners(caller, std::slice::from_ref(card)).await?;
        Ok(owners.remove(&card.owner))
    }
}

//! Links by which owners publish their cards and plays.
//!
//! **Invariants:** a link shows only what its owner may read, and only environments that are public.
//! It changes nothing. A revoked link is refused at once, and stays in the owner's list.

use std::sync::Arc;

use rhae_engine::GameId;
use rhae_protocol::{ShareListing, rfc3339_utc};
use rhae_store::{Card, Owner, PlayFacts, Share, ShareId, ShareStore, ShareTarget, StoreError};

use crate::access::Caller;
use crate::cards::Cards;
use crate::games::Games;
use crate::plays::Plays;
use crate::share_token::ShareToken;
use crate::{ApiError, Clock};

/// The number of links on a page of a list.
const PAGE_SIZE: u32 = 100;

/// The links of a server.
pub(crate) struct Shares {
    /// `None` if the server publishes nothing.
    store: Option<Arc<dyn ShareStore>>,
    clock: Arc<dyn Clock>,
    games: Arc<Games>,
    cards: Arc<Cards>,
    plays: Arc<Plays>,
    /// The number of working links that an owner may have.
    max: u32,
}

/// What a client wants to publish, as it named it.
pub(crate) enum ShareRequest {
    Card(String),
    Play(String),
}

/// What a link shows.
pub(crate) struct Shared {
    /// Stands for the visitors of the link in limits, so that they do not use up those of the owner.
    pub(crate) holder: Owner,
    pub(crate) content: SharedContent,
}

/// A page of a list of links.
pub(crate) struct SharePage {
    pub(crate) shares: Vec<ShareListing>,
    /// The id of the last link, if there may be more.
    pub(crate) next: Option<String>,
}

pub(crate) enum SharedContent {
    Card(Box<Card>),
    Play(Box<PlayFacts>),
}

impl Shares {
    pub(crate) fn new(
        store: Option<Arc<dyn ShareStore>>,
        clock: Arc<dyn Clock>,
        games: Arc<Games>,
        cards: Arc<Cards>,
        plays: Arc<Plays>,
    ) -> Self {
        Self {
            max: plays.limits().links_per_key,
            store,
            clock,
            games,
            cards,
            plays,
        }
    }

    /// Whether cards and plays can be published.
    pub(crate) const fn is_available(&self) -> bool {
        self.store.is_some()
    }

    /// The cards and the plays, for showing what a link publishes.
    pub(crate) fn content(&self) -> (&Cards, &Arc<Plays>) {
        (&self.cards, &self.plays)
    }

    /// Publishes a card or a play of the caller. The listing contains the path of the link.
    pub(crate) async fn create(
        &self,
        caller: &Caller,
        request: &ShareRequest,
    ) -> Result<ShareListing, ApiError> {
        let (target, games) = match request {
            ShareRequest::Card(id) => {
                let card = self.cards.readable(caller, id).await?;
                if card.owner != caller.owner {
                    return Err(ApiError::NoSuchCard(id.clone()));
                }
                let games = self.cards.game_ids(&card).await?;
                (ShareTarget::Card(card.id), games)
            }
            ShareRequest::Play(guid) => {
                let facts = self.plays.readable(caller, guid).await?;
                if facts.play.owner != caller.owner {
                    return Err(ApiError::NoSuchGuid(guid.clone()));
                }
                (ShareTarget::Play(facts.play.id), vec![facts.play.game_id])
            }
        };
        if !self.are_public(&games) {
            return Err(ApiError::NotPublic);
        }
        let token = ShareToken::generate().map_err(|error| ApiError::Failed(error.to_string()))?;
        let share = Share {
            id: token.id,
            hash: token.hash(),
            owner: caller.owner,
            target,
            created_ms: self.clock.now_ms(),
            revoked_ms: None,
        };
        let created = self.store()?.create_share(share.clone(), self.max).await;
        created.map_err(|error| match error {
            StoreError::TooManyShares(max) => ApiError::TooManyShares(max),
            error => error.into(),
        })?;
        tracing::info!(share = %share.id, target = ?share.target, "published");
        Ok(ShareListing {
            path: Some(token.path()),
            ..listing(&share)
        })
    }

    /// Returns a page of the links of the caller; for an administrator, of all links. `after` is the
    /// id of the last link of the page before.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        after: Option<&str>,
    ) -> Result<SharePage, ApiError> {
        let owner = (!caller.is_admin()).then_some(caller.owner);
        let store = self.store()?;
        let after = match after {
            None => None,
            Some(text) => {
                let missing = || ApiError::NoSuchShare(text.to_owned());
                let id: ShareId = text.parse().map_err(|_| missing())?;
                let share = store.share(id).await?;
                let share = share.filter(|share| owner.is_none_or(|owner| share.owner == owner));
                Some((share.ok_or_else(missing)?.created_ms, id))
            }
        };
        let shares = store.shares(owner, after, PAGE_SIZE).await?;
        let is_full = shares.len() == PAGE_SIZE as usize;
        let last = shares.last().filter(|_| is_full);
        Ok(SharePage {
            next: last.map(|share| share.id.to_string()),
            shares: shares.iter().map(listing).collect(),
        })
    }

    /// Revokes a link of the caller. An administrator may revoke any link.
    pub(crate) async fn revoke(&self, caller: &Caller, id: &str) -> Result<ShareListing, ApiError> {
        let missing = || ApiError::NoSuchShare(id.to_owned());
        let id: ShareId = id.parse().map_err(|_| missing())?;
        let store = self.store()?;
        let owner = (!caller.is_admin()).then_some(caller.owner);
        let revoked = store.revoke_share(id, owner, self.clock.now_ms()).await?;
        if revoked {
            tracing::info!(share = %id, "revoked a link");
        }
        // Revoking a revoked link again has the same result.
        let share = store.share(id).await?;
        let share = share.filter(|share| owner.is_none_or(|owner| share.owner == owner));
        Ok(listing(&share.ok_or_else(missing)?))
    }

    /// Returns what a link publishes. Every reason to refuse it has the same error.
    pub(crate) async fn open(&self, token: &str) -> Result<Shared, ApiError> {
        let token = ShareToken::parse(token).ok_or(ApiError::NoSuchPath)?;
        let share = self.store()?.share(token.id).await?;
        let share = share
            .filter(|share| token.opens(share))
            .ok_or(ApiError::NoSuchPath)?;
        let caller = Caller::of_link(share.owner);
        let unreadable = |error: ApiError| match error {
            ApiError::Unavailable(_) | ApiError::Failed(_) => error,
            _ => ApiError::NoSuchPath,
        };
        let (content, games) = match share.target {
            ShareTarget::Card(id) => {
                let card = self.cards.readable(&caller, &id.to_string()).await;
                let card = card.map_err(unreadable)?;
                let games = self.cards.game_ids(&card).await?;
                (SharedContent::Card(Box::new(card)), games)
            }
            ShareTarget::Play(id) => {
                let facts = self.plays.readable(&caller, &id.to_string()).await;
                let facts = facts.map_err(unreadable)?;
                let games = vec![facts.play.game_id.clone()];
                (SharedContent::Play(Box::new(facts)), games)
            }
        };
        // The sets may have changed since the link was created.
        if self.are_public(&games) {
            Ok(Shared {
                holder: Owner(share.hash),
                content,
            })
        } else {
            Err(ApiError::NoSuchPath)
        }
    }

    fn are_public(&self, games: &[GameId]) -> bool {
        let anyone = Caller::anonymous();
        games.iter().all(|game| self.games.can_see(&anyone, game))
    }

    fn store(&self) -> Result<&dyn ShareStore, ApiError> {
        self.store.as_deref().ok_or(ApiError::NoSuchPath)
    }
}

fn listing(share: &Share) -> ShareListing {
    let (card_id, guid) = match share.target {
        ShareTarget::Card(id) => (Some(id.to_string()), None),
        ShareTarget::Play(id) => (None, Some(id.to_string())),
    };
    ShareListing {
        id: share.id.to_string(),
        card_id,
        guid,
        created_at: rfc3339_utc(share.created_ms),
        revoked_at: share.revoked_ms.map(rfc3339_utc),
        path: None,
    }
}

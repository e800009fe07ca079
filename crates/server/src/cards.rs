//! The scorecards of the server.
//!
//! The totals of a card are sums over the counts of its plays, which the store updates with every
//! appended log entry.

use std::sync::Arc;

use rhae_engine::GameId;
use rhae_protocol::Scorecard;
use rhae_scoring::Method;
use rhae_session::{CardMetadata, EnvironmentRuns, scorecard};
use rhae_store::{
    Card, CardId, CardKey, IdempotencyKey, NewCard, Owner, StaleCutoffs, Store, StoreError,
    card_bytes,
};
use serde_json::Value;
use uuid::Uuid;

use crate::access::Caller;
use crate::games::Games;
use crate::idempotency::Idempotency;
use crate::quotas::Quotas;
use crate::{ApiError, Clock, Config, Limits};

/// The scorecards of a server.
pub(crate) struct Cards {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    games: Arc<Games>,
    idempotency: Arc<Idempotency>,
    quotas: Arc<Quotas>,
    config: Config,
}

/// The properties that a client gives to a new card.
pub(crate) struct CardRequest {
    pub(crate) tags: Vec<String>,
    pub(crate) source_url: Option<String>,
    pub(crate) opaque: Option<Value>,
    pub(crate) competition: bool,
}

impl Cards {
    pub(crate) fn new(
        games: Arc<Games>,
        idempotency: Arc<Idempotency>,
        quotas: Arc<Quotas>,
        (store, clock): (Arc<dyn Store>, Arc<dyn Clock>),
        config: Config,
    ) -> Self {
        Self {
            store,
            clock,
            games,
            idempotency,
            quotas,
            config,
        }
    }

    /// The limits on request bodies.
    pub(crate) const fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// Opens a card. A repeated request gets the card that the first one opened.
    pub(crate) async fn open(
        &self,
        caller: &Caller,
        request: CardRequest,
        key: Option<IdempotencyKey>,
    ) -> Result<CardId, ApiError> {
        let CardRequest {
            mut tags,
            source_url,
            opaque,
            competition,
        } = request;
        if !tags.iter().any(|tag| tag == "human" || tag == "agent") {
            tags.push("agent".to_owned());
        }
        let competition = competition || self.config.competition;
        let id = CardId(Uuid::new_v4());
        let card = NewCard {
            id,
            owner: caller.owner,
            tags,
            source_url,
            opaque,
            competition,
            games: if competition {
                let visible = self.games.visible(caller);
                visible.map(|info| info.id.clone()).collect()
            } else {
                Vec::new()
            },
            only_one: self.config.competition,
            max_open: self.config.limits.max_open_cards(caller),
            lasting: caller.in_browser,
            opened_ms: self.clock.now_ms(),
        };
        match self.store_card(caller, card, key.clone()).await {
            Ok(()) => Ok(id),
            Err(refused) => self.idempotency.recover_card(key, refused).await,
        }
    }

    async fn store_card(
        &self,
        caller: &Caller,
        card: NewCard,
        key: Option<IdempotencyKey>,
    ) -> Result<(), ApiError> {
        self.quotas.reserve(caller, || card_bytes(&card)).await?;
        let stored = self.store.open_card_idempotent(card, key).await;
        stored.map_err(|error| match error {
            StoreError::OpenedBefore => ApiError::SecondCompetitionCard,
            StoreError::TooManyCards(max) => ApiError::TooManyCards(max),
            error => error.into(),
        })
    }

    /// Restarts the idle time of the caller's open card.
    pub(crate) async fn touch(&self, caller: &Caller, id: &str) -> Result<CardId, ApiError> {
        let card = self.open_card(caller, id).await?;
        self.store
            .touch_card(card.key, self.clock.now_ms())
            .await
            .map_err(|error| not_open(error, card.id))?;
        Ok(card.id)
    }

    /// Closes the caller's open card and returns its result.
    pub(crate) async fn close(&self, caller: &Caller, id: &str) -> Result<Scorecard, ApiError> {
        let card = self.open_card(caller, id).await?;
        self.store
            .close_card(card.key, self.clock.now_ms())
            .await
            .map_err(|error| not_open(error, card.id))?;
        self.scorecard(&card).await
    }

    /// Returns the card with this id, regardless of its owner; `None` also if `id` is not a UUID.
    pub(crate) async fn find(&self, id: &str) -> Result<Option<Card>, ApiError> {
        let Ok(id) = id.parse::<CardId>() else {
            return Ok(None);
        };
        Ok(self.store.card(id).await?)
    }

    /// Returns the caller's card with this id, or `None` if the caller has no open card with it.
    pub(crate) async fn find_open(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<Option<Card>, ApiError> {
        let card = self.find(id).await?;
        Ok(card.filter(|card| card.owner == caller.owner && card.closed_ms.is_none()))
    }

    /// Returns a card that the caller may read. A competition card must be closed.
    pub(crate) async fn readable(&self, caller: &Caller, id: &str) -> Result<Card, ApiError> {
        let card = self
            .find(id)
            .await?
            .filter(|card| caller.can_read(card.owner))
            .ok_or_else(|| ApiError::NoSuchCard(id.to_owned()))?;
        if card.competition && card.closed_ms.is_none() {
            Err(ApiError::CompetitionCardOpen)
        } else {
            Ok(card)
        }
    }

    /// Returns up to `max` cards before `before`, newest first, of one owner or of all.
    pub(crate) async fn before(
        &self,
        owner: Option<Owner>,
        before: Option<CardKey>,
        max: u32,
    ) -> Result<Vec<Card>, ApiError> {
        Ok(self.store.cards_before(owner, before, max).await?)
    }

    /// Returns the environments that count on a card.
    pub(crate) async fn game_ids(&self, card: &Card) -> Result<Vec<GameId>, ApiError> {
        let plays = self.store.card_runs(card.key).await?;
        let played = plays.into_iter().map(|summed| summed.play.game_id);
        Ok(card.games.iter().cloned().chain(played).collect())
    }

    pub(crate) async fn scorecard(&self, card: &Card) -> Result<Scorecard, ApiError> {
        let environments = self.environments(card).await?;
        Ok(scored(card, environments))
    }

    /// Returns the part of a scorecard that concerns one environment.
    pub(crate) async fn scorecard_of(
        &self,
        card: &Card,
        game: &str,
    ) -> Result<Scorecard, ApiError> {
        let mut environments = self.environments(card).await?;
        environments.retain(|environment| {
            let id = &environment.runs.info.id;
            id.as_str() == game || id.base() == game
        });
        if environments.is_empty() {
            return Err(ApiError::NotOnCard(game.to_owned()));
        }
        Ok(scored(card, environments))
    }

    /// Restarts the idle time of every open card.
    pub(crate) async fn restart_idle_timers(&self) -> Result<(), StoreError> {
        self.store.restart_idle_timers(self.clock.now_ms()).await
    }

    /// Closes the cards that have been idle or open for too long, and returns their ids.
    pub(crate) async fn close_stale(&self) -> Result<Vec<CardId>, StoreError> {
        let now_ms = self.clock.now_ms();
        let before = |age: u64| now_ms.saturating_sub(age);
        self.store
            .close_stale(StaleCutoffs {
                used_before_ms: before(self.config.idle_ms),
                opened_before_ms: before(self.config.open_ms),
                now_ms,
            })
            .await
    }

    /// Returns the caller's card with this id if it is open.
    async fn open_card(&self, caller: &Caller, id: &str) -> Result<Card, ApiError> {
        let card = self.find_open(caller, id).await?;
        card.ok_or_else(|| ApiError::CardNotOpen(id.to_owned()))
    }

    /// Returns the environments that count on a card: first those that were played, in order of
    /// their first plays, then those of a competition that were not played.
    async fn environments(&self, card: &Card) -> Result<Vec<CardEnvironment>, ApiError> {
        let mut environments: Vec<CardEnvironment> = Vec::new();
        let new = |id: &GameId| CardEnvironment {
            runs: EnvironmentRuns {
                info: self.games.info(id),
                runs: Vec::new(),
            },
            source_digests: Vec::new(),
        };
        for summed in self.store.card_runs(card.key).await? {
            let guid = summed.play.id.to_string();
            let runs = summed.runs.into_iter().map(|run| (guid.clone(), run));
            let id = &summed.play.game_id;
            let known = environments
                .iter()
                .position(|environment| environment.runs.info.id == *id);
            let at = known.unwrap_or_else(|| {
                environments.push(new(id));
                environments.len() - 1
            });
            let environment = &mut environments[at];
            environment.runs.runs.extend(runs);
            let digests = &mut environment.source_digests;
            digests.extend(
                summed
                    .play
                    .source_digest
                    .filter(|new| !digests.contains(new)),
            );
        }
        for id in &card.games {
            if !environments
                .iter()
                .any(|environment| environment.runs.info.id.base() == id.base())
            {
                environments.push(new(id));
            }
        }
        Ok(environments)
    }
}

/// An environment on a card.
struct CardEnvironment {
    runs: EnvironmentRuns,
    /// The distinct digests of the sources that the plays of a hosted game execute.
    source_digests: Vec<String>,
}

fn scored(card: &Card, environments: Vec<CardEnvironment>) -> Scorecard {
    let metadata = CardMetadata {
        card_id: card.id.to_string(),
        source_url: card.source_url.clone(),
        tags: card.tags.clone(),
        opaque: card.opaque.clone(),
        competition: card.competition,
    };
    let (runs, digests): (Vec<_>, Vec<_>) = environments
        .into_iter()
        .map(|environment| (environment.runs, environment.source_digests))
        .unzip();
    let mut scored = scorecard(metadata, Method::DEFAULT, &runs);
    // The source that is played now may be another one than that of the plays.
    for (environment, digests) in scored.environments.iter_mut().zip(digests) {
        environment.source_digests = digests;
    }
    scored
}

/// Converts a store error. [`StoreError::CardNotOpen`] means that the card was closed after it was
/// looked up.
fn not_open(error: StoreError, id: CardId) -> ApiError {
    if error == StoreError::CardNotOpen {
        ApiError::CardNotOpen(id.to_string())
    } else {
        error.into()
    }
}

//! `/api/scorecard/…`: opening, keeping open, reading and closing scorecards.
//!
//! The totals of a card are sums over the counts of its plays, which the store updates with every
//! appended log entry.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use rhae_engine::{ActionSet, GameId, GameInfo};
use rhae_protocol::Scorecard;
use rhae_scoring::Method;
use rhae_session::{CardMetadata, EnvironmentRuns, scorecard};
use rhae_store::{Card, CardId, NewCard, StoreError};
use uuid::Uuid;

use crate::access::Caller;
use crate::body::Fields;
use crate::idempotency::idempotency_key;
use crate::openapi::{Always, Bodied, CardBody, ErrorBody, Named, OpeningBody};
use crate::{ApiError, Server};

type Body = Result<Bytes, BytesRejection>;

/// Opens a scorecard.
#[utoipa::path(
    post,
    path = "/api/scorecard/open",
    tag = "scorecards",
    params(("Idempotency-Key" = Option<String>, Header, description = "A request repeated with the same key, path and body is executed once", min_length = 1, max_length = 255, pattern = "^[!-~]+$")),
    request_body = Option<OpeningBody>,
    responses((status = OK, body = CardBody, description = "The new scorecard"),
        (status = CONFLICT, body = ErrorBody, description = "The limit on open scorecards is reached"),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "The idempotency key was already used for a different request"), Always, Bodied)
)]
pub(crate) async fn open(
    State(server): State<Arc<Server>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<CardBody>, ApiError> {
    let key = idempotency_key(&headers, caller.owner, "scorecard/open", &body)?;
    let fields = Fields::read_optional(&headers, body)?;
    let mut tags = fields.texts("tags")?;
    if !tags.iter().any(|tag| tag == "human" || tag == "agent") {
        tags.push("agent".to_owned());
    }
    let competition = fields.flag("competition_mode")? || server.config.competition;
    let card = NewCard {
        id: CardId(Uuid::new_v4()),
        owner: caller.owner,
        tags,
        source_url: fields.text("source_url")?.map(str::to_owned),
        opaque: fields.extra("opaque", server.config.limits.extra_bytes)?,
        competition,
        games: if competition {
            server.games(&caller).map(|info| info.id.clone()).collect()
        } else {
            Vec::new()
        },
        only_one: server.config.competition,
        max_open: server.config.limits.max_open_cards(caller.visitor),
        lasting: caller.in_browser,
        opened_ms: server.clock.now_ms(),
    };
    let id = card.id;
    let opened = server.store.open_card_idempotent(card, key.clone()).await;
    let id = match opened {
        Ok(()) => id,
        Err(StoreError::OpenedBefore) => {
            server
                .recover_card(key, ApiError::SecondCompetitionCard)
                .await?
        }
        Err(StoreError::TooManyCards(max)) => {
            server
                .recover_card(key, ApiError::TooManyCards(max))
                .await?
        }
        Err(error) => server.recover_card(key, error.into()).await?,
    };
    Ok(Json(CardBody {
        card_id: id.to_string(),
    }))
}

/// Resets the idle time of an open scorecard.
#[utoipa::path(
    post,
    path = "/api/scorecard/heartbeat",
    tag = "scorecards",
    request_body = CardBody,
    responses((status = OK, body = CardBody, description = "The scorecard is open"), Always, Bodied, Named)
)]
pub(crate) async fn heartbeat(
    State(server): State<Arc<Server>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<CardBody>, ApiError> {
    let fields = Fields::read(&headers, body)?;
    let card = server
        .open_card(&caller, fields.required("card_id")?)
        .await?;
    server
        .store
        .touch_card(card.key, server.clock.now_ms())
        .await
        .map_err(|error| not_open(error, card.id))?;
    Ok(Json(CardBody {
        card_id: card.id.to_string(),
    }))
}

/// Closes a scorecard. Its plays accept no further commands.
#[utoipa::path(
    post,
    path = "/api/scorecard/close",
    tag = "scorecards",
    request_body = CardBody,
    responses((status = OK, body = Scorecard, description = "The final result"), Always, Bodied, Named)
)]
pub(crate) async fn close(
    State(server): State<Arc<Server>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Scorecard>, ApiError> {
    let fields = Fields::read(&headers, body)?;
    let card = server
        .open_card(&caller, fields.required("card_id")?)
        .await?;
    server
        .store
        .close_card(card.key, server.clock.now_ms())
        .await
        .map_err(|error| not_open(error, card.id))?;
    server.scorecard(&card).await.map(Json)
}

/// Returns a scorecard, open or closed.
#[utoipa::path(
    get,
    path = "/api/scorecard/{card_id}",
    tag = "scorecards",
    params(("card_id" = String, Path, description = "The scorecard")),
    responses((status = OK, body = Scorecard, description = "The current result"),
        (status = FORBIDDEN, body = ErrorBody, description = "A competition scorecard cannot be read before it is closed"), Always, Named)
)]
pub(crate) async fn read(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Scorecard>, ApiError> {
    let card = server.readable_card(&caller, &id).await?;
    server.scorecard(&card).await.map(Json)
}

/// Returns the part of a scorecard that concerns one environment.
#[utoipa::path(
    get,
    path = "/api/scorecard/{card_id}/{game_id}",
    tag = "scorecards",
    params(("card_id" = String, Path, description = "The scorecard"),
        ("game_id" = String, Path, description = "The environment: its four-character name, or the full id with the version")),
    responses((status = OK, body = Scorecard, description = "The current result of this environment"),
        (status = FORBIDDEN, body = ErrorBody, description = "A competition scorecard cannot be read before it is closed"), Always, Named)
)]
pub(crate) async fn read_game(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path((id, game)): Path<(String, String)>,
) -> Result<Json<Scorecard>, ApiError> {
    let card = server.readable_card(&caller, &id).await?;
    let mut environments = server.environments(&card).await?;
    environments.retain(|environment| {
        environment.info.id.as_str() == game || environment.info.id.base() == game
    });
    if environments.is_empty() {
        return Err(ApiError::NotOnCard(game));
    }
    Ok(Json(scorecard(
        facts(&card),
        Method::DEFAULT,
        &environments,
    )))
}

impl Server {
    /// Returns the caller's card with this id if it is open.
    async fn open_card(&self, caller: &Caller, id: &str) -> Result<Card, ApiError> {
        let card = self
            .card(id)
            .await?
            .filter(|card| card.owner == caller.owner && card.closed_ms.is_none());
        card.ok_or_else(|| ApiError::CardNotOpen(id.to_owned()))
    }

    /// Returns a card that the caller may read. A competition card must be closed.
    pub(crate) async fn readable_card(&self, caller: &Caller, id: &str) -> Result<Card, ApiError> {
        let card = self
            .card(id)
            .await?
            .filter(|card| caller.can_read(card.owner))
            .ok_or_else(|| ApiError::NoSuchCard(id.to_owned()))?;
        if card.competition && card.closed_ms.is_none() {
            Err(ApiError::CompetitionCardOpen)
        } else {
            Ok(card)
        }
    }

    pub(crate) async fn scorecard(&self, card: &Card) -> Result<Scorecard, ApiError> {
        Ok(scorecard(
            facts(card),
            Method::DEFAULT,
            &self.environments(card).await?,
        ))
    }

    /// Returns the environments that count on a card: first those that were played, in order of
    /// their first plays, then those of a competition that were not played.
    async fn environments(&self, card: &Card) -> Result<Vec<EnvironmentRuns>, ApiError> {
        let mut environments: Vec<EnvironmentRuns> = Vec::new();
        for summed in self.store.card_runs(card.key).await? {
            let guid = summed.play.id.to_string();
            let runs = summed.runs.into_iter().map(|run| (guid.clone(), run));
            let id = &summed.play.game_id;
            match environments
                .iter_mut()
                .find(|environment| environment.info.id == *id)
            {
                Some(environment) => environment.runs.extend(runs),
                None => environments.push(EnvironmentRuns {
                    info: self.info(id),
                    runs: runs.collect(),
                }),
            }
        }
        for id in &card.games {
            if !environments
                .iter()
                .any(|environment| environment.info.id.base() == id.base())
            {
                environments.push(EnvironmentRuns {
                    info: self.info(id),
                    runs: Vec::new(),
                });
            }
        }
        Ok(environments)
    }

    /// Returns the metadata of an environment. An environment that is neither served nor in the
    /// catalogue any more stays on its cards, without baselines.
    fn info(&self, id: &GameId) -> GameInfo {
        let unknown = || GameInfo {
            id: id.clone(),
            title: id.base().to_owned(),
            baselines: Vec::new(),
            actions: ActionSet::EMPTY,
            tags: Vec::new(),
            frames_per_second: 0,
            seeded: false,
            class_name: None,
        };
        let known = self.games.iter().find(|info| info.id == *id).cloned();
        known
            .or_else(|| {
                self.catalog
                    .find(id.as_str())
                    .ok()
                    .filter(|info| info.id == *id)
            })
            .unwrap_or_else(unknown)
    }
}

fn facts(card: &Card) -> CardMetadata {
    CardMetadata {
        card_id: card.id.to_string(),
        source_url: card.source_url.clone(),
        tags: card.tags.clone(),
        opaque: card.opaque.clone(),
        competition: card.competition,
    }
}

/// Converts a store error. [`StoreError::CardNotOpen`] means that the card was closed after the
/// handler had looked it up.
fn not_open(error: StoreError, id: CardId) -> ApiError {
    if error == StoreError::CardNotOpen {
        ApiError::CardNotOpen(id.to_string())
    } else {
        error.into()
    }
}

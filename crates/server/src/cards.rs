//! `/api/scorecard/…`: opening, keeping open, reading and closing cards.
//!
//! A card's numbers are counted from the logs of its plays whenever it is read, so they cannot disagree with them.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use rhae_engine::{ActionSet, GameId, GameInfo};
use rhae_protocol::Scorecard;
use rhae_scoring::Method;
use rhae_session::{CardFacts, EnvironmentRuns, Seen, Tally, scorecard};
use rhae_store::{Card, CardId, NewCard, Owner, StoreError};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::body::Fields;
use crate::server::owner;
use crate::{ApiError, Server};

type Body = Result<Bytes, BytesRejection>;

pub(crate) async fn open(State(server): State<Arc<Server>>, headers: HeaderMap, body: Body) -> Result<Json<Value>, ApiError> {
    let fields = Fields::read_optional(&headers, body)?;
    let mut tags = fields.texts("tags")?;
    if !tags.iter().any(|tag| tag == "human" || tag == "agent") {
        tags.push("agent".to_owned());
    }
    let competition = fields.flag("competition_mode")? || server.config.competition;
    let card = NewCard {
        id: CardId(Uuid::new_v4()),
        owner: owner(&headers),
        tags,
        source_url: fields.text("source_url")?.map(str::to_owned),
        opaque: fields.extra("opaque")?,
        competition,
        games: if competition { server.games.iter().map(|info| info.id.clone()).collect() } else { Vec::new() },
        only_one: server.config.competition,
        opened_ms: server.clock.now_ms(),
    };
    let id = card.id;
    server.store.open_card(card).await.map_err(|error| match error {
        StoreError::OpenedBefore => ApiError::OpenedBefore,
        error => error.into(),
    })?;
    Ok(Json(json!({"card_id": id.to_string()})))
}

pub(crate) async fn heartbeat(State(server): State<Arc<Server>>, headers: HeaderMap, body: Body) -> Result<Json<Value>, ApiError> {
    let fields = Fields::read(&headers, body)?;
    let card = server.open_card(owner(&headers), fields.required("card_id")?).await?;
    server.store.touch_card(card.key, server.clock.now_ms()).await.map_err(|error| not_open(error, card.id))?;
    Ok(Json(json!({"card_id": card.id.to_string()})))
}

pub(crate) async fn close(State(server): State<Arc<Server>>, headers: HeaderMap, body: Body) -> Result<Json<Scorecard>, ApiError> {
    let fields = Fields::read(&headers, body)?;
    let card = server.open_card(owner(&headers), fields.required("card_id")?).await?;
    server.store.close_card(card.key, server.clock.now_ms()).await.map_err(|error| not_open(error, card.id))?;
    server.scorecard(&card).await.map(Json)
}

pub(crate) async fn read(
    State(server): State<Arc<Server>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Scorecard>, ApiError> {
    let card = server.readable_card(owner(&headers), &id).await?;
    server.scorecard(&card).await.map(Json)
}

pub(crate) async fn read_game(
    State(server): State<Arc<Server>>,
    Path((id, game)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Json<Scorecard>, ApiError> {
    let card = server.readable_card(owner(&headers), &id).await?;
    let mut environments = server.environments(&card).await?;
    environments.retain(|environment| environment.info.id.as_str() == game || environment.info.id.base() == game);
    if environments.is_empty() {
        return Err(ApiError::NotOnCard(game));
    }
    Ok(Json(scorecard(facts(&card), Method::DEFAULT, &environments)))
}

impl Server {
    /// The owner's card, if it is open.
    async fn open_card(&self, owner: Owner, id: &str) -> Result<Card, ApiError> {
        let card = self.card(owner, id).await?.filter(|card| card.closed_ms.is_none());
        card.ok_or_else(|| ApiError::CardNotOpen(id.to_owned()))
    }

    /// The owner's card, unless it is of a competition and open.
    async fn readable_card(&self, owner: Owner, id: &str) -> Result<Card, ApiError> {
        let card = self.card(owner, id).await?.ok_or_else(|| ApiError::NoSuchCard(id.to_owned()))?;
        if card.competition && card.closed_ms.is_none() { Err(ApiError::Competing) } else { Ok(card) }
    }

    async fn scorecard(&self, card: &Card) -> Result<Scorecard, ApiError> {
        Ok(scorecard(facts(card), Method::DEFAULT, &self.environments(card).await?))
    }

    /// The environments that count on a card, in the order of their first plays, then those that were not played.
    async fn environments(&self, card: &Card) -> Result<Vec<EnvironmentRuns>, ApiError> {
        let mut environments: Vec<EnvironmentRuns> = Vec::new();
        for logged in self.store.card_log(card.key).await? {
            let mut tally = Tally::default();
            logged.entries.iter().for_each(|entry| tally.count(Seen::from(entry)));
            let guid = logged.play.id.to_string();
            let runs = tally.runs().iter().map(|run| (guid.clone(), run.clone()));
            let id = &logged.play.game_id;
            match environments.iter_mut().find(|environment| environment.info.id == *id) {
                Some(environment) => environment.runs.extend(runs),
                None => environments.push(EnvironmentRuns { info: self.info(id), runs: runs.collect() }),
            }
        }
        for id in &card.games {
            if !environments.iter().any(|environment| environment.info.id.base() == id.base()) {
                environments.push(EnvironmentRuns { info: self.info(id), runs: Vec::new() });
            }
        }
        Ok(environments)
    }

    /// What is known of an environment; one that is no longer served stays on its cards, without baselines.
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
        known.or_else(|| self.catalog.find(id.as_str()).ok().filter(|info| info.id == *id)).unwrap_or_else(unknown)
    }
}

fn facts(card: &Card) -> CardFacts {
    CardFacts {
        card_id: card.id.to_string(),
        source_url: card.source_url.clone(),
        tags: card.tags.clone(),
        opaque: card.opaque.clone(),
        competition: card.competition,
    }
}

/// The card may have been closed meanwhile.
fn not_open(error: StoreError, id: CardId) -> ApiError {
    if error == StoreError::CardNotOpen { ApiError::CardNotOpen(id.to_string()) } else { error.into() }
}
